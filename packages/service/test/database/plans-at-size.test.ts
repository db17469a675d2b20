import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { readShards, START } from '../../src/delivery/queue/due-sql.js';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { renewDueOrders } from '../../src/engine/jobs/renewals.js';
import { askAboutPendingDebits } from '../../src/engine/recovery/debits.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import { listSettlementLines } from '../../src/operator/books/settlement-lines.js';
import { findPaidPeriods } from '../../src/operator/bulk/find-items-sql.js';
import { resolveNumbers } from '../../src/operator/bulk/numbers.js';
import { listOrders } from '../../src/operator/orders/list-orders.js';
import { listDebits, listRefunds } from '../../src/operator/payments/payment-lists.js';
import { search } from '../../src/operator/search/search.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { claimsOf, formOf, get, post, type Stage, stage } from '../redeem/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { type NotedDatabase, notedDatabase } from '../support/noted-plans.js';
import { packageRoot } from '../support/processes.js';
import { anotherNode, type Node } from '../support/second-node.js';

const ORDERS = 20_000;
const FIRST_ORDER = 300_000_000_000;
/** Tables that grow with orders, events and requests. */
const GROWING =
  /\b(channel_users|external_orders|agreements|orders|payments|debit_attempts|benefits|claims|refunds|failed_payments|idempotency|events|due_events|delivery_attempts|nonces|replaced_codes)(_|\b)/;

let on: Stage;
let noted: NotedDatabase;
let node: Node;
let channel: ChannelClient;
beforeAll(async () => {
  on = await stage();
  const { database } = on.service.fresh;
  const channelIds = await database.query<{ id: number }>('select channel_id as id from channels');
  const loader = path.join(packageRoot, 'bench', 'growth', 'load.mjs');
  const { loadOrders } = await import(pathToFileURL(loader).href);
  await loadOrders((text: string, values: unknown[]) => database.query(text, values), {
    from: 0,
    to: ORDERS,
    channelIds: channelIds.map(({ id }) => id),
    paymentChannelCode: 'MOCKPAY',
    productCode: 'TEST_SPU_001',
  });
  noted = notedDatabase(database, GROWING);
  node = await anotherNode(on.service, { database: noted.database, redeemOpensPerMinute: 100_000 });
  channel = node.client(on.channel);
}, 300_000);
afterAll(async () => {
  await node.close();
  await on.close();
});

const called = async (name: string, body: Record<string, unknown>) => {
  const { code, data, text } = await channel.call(name, body);
  expect(code, text).toBe('0');
  return data;
};

/**
 * Returns the dependencies of the jobs. Their clock is the real time, because the database decides by its clock what is
 * due.
 */
const jobDeps = () => {
  const { vault } = on.service;
  const { database } = noted;
  const clock = { now: Date.now };
  return {
    database,
    clock,
    log: pino({ level: 'silent' }),
    channels: createChannelRegistry(database, vault),
    gateways: { of: async () => createSandboxGateway(clock) },
    settle: createBatchSettler(database, clock),
  };
};

const ADMITTED = ['nonces_pkey'];
const PERIODS = ['benefits_pkey', 'orders_pkey', 'payments_pkey'];
const STORED = ['channel_users_by_user', 'channel_users_mobile', 'external_orders_number', 'idempotency_pkey'];
const ENDED = ['agreements_number', 'agreements_pkey', 'orders_agreement_id_idx', 'orders_pkey', 'payments_pkey'];
const SEARCHED = [
  ...['agreements_number', 'agreements_of_user', 'channel_users_by_user', 'claims_of_code'],
  ...['debit_attempts_of_reference', 'external_orders_number', 'external_orders_of_user', 'refunds_of_reference'],
  'replaced_codes_of_code',
];

