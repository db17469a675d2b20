import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { reconcileDays } from '../../src/engine/jobs/reconciliation.js';
import { askAboutPendingDebits } from '../../src/engine/recovery/debits.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import type { Gateways } from '../../src/gateways/gateway-registry.js';
import { listDifferences, listReconciliations, runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { control, debitOf } from '../institution/support.js';
import { alerts } from '../orders/support.js';
import { attachBridge } from '../support/bridged-channel.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel, requestAt, unique } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { at, inShort } from './support.js';

/** The service and the reference institution over a real connection, on one clock: noon of 31 January. */
let service: TestService;
let channel: ChannelClient;
let institution: ReferenceProgram;
let gateways: Gateways;
let operator: OperatorWithGateways;
const DAY = '2026-01-31';

beforeAll(async () => {
  const key = Buffer.alloc(32, 3);
  service = await testService({ gateways: { of: (code) => gateways.of(code) } });
  const { clock } = service;
  institution = await startInstitution({
    ...{ port: 0, key, clock, control: true, delays: { settleMs: 0 } },
    // A small page, so that a few lines make several pages.
    statementPageLines: 3,
  });
  const bridge = createBridgeGateway({ url: institution.url, key, clock });
  gateways = { of: async () => bridge, close: () => bridge.close() };
  operator = { ...service.operator, clock, gateways };
  channel = await demoChannel(service);
  await attachBridge(operator, channel.credentials.appId, 'BRIDGE', 'http://127.0.0.1:1');
  await service.fresh.database.query('update payment_channels set created_at = $1', [new Date(clock.now())]);
});
afterAll(async () => {
  await gateways.close?.();
  await institution.stop();
  await service.close();
});

async function order(tail: string): Promise<string> {
  const reply = await channel.call('orders/create', requestAt(channel, 'BRIDGE', `${unique('shared')}-${tail}`));
  expect(reply.code, reply.text).toBe('0');
  return reply.data.orderNo;
}

/** Runs `act` at 04:00 of the day, after the time at which the job starts (03:00). */
async function atFourOf<T>(day: string, act: () => Promise<T>): Promise<T> {
  service.clock.set(at(`${day} 04:00:00`));
  try {
    return await act();
  } finally {
    service.clock.set(at(`${DAY} 12:00:00`));
  }
}
const theNextMorning = <T>(act: () => Promise<T>) => atFourOf('2026-02-01', act);
const reconcile = () => theNextMorning(() => runReconciliation(operator, { paymentChannelCode: 'BRIDGE', day: DAY }));
const open = () => theNextMorning(async () => inShort(await listDifferences(operator)));

describe('a day at the reference institution', () => {
  it('agrees, whatever the outcome of each debit and refund', async () => {
    const orders = await Promise.all(['8888', '8888', '0001', '0003', '8888'].map(order));
    await refundPayment(operator, { orderNo: orders[0] ?? '', cycleNo: 1, amountCent: 500 });
    await refundPayment(operator, { orderNo: orders[1] ?? '', cycleNo: 1 });
    expect(await reconcile()).toMatchObject({ source: 'GATEWAY', lines: 7, differences: 0, open: 0 });
  });

  it('a lost answer: open here, booked there; queried at once, and closed by the next run', async () => {
    const orderNo = await order('0006');
    expect(await reconcile()).toMatchObject({ open: 1 });
    expect(await open()).toEqual([`STATE ${orderNo}000101 | STARTED 1990 | SUCCESS 1990`]);
    const { database } = service.fresh;
    await askAboutPendingDebits({
      ...{ database, gateways, clock: service.clock, log: pino({ level: 'silent' }) },
      ...{
        channels: createChannelRegistry(database, service.vault),
        settle: createBatchSettler(database, service.clock),
      },
    });
    expect((await channel.call('orders/query', { orderNo })).data.orderStatus).toBe('ACTIVE');
    expect(await reconcile()).toMatchObject({ differences: 0, open: 0 });
  });

  it('a debit with a wrong amount, one not requested here, and one booked twice for a period', async () => {
    const wrong = await order('0014');
    const twice = await order('8888');
    const gateway = await gateways.of('BRIDGE');
    await gateway.debit(debitOf('STRANGER-1', '8888', { amountCent: 77 }));
    await gateway.debit(debitOf(`${twice}000102`));
    await reconcile();
    expect(await open()).toEqual(
      [
        `AMOUNT ${wrong}000101 | STARTED 1990 | SUCCESS 1991`,
        `STATE ${wrong}000101 | STARTED 1990 | SUCCESS 1991`,
        `DUPLICATE ${twice}000102 | - - | SUCCESS 1990`,
        `MISSING_HERE ${twice}000102 | - - | SUCCESS 1990`,
        'MISSING_HERE STRANGER-1 | - - | SUCCESS 77',
      ].sort(),
    );
    const raised = (await alerts(service.fresh.database)).filter(({ kind }) => kind === 'reconciliation-difference');
    expect(raised).toMatchObject([{ subject: `BRIDGE ${DAY}`, detail: expect.stringContaining('1 DUPLICATE') }]);
  });
});

describe('the job over the bridge', () => {
  const turn = (day: string) =>
    atFourOf(day, () =>
      reconcileDays({ ...operator, database: service.fresh.database, log: pino({ level: 'silent' }) }),
    );

  it('fails on an unusable page, reports it, and succeeds an hour later', async () => {
    await service.fresh.database.query('truncate reconciliations, reconciliation_differences, alerts');
    await control(institution, { action: 'set', fault: 'garbage-answer', operation: 'statement', times: 1 });
    expect(await turn('2026-02-01')).toBe(0);
    expect(await alerts(service.fresh.database)).toMatchObject([
      { kind: 'reconciliation-failed', subject: `BRIDGE ${DAY}`, detail: expect.stringContaining('no statement of') },
    ]);
    await service.fresh.database.query(`update job_marks set reached_at = reached_at - interval '1 hour'`);
    expect(await turn('2026-02-01')).toBe(1);
    expect(await theNextMorning(() => listReconciliations(operator))).toMatchObject([{ day: DAY, runBy: 'engine' }]);
  });
});
