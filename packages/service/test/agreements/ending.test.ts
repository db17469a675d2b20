import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { renewDueOrders } from '../../src/engine/jobs/renewals.js';
import type { DebitOutcome } from '../../src/gateways/gateway.js';
import { setVoidedPeriodEvents } from '../../src/operator/provisioning/channel-settings.js';
import { updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { type Database, type Queryable, wrapQuery } from '../../src/platform/db/database.js';
import { settleDebits } from '../../src/subscriptions/steps/payments/settle-debits.js';
import { startRenewals } from '../../src/subscriptions/store/orders/start-renewals-sql.js';
import { boundRequest, stageOfFile } from '../orders/stage-of-file.js';
import { agreementOf, alerts, anotherChannel, copyOrder, paid, toldAbout } from '../orders/support.js';
import { attemptNoOf, clockedEngineOfFile, declined, success } from '../renewals/support.js';
import { watchAttempts } from '../support/attempts-watch.js';
import type { ChannelClient } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { bindCard, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';

/** An agreement ends with all orders on it, whoever ends it, and is never debited again. */

const MARCH = Date.UTC(2026, 2, 15);
const MAY = Date.UTC(2026, 4, 15);

const { on } = stageOfFile();
const node = clockedEngineOfFile(on, MARCH, { debitDeadlineMs: 60_000 });
let database: Database;
let notBound: () => Promise<string[]>;
/** The service's time when the tests begin, in January. By MARCH, the second period of an order created then is due. */
let january: number;
beforeAll(async () => {
  january = on.service.clock.now();
  ({ database } = node.deps);
  notBound = await watchAttempts(on.service.fresh.database);
});
beforeEach(async () => {
  await on.askPending();
  await on.cancelAgreements();
  await sql('update orders set next_due_at = null');
  await sql('delete from alerts');
  await node.clock.set(MARCH);
  on.service.clock.set(january);
  on.institution.reset();
});
afterEach(async () => expect(await notBound()).toEqual([]));

const sql = <Row>(text: string, values: readonly unknown[] = []) => database.query<Row>(text, values);
const found = async (orderNo: string, by = on.channel) =>
  (await by.call('orders/query', { orderNo }, { token: await by.getToken() })).data;
const statusOf = async (orderNo: string, by?: ChannelClient) => (await found(orderNo, by)).orderStatus;
const told = (orderNo: string) => toldAbout(database, orderNo);
const agreement = (orderNo: string) => agreementOf(database, orderNo);
const renew = () => renewDueOrders(node.deps, { code: 'MOCKPAY', debitsPerSecond: null });
const debitsOf = (orderNo: string) => on.institution.debits.filter((debit) => debit.orderNo === orderNo);
const invalid = declined('agreement-invalid');
const news = (attemptNo: string, outcome: DebitOutcome) => on.notice({ kind: 'debit', attemptNo, outcome });

async function create(body: object, by = on.channel): Promise<{ orderNo: string; orderStatus: string }> {
  const reply = await by.call('orders/create', body, { token: await by.getToken() });
  expect(reply.code, reply.text).toBe('0');
  return reply.data;
}

/** Creates an order on a binding, `days` days after the beginning in January. */
async function bound(bindOrderNo: string, days = 0): Promise<string> {
  on.service.clock.set(january + days * 86_400_000);
  const { orderNo } = await create(boundRequest(bindOrderNo));
  on.service.clock.set(january);
  return orderNo;
}

/** Creates an order on a shared agreement number. The order gets its own agreement. */
async function shared(sharedAgreementNo: string, days = 0, by = on.channel): Promise<string> {
  on.service.clock.set(january + days * 86_400_000);
  const channelUserId = unique('user');
  const agreement = sharedAgreement(by, channelUserId, { sharedAgreementNo });
  const { orderNo } = await create(sharedRequest(by, { channelUserId, sharedAgreement: agreement }), by);
  on.service.clock.set(january);
  return orderNo;
}

const gone = (institutionNo: string) => on.notice({ kind: 'agreement-canceled', institutionNo, reason: 'closed' });

const ENDED = ['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED'];

describe('a decline because the agreement is invalid', () => {
  it('of a renewal: every active order on it is unsubscribed and never debited again', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const first = await bound(bindOrderNo);
    const others = [await bound(bindOrderNo, 38), await bound(bindOrderNo, 39)];
    on.institution.reset();
    on.institution.onDebit = async () => invalid;
    expect(await renew()).toBe(1);
    expect(await told(first)).toEqual(['SUCCESS', 'ACTIVE', 'FAIL', 'UNSUBSCRIBED', 'CANCELED']);
    for (const orderNo of others) {
      expect(await statusOf(orderNo)).toBe('UNSUBSCRIBED');
      expect(await told(orderNo)).toEqual(ENDED);
    }
    expect(await agreement(first)).toMatchObject({ status: 'CANCELED', asked: false });
    const rows = await sql(
      'select distinct unsubscribe_source as source, unsubscribe_reason as reason from orders where order_no = any($1)',
      [[first, ...others]],
    );
    expect(rows).toEqual([{ source: 'AGREEMENT_INVALID', reason: 'because agreement-invalid' }]);
    await node.clock.set(MAY);
    expect(await renew()).toBe(0);
    expect(on.institution.debits.map(({ orderNo }) => orderNo)).toEqual([first]);
  });

  it('of a first debit: that order is TERMINATED, the others are unsubscribed', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const others = [await bound(bindOrderNo), await bound(bindOrderNo)];
    on.institution.onDebit = async () => invalid;
    const refused = await create(boundRequest(bindOrderNo));
    expect(refused.orderStatus).toBe('TERMINATED');
    for (const orderNo of others) expect(await told(orderNo)).toEqual(ENDED);
    expect(await agreement(refused.orderNo)).toMatchObject({ status: 'CANCELED', asked: false });
    expect((await on.channel.call('orders/create', boundRequest(bindOrderNo))).code).toBe('410002');
  });

  it('of a number with several agreements, of two channels: all of them end with their orders', async () => {
    const other = await anotherChannel(on.service);
    await setVoidedPeriodEvents(on.service.operator, { appId: other.credentials.appId, send: false });
    const number = unique('number');
    const first = await shared(number);
    const second = await shared(number, 38);
    await updatePaymentChannel(on.service.operator, { code: 'MOCKPAY', commonNumbers: true });
    const foreign = await shared(number, 38, other);
    await updatePaymentChannel(on.service.operator, { code: 'MOCKPAY', commonNumbers: false });
    const apart = await shared(unique('number'), 38);
    on.institution.onDebit = async () => invalid;
    expect(await renew()).toBe(1);
    expect(await statusOf(first)).toBe('UNSUBSCRIBED');
    expect(await told(second)).toEqual(ENDED);
    // The other channel does not receive events about voided periods.
    expect(await told(foreign)).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED']);
    expect(await statusOf(foreign, other)).toBe('UNSUBSCRIBED');
    for (const orderNo of [first, second, foreign])
      expect(await agreement(orderNo)).toMatchObject({ status: 'CANCELED' });
    expect([await statusOf(apart), (await agreement(apart)).status]).toEqual(['ACTIVE', 'BIND_SUCCESS']);
  });

  it('of the last period: that order is COMPLETED, the others are unsubscribed', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const [last, other] = [await bound(bindOrderNo), await bound(bindOrderNo, 38)];
    await sql('update orders set total_cycles = 2 where order_no = $1', [last]);
    on.institution.onDebit = async () => invalid;
    expect(await renew()).toBe(1);
    expect(await told(last)).toEqual(['SUCCESS', 'ACTIVE', 'FAIL', 'COMPLETED']);
    expect(await told(other)).toEqual(ENDED);
  });

  it('of an order that has another agreement by now: the old number ends for the others, the order continues', async () => {
    const number = unique('number');
    const [moved, other] = [await shared(number), await shared(number, 38)];
    on.institution.onDebit = async () => ({ kind: 'pending' });
    expect(await renew()).toBe(1);
    await move(moved);
    await news(attemptNoOf(moved, 2, 1), invalid);
    expect(await told(moved)).toEqual(['SUCCESS', 'ACTIVE', 'FAIL_RETRY']);
    expect([await statusOf(moved), (await agreement(moved)).status]).toEqual(['ACTIVE', 'BIND_SUCCESS']);
    expect(await told(other)).toEqual(ENDED);
  });

  it('of an order that has moved to another agreement with the same number: that has ended too', async () => {
    const number = unique('number');
    const moved = await shared(number);
    on.institution.onDebit = async () => ({ kind: 'pending' });
    expect(await renew()).toBe(1);
    await move(moved, { sharedAgreementNo: number });
    await news(attemptNoOf(moved, 2, 1), invalid);
    expect(await told(moved)).toEqual(['SUCCESS', 'ACTIVE', 'FAIL_RETRY', 'UNSUBSCRIBED', 'CANCELED', 'CANCELED']);
    expect((await agreement(moved)).status).toBe('CANCELED');
  });

  it('repeated, it does not end later agreements with the number', async () => {
    const number = unique('number');
    const first = await shared(number);
    on.institution.onDebit = async () => invalid;
    expect(await renew()).toBe(1);
    on.institution.reset();
    const again = await shared(number);
    await news(attemptNoOf(first, 2, 1), invalid);
    expect([await statusOf(again), (await agreement(again)).status]).toEqual(['ACTIVE', 'BIND_SUCCESS']);
  });
});

