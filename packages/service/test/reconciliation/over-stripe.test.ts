import { type Bridge, startBridge } from '@perennial/bridge-kit';
import { createStripeInstitution } from '@perennial/bridge-stripe';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePayment, type FakeStripe, startFakeStripe } from '../../../bridge-stripe/test/fake-stripe.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import type { Gateways } from '../../src/gateways/gateway-registry.js';
import { listDifferences, runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
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
/** The answers to the webhooks that Stripe has sent. They resolve when the bridge answers. */
const telling: Promise<number>[] = [];

beforeAll(async () => {
  service = await testService({ gateways: { of: (code) => gateways.of(code) } });
  const { clock } = service;
  fake = await startFakeStripe({ now: clock.now });
  const { secretKey, webhookSecret } = fake;
  bridge = await startBridge({
    institution: createStripeInstitution({ secretKey, webhookSecret, apiBase: fake.url, clock }),
    ...{ key: KEY, clock, databaseUrl: service.fresh.url, schema: 'stripe', port: 0, monitoringPort: 0 },
    log: pino({ level: 'silent' }),
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

/** Waits until the bridge has accepted all webhooks of Stripe. */
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

const compare = (day: string) => runReconciliation(operator, { paymentChannelCode: 'STRIPE', day });
const refundNoOf = (orderNo: string) => `R${orderNo}000101`;

describe('a payment that the user has disputed at the bank', () => {
  it('stays paid here, cannot be refunded too, and is no difference, because the protocol has no disputes', async () => {
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
