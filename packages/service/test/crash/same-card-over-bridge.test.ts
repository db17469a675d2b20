import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openVault } from '../../src/platform/secrets/vault.js';
import { type Card, cardOf } from '../agreements/bridged.js';
import { ledgerOf, spawnInstitution, temporaryFolder } from '../institution/support.js';
import { operatorOn } from '../operator/support.js';
import { boundRequest, ofFile } from '../orders/stage-of-file.js';
import { bridgedChannel } from '../support/bridged-channel.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { freshDatabase } from '../support/database.js';
import { encrypted, mobileOf } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { keptAlive } from '../support/kept-alive.js';
import { until } from '../support/processes.js';
import { soakSize } from '../support/soak.js';
import { untilAnswered } from '../support/until-answered.js';

const POINTS = ['before-call', 'after-call', 'before-commit', 'after-commit'] as const;
const CARDS = soakSize('CARDS', 4, 8);

const fresh = ofFile(freshDatabase);
const masterKey = randomBytes(32);

it(`${CARDS} cards are bound again while the service is killed at each point: one agreement each, and nothing is lost`, async () => {
  const { url, port, channel } = await world();
  const node = keptAlive({
    DATABASE_URL: fresh.url,
    MASTER_KEY: masterKey.toString('base64'),
    PORT: String(port),
    LOG_LEVEL: 'silent',
  });
  await node.serves();
  const client = channelClient(`http://127.0.0.1:${port}`, channel);
  const cards = Array.from({ length: CARDS }, (_, n): Card => {
    return { channelUserId: `user-${n}`, bankCardNo: cardOf('8888'), paymentChannelCode: 'BRIDGE' };
  });
  const bound = [];
  for (const card of cards) {
    const first = await bindUntilAnswered(client, card, '123456');
    const order = await answered(client, 'orders/create', { ...boundRequest(first), productCode: 'MONTHLY' });
    bound.push({ card, first, orderNo: order.data.orderNo as string });
  }
  const before = node.kills();
  const queue = [...bound.entries()];
  const again: { orderNo: string; first: string; second: string }[] = [];
  await Promise.all(
    // Binds only two cards at a time: a kill also interrupts the other binding, which then may not reach the point at
    // which it would kill the node itself.
    Array.from({ length: 2 }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [n, { card, first, orderNo }] = next;
        const second = await bindUntilAnswered(client, card, `KILL-${POINTS[n % POINTS.length]}`);
        again.push({ orderNo, first, second });
      }
    }),
  );
  expect(node.kills() - before).toBeGreaterThanOrEqual(CARDS / 2);

  // Makes every order due, as after a month. Every order is debited again, and the old agreement numbers are canceled.
  await fresh.database.query('update orders set next_due_at = now()');
  const { debits, canceledAgreements } = await until(
    'every order debited again and every old number canceled',
    async () => {
      const ledger = await ledgerOf({ url });
      const isDone = ledger.debits.length >= 2 * CARDS && ledger.canceledAgreements.length >= CARDS;
      return isDone && ledger;
    },
    60_000,
  );
  await node.stop();
  expect(debits).toHaveLength(2 * CARDS);
  const numbers = new Map(debits.map(({ attemptNo, institutionNo }) => [attemptNo, institutionNo]));
  const olds = again.map(({ orderNo }) => numbers.get(`${orderNo}000101`));
  const news = again.map(({ orderNo }) => numbers.get(`${orderNo}000201`));
  expect(new Set([...olds, ...news]).size).toBe(2 * CARDS);
  expect([...canceledAgreements].sort()).toEqual([...olds].sort());
  for (const { orderNo, first, second } of again) {
    const rows = await fresh.database.query(
      `select a.agreement_id::text as id, a.status, a.line_id::text as line, o.order_no::text as order
       from agreements a left join orders o using (agreement_id) where a.agreement_id = any($1) order by 1`,
      [[first, second]],
    );
    expect(rows).toEqual([
      { id: first, status: 'REPLACED', line: null, order: null },
      { id: second, status: 'BIND_SUCCESS', line: first, order: orderNo },
    ]);
  }
}, 240_000);

async function bindUntilAnswered(client: ChannelClient, card: Card, code: string): Promise<string> {
  const sent = await answered(client, 'agreements/bind-sms', {
    channelUserId: card.channelUserId,
    mobileEncrypted: encrypted(client, mobileOf(card.channelUserId)),
    bankCardNoEncrypted: encrypted(client, card.bankCardNo),
    certificateNoEncrypted: encrypted(client, '110101199001011234'),
    realNameEncrypted: encrypted(client, '李四'),
    bankMobileEncrypted: encrypted(client, '13800000002'),
  });
  const { bindOrderNo } = sent.data;
  const confirmed = await answered(client, 'agreements/bind-confirm', {
    bindOrderNo,
    smsCodeEncrypted: encrypted(client, code),
  });
  expect(confirmed.data.agreementStatus, confirmed.text).toBe('BIND_SUCCESS');
  return bindOrderNo;
}

let keys = 0;
const answered = (client: ChannelClient, name: string, body: object) => {
  keys += 1;
  return untilAnswered(client, name, body, `key-${keys}`);
};

async function world() {
  const port = await freePort();
  const institutionPort = await freePort();
  const operator = operatorOn(fresh.database, { vault: openVault([masterKey]) });
  const { channel, key } = await bridgedChannel(operator, 'BRIDGE', `http://127.0.0.1:${institutionPort}`);
  const { url } = await spawnInstitution({
    port: institutionPort,
    key,
    dataDir: await temporaryFolder(),
    noticeUrl: `http://127.0.0.1:${port}/gateway/v1/notices/BRIDGE`,
  });
  return { url, port, channel };
}
