import { beforeEach, describe, expect, it } from 'vitest';
import { leaseRun, renewLease } from '../../src/operator/bulk/bulk-sql.js';
import { dumpWithout } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { copyOrder, eventsOf } from '../orders/support.js';
import { declined } from '../renewals/support.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { recordOutcome, whileAddressed } from '../webhooks/outcomes.js';
import { operatorStage, refusal } from './operators.js';
import { type ConsoleClient, consoleClient } from './support.js';

const on = ofFile(operatorStage);
beforeEach(() => {
  on.bank.reset();
  on.institution.reset();
});

let keys = 0;
const prepare = (who: ConsoleClient, kind: string, choice: object, more: object = {}) => {
  keys += 1;
  return who.post('/bulk', { kind, ...choice, reason: 'on purpose', key: `key-${keys}`, ...more });
};
const start = (who: ConsoleClient, { runId, confirmation }: { runId: string; confirmation: string }) =>
  who.post(`/bulk/${runId}/start`, { confirmation });
const run = async (runId: string) => (await on.viewer.get(`/bulk/${runId}`)).body;
const items = async (runId: string, query = ''): Promise<[string, string, string | null][]> =>
  (await on.viewer.get(`/bulk/${runId}/items${query}`)).body.items.map(
    ({ subject, status, result }: { subject: string; status: string; result: string | null }) => [
      subject,
      status,
      result,
    ],
  );
/** Creates paid orders. Returns them sorted by number, because a run lists its items in that order. */
const many = async (count: number) =>
  (await Promise.all(Array.from({ length: count }, () => on.paidOrder()))).toSorted();
const statusOf = async (orderNo: string) => (await on.query(orderNo))['orderStatus'];
/** Returns a function that stops the job after `count` items. */
const after = (count: number) => {
  let asked = 0;
  return () => {
    asked += 1;
    // The job calls this function one time before it leases a run, and one time before each item.
    return asked > count + 1;
  };
};

describe('a run of an operator who is disabled', () => {
  it('stops before its next item', async () => {
    const leaver = await consoleClient(on.service, 'support');
    const orders = await many(3);
    const { body: running } = await prepare(leaver, 'UNSUBSCRIBE', { items: orders });
    await start(leaver, running);
    await on.workOff({ stopping: after(1) });
    expect((await on.admin.post(`/people/${leaver.name}/disable`)).status).toBe(200);
    await on.workOff();
    expect(await Promise.all(orders.map(statusOf))).toEqual(['UNSUBSCRIBED', 'ACTIVE', 'ACTIVE']);
    expect(await run(running.runId)).toMatchObject({ status: 'CANCELED', done: 1, skipped: 2 });
    expect(
      await on.sql(`select actor, detail from audit_log where action = 'bulk.cancel' and subject = $1`, [
        `run-${running.runId}`,
      ]),
    ).toEqual([{ actor: 'engine', detail: { disabled: leaver.name, done: 1 } }]);
  });

  it('stops also if a node is working on it', async () => {
    const leaver = await consoleClient(on.service, 'support');
    const orders = await many(3);
    const { body: running } = await prepare(leaver, 'UNSUBSCRIBE', { items: orders });
    await start(leaver, running);
    const { database } = on.service.fresh;
    // The run is leased before the operator is disabled. Afterwards the lease cannot be renewed.
    expect(await leaseRun(database, 60)).toMatchObject({ runId: Number(running.runId) });
    await on.sql(`update people set status = 'DISABLED' where name = $1`, [leaver.name]);
    expect(await renewLease(database, Number(running.runId), 60)).toBe(false);
    await on.workOff();
    expect(await Promise.all(orders.map(statusOf))).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE']);
    expect((await run(running.runId)).status).toBe('CANCELED');
  });
});