describe('at production size, statements use these indexes and no sequential scans', () => {
  const plansOf = async (work: () => Promise<unknown>, indexes: readonly string[]) =>
    expect(await noted.plansOf(work)).toEqual([...indexes].sort());

  it('requests: admission, the stores of a creation and its settlement, queries and lists', async () => {
    const collected = () => called('orders/create', collectRequest(channel));
    await plansOf(collected, [...ADMITTED, ...STORED, 'agreements_pkey']);
    const deducted = () => called('orders/create', sharedRequest(channel));
    const settled = ['agreements_pkey', 'debit_attempts_pkey', 'orders_pkey', 'payments_pkey'];
    await plansOf(deducted, [...ADMITTED, ...STORED, ...settled]);
    const { orderNo } = await deducted();
    const unsubscribed = () => called('orders/unsubscribe', { orderNo });
    await plansOf(unsubscribed, [...ADMITTED, ...ENDED, 'idempotency_pkey']);
    const found = [...ADMITTED, ...PERIODS, 'idempotency_pkey'];
    await plansOf(
      () => called('orders/query', { orderNo: String(FIRST_ORDER + 6) }),
      [...found, 'external_orders_number'],
    );
    await plansOf(
      () => called('orders/list', { channelUserId: 'growth-user-3' }),
      [...found, 'external_orders_of_user'],
    );
  });

  it('users: the page and a claim', async () => {
    const order = await on.order();
    const page = await get(node.baseUrl, order.path);
    await plansOf(
      () => get(node.baseUrl, order.path),
      [...PERIODS, 'agreements_pkey', 'claims_pkey', 'failed_payments_pkey', 'refunds_pkey'],
    );
    const form = { ...formOf(page), claim: claimsOf(page).get('VIP pass 1') ?? '' };
    const claim = async () => expect((await post(node.baseUrl, '/redeem/claim', form)).status).toBe(303);
    await plansOf(claim, ['benefits_pkey', 'orders_pkey']);
  });

  it('operators: searches', async () => {
    const operator = { ...on.service.operator, database: noted.database };
    const find = (q: string) => async () =>
      expect(JSON.stringify(await search(operator, { q }, 'support'))).toContain(q);
    const events = ['events_event_no_recorded_at_idx', 'events_order_no_recorded_at_event_no_idx'];
    await plansOf(find(String(FIRST_ORDER + 8)), [...SEARCHED, ...events, 'orders_pkey', 'payments_pkey']);
    await plansOf(find('growth-order-8'), [...SEARCHED, 'orders_pkey']);
    await plansOf(find('growth-user-4'), SEARCHED);
  });

  it('operators: the lists of orders, debits, refunds and settlement lines', async () => {
    const clock = { now: Date.now };
    const operator = { ...on.service.operator, database: noted.database, clock };
    const { appId } = on.channel.credentials;
    const orders = (filter: object) => () => listOrders(operator, filter, 'support');
    await plansOf(orders({ createdFrom: '2020-01-01' }), ['external_orders_created', 'orders_pkey']);
    await plansOf(orders({ appId }), ['external_orders_of_channel', 'orders_pkey']);
    await plansOf(orders({ appId, status: 'TERMINATED' }), ['orders_ended_of_channel', 'orders_pkey']);
    await plansOf(orders({ appId, failed: 'true' }), ['orders_failed_of_channel', 'orders_pkey']);
    const found = ['orders_pkey', 'payments_pkey'];
    for (const filter of [{}, { status: 'FAIL' as const }, { amountTo: '1' }]) {
      await plansOf(() => listDebits(operator, filter), ['all of debit_attempts_at', ...found]);
    }
    await plansOf(() => listDebits(operator, { appId }), ['debit_attempts_of_channel', ...found]);
    // This index has only the debits without a result.
    await plansOf(() => listDebits(operator, { status: 'STARTED' }), ['all of debit_attempts_ask_at_idx', ...found]);
    await plansOf(() => listRefunds(operator, {}), ['all of refunds_at', ...found]);
    await plansOf(() => listRefunds(operator, { appId }), ['refunds_of_channel', ...found]);
    const month = new Date(clock.now() + 8 * 3_600_000).toISOString().slice(0, 7);
    const lines = (filter: object) => () => listSettlementLines(operator, { appId, month, ...filter });
    // Refunds are listed without reading a payment.
    await plansOf(lines({}), ['orders_pkey', 'payments_paid_at_idx', 'refunds_of_channel']);
    await plansOf(lines({ kind: 'BILLED' }), ['orders_pkey', 'payments_paid_at_idx']);
    await plansOf(lines({ kind: 'REFUNDED' }), ['orders_pkey', 'refunds_of_channel']);
  });

  it('operators: lists of numbers, and the payments of a day', async () => {
    const { database } = noted;
    const named = [String(FIRST_ORDER + 8), 'growth-order-9', `${FIRST_ORDER + 10}0001`];
    const numbers = named.map((number, index) => ({ number, line: index + 1 }));
    const listed = async () => expect(await resolveNumbers(database, numbers)).toHaveLength(3);
    await plansOf(listed, ['external_orders_number', 'orders_pkey', 'payments_pkey']);
    const day = Date.parse('2031-05-06');
    const paid = () => findPaidPeriods(database, day, day + 86_400_000, null, null, null, 10_001);
    await plansOf(paid, ['orders_pkey', 'payments_paid_at_idx']);
  });

  it('jobs: renewals of both modes, debits without a result, deliveries', async () => {
    // The orders of the tests above were created long ago by the real time, so two are due to be billed.
    const bill = async () => expect(await billDueOrders(noted.database)).toBe(2);
    await plansOf(bill, ['orders_to_bill']);
    // One order is due, and so are its next periods: the run also renews those whose former period is settled in time.
    const renew = async () =>
      expect(await renewDueOrders(jobDeps(), { code: 'MOCKPAY', debitsPerSecond: null })).toBeGreaterThan(0);
    await plansOf(renew, ['agreements_pkey', 'debit_attempts_pkey', 'orders_pkey', 'orders_to_debit', 'payments_pkey']);
    const ask = () => askAboutPendingDebits(jobDeps());
    await plansOf(ask, ['debit_attempts_ask_at_idx', 'debit_attempts_pkey', 'orders_pkey']);
    const part = { shard: 1, after: START, until: null, since: null };
    await plansOf(() => readShards(noted.database, [part], [], 1_000), ['due_events_pkey']);
  });
});