/** Gives the order another agreement, with the number in `more` or with a new number. */
async function move(orderNo: string, more: Record<string, unknown> = {}): Promise<void> {
  const [row] = await sql<{ user: string }>('select channel_user_id as user from orders where order_no = $1', [
    orderNo,
  ]);
  const newSharedAgreement = sharedAgreement(on.channel, row?.user ?? '', more);
  const reply = await on.channel.call('agreements/replace', { orderNo, newSharedAgreement });
  expect(reply.code, reply.text).toBe('0');
}

describe('all in one transaction', () => {
  /** Makes the unsubscription of this order fail. */
  async function refusing(orderNo: string, work: () => Promise<unknown>): Promise<void> {
    await sql(`alter table orders add constraint broken check (order_no <> ${orderNo} or status <> 'UNSUBSCRIBED')`);
    try {
      await work();
    } finally {
      await sql('alter table orders drop constraint broken');
    }
  }

  it('a notice is rolled back if one order cannot be ended, and the bank sends it again', async () => {
    const number = unique('number');
    const orders = [await shared(number), await shared(number), await shared(number)];
    await refusing(orders[2] ?? '', async () => expect((await gone(number)).status).toBe(500));
    for (const orderNo of orders) {
      expect(await statusOf(orderNo)).toBe('ACTIVE');
      expect((await agreement(orderNo)).status).toBe('BIND_SUCCESS');
    }
    expect((await gone(number)).status).toBe(200);
    for (const orderNo of orders) expect(await told(orderNo)).toEqual(ENDED);
  });

  it('a decline is rolled back too: its attempt stays open and is queried', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const [first, other] = [await bound(bindOrderNo), await bound(bindOrderNo, 38)];
    on.institution.onDebit = async () => invalid;
    await refusing(other, renew);
    expect(await told(first)).toEqual(['SUCCESS', 'ACTIVE']);
    expect((await found(first)).paymentRecords[1].paymentStatus).toBe('PROCESSING');
    expect((await agreement(first)).status).toBe('BIND_SUCCESS');
    on.institution.onQuery = async () => invalid;
    await on.askPending();
    expect(await told(first)).toEqual(['SUCCESS', 'ACTIVE', 'FAIL', 'UNSUBSCRIBED', 'CANCELED']);
    expect(await told(other)).toEqual(ENDED);
  });

  it('400 orders on one agreement take as many statements as ten, and a thousand at most two more', async () => {
    const statements = async (count: number) => {
      const number = unique('number');
      const orderNo = await shared(number);
      // The order and its copies wait for a retry.
      await sql(`update orders set latest_payment_status = 'FAIL_RETRY' where order_no = $1`, [orderNo]);
      await sql(`update payments set status = 'FAIL_RETRY' where order_no = $1`, [orderNo]);
      await copyOrder(database, orderNo, count - 1);
      let queries = 0;
      const counting = (tx: Queryable): Queryable => ({
        query: wrapQuery(tx, (run) => {
          queries += 1;
          return run();
        }),
      });
      const [attempt] = await on.service.fresh.database.query<{ orderNo: number }>(
        `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code,
           amount_cent, started_at, ask_at)
         select order_no, 1, 2, channel_id, agreement_id, payment_channel_code, amount_cent, now(), now()
         from orders where order_no = $1 returning order_no as "orderNo"`,
        [orderNo],
      );
      const reference = { orderNo: attempt?.orderNo ?? 0, cycleNo: 1, tryNo: 2 };
      await sql(`update payments set status = 'PROCESSING' where order_no = $1`, [orderNo]);
      const outcome = { kind: 'declined', decline: 'agreement-invalid', reason: 'closed' } as const;
      await database.transaction((tx) =>
        settleDebits(counting(tx), [{ attempt: reference, outcome }], on.service.clock.now()),
      );
      const [left] = await sql<{ active: number; events: number }>(
        `select count(*) filter (where o.status = 'ACTIVE')::integer as active,
           (select count(*)::integer from events e where e.order_no in (select c.order_no from orders c
              where c.agreement_id = (select s.agreement_id from orders s where s.order_no = $1))
              and e.data::json ->> 'orderStatus' = 'UNSUBSCRIBED') as events
         from orders o where o.agreement_id = (select s.agreement_id from orders s where s.order_no = $1)`,
        [orderNo],
      );
      expect(left).toEqual({ active: 0, events: count });
      return queries;
    };
    const few = await statements(10);
    expect(await statements(400)).toBe(few);
    // Each further five hundred orders may take two more statements: one for periods that wait for a retry, one for the
    // orders with their events.
    expect(await statements(1000)).toBeLessThanOrEqual(few + 2);
  });
});