describe('a dry run', () => {
  it('counts the items and sums the amounts, and changes nothing else', async () => {
    const [first = '', second = '', ended = ''] = await many(3);
    await on.channel.call('orders/unsubscribe', { orderNo: ended });
    const others = () => dumpWithout(on.service.fresh.database, /^(console_sessions|bulk_\w+|audit_\w+): /);
    const before = await others();
    const { status, body } = await prepare(on.support, 'UNSUBSCRIBE', { items: [first, second, ended] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'UNSUBSCRIBE',
      status: 'PREPARED',
      items: 3,
      skipped: 1,
      amountCent: 2 * 11 * 1990,
      confirmation: 'UNSUBSCRIBE 2',
      needsApproval: false,
      approvalId: null,
      done: 0,
      failed: 0,
      requestedBy: on.support.name,
      startedAt: null,
      finishedAt: null,
    });
    expect(await items(body.runId)).toEqual([
      [first, 'WAITING', null],
      [second, 'WAITING', null],
      [ended, 'SKIPPED', `order ${ended} is UNSUBSCRIBED: there is nothing to unsubscribe`],
    ]);
    expect(await on.workOff()).toBe(0);
    expect(await others()).toBe(before);
  });

  it('is the same run for the same key; with another kind it is refused', async () => {
    const choice = { items: await many(1) };
    const first = await prepare(on.support, 'UNSUBSCRIBE', choice, { key: 'same' });
    const again = await prepare(on.support, 'UNSUBSCRIBE', choice, { key: 'same' });
    expect(again.body.runId).toBe(first.body.runId);
    const other = await prepare(on.support, 'REPLAY', { items: ['1'] }, { key: 'same' });
    expect(refusal(other)).toEqual([409, `the key "same" was already used for run ${first.body.runId} (UNSUBSCRIBE)`]);
    // The same key of another operator creates another run, because a key belongs to an operator.
    const admins = await prepare(on.admin, 'UNSUBSCRIBE', choice, { key: 'same' });
    expect(admins.body.runId).not.toBe(first.body.runId);
    const atOnce = await Promise.all(
      Array.from({ length: 5 }, () => prepare(on.admin, 'UNSUBSCRIBE', choice, { key: 'at once' })),
    );
    expect(new Set(atOnce.map(({ body }) => body.runId)).size).toBe(1);
  });

  it('is allowed only to those who may do the same to a single item', async () => {
    const [orderNo = ''] = await many(1);
    const choice = { items: [orderNo] };
    expect((await prepare(on.viewer, 'UNSUBSCRIBE', choice)).status).toBe(403);
    expect((await prepare(on.ann, 'UNSUBSCRIBE', choice)).status).toBe(403);
    expect((await prepare(on.support, 'REFUND', { items: [`${orderNo}-1`] })).status).toBe(403);
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', choice);
    expect((await start(on.ann, body)).status).toBe(403);
    expect((await on.ann.post(`/bulk/${body.runId}/cancel`)).status).toBe(403);
  });

  it('refuses unknown items, impossible actions, and empty or misspelt filters', async () => {
    const [orderNo = ''] = await many(1);
    expect((await prepare(on.support, 'UNSUBSCRIBE', { items: [orderNo, '1'] })).status).toBe(404);
    expect((await prepare(on.support, 'UNSUBSCRIBE', { items: ['x'] })).status).toBe(404);
    expect((await prepare(on.support, 'RETRY', { items: [`${orderNo}-7`] })).status).toBe(404);
    expect((await prepare(on.support, 'REPLAY', { items: ['999999999'] })).status).toBe(404);
    expect(refusal(await prepare(on.support, 'RETRY', { items: [`${orderNo}-1`] }))).toEqual([
      409,
      `period 1 of order ${orderNo} is SUCCESS: only FAIL_RETRY can be retried`,
    ]);
    expect(refusal(await prepare(on.support, 'UNSUBSCRIBE', { filter: { productcode: 'X' } }))[1]).toMatch(
      /a name in the filter must be .* not "productcode"/,
    );
    expect(refusal(await prepare(on.support, 'UNSUBSCRIBE', { filter: {} }))).toEqual([
      400,
      'every order would match: narrow the filter',
    ]);
    expect((await prepare(on.support, 'REPLAY', { filter: {} })).status).toBe(400);
    expect((await prepare(on.support, 'UNSUBSCRIBE', {})).status).toBe(400);
    expect((await prepare(on.support, 'UNSUBSCRIBE', { items: [orderNo], filter: { appId: 'a' } })).status).toBe(400);
    expect(refusal(await prepare(on.support, 'UNSUBSCRIBE', { filter: { channelUserId: 'nobody' } }))).toEqual([
      409,
      'no matching item can be processed',
    ]);
  });

  it('is refused for more than 10,000 items', async () => {
    const [orderNo = ''] = await many(1);
    for (const table of ['orders', 'external_orders']) {
      await on.sql(`update ${table} set product_code = 'TEST_SPU_DAILY_7' where order_no = $1`, [orderNo]);
    }
    await copyOrder(on.service.fresh.database, orderNo, 10_001);
    const choice = { filter: { productCode: 'TEST_SPU_DAILY_7' } };
    const reply = await prepare(on.support, 'UNSUBSCRIBE', choice);
    expect(refusal(reply)).toEqual([
      409,
      'more than 10000 match: a run can have at most 10000 items, so narrow the filter',
    ]);
    await on.sql(`delete from orders where product_code = 'TEST_SPU_DAILY_7'`);
    await on.sql(`delete from external_orders where external_order_no like 'copy-%'`);
  }, 60_000);
});

