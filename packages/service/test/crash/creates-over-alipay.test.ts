import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ALIPAY_PUBLIC_KEY,
  APP_ID,
  APP_PRIVATE_KEY,
  type Behaviour,
  FakeAlipay,
} from '../../../bridge-alipay/test/fake-alipay.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { temporaryFolder } from '../institution/support.js';
import { type ChannelClient, type ChannelCredentials, channelClient, type Reply } from '../support/channel-client.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { sharedAgreement, sharedRequest } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { keptAlive } from '../support/kept-alive.js';
import { until } from '../support/processes.js';
import { soakSize } from '../support/soak.js';
import { untilAnswered } from '../support/until-answered.js';

const ORDERS = soakSize('ALIPAY', 32, 320);
const CONNECTIONS = 8;
/** Each point once, or more in a long run. */
const BRIDGE_KILLS = ORDERS < 100 ? 4 : 24;
const SERVICE_POINTS = ['before-call', 'after-call', 'after-commit'] as const;
const DAY_MS = 24 * 3_600_000;
const FATES: readonly Behaviour[] = [
  { decline: 'ACQ.BUYER_BALANCE_NOT_ENOUGH' },
  'pay-later',
  'unknown-paid',
  'unknown-unpaid',
  'pay-later',
  'lost-unpaid',
  'forged',
  { decline: 'ACQ.CYCLE_PAY_SINGLE_FEE_EXCEED' },
];

let fresh: FreshDatabase;
let fake: FakeAlipay;
let port: number;
let bridgePort: number;
let channel: ChannelCredentials;
const masterKey = randomBytes(32);
/** The bridge and the books are looked at from tomorrow, when Alipay has a bill of today. */
const tomorrow = { now: () => Date.now() + DAY_MS };

beforeAll(async () => {
  [fresh, fake] = [await freshDatabase(), await new FakeAlipay({ callersNow: tomorrow.now }).start()];
  [port, bridgePort] = [await freePort(), await freePort()];
});
afterAll(async () => {
  await fake.stop();
  await fresh.close();
});

it(`${ORDERS} orders paid by Alipay while bridge and service are killed at every named point: both sides agree to the cent`, async () => {
  const days = new Set([today()]);
  const operator = await provision();
  const folder = await temporaryFolder();
  const files = { app: path.join(folder, 'app.pem'), alipay: path.join(folder, 'alipay.pem') };
  const keyFile = path.join(folder, 'bridge.key');
  await writeFile(files.app, APP_PRIVATE_KEY);
  await writeFile(files.alipay, ALIPAY_PUBLIC_KEY);
  await writeFile(keyFile, operator.key);
  const bridge = keptAlive(
    {
      DATABASE_URL: fresh.url,
      BRIDGE_KEY_FILE: keyFile,
      PORT: String(bridgePort),
      MONITORING_PORT: '0',
      NOTICE_URL: `http://127.0.0.1:${port}/gateway/v1/notices/ALIPAY`,
      ALIPAY_APP_ID: APP_ID,
      ALIPAY_PRIVATE_KEY_FILE: files.app,
      ALIPAY_PUBLIC_KEY_FILE: files.alipay,
      ALIPAY_ENDPOINT: fake.url,
      ALIPAY_NOTIFY_URL: `http://127.0.0.1:${bridgePort}/webhooks`,
      LOG_LEVEL: 'error',
      KILLS: String(BRIDGE_KILLS),
    },
    fileURLToPath(new URL('../../../bridge-alipay/test/bridge-node.mjs', import.meta.url)),
  );
  const node = keptAlive({
    DATABASE_URL: fresh.url,
    MASTER_KEY: masterKey.toString('base64'),
    PORT: String(port),
    LOG_LEVEL: 'silent',
  });

  await createOrders(channelClient(`http://127.0.0.1:${port}`, channel));
  await settled('debit_attempts');
  await refundSome(operator);
  await settled('refunds');
  await until('the bridge was killed at every point', () => bridge.kills() >= BRIDGE_KILLS);
  expect(node.kills()).toBeGreaterThanOrEqual(SERVICE_POINTS.length);
  await until(
    'no notice is owed',
    async () => {
      await fresh.database.query('update bridge.notices set send_at = 0 where ended is null');
      return (await fresh.database.query('select from bridge.notices where ended is null')).length === 0;
    },
    60_000,
  );

  await agree();
  days.add(today());
  for (const day of days) {
    const run = await runReconciliation(operator, { paymentChannelCode: 'ALIPAY', day });
    expect(run).toMatchObject({ source: 'GATEWAY', differences: 0, open: 0 });
  }
  await operator.gateways.close?.();
  await node.stop();
  await bridge.stop();
}, 300_000);

const today = () => new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);

