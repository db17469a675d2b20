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

/** `payments` has one more entry than a page shows, if there are more. */
export type RedeemPayments = RowOf<typeof readRedeemPayments>;

/** SQL: a period as JSON. Reads refunds and the reason of a failure only if the period has any. */
export const PAYMENT_JSON = `json_build_object('cycleNo', p.cycle_no, 'status', p.status, 'expectAt', ${epochMs('p.expect_at')},
  'paidAt', ${epochMs('p.paid_at')}, 'amountCent', p.amount_cent,
  'failure', case when p.status in ('FAIL', 'FAIL_RETRY') then
    (select json_build_object('reason', f.reason, 'declineKind', f.decline_kind) from failed_payments f
     where f.order_no = p.order_no and f.cycle_no = p.cycle_no) end,
  'refunds', case when p.refund_amount_cent > 0 then
    (select json_agg(json_build_object('amountCent', r.amount_cent, 'at', ${epochMs('coalesce(r.refunded_at, r.settled_at)')})
       order by r.refund_seq desc)
     from refunds r where r.order_no = p.order_no and r.cycle_no = p.cycle_no and r.status = 'SUCCESS') end)`;

export const readRedeemPayments = declareFind({
  name: 'redeem-payments',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(${PAYMENT_JSON})
    from (select * from payments p where p.order_no = o.order_no and p.cycle_no <= $3
          order by p.cycle_no desc limit ${PAGE_ENTRIES + 1}) p), '[]'::json) as payments
${FROM_ORDER}`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: joinColumns(PRODUCT_COLUMNS, columns({ payments: column<readonly PaymentRow[]>('json') })),
  value: withOrder,
});
