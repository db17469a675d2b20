import { formatTime } from '@perennial/wire';
import type { Queryable } from '../../src/platform/db/database.js';
import { epochMs, shanghaiText } from '../../src/platform/db/time-sql.js';
import { lineOfStored, type StoredEvent } from './event-lines.js';
import { currentAgreement, cycleOf, dueOf, lastPeriod, type OrderModel, paidPeriods, refundedCent } from './order.js';

/** An order as lines of text, from the model or from the database, so that a difference is readable. */
export interface Shown {
  readonly order: string;
  readonly periods: readonly string[];
  readonly attempts: readonly string[];
  readonly refunds: readonly string[];
  readonly told: readonly string[];
}

export interface StoredAttempt {
  readonly cycleNo: number;
  readonly tryNo: number;
  readonly status: 'STARTED' | 'SUCCESS' | 'FAIL';
  readonly current: boolean;
  readonly paymentChannelCode: string;
}

export interface StoredPeriod {
  readonly cycleNo: number;
  readonly status: string;
  readonly expectAt: number;
  readonly paidAt: number | null;
  readonly amountCent: number;
  readonly refundCent: number;
  readonly refundAt: number | null;
  readonly benefits: readonly string[] | null;
}

export interface StoredRefund {
  readonly cycleNo: number;
  readonly refundSeq: number;
  readonly tryNo: number;
  readonly amountCent: number;
  readonly status: 'STARTED' | 'SUCCESS' | 'FAIL';
  readonly paymentChannelCode: string;
}

export interface StoredOrder {
  readonly orderNo: number;
  readonly status: OrderModel['status'];
  readonly cycleNo: number;
  readonly nextDueAt: number | null;
  readonly successAt: number | null;
  readonly unsubscribedAt: number | null;
  readonly paidCycles: number;
  readonly paidCent: number;
  readonly refundCent: number;
  readonly latest: string;
  readonly agreementStatus: string | null;
  readonly periods: readonly StoredPeriod[];
  readonly attempts: readonly StoredAttempt[];
  readonly refunds: readonly StoredRefund[];
  readonly events: readonly StoredEvent[];
  /** The alerts of predictable kinds, each as kind and subject. */
  readonly alerts: readonly string[];
}

const list = (select: string) => `coalesce((select json_agg(x) from (${select}) x), '[]'::json)`;

const OBSERVE = {
  name: 'observe-history',
  text: `select o.order_no as "orderNo", o.status, o.cycle_no as "cycleNo", ${epochMs('o.next_due_at')} as "nextDueAt",
    ${epochMs('o.success_at')} as "successAt", ${epochMs('o.unsubscribed_at')} as "unsubscribedAt", o.paid_cycles as "paidCycles",
    o.paid_amount_cent as "paidCent", o.refund_amount_cent as "refundCent", o.latest_payment_status as latest,
    (select g.status from agreements g where g.agreement_id = o.agreement_id) as "agreementStatus",
    ${list(`select p.cycle_no as "cycleNo", p.status, ${epochMs('p.expect_at')} as "expectAt", ${epochMs('p.paid_at')} as "paidAt",
      p.amount_cent as "amountCent", p.refund_amount_cent as "refundCent", ${epochMs('p.refund_at')} as "refundAt",
      (select json_agg(b.status || ' until ' || ${shanghaiText('b.expires_at')} order by b.position) from benefits b
       where b.order_no = p.order_no and b.cycle_no = p.cycle_no) as benefits
      from payments p where p.order_no = o.order_no order by p.cycle_no`)} as periods,
    ${list(`select a.cycle_no as "cycleNo", a.try_no as "tryNo", a.status, a.agreement_id = o.agreement_id as current,
      a.payment_channel_code as "paymentChannelCode"
      from debit_attempts a where a.order_no = o.order_no order by a.cycle_no, a.try_no`)} as attempts,
    ${list(`select r.cycle_no as "cycleNo", r.refund_seq as "refundSeq", r.try_no as "tryNo",
      r.amount_cent as "amountCent", r.status, r.payment_channel_code as "paymentChannelCode"
      from refunds r where r.order_no = o.order_no order by r.cycle_no, r.refund_seq`)} as refunds,
    ${list(`select e.event_type as type, e.cycle_no as "cycleNo", e.cycle_to as "cycleTo", ${shanghaiText('e.occurred_at')} as at,
      e.data::json as data from events e where e.order_no = o.order_no order by e.event_no`)} as events,
    coalesce((select json_agg(l.kind || ' ' || l.subject) from alerts l
      where l.kind in ('debit-contradiction', 'debit-late-success', 'debit-after-unsubscribe', 'refund-refused',
        'refund-contradiction')
        and (l.subject between o.order_no::text and o.order_no || '999999'
          or l.subject between 'R' || o.order_no and 'R' || o.order_no || '999999')), '[]'::json) as alerts
  from orders o where o.order_no = any($1::bigint[]) order by o.order_no`,
};

