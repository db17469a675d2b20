import type { PaymentStatus } from '@perennial/wire';
import { column, columns, declareFind, joinColumns, type RowOf } from '../../platform/db/database.js';
import { epochMs } from '../../platform/db/time-sql.js';
import { ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import { FROM_ORDER, PRODUCT, PRODUCT_COLUMNS, withOrder } from './order-sql.js';
import { PAGE_ENTRIES } from './page-sizes.js';

export interface PaymentRow {
  readonly cycleNo: number;
  readonly status: PaymentStatus;
  readonly expectAt: number;
  readonly paidAt: number | null;
  readonly amountCent: number;
  /** Latest refund first. Null if the period has no refunds. */
  readonly refunds: readonly RefundRow[] | null;
  /** Null if the payment has not failed, or the service did not debit it. */
  readonly failure: FailureRow | null;
}

/** The last failed debit. Users see only the kind. */
interface FailureRow {
  readonly reason: string | null;
  /** Null if an older node settled the debit. */
  readonly declineKind: string | null;
}

interface RefundRow {
  readonly amountCent: number;
  readonly at: number;
}

/** The institution and the card that are debited. */
export interface PayWith {
  readonly name: string;
  readonly cardTail: string;
}

/** `payments` has one more entry than a page shows, if there are more. */
export type RedeemPayments = RowOf<typeof readRedeemPayments>;

/** The fields of a PaymentRow. Reads refunds and the reason of a failure only if the period has any. */
const PAYMENT_FIELDS = `p.cycle_no as "cycleNo", p.status, ${epochMs('p.expect_at')} as "expectAt", ${epochMs('p.paid_at')} as "paidAt",
  p.amount_cent as "amountCent",
  case when p.status in ('FAIL', 'FAIL_RETRY') then
    (select json_build_object('reason', f.reason, 'declineKind', f.decline_kind) from failed_payments f
     where f.order_no = p.order_no and f.cycle_no = p.cycle_no) end as failure,
  case when p.refund_amount_cent > 0 then
    (select json_agg(json_build_object('amountCent', r.amount_cent, 'at', ${epochMs('coalesce(r.refunded_at, r.settled_at)')})
       order by r.refund_seq desc)
     from refunds r where r.order_no = p.order_no and r.cycle_no = p.cycle_no and r.status = 'SUCCESS') end as refunds`;

/** SQL: the latest payments of the order that fulfil the condition, as a JSON array with the latest first. */
export const latestPayments = (condition: string, limit: number) => `coalesce((select json_agg(x)
    from (select ${PAYMENT_FIELDS} from payments p where p.order_no = o.order_no and ${condition}
          order by p.cycle_no desc limit ${limit}) x), '[]'::json)`;

export const readRedeemPayments = declareFind({
  name: 'redeem-payments',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  ${latestPayments('p.cycle_no <= $3', PAGE_ENTRIES + 1)} as payments
${FROM_ORDER}`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: joinColumns(PRODUCT_COLUMNS, columns({ payments: column<readonly PaymentRow[]>('json') })),
  value: withOrder,
});

export type RedeemReceipt = RowOf<typeof readReceipt>;

/** Reads one period, and how it was paid. */
export const readReceipt = declareFind({
  name: 'redeem-receipt',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT}, ${latestPayments('p.cycle_no = $3', 1)} as payments,
  (select json_build_object('name', pc.display_name, 'cardTail', a.card_tail)
   from debit_attempts d join agreements a using (agreement_id) join payment_channels pc on pc.code = d.payment_channel_code
   where d.order_no = o.order_no and d.cycle_no = $3 and d.status = 'SUCCESS' order by d.try_no desc limit 1) as "payWith"
${FROM_ORDER}`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns({ payments: column<readonly PaymentRow[]>('json'), payWith: column<PayWith>('json?') }),
  ),
  value: withOrder,
});
