import { randomBytes } from 'node:crypto';
import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAboutPendingRefunds } from '../../src/engine/recovery/refunds.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry, type Gateways } from '../../src/gateways/gateway-registry.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { type RefundInput, refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { systemClock } from '../../src/platform/clock.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { perennial } from '../cli/perennial.js';
import { control, ledgerOf, spawnInstitution, temporaryFolder } from '../institution/support.js';
import { PRODUCT } from '../operator/support.js';
import { alerts } from '../orders/support.js';
import { bridgedChannel } from '../support/bridged-channel.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import type { FreshDatabase } from '../support/database.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { REFUNDING_NODE, start, until } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';
import { periodNo } from './support.js';

/** Tests the service, refunds from other processes, and the reference institution with its own ledger. */
const masterKey = randomBytes(32);
let fresh: FreshDatabase;
let service: TestService;
let gateways: Gateways;
let operator: OperatorWithGateways;
let channel: ChannelClient;
let settings: Record<string, string>;
let bridgeKey: string;
let bridgePort: number;
/**
 * The institution of all tests except the last test, which starts its own institution. Each test checks only its own
 * order.
 */
let there: ReferenceProgram;

beforeAll(async () => {
  const vault = openVault([masterKey]);
  service = await testService({ vault, clock: systemClock, gateways: { of: (code) => gateways.of(code) } });
  ({ fresh } = service);
  const { database } = fresh;
  settings = { DATABASE_URL: fresh.url, MASTER_KEY: masterKey.toString('base64') };
  gateways = createGatewayRegistry(
    { database, vault, environment: 'sandbox' },
    {
      sandbox: () => createSandboxGateway(systemClock),
      bridge: (url, key) => createBridgeGateway({ url, key, clock: systemClock }),
    },
  );
  operator = { database, vault, environment: 'sandbox', actor: 'test:ann', clock: systemClock, gateways };
  bridgePort = await freePort();
  const made = await bridgedChannel(operator, 'BRIDGE', `http://127.0.0.1:${bridgePort}`);
  bridgeKey = made.key;
  channel = channelClient(service.baseUrl, made.channel);
  there = await startInstitution({
    port: bridgePort,
    key: Buffer.from(bridgeKey, 'base64'),
    clock: systemClock,
    control: true,
    delays: { settleMs: 0 },
  });
});
afterAll(async () => {
  await there.stop();
  await gateways.close?.();
  await service.close();
});

/** Starts an institution that can be killed, instead of the shared one. */
const killable = (dataDir: string) =>
  spawnInstitution({ port: bridgePort, key: bridgeKey, dataDir, delays: { settleMs: 0 } });

async function paidOrder(tail = '8888'): Promise<string> {
  const channelUserId = unique('user');
  const shared = sharedAgreement(channel, channelUserId, {
    paymentChannelCode: 'BRIDGE',
    sharedAgreementNo: `${unique('shared')}-${tail}`,
  });
  const request = { channelUserId, productCode: PRODUCT.productCode, sharedAgreement: shared };
  const reply = await channel.call('orders/create', sharedRequest(channel, request));
  expect(reply.data, reply.text).toMatchObject({ orderStatus: 'ACTIVE' });
  return reply.data.orderNo;
}

const statusOf = async (orderNo: string) =>
  (await channel.call('payments/query', { paymentOrderNo: periodNo(orderNo) })).data.paymentStatus;

async function ask(): Promise<void> {
  await fresh.database.query('update refunds set ask_at = now() where ask_at is not null');
  await askAboutPendingRefunds({
    database: fresh.database,
    gateways,
    clock: systemClock,
    log: pino({ level: 'silent' }),
  });
}

/** Returns the total amount and the count of the institution's successful refunds for an order. */
async function givenBack(at: { url: string }, orderNo: string): Promise<[cents: number, refunds: number]> {
  const ledger = await ledgerOf(at);
  const mine = ledger.refunds.filter((one) => one.refundNo.includes(orderNo) && one.status === 'SUCCESS');
  const debit = ledger.debits.find((one) => one.attemptNo === `${periodNo(orderNo)}01`);
  const cents = mine.reduce((sum, one) => sum + one.amountCent, 0);
  expect(debit?.refundedCent).toBe(cents);
  return [cents, mine.length];
}

const eventsAbout = async (orderNo: string) =>
  (await fresh.database.query(`select from events where order_no = $1 and data like '%REFUND_%'`, [orderNo])).length;

describe('a refund over the bridge', () => {
  it('succeeds, in part and in full', async () => {
    const orderNo = await paidOrder();
    await refundPayment(operator, { orderNo, cycleNo: 1, amountCent: 990 });
    expect(await refundPayment(operator, { orderNo, cycleNo: 1 })).toMatchObject({ amountCent: 1000 });
    expect(await givenBack(there, orderNo)).toEqual([1990, 2]);
    expect(await statusOf(orderNo)).toBe('REFUND_FULL');
  });

  it('is refused (0019)', async () => {
    const orderNo = await paidOrder('0019');
    await expect(refundPayment(operator, { orderNo, cycleNo: 1 })).rejects.toThrow(/the bank refuses refunds/);
    expect(await givenBack(there, orderNo)).toEqual([0, 0]);
    expect(await statusOf(orderNo)).toBe('SUCCESS');
  });

  it.each([
    ['0020', 'succeeds', 'REFUND_FULL', 1990],
    ['0023', 'is refused', 'SUCCESS', 0],
  ])('is pending first (%s) and %s later', async (tail, _later, status, cents) => {
    const orderNo = await paidOrder(tail);
    expect(await refundPayment(operator, { orderNo, cycleNo: 1 })).toMatchObject({ status: 'STARTED' });
    await until('the result', async () => {
      await ask();
      return (await fresh.database.query(`select from refunds where status = 'STARTED'`)).length === 0;
    });
    expect(await statusOf(orderNo)).toBe(status);
    expect((await givenBack(there, orderNo))[0]).toBe(cents);
  });

  it('with a wrong amount (0024) raises an alert, and is right in the query', async () => {
    const orderNo = await paidOrder('0024');
    expect(await refundPayment(operator, { orderNo, cycleNo: 1, amountCent: 5 })).toMatchObject({ status: 'STARTED' });
    expect(await alerts(fresh.database)).toContainEqual({
      kind: 'refund-wrong-amount',
      subject: `R${periodNo(orderNo)}01`,
      detail: 'requested 5, refunded 6',
    });
    await ask();
    expect(await statusOf(orderNo)).toBe('REFUND_PART');
    expect(await givenBack(there, orderNo)).toEqual([5, 1]);
  });

  it.each(['answer-lost', 'error-before', 'error-after', 'forged-answer', 'garbage-answer'])(
    'with an unusable answer (%s): queried, and refunded once',
    async (fault) => {
      await control(there, { action: 'set', fault, operation: 'refund', times: 1 });
      const orderNo = await paidOrder();
      expect(await refundPayment(operator, { orderNo, cycleNo: 1 })).toMatchObject({ status: 'STARTED' });
      await ask();
      expect(await statusOf(orderNo)).toBe('REFUND_FULL');
      expect(await givenBack(there, orderNo)).toEqual([1990, 1]);
    },
  );

  it('from the command line', async () => {
    const orderNo = await paidOrder();
    const args = ['order', 'refund', orderNo, '1', '--amount-cent', '490', '--json'];
    const ran = await perennial(args, { ...settings, DATA_DIR: await temporaryFolder() });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'SUCCESS', payment: { paymentStatus: 'REFUND_PART' } });
    expect(await givenBack(there, orderNo)).toEqual([490, 1]);
  });
});