async function createOrders(client: ChannelClient): Promise<void> {
  const queue = Array.from({ length: ORDERS }, (_, n) => n);
  const create = (n: number): Promise<Reply> => {
    const user = `user-${n}`;
    const point = n % 8 === 5 ? SERVICE_POINTS[Math.floor(n / 8)] : undefined;
    const fate = n % 2 === 0 ? FATES[(n / 2) % FATES.length] : undefined;
    if (fate) fake.on(`agreement-${n}`, fate);
    // An answer that gets lost now and then, of whichever debit is under way, and the SDK's own second try with it.
    if (n % 9 === 4) fake.lose('alipay.trade.pay', 2);
    const shared = sharedAgreement(client, user, {
      paymentChannelCode: 'ALIPAY',
      sharedAgreementNo: `agreement-${n}`,
    });
    const externalOrderNo = `alipay-${n}${point === undefined ? '' : `-KILL-${point}`}`;
    const body = { channelUserId: user, externalOrderNo, productCode: 'MONTHLY', sharedAgreement: shared };
    return untilAnswered(client, 'orders/create', sharedRequest(client, body), `key-${n}`);
  };
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let n = queue.shift(); n !== undefined; n = queue.shift()) await create(n);
    }),
  );
}

/** Time passes: what is open is asked for, by the service and by the bridge. */
async function settled(table: 'debit_attempts' | 'refunds'): Promise<void> {
  const { database } = fresh;
  const ofBridge = table === 'refunds' ? 'bridge.refunds' : 'bridge.debits';
  await until(
    `all of ${table} known`,
    async () => {
      await database.query(`update ${ofBridge} set ask_at = 0 where state <> 'SETTLED' and ask_at > 0`);
      await database.query(`update ${table} set ask_at = now() where ask_at > now()`);
      return (await database.query(`select from ${table} where status = 'STARTED'`)).length === 0;
    },
    150_000,
  );
}

async function refundSome(operator: OperatorWithGateways): Promise<void> {
  const paid = await fresh.database.query<{ orderNo: string }>(
    `select order_no::text as "orderNo" from orders where status = 'ACTIVE' order by order_no limit 12`,
  );
  expect(paid).toHaveLength(12);
  for (const [index, { orderNo }] of paid.entries()) {
    if (index % 3 === 0) fake.lose('alipay.trade.refund', 2);
    const part = index % 2 === 0 ? { amountCent: 500 + index } : {};
    await refundPayment(operator, { orderNo, cycleNo: 1, ...part });
  }
}

/** Alipay's own books against the service's. */
async function agree(): Promise<void> {
  const rows = await fresh.database.query<{
    attemptNo: string;
    status: string;
    paid: number;
    attempts: number;
    refunded: number;
  }>(
    `select o.order_no || '000101' as "attemptNo", o.status, o.paid_amount_cent as paid,
       (select count(*) from debit_attempts a where a.order_no = o.order_no) as attempts,
       (select coalesce(sum(r.amount_cent), 0)::bigint from refunds r where r.order_no = o.order_no and r.status = 'SUCCESS') as refunded
     from orders o`,
  );
  expect(rows).toHaveLength(ORDERS);
  const tradeOf = (attemptNo: string) => fake.trades.get(attemptNo);
  for (const { attemptNo, status, paid, attempts, refunded } of rows) {
    const trade = tradeOf(attemptNo);
    const back = [...(trade?.refunds.values() ?? [])].reduce((sum, { cents }) => sum + cents, 0);
    const cents = trade?.paidAt === undefined ? 0 : trade.cents;
    expect({ attemptNo, attempts, paid, refunded }).toEqual({ attemptNo, attempts: 1, paid: cents, refunded: back });
    expect(status === 'TERMINATED' && refunded === 0).toBe(cents === 0);
  }
  const known = new Set(rows.map(({ attemptNo }) => attemptNo));
  expect([...fake.trades.keys()].filter((number) => !known.has(number))).toEqual([]);
  for (const [number, times] of fake.payments) expect([number, times]).toEqual([number, 1]);
  const declined = rows.filter(({ paid }) => paid === 0).length;
  expect(declined).toBe(Math.ceil(ORDERS / 2 / FATES.length) * 2);
  expect(rows.reduce((sum, { refunded }) => sum + refunded, 0)).toBeGreaterThan(0);
}

async function provision(): Promise<OperatorWithGateways & { readonly key: string }> {
  const vault = openVault([masterKey]);
  const operator = { database: fresh.database, vault, environment: 'sandbox', actor: 'test' } as const;
  const url = `http://127.0.0.1:${bridgePort}`;
  const { gatewayKey: key = '' } = await createPaymentChannel(operator, {
    code: 'ALIPAY',
    gateway: 'bridge',
    gatewayUrl: url,
    displayName: 'Alipay',
    supportedBanks: ['*'],
  });
  await createProduct(operator, {
    productCode: 'MONTHLY',
    productName: 'Monthly',
    settlementModes: ['SVC_DEDUCT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 1990,
    benefits: [{ benefitCode: 'PASS', name: 'Pass', faceValueCent: 1990 }],
  });
  channel = await createChannel(operator, { name: 'Crash', ratePerSecond: 100_000 });
  const { appId } = channel;
  await authorizeProduct(operator, { appId, productCode: 'MONTHLY' });
  await authorizePaymentChannel(operator, { appId, code: 'ALIPAY', isDefault: true, shareEnabled: true });
  const clock = { now: () => Date.now() };
  const gateway = createBridgeGateway({ url, key: Buffer.from(key, 'base64'), clock });
  return { ...operator, key, clock: tomorrow, gateways: { of: async () => gateway, close: () => gateway.close() } };
}