describe('orders that are about to use it', () => {
  it('a first debit that succeeds in the same batch as the decline: ACTIVE, and unsubscribed at once', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const renewed = await bound(bindOrderNo);
    on.institution.onDebit = async () => ({ kind: 'pending' });
    await renew();
    const { orderNo } = await create(boundRequest(bindOrderNo));
    const now = on.service.clock.now();
    const attempts = [
      {
        attempt: { orderNo: Number(orderNo), cycleNo: 1, tryNo: 1 },
        outcome: success(attemptNoOf(orderNo, 1, 1), now),
      },
      { attempt: { orderNo: Number(renewed), cycleNo: 2, tryNo: 1 }, outcome: invalid },
    ] as const;
    const settled = await database.transaction((tx) =>
      settleDebits(
        tx,
        attempts.flatMap(({ attempt, outcome }) =>
          outcome.kind === 'success' || outcome.kind === 'declined' ? [{ attempt, outcome }] : [],
        ),
        now,
      ),
    );
    expect(settled.map(({ order }) => order.status)).toEqual(['UNSUBSCRIBED', 'UNSUBSCRIBED']);
    expect(await told(orderNo)).toEqual(ENDED);
    expect(await statusOf(orderNo)).toBe('UNSUBSCRIBED');
  });

  it.each([
    ['current agreement has ended: it is unsubscribed', true, ENDED],
    ['first agreement has ended, but not its current one: it continues', false, ['SUCCESS', 'ACTIVE']],
  ])('a first debit in flight of an order whose %s', async (_what, isCurrent, expected) => {
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const [first, current] = [unique('number'), unique('number')];
    const orderNo = await shared(first);
    await move(orderNo, { sharedAgreementNo: current });
    await gone(isCurrent ? current : first);
    expect(await statusOf(orderNo)).toBe('INITIALIZING');
    await news(attemptNoOf(orderNo, 1, 1), success(attemptNoOf(orderNo, 1, 1), on.service.clock.now()));
    expect(await told(orderNo)).toEqual(expected);
  });
});