describe('a process that is killed during a refund', () => {
  /** Makes a refund in a separate process. Resolves with the process's output, or undefined if it was killed. */
  async function refundIn(dies: string, input: RefundInput): Promise<Record<string, unknown> | undefined> {
    const child = start(REFUNDING_NODE, { ...settings, DATA_DIR: '/nonexistent', REFUND_DIES: dies }, [
      JSON.stringify(input),
    ]);
    const code = await child.exited;
    if (code !== null && code !== 0) throw new Error(child.stderr());
    return code === null ? undefined : JSON.parse(child.stdout());
  }

  it.each([
    ['before-call', 0],
    ['after-call', 1990],
    ['after-commit', 1990],
  ])('%s: the job finishes it, and it is refunded once', async (point, before) => {
    const orderNo = await paidOrder();
    expect(await refundIn(point, { orderNo, cycleNo: 1 })).toBeUndefined();
    expect((await givenBack(there, orderNo))[0]).toBe(before);
    await ask();
    expect(await statusOf(orderNo)).toBe('REFUND_FULL');
    expect(await givenBack(there, orderNo)).toEqual([1990, 1]);
    expect(await eventsAbout(orderNo)).toBe(1);
  });

  it.each(['before-call', 'after-call', 'after-commit'])(
    '%s: the same command with the same key continues it',
    async (point) => {
      const orderNo = await paidOrder();
      const input = { orderNo, cycleNo: 1, amountCent: 700, key: 'again' };
      expect(await refundIn(point, input)).toBeUndefined();
      expect(await refundIn('', input)).toMatchObject({ status: 'SUCCESS', refundNo: `R${periodNo(orderNo)}01` });
      await ask();
      expect(await givenBack(there, orderNo)).toEqual([700, 1]);
      expect(await eventsAbout(orderNo)).toBe(1);
    },
  );

  it('and the institution is killed too: booked refunds are not booked again', async () => {
    const dataDir = await temporaryFolder();
    await there.stop();
    const first = await killable(dataDir);
    const orderNo = await paidOrder();
    expect(await refundIn('after-call', { orderNo, cycleNo: 1 })).toBeUndefined();
    first.running.child.kill('SIGKILL');
    await first.running.exited;
    await ask();
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    const second = await killable(dataDir);
    await ask();
    expect(await statusOf(orderNo)).toBe('REFUND_FULL');
    expect(await givenBack(second, orderNo)).toEqual([1990, 1]);
  });
});
