import { type Bridge, startBridge } from '@perennial/bridge-kit';
import { createStripeInstitution } from '@perennial/bridge-stripe';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePayment, type FakeStripe, startFakeStripe } from '../../../bridge-stripe/test/fake-stripe.js';
import { reconcileDays } from '../../src/engine/jobs/reconciliation.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import type { Gateways } from '../../src/gateways/gateway-registry.js';
import { listDifferences, runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds.js';
import { alerts } from '../orders/support.js';
import { attachBridge } from '../support/bridged-channel.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel, requestAt } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { at, inShort } from './support.js';

/** The service, the bridge to Stripe and a fake of Stripe, on one clock: noon of 31 January. */
const KEY = Buffer.alloc(32, 3);
const DAY = '2026-01-31';
const NEXT_DAY = '2026-02-01';
let service: TestService;
let channel: ChannelClient;
let fake: FakeStripe;
let bridge: Bridge;
let gateways: Gateways;
let operator: OperatorWithGateways;
/** What the bridge logs at error. */
let errors = '';
const noteError = (line: string) => {
  errors += line;
};
/** Webhooks that Stripe has sent and the bridge has not answered yet. */
const telling: Promise<number>[] = [];

beforeAll(async () => {
  service = await testService({ gateways: { of: (code) => gateways.of(code) } });
  const { clock } = service;
  fake = await startFakeStripe({ now: clock.now });
  const { secretKey, webhookSecret } = fake;
  bridge = await startBridge({
    institution: createStripeInstitution({ secretKey, webhookSecret, apiBase: fake.url, clock }),
    ...{ key: KEY, clock, databaseUrl: service.fresh.url, schema: 'stripe', port: 0, monitoringPort: 0 },
    log: pino({ level: 'error' }, { write: noteError }),
  });
  fake.listener = ({ body }) => telling.push(tell(body));
  const gateway = createBridgeGateway({ url: bridge.url, key: KEY, clock });
  gateways = { of: async () => gateway, close: () => gateway.close() };
  operator = { ...service.operator, clock, gateways };
  channel = await demoChannel(service);
  await attachBridge(operator, channel.credentials.appId, 'STRIPE', bridge.url);
  await sql('update payment_channels set created_at = $1', [new Date(clock.now())]);
});
afterAll(async () => {
  await gateways.close?.();
  await bridge.stop();
  await fake.stop();
  await service.close();
});
beforeEach(async () => {
  service.clock.set(at(`${DAY} 12:00:00`));
  await sql('truncate reconciliations, reconciliation_differences, alerts, job_marks');
  await sql('update orders set next_due_at = null');
});

const sql = <Row>(text: string, values: readonly unknown[] = []) => service.fresh.database.query<Row>(text, values);

async function tell(body: string): Promise<number> {
  const response = await fetch(`${bridge.url}/webhooks`, { method: 'POST', headers: fake.sign(body), body });
  await response.text();
  return response.status;
}

/** Stripe has told everything, and the bridge has taken it. */
async function allTold(): Promise<void> {
  const statuses = await Promise.all(telling.splice(0));
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
}

async function order() {
  const agreement = fake.attach('pm_card_visa');
  const request = requestAt(channel, 'STRIPE', agreement);
  const token = await channel.getToken();
  const { data, text } = await channel.call('orders/create', request, { token });
  expect(data?.orderStatus, text).toBe('ACTIVE');
  const payment = paymentsOf(data.orderNo)[0];
  if (payment === undefined) throw new Error('Stripe has no payment of the order');
  return { orderNo: data.orderNo as string, payment };
}

const paymentsOf = (orderNo: string): FakePayment[] =>
  fake.payments.filter(({ metadata }) => metadata['perennial_attempt_no']?.startsWith(orderNo));

const found = async (orderNo: string) => {
  const token = await channel.getToken();
  return (await channel.call('orders/query', { orderNo }, { token })).data;
};

/** The engine's turn on a morning: it compares what is not compared yet. */
async function morningOf(day: string): Promise<number> {
  service.clock.set(at(`${day} 04:00:00`));
  return reconcileDays({ ...operator, database: service.fresh.database, log: pino({ level: 'silent' }) });
}

const compare = (day: string) => runReconciliation(operator, { paymentChannelCode: 'STRIPE', day });
const refundNoOf = (orderNo: string) => `R${orderNo}000101`;

describe('a refund that succeeded and fails at Stripe afterwards', () => {
  async function refunded() {
    const { orderNo } = await order();
    const made = await refundPayment(operator, { orderNo, cycleNo: 1 });
    expect(made).toMatchObject({ status: 'SUCCESS', payment: { paymentStatus: 'REFUND_FULL' } });
    const refund = fake.refunds.at(-1);
    if (refund === undefined) throw new Error('Stripe has no refund');
    return { orderNo, refund };
  }

  it('on the same day: a difference of that day, and an alert', async () => {
    const { orderNo, refund } = await refunded();
    errors = '';
    fake.settleRefund(refund, 'failed');
    await allTold();
    expect(errors).toContain('contradicts a result that is written');
    expect(await morningOf(NEXT_DAY)).toBe(1);
    expect(inShort(await listDifferences(operator))).toEqual([
      `STATE ${refundNoOf(orderNo)} | SUCCESS 1990 | FAIL 1990`,
    ]);
    expect(await alerts(service.fresh.database)).toEqual([
      { kind: 'reconciliation-difference', subject: `STRIPE ${DAY}`, detail: 'open: 1 STATE' },
    ]);
    // Nothing is changed here before an operator has looked at it.
    expect(await found(orderNo)).toMatchObject({ totalRefundAmountCent: 1990 });
  });

  it('on a later day: a difference of the day on which the money came back, and an alert', async () => {
    const [day, later] = ['2026-02-05', '2026-02-07'];
    service.clock.set(at(`${day} 12:00:00`));
    const { orderNo, refund } = await refunded();
    service.clock.set(at(`${later} 12:00:00`));
    expect(await compare(day)).toMatchObject({ lines: 2, open: 0 });
    fake.settleRefund(refund, 'failed');
    await allTold();
    service.clock.set(at('2026-02-08 12:00:00'));
    expect(await compare(later)).toMatchObject({ lines: 1, open: 1 });
    expect(inShort(await listDifferences(operator))).toEqual([
      `STATE ${refundNoOf(orderNo)} | SUCCESS 1990 | FAIL 1990`,
    ]);
    expect(await alerts(service.fresh.database)).toEqual([
      { kind: 'reconciliation-difference', subject: `STRIPE ${later}`, detail: 'open: 1 STATE' },
    ]);
  });
});

describe('a payment that the user has disputed at the bank', () => {
  it('stays paid here, can not be refunded besides, and is no difference: the protocol has no word for a dispute', async () => {
    const { orderNo, payment } = await order();
    fake.dispute(payment);
    await allTold();
    expect(await found(orderNo)).toMatchObject({
      orderStatus: 'ACTIVE',
      totalPaidAmountCent: 1990,
      totalRefundAmountCent: 0,
    });
    const refusal = refundPayment(operator, { orderNo, cycleNo: 1 });
    await expect(refusal).rejects.toThrow('Stripe refused it: charge_disputed');
    expect(await alerts(service.fresh.database)).toMatchObject([
      { kind: 'refund-refused', subject: refundNoOf(orderNo), detail: 'Stripe refused it: charge_disputed' },
    ]);
    service.clock.set(at(`${NEXT_DAY} 04:00:00`));
    await compare(DAY);
    expect(inShort(await listDifferences(operator)).filter((one) => one.includes(orderNo))).toEqual([]);
  });
});