export async function observe(db: Queryable, orderNos: readonly number[]): Promise<Map<number, StoredOrder>> {
  const orders = await db.query<StoredOrder>(OBSERVE, [orderNos]);
  return new Map(orders.map((order) => [order.orderNo, order]));
}

const time = (at: number | null) => (at === null ? 'never' : formatTime(at));

export function shownStored(order: StoredOrder): Shown {
  return {
    order:
      `${order.status} since ${time(order.successAt)} until ${time(order.unsubscribedAt)}, period ${order.cycleNo} ` +
      `${order.latest}, due ${time(order.nextDueAt)}, ${order.paidCycles} paid, ${order.paidCent} in all, ` +
      `${order.refundCent} refunded`,
    periods: order.periods.map(
      (p) =>
        `${p.cycleNo} ${p.status}, of ${p.amountCent}, expected ${time(p.expectAt)}, paid ${time(p.paidAt)}, ` +
        `${p.refundCent} refunded ${time(p.refundAt)}, benefits [${(p.benefits ?? []).join('; ')}]`,
    ),
    attempts: order.attempts.map(
      (a) =>
        `${a.cycleNo}/${a.tryNo} ${a.status} on ${a.current ? 'this' : 'a former'} agreement, ${a.paymentChannelCode}`,
    ),
    refunds: order.refunds.map((r) => `${r.cycleNo}/${r.refundSeq} ${r.status}, ${r.amountCent}`),
    told: order.events.map(lineOfStored),
  };
}

const BENEFIT_DAYS_MS = 90 * 86_400_000;

export function shownModel(order: OrderModel): Shown {
  const { amountCent } = order.product;
  return {
    order:
      `${order.status} since ${time(order.successAt)} until ${time(order.unsubscribedAt)}, period ${cycleOf(order)} ` +
      `${lastPeriod(order).status}, due ${time(order.nextDueAt)}, ${paidPeriods(order).length} paid, ` +
      `${paidPeriods(order).length * amountCent} in all, ${refundedCent(order)} refunded`,
    periods: order.periods.map(
      (p) =>
        `${p.cycleNo} ${p.status}, of ${amountCent}, expected ${time(dueOf(order, p.cycleNo))}, paid ${time(p.paidAt)}, ` +
        `${p.refundCent} refunded ${time(p.refundAt)}, benefits [${p.benefits
          .map((b) => `${b.revoked ? 'REVOKED' : 'ISSUED'} until ${time(b.issuedAt + BENEFIT_DAYS_MS)}`)
          .join('; ')}]`,
    ),
    attempts: order.attempts.map(
      (a) =>
        `${a.cycleNo}/${a.tryNo} ${a.status} on ${a.agreement === currentAgreement(order) ? 'this' : 'a former'} ` +
        `agreement, ${order.agreements[a.agreement]?.paymentChannelCode}`,
    ),
    refunds: order.refunds
      .toSorted((a, b) => a.cycleNo - b.cycleNo || a.refundSeq - b.refundSeq)
      .map((r) => `${r.cycleNo}/${r.refundSeq} ${r.status}, ${r.amountCent}`),
    told: order.told,
  };
}