describe('a run', () => {
  it('starts only with the exact confirmation', async () => {
    const orders = await many(2);
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { items: orders });
    for (const confirmation of ['UNSUBSCRIBE', 'UNSUBSCRIBE 3', 'unsubscribe 2', 'UNSUBSCRIBE 2 ', 'yes']) {
      const reply = await start(on.support, { ...body, confirmation });
      expect([confirmation, reply.status]).toEqual([confirmation, 409]);
    }
    expect(await on.workOff()).toBe(0);
    const started = await start(on.support, body);
    expect(started.body).toMatchObject({ status: 'RUNNING', startedAt: expect.any(String) });
    expect((await start(on.support, body)).body.status).toBe('RUNNING');
    expect(await on.workOff()).toBe(2);
    expect(await run(body.runId)).toMatchObject({ status: 'DONE', done: 2, failed: 0, skipped: 0 });
    expect(await items(body.runId)).toEqual(orders.map((orderNo) => [orderNo, 'DONE', 'the order is UNSUBSCRIBED']));
    for (const orderNo of orders) expect(await statusOf(orderNo)).toBe('UNSUBSCRIBED');
    const audit = await on.sql(
      `select actor, audit_detail(audit_log) ->> 'reason' as reason from audit_log where action = 'order.unsubscribe' and subject = $1`,
      [orders[0]],
    );
    expect(audit).toEqual([{ actor: on.support.name, reason: 'on purpose' }]);
  });

  it('can be started only by its requester, so that nobody approves their own choice', async () => {
    const [orderNo = ''] = await many(1);
    const { body } = await prepare(on.ann, 'REFUND', { items: [`${orderNo}-1`] });
    for (const other of [on.bob, on.admin]) {
      expect(refusal(await start(other, body))).toEqual([
        409,
        `run ${body.runId} can only be started by ann, who prepared it`,
      ]);
    }
    expect(await run(body.runId)).toMatchObject({ status: 'PREPARED', approvalId: null });
    const { approvalId } = (await start(on.ann, body)).body;
    expect((await on.ann.post(`/approvals/${approvalId}/approve`)).body.code).toBe('decides-own-request');
    expect((await on.bob.post(`/approvals/${approvalId}/decline`, { note: 'no' })).status).toBe(200);
  });

  it('cannot be started a day later', async () => {
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { items: await many(1) });
    await on.sql(`update bulk_runs set requested_at = now() - interval '25 hours' where run_id = $1`, [body.runId]);
    expect(refusal(await start(on.support, body))[1]).toMatch(/was prepared more than a day ago/);
  });

  it('of retries stays open until each debit has its result', async () => {
    const [declinedAgain = '', unknown = '', ended = ''] = await many(3);
    for (const orderNo of [declinedAgain, unknown, ended]) await on.renewNow(orderNo, 'retryable');
    const { body } = await prepare(on.support, 'RETRY', {
      items: [declinedAgain, unknown, ended].map((orderNo) => `${orderNo}-2`),
    });
    await start(on.support, body);
    await on.workOff();
    await on.follow();
    expect(await run(body.runId)).toMatchObject({ status: 'PENDING', done: 0, pending: 3, failed: 0 });
    // This order ends before its debit, so it has no debit attempt.
    await on.channel.call('orders/unsubscribe', { orderNo: ended });
    const usual = on.institution.onDebit;
    on.institution.onDebit = async ({ attemptNo }) =>
      attemptNo.startsWith(unknown) ? { kind: 'unknown' } : declined('retryable');
    await on.renew();
    on.institution.onDebit = usual;
    await on.follow();
    expect(await items(body.runId)).toEqual([
      [`${declinedAgain}-2`, 'FAILED', 'the debit failed: because retryable'],
      [`${unknown}-2`, 'PENDING', 'due now'],
      [`${ended}-2`, 'FAILED', `period 2 of order ${ended} is CANCELED: only FAIL_RETRY can be retried`],
    ]);
    expect(await run(body.runId)).toMatchObject({ status: 'PENDING', done: 0, pending: 1, failed: 2 });
    await on.askPending();
    await on.follow();
    expect(await run(body.runId)).toMatchObject({ status: 'DONE', done: 1, pending: 0, failed: 2 });
  });

  it('unsubscribes only the active orders of those that match the list', async () => {
    const [one = ''] = await many(1);
    const user = 'bulk-user';
    const first = await on.paidOrder({ channelUserId: user });
    const second = await on.paidOrder({ channelUserId: user });
    await on.channel.call('orders/unsubscribe', { orderNo: second });
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { filter: { channelUserId: user, appId: 'test_demo' } });
    expect(body).toMatchObject({ items: 1, skipped: 0, filter: { channelUserId: user } });
    expect((await run(body.runId)).filter.channelUserId).toBe('bu****er');
    await start(on.support, body);
    await on.workOff();
    expect([await statusOf(first), await statusOf(one)]).toEqual(['UNSUBSCRIBED', 'ACTIVE']);
  });

  it('replays events, by name and by filter', async () => {
    const orderNo = await whileAddressed(on.service.fresh.database, on.channel, async () => {
      const [made = ''] = await many(1);
      await on.channel.call('orders/unsubscribe', { orderNo: made });
      return made;
    });
    // All events were given up.
    await on.sql(
      `with gone as (delete from due_events where order_no = $1 returning *)
       insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, retry_no, reason)
       select channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, 10, 'GIVE_UP' from gone`,
      [orderNo],
    );
    const due = async () =>
      (await on.sql<{ n: number }>('select count(*)::integer as n from due_events where order_no = $1', [orderNo]))[0]
        ?.n;
    const filter = { appId: 'test_demo', orderNo, status: 'GIVE_UP' };
    const { body } = await prepare(on.support, 'REPLAY', { filter });
    const told = await eventsOf(on.service.fresh.database, orderNo);
    expect(body).toMatchObject({ items: told.length, amountCent: 0 });
    await start(on.support, body);
    expect(await on.workOff()).toBe(told.length);
    const queued = (count: number) => ['PENDING', `events queued to be sent again: ${count}`];
    expect((await items(body.runId)).map(([, ...came]) => came)).toEqual(
      expect.arrayContaining([queued(1), queued(11)]),
    );
    expect(await due()).toBe(told.length);
    const [row] = await on.sql<{ no: string }>('select min(event_no)::text as no from events where order_no = $1', [
      orderNo,
    ]);
    const named = await prepare(on.support, 'REPLAY', { items: [row?.no] });
    await start(on.support, named.body);
    await on.workOff();
    expect(await items(named.body.runId)).toEqual([[row?.no, ...queued(1)]]);
  });

  it('of replays stays open until each event was accepted or given up', async () => {
    const { database } = on.service.fresh;
    const orderNo = await whileAddressed(database, on.channel, () => on.paidOrder());
    await whileAddressed(database, on.channel, () => on.channel.call('orders/unsubscribe', { orderNo }));
    const due = await on.sql<{ no: string; cycleNo: number; id: string }>(
      `select event_no::text as no, cycle_no as "cycleNo", event_no || case when cycle_no = 0 then '' else '-' || cycle_no end as id
       from due_events where order_no = $1 order by event_no`,
      [orderNo],
    );
    const [first, second, third, range] = due;
    const { body } = await prepare(on.support, 'REPLAY', {
      items: [first?.no, second?.no, third?.no, `${range?.no}-5`],
    });
    await start(on.support, body);
    await on.workOff();
    await recordOutcome(database, [first?.id ?? ''], 'ACCEPTED');
    await recordOutcome(database, [second?.id ?? ''], 'GIVE_UP');
    await recordOutcome(database, [third?.id ?? ''], 'REFUSED');
    await on.follow();
    expect(await run(body.runId)).toMatchObject({ status: 'PENDING', done: 1, pending: 2, failed: 1 });
    await recordOutcome(database, [third?.id ?? ''], 'NO_CALLBACK');
    await recordOutcome(database, [range?.id ?? ''], 'ACCEPTED');
    await on.follow();
    expect(await run(body.runId)).toMatchObject({ status: 'DONE', done: 2, pending: 0, failed: 2 });
    expect((await items(body.runId)).map(([, ...came]) => came)).toEqual([
      ['DONE', 'the channel has accepted it'],
      ['FAILED', 'the channel has not accepted it, and it is no longer sent'],
      ['FAILED', 'the channel has no callback address'],
      ['DONE', 'the channel has accepted it'],
    ]);
  });

  it('alternates with other runs, so that a short one does not wait for a long one', async () => {
    const [first = ''] = await many(1);
    const long = await prepare(on.support, 'UNSUBSCRIBE', { items: await many(52) });
    const short = await prepare(on.support, 'UNSUBSCRIBE', { items: [first] });
    await start(on.support, long.body);
    await start(on.support, short.body);
    // The job does fifty items of the long run, then the short run, then the rest of the long run.
    let turns = 0;
    const stopping = () => {
      turns += 1;
      return turns > 54;
    };
    await on.workOff({ stopping });
    expect(await run(short.body.runId)).toMatchObject({ status: 'DONE' });
    expect(await run(long.body.runId)).toMatchObject({ status: 'RUNNING' });
    await on.workOff();
    expect(await run(long.body.runId)).toMatchObject({ status: 'DONE', done: 52 });
  }, 60_000);

  it('that is canceled keeps its finished items, and skips the rest', async () => {
    const orders = await many(4);
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { items: orders });
    await start(on.support, body);
    await on.workOff({ stopping: after(1) });
    const canceled = await on.support.post(`/bulk/${body.runId}/cancel`);
    expect(canceled.body).toMatchObject({ status: 'CANCELED', done: 1, skipped: 3, finishedAt: expect.any(String) });
    expect(await on.workOff()).toBe(0);
    expect(await items(body.runId, '?status=SKIPPED')).toEqual(
      orders.slice(1).map((orderNo) => [orderNo, 'SKIPPED', 'the run was canceled']),
    );
    expect((await on.support.post(`/bulk/${body.runId}/cancel`)).body.status).toBe('CANCELED');
    expect((await start(on.support, body)).status).toBe(409);
    expect(await Promise.all(orders.map(statusOf))).toEqual(['UNSUBSCRIBED', 'ACTIVE', 'ACTIVE', 'ACTIVE']);
  });

  it('is listed, with its items page by page', async () => {
    const orders = await many(3);
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { items: orders });
    const { runs, nextCursor } = (await on.viewer.get('/bulk?limit=1')).body;
    expect(runs.map(({ runId }: { runId: string }) => runId)).toEqual([body.runId]);
    const next = (await on.viewer.get(`/bulk?limit=1&cursor=${nextCursor}`)).body;
    expect(Number(next.runs[0].runId)).toBeLessThan(Number(body.runId));
    const page = (await on.viewer.get(`/bulk/${body.runId}/items?limit=2`)).body;
    expect(page.items).toHaveLength(2);
    const rest = (await on.viewer.get(`/bulk/${body.runId}/items?limit=2&cursor=${page.nextCursor}`)).body;
    expect(rest).toMatchObject({ items: [{ itemNo: 3, subject: orders[2], orderNo: orders[2] }], nextCursor: null });
    expect((await on.viewer.get('/bulk/999999')).status).toBe(404);
    // Refuses the cursor of another list and forged cursors.
    const forged = [[-1], [0], ['bulk', -1], ['bulk', 0], ['bulk', 1.5], ['bulk', '1'], ['bulk'], 'bulk'].map((key) =>
      Buffer.from(JSON.stringify(key)).toString('base64url'),
    );
    for (const path of [
      ...forged.map((cursor) => `/bulk?cursor=${cursor}`),
      ...['/approvals', '/audit', '/alerts', `/bulk/${body.runId}/items`].map((of) => `${of}?cursor=${nextCursor}`),
      ...['/bulk', `/bulk/${next.runs[0].runId}/items`].map((of) => `${of}?cursor=${page.nextCursor}`),
    ]) {
      expect([path, (await on.viewer.get(path)).body.code]).toEqual([path, 'cursor-unknown']);
    }
    expect((await on.viewer.get('/bulk/999999/items')).status).toBe(404);
  });
});

