import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillDemo } from '../../src/demo/fill-demo.js';
import { type TestService, testService } from '../support/service.js';
import { type ConsoleClient, consoleClient } from './support.js';

/** Noon in Asia/Shanghai. */
const END = Date.UTC(2026, 10, 16, 4, 0, 0);
const SOMETHING = expect.arrayContaining([expect.anything()]);

let service: TestService;
let admin: ConsoleClient;

beforeAll(async () => {
  service = await testService();
  service.clock.set(END);
  const gateways = {
    of: async () => {
      throw new Error('no institution is asked');
    },
  };
  await fillDemo({ ...service.operator, clock: service.clock, gateways }, { orders: 110 });
  admin = await consoleClient(service, 'admin');
});
afterAll(() => service.close());

describe('after demo fill', () => {
  it('the overview has figures of the month, and alerts on top', async () => {
    const { status, body } = await admin.get('/overview?range=30d');
    expect(status).toBe(200);
    const zeros = Object.entries(body.totals).filter(([, figure]) => figure === 0);
    expect(zeros).toEqual([]);
    expect(body).toMatchObject({ channels: SOMETHING, alerts: SOMETHING });
    expect(Object.entries(body.now).filter(([, figure]) => figure === 0)).toEqual([]);
  });

  it.each([
    ['/orders', { orders: SOMETHING }],
    ['/orders?status=INITIALIZING', { orders: SOMETHING }],
    ['/payments/failed?status=FAIL_RETRY', { payments: SOMETHING }],
    ['/payments/failed?status=FAIL', { payments: SOMETHING }],
    [
      '/payments/failed/summary',
      { byReason: SOMETHING, byInstitution: SOMETHING, byTry: SOMETHING, recoveredByTry: SOMETHING },
    ],
    ['/events/channels', { channels: SOMETHING }],
    ['/events?appId=test_fitlife&status=GIVE_UP', { events: SOMETHING }],
    ['/events?appId=test_daily_read&status=NO_CALLBACK', { events: SOMETHING }],
    ['/alerts', { alerts: SOMETHING, kinds: SOMETHING }],
    ['/approvals?status=WAITING', { approvals: SOMETHING }],
    ['/bulk', { runs: SOMETHING }],
    ['/reconciliations', { reconciliations: SOMETHING }],
    ['/differences', { differences: SOMETHING }],
    ['/settlement', { months: SOMETHING }],
    ['/channels/test_sunny_video/requests', { requests: SOMETHING }],
    ['/channels/test_fitlife/requests?code=401002', { requests: SOMETHING }],
    ['/benefits', { benefits: SOMETHING }],
    ['/products', { products: SOMETHING }],
    ['/payment-channels', { paymentChannels: SOMETHING }],
    ['/people', { people: SOMETHING }],
    ['/audit?actor=chen', { entries: SOMETHING }],
  ])('%s has something to show', async (path, shown) => {
    const { status, body } = await admin.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject(shown);
  });

  it('the page of every single order can be read', async () => {
    const orders = await service.fresh.database.query<{ orderNo: string }>(
      'select order_no::text as "orderNo" from orders',
    );
    for (const { orderNo } of orders) expect((await admin.get(`/orders/${orderNo}`)).status, orderNo).toBe(200);
  });
});
