import { columnsOf } from '../../../platform/db/database.js';
import { epochMs } from '../../../platform/db/time-sql.js';
import type { Payment } from '../../domain/orders/order.js';

/** SQL: the fields of a period, for a select that names the table payments `p`. */
export const PAYMENT_FIELDS = `p.cycle_no as "cycleNo", p.status, ${epochMs('p.expect_at')} as "expectAt",
  ${epochMs('p.paid_at')} as "paidAt", p.amount_cent as "amountCent", p.refund_amount_cent as "refundAmountCent",
  ${epochMs('p.refund_at')} as "refundAt"`;

export const PAYMENT_COLUMNS = columnsOf<Payment>({
  cycleNo: 'integer',
  status: 'text',
  expectAt: 'bigint',
  paidAt: 'bigint?',
  amountCent: 'bigint',
  refundAmountCent: 'bigint',
  refundAt: 'bigint?',
});