describe('the engine of a node', () => {
  it('processes started runs, follows pending items, and finishes interrupted approvals', async () => {
    // The institution is down when this refund is sent, and answers later.
    const undecided = await prepare(on.ann, 'REFUND', { items: (await many(1)).map((one) => `${one}-1`) });
    const { approvalId } = (await start(on.ann, undecided.body)).body;
    await on.bob.post(`/approvals/${approvalId}/approve`);
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    await on.workOff();
    expect(await run(undecided.body.runId)).toMatchObject({ pending: 1 });
    on.bank.onRefund = async (request) => on.bank.book(request);
    await on.sql('update refunds set ask_at = now() where ask_at is not null');
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { items: await many(2) });
    await start(on.support, body);
    const orderNo = await on.paidOrder();
    await on.sql(
      `insert into approvals (kind, status, subject, request_key, amount_cent, note, requested_by, decided_by, decided_at)
       values ('REFUND', 'APPROVED', $1, 'left', 1990, 'late', 'ann', 'bob', now() - interval '1 minute')`,
      [`${orderNo}-1`],
    );
    const node = await anotherNode(on.service, { engine: true, gateways: on.operator.gateways });
    try {
      await until('the run is done', async () => (await run(body.runId)).status === 'DONE');
      await until('the refund is made', async () => on.bank.booked.size > 1);
      await until('the run of refunds is done', async () => (await run(undecided.body.runId)).status === 'DONE');
    } finally {
      await node.close();
    }
    expect(await run(body.runId)).toMatchObject({ done: 2, failed: 0 });
    expect(await run(undecided.body.runId)).toMatchObject({ done: 1, pending: 0, failed: 0 });
    expect((await on.query(orderNo))['totalRefundAmountCent']).toBe(1990);
  }, 60_000);
});