it('an unknown number: an alert', async () => {
  expect((await gone('nobody')).status).toBe(200);
  expect(await alerts(database)).toMatchObject([{ kind: 'notice-for-unknown-agreement' }]);
});

describe('a debit in flight when the agreement ends', () => {
  it.each([
    ['succeeds: it counts, and raises an alert', 'SUCCESS', 'debit-after-unsubscribe'],
    ['fails: it is not retried', 'FAIL', undefined],
  ] as const)('%s', async (_what, status, alert) => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const [declinedOne, other] = [await bound(bindOrderNo), await bound(bindOrderNo)];
    on.institution.onDebit = async ({ orderNo }) => (orderNo === other ? { kind: 'pending' } : invalid);
    expect(await renew()).toBe(2);
    expect(await statusOf(declinedOne)).toBe('UNSUBSCRIBED');
    expect(await found(other)).toMatchObject({ orderStatus: 'UNSUBSCRIBED' });
    expect((await found(other)).paymentRecords[1].paymentStatus).toBe('PROCESSING');
    const number = attemptNoOf(other, 2, 1);
    await news(number, status === 'SUCCESS' ? success(number, on.service.clock.now()) : declined('retryable'));
    expect(await told(other)).toEqual([...ENDED, status]);
    expect((await alerts(database)).map(({ kind }) => kind)).toEqual(alert === undefined ? [] : [alert]);
  });
});

