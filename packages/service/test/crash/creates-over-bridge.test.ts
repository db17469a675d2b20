import { randomBytes } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { openVault } from '../../src/platform/secrets/vault.js';
import { ledgerOf, spawnInstitution, temporaryFolder } from '../institution/support.js';
import { operatorOn } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { bridgedChannel } from '../support/bridged-channel.js';
import { type ChannelClient, type ChannelCredentials, channelClient, type Reply } from '../support/channel-client.js';
import { freshDatabase } from '../support/database.js';
import { sharedAgreement, sharedRequest } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { keptAlive } from '../support/kept-alive.js';
import { until } from '../support/processes.js';
import { soakSize } from '../support/soak.js';
import { untilAnswered } from '../support/until-answered.js';

const ORDERS = soakSize('CREATES', 60, 200);
const CONNECTIONS = 16;
const KILL_EVERY = Math.min(80, ORDERS / 2 + 5);
/** One order in NAMED_EVERY kills its node at one of the POINTS. */
const NAMED_EVERY = Math.min(40, ORDERS / 3);
const POINTS = ['before-call', 'after-call', 'after-commit'] as const;
/**
 * Faults of the institution: declined and pending debits, lost, broken and forged answers, repeated, late and forged
 * notices.
 */
const FAULTS = ['0001', '0002', '0004', '0005', '0006', '0007', '0008', '0010', '0011', '0012', '0015', '0016'];

const fresh = ofFile(freshDatabase);
const masterKey = randomBytes(32);
let channel: ChannelCredentials;
let port: number;

beforeAll(async () => {
  port = await freePort();
});

interface Acknowledged {
  readonly externalOrderNo: string;
  readonly reply: Reply;
}

it(`${ORDERS} creates over the bridge while the service is killed and answers are lost: both sides agree to the cent`, async () => {
  const institution = await bridgedInstitution();
  const node = keptAlive({
    DATABASE_URL: fresh.url,
    MASTER_KEY: masterKey.toString('base64'),
    PORT: String(port),
    LOG_LEVEL: 'silent',
  });
  const client = channelClient(`http://127.0.0.1:${port}`, channel);
  const numbers = Array.from({ length: ORDERS }, (_, n) => `crash-${n}${killPoint(n)}`);
  const acknowledged: Acknowledged[] = [];

  const queue = [...numbers.entries()];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [n, externalOrderNo] = next;
        acknowledged.push({ externalOrderNo, reply: await createUntilAnswered(client, n, externalOrderNo) });
        if (acknowledged.length % KILL_EVERY === 0) node.kill();
      }
    }),
  );
  expect(node.kills()).toBeGreaterThanOrEqual(Math.floor(ORDERS / NAMED_EVERY));

  // Waits until the result of every debit is known.
  await until(
    'every debit known',
    async () => {
      await fresh.database.query('update debit_attempts set ask_at = now() where ask_at > now()');
      const open = await fresh.database.query(`select from debit_attempts where status = 'STARTED'`);
      return open.length === 0;
    },
    60_000,
  );
  await agree(acknowledged, await ledgerOf(institution));
  await node.stop();
}, 240_000);

/** Compares the institution's ledger with the service's records. */
async function agree(acknowledged: readonly Acknowledged[], ledger: Awaited<ReturnType<typeof ledgerOf>>) {
  const rows = await fresh.database.query<{
    externalOrderNo: string;
    orderNo: string;
    status: string;
    paid: number;
    attempts: number;
    attemptNo: string;
  }>(
    `select o.external_order_no as "externalOrderNo", o.order_no::text as "orderNo", o.status, o.paid_amount_cent as paid,
       (select count(*) from debit_attempts a where a.order_no = o.order_no) as attempts,
       o.order_no || '000101' as "attemptNo"
     from orders o`,
  );
  const byNumber = new Map(rows.map((row) => [row.externalOrderNo, row]));
  const debited = new Map(ledger.debits.map((debit) => [debit.attemptNo, debit]));

  // No acknowledged order is lost. Every answer is still true, or the order's status has moved on since.
  expect(acknowledged).toHaveLength(ORDERS);
  for (const { externalOrderNo, reply } of acknowledged) {
    const row = byNumber.get(externalOrderNo);
    expect(row?.orderNo).toBe(reply.data.orderNo);
    if (reply.data.orderStatus !== 'INITIALIZING') expect(row?.status).toBe(reply.data.orderStatus);
  }
  expect(rows).toHaveLength(ORDERS);

  // No order is debited twice. No failed order is debited, and every active order is debited its exact amount.
  expect(new Set(ledger.debits.map((debit) => debit.attemptNo)).size).toBe(ledger.debits.length);
  for (const row of rows) {
    expect(row.attempts).toBe(1);
    const cents = debited.get(row.attemptNo)?.debitedCent ?? 0;
    expect({ ...row, cents }).toMatchObject({ cents: row.paid });
    expect(row.status).toBe(cents > 0 ? 'ACTIVE' : 'TERMINATED');
  }
  const known = new Set(rows.map((row) => row.attemptNo));
  expect(ledger.debits.filter((debit) => !known.has(debit.attemptNo))).toEqual([]);
  const total = ledger.debits.reduce((sum, debit) => sum + debit.debitedCent, 0);
  expect(total).toBe(rows.reduce((sum, row) => sum + row.paid, 0));
  expect(total).toBeGreaterThan(0);

  // Each result has its effect one time: two events per order, and the benefits of one period per paid order.
  const [counts] = await fresh.database.query<{ events: number; benefits: number; active: number }>(
    `select (select count(*) from events) as events, (select count(*) from benefits) as benefits,
       (select count(*) from orders where status = 'ACTIVE') as active`,
  );
  expect(counts).toEqual({ events: 2 * ORDERS, benefits: counts?.active, active: counts?.active });
}

function createUntilAnswered(client: ChannelClient, n: number, externalOrderNo: string): Promise<Reply> {
  const user = `user-${n}`;
  const tail = n % 3 === 0 ? FAULTS[(n / 3) % FAULTS.length] : '8888';
  const shared = sharedAgreement(client, user, { paymentChannelCode: 'BRIDGE', sharedAgreementNo: `${user}-${tail}` });
  const body = { channelUserId: user, externalOrderNo, productCode: 'MONTHLY', sharedAgreement: shared };
  return untilAnswered(client, 'orders/create', sharedRequest(client, body), `key-${n}`);
}

const killPoint = (n: number): string => {
  const point = n % NAMED_EVERY === 7 ? POINTS[Math.floor(n / NAMED_EVERY) % POINTS.length] : undefined;
  return point === undefined ? '' : `-KILL-${point}`;
};

async function bridgedInstitution(): Promise<{ url: string }> {
  const institutionPort = await freePort();
  const operator = operatorOn(fresh.database, { vault: openVault([masterKey]) });
  const bridged = await bridgedChannel(operator, 'BRIDGE', `http://127.0.0.1:${institutionPort}`);
  channel = bridged.channel;
  const { url } = await spawnInstitution({
    port: institutionPort,
    key: bridged.key,
    dataDir: await temporaryFolder(),
    noticeUrl: `http://127.0.0.1:${port}/gateway/v1/notices/BRIDGE`,
    delays: { settleMs: 500, lateNoticeMs: 100, noticeRetryMs: 100, longestNoticeRetryMs: 500 },
  });
  return { url };
}