describe('a run that refunds', () => {
  const booked = () => [...on.bank.booked.values()].map(({ amountCent }) => amountCent);
  const approve = (who: ConsoleClient, approvalId: string) => who.post(`/approvals/${approvalId}/approve`);
  async function waiting(orders: readonly string[]) {
    const { body } = await prepare(on.ann, 'REFUND', { items: orders.map((orderNo) => `${orderNo}-1`) });
    return (await start(on.ann, body)).body;
  }

  it('always waits for a second operator, and then refunds each item with its own key', async () => {
    const orders = await many(3);
    await on.refund({ orderNo: orders[1] ?? '', cycleNo: 1, amountCent: 990 });
    const prepared = await prepare(on.ann, 'REFUND', { items: orders.map((orderNo) => `${orderNo}-1`) });
    expect(prepared.body).toMatchObject({ needsApproval: true, amountCent: 1990 + 1000 + 1990 });
    const started = (await start(on.ann, prepared.body)).body;
    expect(started).toMatchObject({ status: 'WAITING', approvalId: expect.any(String) });
    const { body: preview } = await on.bob.get(`/bulk/${started.runId}/preview`);
    expect(preview).toMatchObject({
      refunds: 3,
      refundCent: 4980,
      // The earlier refund has revoked a coupon.
      benefitsRevoked: [
        { name: 'VIP pass', count: 3 },
        { name: 'Coupon', count: 2 },
      ],
      events: [{ eventType: 'payment.status.changed', count: 3 }],
    });
    on.bank.reset();
    expect(await on.workOff()).toBe(0);
    expect((await approve(on.ann, started.approvalId)).status).toBe(409);
    const approved = await approve(on.bob, started.approvalId);
    expect(approved.body).toMatchObject({
      kind: 'BULK',
      runId: started.runId,
      orderNo: null,
      amountCent: 4980,
      result: `run ${started.runId} has started`,
    });
    expect(await on.workOff()).toBe(3);
    expect(booked()).toEqual([1990, 1000, 1990]);
    expect((await items(started.runId)).map(([, status]) => status)).toEqual(['DONE', 'DONE', 'DONE']);
    const { headers, body: csv } = await on.viewer.get(`/bulk/${started.runId}/items/csv?status=DONE`);
    expect(headers.get('content-disposition')).toContain(`"bulk-run-${started.runId}-as-of-`);
    const [head, , second, ...rest] = csv.replace('\uFEFF', '').split('\r\n');
    expect(head).toBe('itemNo,subject,orderNo,amount,currency,status,result,finishedAt');
    expect(second.replaceAll(/["\t]/g, '')).toMatch(
      new RegExp(`^2,${orders[1]}-1,${orders[1]},10\\.00,CNY,DONE,refund R\\d+ is SUCCESS,`),
    );
    expect(rest).toHaveLength(2);
    await on.sql(`update bulk_items set result = 'the debit failed: call 13912345678' where run_id = $1`, [
      started.runId,
    ]);
    for (const path of ['items', 'items/csv']) {
      const seen = async (client: typeof on.viewer) => {
        const { body } = await client.get(`/bulk/${started.runId}/${path}`);
        return [...new Set(JSON.stringify(body).match(/139....5678/g))];
      };
      expect([await seen(on.viewer), await seen(on.ann)]).toEqual([['139****5678'], ['13912345678']]);
    }
    const [refund] = await on.sql('select requested_by, request_key, note from refunds where order_no = $1', [
      orders[0],
    ]);
    expect(refund).toEqual({ requested_by: 'ann', request_key: `run-${started.runId}-1`, note: 'on purpose' });
    expect(await approve(on.bob, started.approvalId)).toMatchObject({ status: 200 });
    expect(await on.workOff()).toBe(0);
  });

  it('previews what remains, as it would be refunded now', async () => {
    const orders = await many(4);
    const { runId, approvalId } = await waiting(orders);
    const preview = async () => (await on.bob.get(`/bulk/${runId}/preview`)).body;
    const effects = (refunds: number) => ({
      refunds,
      refundCent: refunds * 1990,
      benefitsRevoked: ['VIP pass', 'Coupon'].map((name) => ({ name, count: refunds })),
      events: [{ eventType: 'payment.status.changed', count: refunds }],
    });
    expect(await preview()).toMatchObject({ ...effects(4), needsApproval: true });
    // The run's refund of this period would be refused.
    await on.refund({ orderNo: orders[3] ?? '', cycleNo: 1, amountCent: 100 });
    expect(await preview()).toMatchObject(effects(3));
    await approve(on.bob, approvalId);
    expect(await preview()).toMatchObject({ ...effects(3), needsApproval: false });
    await on.workOff({ stopping: after(1) });
    expect(await run(runId)).toMatchObject({ status: 'RUNNING', done: 1 });
    expect(await preview()).toMatchObject(effects(2));
    await on.workOff();
    expect(await run(runId)).toMatchObject({ status: 'DONE', done: 3, failed: 1 });
    expect(await preview()).toMatchObject({ refunds: 0, refundCent: 0, benefitsRevoked: [], events: [] });
  });

  it('that is declined or canceled previews nothing', async () => {
    for (const step of ['decline', 'withdraw']) {
      const { runId, approvalId } = await waiting(await many(1));
      await (step === 'decline' ? on.bob : on.ann).post(`/approvals/${approvalId}/${step}`);
      expect((await on.bob.get(`/bulk/${runId}/preview`)).body).toMatchObject({
        refunds: 0,
        refundCent: 0,
        events: [],
      });
    }
  });

  it('skips refunds that others have requested', async () => {
    const [orderNo = ''] = await many(1);
    const { body } = await prepare(on.ann, 'REFUND', { items: [`${orderNo}-1`] });
    await start(on.ann, body);
    const refund = (key: string) => on.bob.post(`/orders/${orderNo}/periods/1/refund`, { note: 'x', key });
    expect(refusal(await refund('b'))).toEqual([
      409,
      `period 1 of order ${orderNo} has 0.00 CNY left to request: 19.90 CNY requested by ann is waiting`,
    ]);
    expect(refusal(await prepare(on.bob, 'REFUND', { items: [`${orderNo}-1`] }))).toEqual([
      409,
      `period 1 of order ${orderNo} is SUCCESS: the whole rest was already requested`,
    ]);
    await on.bob.post(`/bulk/${body.runId}/cancel`);
    expect((await refund('b')).status).toBe(200);
  });

  it('of orders that match a list refunds the latest period of each', async () => {
    const user = 'refunded-user';
    const orderNo = await on.paidOrder({ channelUserId: user });
    await on.renewNow(orderNo);
    await on.paidOrder({ channelUserId: user, settlementMode: 'CHANNEL_COLLECT', sharedAgreement: undefined });
    const { body } = await prepare(on.ann, 'REFUND', { filter: { channelUserId: user } });
    expect(await items(body.runId)).toEqual([[`${orderNo}-2`, 'WAITING', null]]);
  });

  it('that is declined, or canceled while it waits, refunds nothing', async () => {
    const declined = await waiting(await many(1));
    await on.bob.post(`/approvals/${declined.approvalId}/decline`);
    expect(await run(declined.runId)).toMatchObject({ status: 'DECLINED' });
    const canceled = await waiting(await many(1));
    await on.ann.post(`/bulk/${canceled.runId}/cancel`);
    expect((await approve(on.bob, canceled.approvalId)).status).toBe(409);
    expect((await on.ann.get(`/approvals/${canceled.approvalId}`)).body).toMatchObject({
      ...{ status: 'WITHDRAWN', decidedBy: 'ann', isUnseen: false },
    });
    const withdrawn = await waiting(await many(1));
    expect((await on.ann.post(`/approvals/${withdrawn.approvalId}/withdraw`)).body.status).toBe('WITHDRAWN');
    expect(await run(withdrawn.runId)).toMatchObject({ status: 'CANCELED' });
    expect((await items(withdrawn.runId)).map(([, ...came]) => came)).toEqual([['SKIPPED', 'the run was canceled']]);
    expect(await on.workOff()).toBe(0);
    expect(booked()).toEqual([]);
  });

  /** Creates a run with five refunds: one refused, two without a result, one fault and one success. */
  async function halfDecided() {
    const [refused = '', first = '', second = '', broken = '', good = ''] = await many(5);
    const { runId, approvalId } = await waiting([refused, first, second, broken, good]);
    await on.sql('delete from debit_attempts where order_no = $1', [broken]);
    on.bank.onRefund = async (request) => {
      if (request.refundNo.includes(refused)) return { kind: 'refused', reason: 'account closed' };
      const isPending = [first, second].some((orderNo) => request.refundNo.includes(orderNo));
      return isPending ? { kind: 'pending' } : on.bank.book(request);
    };
    on.bank.onQuery = async () => ({ kind: 'pending' });
    await approve(on.bob, approvalId);
    const faults: number[] = [];
    await on.workOff({ onFault: (_, itemNo) => faults.push(itemNo) });
    expect(faults).toEqual([4]);
    return { runId, first, second };
  }
  /** Lets the institution refuse the first refund and complete the second. */
  async function decide({ first }: { readonly first: string }) {
    on.bank.onQuery = async ({ refundNo }) =>
      refundNo.includes(first)
        ? { kind: 'refused', reason: 'too late' }
        : { kind: 'success', amountCent: 1990, refundedAt: on.service.clock.now() };
    await on.askAll();
  }

  it('stays open until the institution has decided each refund, and then shows the results', async () => {
    const one = await halfDecided();
    const { runId } = one;
    const open = { status: 'PENDING', done: 1, pending: 2, failed: 2, skipped: 0, finishedAt: null };
    expect(await run(runId)).toMatchObject(open);
    expect((await items(runId)).map(([, status, result]) => [status, result])).toEqual([
      ['FAILED', expect.stringMatching(/refused refund R\d+: account closed/)],
      ['PENDING', expect.stringMatching(/^refund R\d+ is STARTED$/)],
      ['PENDING', expect.stringMatching(/^refund R\d+ is STARTED$/)],
      ['FAILED', 'internal error: check the order and the log'],
      ['DONE', expect.stringMatching(/^refund R\d+ is SUCCESS$/)],
    ]);
    await on.askAll();
    expect(await on.follow()).toBe(0);
    expect(await run(runId)).toMatchObject(open);
    expect(await items(runId, '?status=PENDING')).toHaveLength(2);
    // Nothing can be canceled, because sent refunds cannot be recalled.
    expect(refusal(await on.ann.post(`/bulk/${runId}/cancel`))).toEqual([409, `run ${runId} is PENDING`]);

    await decide(one);
    expect(await on.follow()).toBe(2);
    expect(await run(runId)).toMatchObject({
      ...{ status: 'DONE', done: 2, pending: 0, failed: 3, skipped: 0, finishedAt: expect.any(String) },
    });
    const { items: listed } = (await on.viewer.get(`/bulk/${runId}/items`)).body;
    expect(listed[1]).toMatchObject({
      status: 'FAILED',
      result: `the institution refused refund R${one.first}000101: too late`,
      said: { code: 'refund-refused', values: [`R${one.first}000101`, 'too late'] },
      finishedAt: expect.any(String),
    });
    expect(listed[2]).toMatchObject({ status: 'DONE', result: `refund R${one.second}000101 is SUCCESS` });
    expect(await on.follow()).toBe(0);
  });

  it('that is canceled while refunds are pending still gets their results', async () => {
    const [first = '', second = '', left = ''] = await many(3);
    const { runId, approvalId } = await waiting([first, second, left]);
    on.bank.onRefund = async () => ({ kind: 'pending' });
    await approve(on.bob, approvalId);
    await on.workOff({ stopping: after(2) });
    expect((await on.ann.post(`/bulk/${runId}/cancel`)).body).toMatchObject({
      ...{ status: 'CANCELED', done: 0, pending: 2, failed: 0, skipped: 1 },
    });
    await decide({ first });
    await on.follow();
    expect(await run(runId)).toMatchObject({ status: 'CANCELED', done: 1, pending: 0, failed: 1, skipped: 1 });
  });

  it('that is canceled while a refund is in flight gets its result', async () => {
    const orders = await many(3);
    const { runId, approvalId } = await waiting(orders);
    await approve(on.bob, approvalId);
    on.bank.onRefund = async (request) => {
      await on.ann.post(`/bulk/${runId}/cancel`);
      return on.bank.book(request);
    };
    await on.workOff();
    expect((await items(runId)).map(([, status]) => status)).toEqual(['DONE', 'SKIPPED', 'SKIPPED']);
    expect(await run(runId)).toMatchObject({ status: 'CANCELED', done: 1, skipped: 2 });
    expect(booked()).toEqual([1990]);
  });
});

describe('a pasted or uploaded list', () => {
  it('selects by order, payment and external numbers, and shows each entry with its result', async () => {
    const [first = '', second = ''] = await many(2);
    await on.renewNow(second);
    const externalOrderNo = `shop-${first}`;
    const third = await on.paidOrder({ externalOrderNo });
    const { status, body } = await prepare(on.ann, 'REFUND', {
      numbers: `\uFEFF${first}\r\n"${second}0001"\n\n${externalOrderNo}\n${first}\nno-such-order\n`,
      fileName: 'june.csv',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      filter: { list: '4', fileName: 'june.csv' },
      items: 4,
      skipped: 1,
      amountCent: 3 * 1990,
      confirmation: 'REFUND 3',
    });
    await start(on.ann, body);
    const { approvalId } = await run(body.runId);
    expect((await on.bob.post(`/approvals/${approvalId}/approve`)).status).toBe(200);
    await on.workOff();
    const results = Object.fromEntries((await items(body.runId)).map(([subject, ...rest]) => [subject, rest]));
    const refunded = (orderNo: string) => ['DONE', `refund R${orderNo}000101 is SUCCESS`];
    expect(results).toEqual({
      [`${first}-1`]: refunded(first),
      [`${second}-1`]: refunded(second),
      [`${third}-1`]: refunded(third),
      '#6 no-****rder': ['SKIPPED', 'line 6 of the list, "no-****rder", is no number of an order or a payment'],
    });
    expect(await run(body.runId)).toMatchObject({ status: 'DONE', done: 3, failed: 0, skipped: 1 });
  });

  it('means the latest period of an order, or the given one', async () => {
    const [orderNo = ''] = await many(1);
    await on.renewNow(orderNo);
    const subjects = async (more: object) => {
      const { body } = await prepare(on.ann, 'REFUND', { numbers: orderNo, ...more });
      return body.runId ? (await items(body.runId)).map(([subject]) => subject) : body.detail;
    };
    expect(await subjects({})).toEqual([`${orderNo}-2`]);
    expect(await subjects({ cycleNo: 1 })).toEqual([`${orderNo}-1`]);
    expect(await subjects({ cycleNo: 9 })).toBe(`order ${orderNo} has no period 9`);
  });

  it('ends orders, also those named by a payment, once each', async () => {
    const [first = '', second = ''] = await many(2);
    const { body } = await prepare(on.support, 'UNSUBSCRIBE', { numbers: [first, `${first}0001`, second].join('\n') });
    expect(await items(body.runId)).toEqual([
      [first, 'WAITING', null],
      [second, 'WAITING', null],
    ]);
  });

  it('skips a number that could be two orders', async () => {
    const [first = ''] = await many(1);
    const namesake = await on.paidOrder({ externalOrderNo: first });
    const { body } = await prepare(on.ann, 'REFUND', { numbers: `${first}\n${namesake}` });
    const masked = `${first.slice(0, 3)}****${first.slice(-4)}`;
    expect(await items(body.runId)).toEqual([
      [`${namesake}-1`, 'WAITING', null],
      [
        `#1 ${masked}`,
        'SKIPPED',
        `line 1 of the list, "${masked}", is the number of several orders: name each by its order number`,
      ],
    ]);
  });

  it('keeps no mobile, card or ID number that was pasted by mistake', async () => {
    const [orderNo = ''] = await many(1);
    const pasted = ['13812345678', '6222020000001234567', '110101199001011234'];
    const { body } = await prepare(on.ann, 'REFUND', { numbers: [orderNo, ...pasted].join('\n') });
    expect((await items(body.runId)).map(([subject]) => subject)).toEqual([
      `${orderNo}-1`,
      '#2 138****5678',
      '#3 622****4567',
      '#4 110****1234',
    ]);
    const stored = await on.sql('select i::text, r::text from bulk_items i join bulk_runs r using (run_id)');
    for (const number of pasted) expect(JSON.stringify(stored)).not.toContain(number);
    expect(JSON.stringify((await on.viewer.get(`/bulk/${body.runId}/items`)).body)).not.toContain('13812345678');
  });

  it.each([
    ['1,19.90', 'line 1 of the list must be one number of at most 64 characters, without other columns'],
    ['\n1\n2;3', 'line 3 of the list must be one number of at most 64 characters, without other columns'],
    ['1'.repeat(65), 'line 1 of the list must be one number of at most 64 characters, without other columns'],
    [' \n', 'give either items, a list of numbers or a filter'],
  ])('refused: %j', async (numbers, detail) => {
    expect(refusal(await prepare(on.ann, 'REFUND', { numbers }))).toEqual([400, detail]);
  });

  it('cannot replay events, and has 10,000 entries at most', async () => {
    expect((await prepare(on.support, 'REPLAY', { numbers: '1' })).status).toBe(400);
    const numbers = Array.from({ length: 10_001 }, (_, n) => `x${n}`).join('\n');
    expect((await prepare(on.ann, 'REFUND', { numbers })).body.code).toBe('run-too-large');
  });
});

describe('a refund run by payment day', () => {
  it('selects the payments of the days that can be refunded, of any period', async () => {
    const [first = '', second = '', refunded = ''] = await many(3);
    const billed = await on.collectedOrder();
    await on.renewNow(second);
    await on.refund({ orderNo: refunded, cycleNo: 1, amountCent: 1990 });
    // A day of its own for this test.
    const all = [first, second, refunded, billed];
    await on.sql(`update payments set paid_at = '2031-05-06 12:00:00+08' where order_no = any($1::bigint[])`, [all]);
    await on.sql(`update payments set paid_at = '2031-05-07 00:00:00+08' where order_no = $1 and cycle_no = 1`, [
      first,
    ]);
    const select = async (filter: object) => {
      const { body } = await prepare(on.ann, 'REFUND', { filter });
      return body.runId ? (await items(body.runId)).map(([subject]) => subject).toSorted() : body.code;
    };
    const day = { paidFrom: '2031-05-06', paidTo: '2031-05-07' };
    expect(await select(day)).toEqual([`${second}-1`, `${second}-2`]);
    expect(await select({ ...day, cycleNo: '2' })).toEqual([`${second}-2`]);
    expect(await select({ ...day, appId: 'test_demo', productCode: 'TEST_SPU_001', cycleNo: '1' })).toEqual([
      `${second}-1`,
    ]);
    expect(await select({ ...day, productCode: 'TEST_SPU_002' })).toBe('nothing-matches');
    expect(await select({ ...day, status: 'ACTIVE' })).toBe('not-one-of');
    expect(await select({ paidFrom: '2031-05-07', paidTo: '2031-05-08' })).toEqual([`${first}-1`]);
  });

  it('selects a given period of each order that a filter of orders matches', async () => {
    const channelUserId = `user-of-${Date.now()}`;
    const orderNo = await on.paidOrder({ channelUserId });
    await on.renewNow(orderNo);
    const { body } = await prepare(on.ann, 'REFUND', { filter: { channelUserId, cycleNo: '1' } });
    expect(await items(body.runId)).toEqual([[`${orderNo}-1`, 'WAITING', null]]);
  });
});
