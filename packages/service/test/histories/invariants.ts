import type { Queryable } from '../../src/platform/db/database.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { ORDER_TRANSITIONS } from '../../src/subscriptions/domain/orders/order-states.js';
import { formatRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';
import { PAYMENT_TRANSITIONS } from '../../src/subscriptions/domain/payments/payment-states.js';
import type { Bank } from './bank.js';
import type { StoredOrder } from './observe.js';
import { type OrderModel, required } from './order.js';

/** Invariants of orders. Each check returns the violations as lines. */

const PAID = `('SUCCESS', 'REFUND_PART', 'REFUND_FULL', 'BILLED')`;

/** Pairs of a name and an SQL condition that must be true for an order `o`. */
const HOLDS: readonly (readonly [name: string, condition: string])[] = [
  [
    'paid amount is the sum of the paid periods',
    `o.paid_amount_cent = coalesce((select sum(amount_cent) from p where status in ${PAID}), 0)`,
  ],
  ['paid cycles are the paid periods', `o.paid_cycles = (select count(*) from p where status in ${PAID})`],
  [
    'refunded amount is the sum of the periods',
    'o.refund_amount_cent = coalesce((select sum(refund_amount_cent) from p), 0)',
  ],
  [
    'a period is refunded by what its refunds add up to',
    `not exists (select from p where p.refund_amount_cent <> coalesce((select sum(r.amount_cent) from r
       where r.cycle_no = p.cycle_no and r.status = 'SUCCESS'), 0))`,
  ],
  [
    'the status of a refunded period says how much',
    `not exists (select from p where (p.status = 'REFUND_FULL') <> (p.refund_amount_cent = p.amount_cent)
       or (p.status = 'REFUND_PART') <> (p.refund_amount_cent > 0 and p.refund_amount_cent < p.amount_cent))`,
  ],
  ['no gap between periods', 'o.cycle_no = (select max(cycle_no) from p) and o.cycle_no = (select count(*) from p)'],
  [
    'the latest status is that of the last period',
    `o.latest_payment_status = (select status from p where cycle_no = o.cycle_no)`,
  ],
  [
    'tries are counted from 1 without a gap',
    `not exists (select from p where p.attempts <> (select count(*) from a where a.cycle_no = p.cycle_no)
       or p.attempts <> coalesce((select max(try_no) from a where a.cycle_no = p.cycle_no), 0))`,
  ],
  ['one debit at a time', `(select count(*) from a where status = 'STARTED') <= 1`],
  [
    'a period is PROCESSING exactly while its debit is open',
    `not exists (select from p where (p.status = 'PROCESSING')
       <> exists (select from a where a.cycle_no = p.cycle_no and a.status = 'STARTED'))`,
  ],
  [
    'a paid period has exactly one attempt that paid, another has none',
    `o.settlement_mode = 'CHANNEL_COLLECT' or not exists (select from p where (p.status in ${PAID})::integer
       <> (select count(*) from a where a.cycle_no = p.cycle_no and a.status = 'SUCCESS'))`,
  ],
  ['what is open is asked about', `not exists (select from a where (a.status = 'STARTED') <> (a.ask_at is not null))`],
  ['open refunds are asked about', `not exists (select from r where (r.status = 'STARTED') <> (r.ask_at is not null))`],
  [
    'due exactly when it is active and nothing is on the way',
    `(o.next_due_at is not null) = (o.status = 'ACTIVE' and not exists (select from a where a.status = 'STARTED'))`,
  ],
  [
    'an unsubscribed order has a time and waits for nothing',
    `(o.status = 'UNSUBSCRIBED') = (o.unsubscribed_at is not null)
       and (o.status <> 'UNSUBSCRIBED' or not exists (select from p where status = 'FAIL_RETRY'))`,
  ],
  [
    'a completed order has had all its periods',
    `o.status <> 'COMPLETED' or (o.cycle_no = o.total_cycles
       and not exists (select from p where status in ('PROCESSING', 'FAIL_RETRY', 'CANCELED')))`,
  ],
  [
    'benefits are issued for paid periods and no others',
    `not exists (select from p where (select count(*) from benefits b where b.order_no = o.order_no and
       b.cycle_no = p.cycle_no) <> case when p.status in ${PAID}
         then (select count(*) from product_benefits d where d.product_code = o.product_code) else 0 end)`,
  ],
  [
    'benefits of a fully refunded period are revoked',
    `not exists (select from p join benefits b on b.order_no = o.order_no and b.cycle_no = p.cycle_no
       where p.status = 'REFUND_FULL' and b.status = 'ISSUED')`,
  ],
  [
    'revoked benefits are worth no more than what was refunded',
    `not exists (select from p where p.refund_amount_cent < p.amount_cent and p.refund_amount_cent < coalesce((
       select sum(b.face_value_cent) from benefits b
       where b.order_no = o.order_no and b.cycle_no = p.cycle_no and b.status = 'REVOKED'), 0))`,
  ],
  [
    // Applies only to agreements that no other order shares. Completing an order does not cancel its agreement.
    'an agreement that only this order had ends with it',
    `o.status <> 'UNSUBSCRIBED' or not exists (select from agreements g where g.agreement_id = o.agreement_id
       and g.status = 'BIND_SUCCESS' and not exists (select from agreements s left join orders l
         on l.agreement_id = s.agreement_id where s.payment_channel_code = g.payment_channel_code
         and s.institution_hash = g.institution_hash
         and (s.agreement_id <> g.agreement_id or l.order_no <> o.order_no)))`,
  ],
  [
    'an active order runs on an agreement that is bound',
    `o.status <> 'ACTIVE' or o.agreement_id is null or (select g.status from agreements g
       where g.agreement_id = o.agreement_id) = 'BIND_SUCCESS'`,
  ],
  [
    'the payment channel of an order is that of its agreement',
    `o.payment_channel_code is not distinct from (select g.payment_channel_code from agreements g
       where g.agreement_id = o.agreement_id)`,
  ],
];

const BROKEN = {
  name: 'broken-invariants',
  text: `select o.order_no as "orderNo", h.name from orders o, lateral (
    with p as materialized (select * from payments where payments.order_no = o.order_no),
      a as materialized (select * from debit_attempts where debit_attempts.order_no = o.order_no),
      r as materialized (select * from refunds where refunds.order_no = o.order_no)
    select unnest(array_remove(array[
      ${HOLDS.map(([name, condition]) => `case when (${condition}) is not true then '${name}' end`).join(',\n')}], null)) as name) h
  where o.order_no = any($1::bigint[])`,
};

export async function brokenSums(db: Queryable, orderNos: readonly number[]): Promise<string[]> {
  const rows = await db.query<{ orderNo: number; name: string }>(BROKEN, [orderNos]);
  return rows.map(({ orderNo, name }) => `order ${orderNo}: it does not hold that ${name}`);
}

/** Compares the institutions' ledgers with the stored state. */
export function brokenLedger(order: StoredOrder, model: OrderModel, banks: ReadonlyMap<string, Bank>): string[] {
  const { orderNo } = order;
  const wrong: string[] = [];
  const paidAt = new Map<number, number>();
  order.attempts.forEach((attempt, index) => {
    const { cycleNo, tryNo, status, paymentChannelCode } = attempt;
    const number = formatAttemptNo(orderNo, cycleNo, tryNo);
    const debit = banks.get(paymentChannelCode)?.ledger.debits.get(number);
    if (debit === undefined) {
      // A debit that was never at the bank can have failed because its order ended.
      const isGivenUp = status === 'FAIL' && model.unsubscribedAt !== null;
      if (status !== 'STARTED' && !isGivenUp) wrong.push(`${number} is ${status}, and was never at the bank`);
      return;
    }
    if (model.unsubscribedAt !== null && debit.takenAt > model.unsubscribedAt) {
      wrong.push(`${number} came to the bank after its order had ended`);
    }
    const booked = debit.result.status;
    if (booked === 'SUCCESS') paidAt.set(cycleNo, (paidAt.get(cycleNo) ?? 0) + 1);
    if (status === 'SUCCESS' && booked !== 'SUCCESS') wrong.push(`${number} is SUCCESS here and ${booked} at the bank`);
    if (status === 'FAIL' && booked !== 'DECLINED') wrong.push(`${number} is FAIL here and ${booked} at the bank`);
    const agreement = model.agreements[model.attempts[index]?.agreement ?? -1];
    if (debit.institutionNo !== agreement?.institutionNo) wrong.push(`${number} was debited on another agreement`);
    if (debit.askedCent !== model.product.amountCent) wrong.push(`${number} was debited with ${debit.askedCent}`);
    const refunded = order.refunds.filter((one) => one.cycleNo === cycleNo && one.tryNo === tryNo);
    const possible = refunded.filter((one) => one.status !== 'FAIL').reduce((sum, one) => sum + one.amountCent, 0);
    const certain = refunded.filter((one) => one.status === 'SUCCESS').reduce((sum, one) => sum + one.amountCent, 0);
    if (debit.refundedCent < certain || debit.refundedCent > possible) {
      wrong.push(`of ${number} the bank has refunded ${debit.refundedCent}, here it is ${certain} to ${possible}`);
    }
  });
  for (const { cycleNo, status } of order.periods) {
    const times = paidAt.get(cycleNo) ?? 0;
    const most = status === 'PROCESSING' ? 1 : 0;
    const isPaid = ['SUCCESS', 'REFUND_PART', 'REFUND_FULL'].includes(status);
    if (isPaid ? times !== 1 : times > most)
      wrong.push(`period ${cycleNo} is ${status} and was debited ${times} times`);
  }
  for (const { cycleNo, refundSeq, status, paymentChannelCode } of order.refunds) {
    const number = formatRefundNo({ orderNo, cycleNo, refundSeq });
    const booked = banks.get(paymentChannelCode)?.ledger.refunds.get(number)?.result.status;
    const expected = { STARTED: booked, SUCCESS: 'SUCCESS', FAIL: 'REFUSED' }[status];
    if (booked !== expected) wrong.push(`refund ${number} is ${status} here and ${booked} at the bank`);
  }
  return wrong.map((line) => `order ${orderNo}: ${line}`);
}

interface Transition {
  readonly from: string;
  readonly to: string;
  readonly emitsEvent: boolean;
}

/**
 * Returns true if the state tables have a path from `from` to `now` whose announced states are exactly `told`, in this
 * order.
 */
function leads(rows: readonly Transition[], from: string, told: readonly string[], now: string): boolean {
  const [next, ...rest] = told;
  if (next === undefined && from === now) return true;
  return rows.some((row) => {
    if (row.from !== from) return false;
    if (row.emitsEvent) return row.to === next && leads(rows, row.to, rest, now);
    return row.to !== from && leads(rows, row.to, told, now);
  });
}

/**
 * Checks that the events are exactly those that the state tables require, and that the last event matches the state.
 */
export function brokenEvents(order: StoredOrder): string[] {
  const wrong: string[] = [];
  const told = order.events.filter(({ type }) => type === 'order.status.changed').map(({ data }) => data.orderStatus);
  if (!leads(ORDER_TRANSITIONS, 'none', told, order.status)) {
    wrong.push(`it is ${order.status}, and was told to be ${told.join(', ') || 'nothing'}`);
  }
  const voided = order.events.find(({ cycleTo }) => cycleTo !== null);
  if (voided !== undefined && voided.cycleNo !== order.cycleNo + 1) wrong.push('started periods were voided together');
  for (const { cycleNo, status } of order.periods) {
    const said = order.events
      .filter((event) => event.cycleNo === cycleNo && event.cycleTo === null)
      .map(({ data }) => data.paymentStatus);
    const begins = cycleNo === 1 ? 'none' : 'WAIT';
    if (!leads(PAYMENT_TRANSITIONS, begins, said, status)) {
      wrong.push(`period ${cycleNo} is ${status}, and was told to be ${said.join(', ') || 'nothing'}`);
    }
  }
  return wrong.map((line) => `order ${order.orderNo}: ${line}`);
}

/** Checks that, after an undisturbed run of the jobs, no order is due and no debit or refund is still to be queried. */
export async function leftUndone(db: Queryable, orderNos: readonly number[]): Promise<string[]> {
  const [row] = await db.query<{ undone: string | null }>(
    `select string_agg(what, '; ') as undone from (
       select 'order ' || order_no || ' is still due' as what from orders where order_no = any($1) and next_due_at <= now()
       union all select 'attempt of ' || order_no || ' is still to be asked about' from debit_attempts
         where order_no = any($1) and ask_at <= now()
       union all select 'refund of ' || order_no || ' is still to be asked about' from refunds
         where order_no = any($1) and ask_at <= now()) x`,
    [orderNos],
  );
  return required(row).undone === null ? [] : [required(row).undone ?? ''];
}