describe('an active order on an agreement that has ended', () => {
  /** Creates an order and an agreement as earlier versions of the service could store them. */
  async function left(): Promise<{ orderNo: string; agreementId: number }> {
    const orderNo = await shared(unique('number'));
    const { agreement_id: agreementId } = await agreement(orderNo);
    await sql(`update agreements set status = 'CANCELED' where agreement_id = $1`, [agreementId]);
    return { orderNo, agreementId };
  }

  it('is unsubscribed when it is due, and nothing is debited', async () => {
    const { orderNo } = await left();
    on.institution.reset();
    expect(await renew()).toBe(0);
    expect(await told(orderNo)).toEqual(ENDED);
    expect(on.institution.debits).toEqual([]);
    expect(await sql('select unsubscribe_source as source from orders where order_no = $1', [orderNo])).toEqual([
      { source: 'AGREEMENT_INVALID' },
    ]);
  });

  it('does not block the orders behind it, even in numbers beyond a lease', async () => {
    const { orderNo, agreementId } = await left();
    await copyOrder(database, orderNo, 150);
    const good = await shared(unique('number'), 1);
    on.institution.reset();
    expect(await renew()).toBe(1);
    expect(debitsOf(good)).toHaveLength(1);
    const rows = await sql('select distinct status from orders where agreement_id = $1', [agreementId]);
    expect(rows).toEqual([{ status: 'UNSUBSCRIBED' }]);
  });

  it('that waits for a retry: its period is voided too', async () => {
    const orderNo = await shared(unique('number'));
    on.institution.onDebit = async () => declined('retryable');
    expect(await renew()).toBe(1);
    on.institution.reset();
    const { agreement_id: agreementId } = await agreement(orderNo);
    await sql(`update agreements set status = 'CANCELED' where agreement_id = $1`, [agreementId]);
    await sql('update orders set next_due_at = $2 where order_no = $1', [orderNo, new Date(MARCH).toISOString()]);
    expect(await renew()).toBe(0);
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'FAIL_RETRY', 'UNSUBSCRIBED', 'CANCELED', 'CANCELED']);
  });

  it('that travels in time: the same', async () => {
    const { orderNo } = await left();
    const { data } = await on.channel.call('sandbox/orders/advance', { orderNo, cycles: 3 });
    expect(data.orderStatus).toBe('UNSUBSCRIBED');
    expect(await told(orderNo)).toEqual(ENDED);
    expect(debitsOf(orderNo)).toHaveLength(1);
  });

  it('that its channel moves to another agreement first: it continues', async () => {
    const { orderNo } = await left();
    await move(orderNo);
    on.institution.onDebit = async (debit) => paid(debit);
    expect(await renew()).toBe(1);
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'SUCCESS']);
  });
});

describe('concurrently', () => {
  const waiting = () =>
    until('somebody waits for a lock', async () => (await lockWaits(on.service.fresh.database)) > 0);
  const leaseDue = (tx: Queryable) =>
    startRenewals(tx, 'MOCKPAY', { kind: 'everything', after: { dueAt: '-infinity', orderNo: 0 } }, 64, 18);

  it('a renewal is stored first: the ending waits for it, and then finds a debit in flight', async () => {
    const number = unique('number');
    const orderNo = await shared(number);
    let ending: ReturnType<typeof gone> | undefined;
    await database.transaction(async (tx) => {
      expect((await leaseDue(tx)).renewals).toHaveLength(1);
      ending = gone(number);
      await waiting();
    });
    expect((await ending)?.status).toBe(200);
    expect(await told(orderNo)).toEqual(ENDED);
    expect((await found(orderNo)).paymentRecords[1].paymentStatus).toBe('PROCESSING');
  });

  it('the ending is first: the renewal skips the order', async () => {
    const number = unique('number');
    const orderNo = await shared(number);
    const { agreement_id: agreementId } = await agreement(orderNo);
    let ending: ReturnType<typeof gone> | undefined;
    await database.transaction(async (tx) => {
      // Locks the agreement, so that the ending waits after it has locked the order.
      await tx.query('select from agreements where agreement_id = $1 for update', [agreementId]);
      ending = gone(number);
      await waiting();
      expect(await leaseDue(database)).toEqual({ renewals: [], notBound: [], last: undefined });
    });
    expect((await ending)?.status).toBe(200);
    expect(await renew()).toBe(0);
    expect(await told(orderNo)).toEqual(ENDED);
  });

  it('an order that starts on the binding while the ending waits for another is ended too', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const held = await bound(bindOrderNo);
    let ending: ReturnType<typeof gone> | undefined;
    let later = '';
    await database.transaction(async (tx) => {
      await tx.query('select from orders where order_no = $1 for update', [held]);
      ending = gone(`inst-${bindOrderNo}`);
      await waiting();
      later = await bound(bindOrderNo);
    });
    expect((await ending)?.status).toBe(200);
    expect(await told(held)).toEqual(ENDED);
    expect(await told(later)).toEqual(ENDED);
  });
});
