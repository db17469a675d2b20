import { writeSettlementReport } from '../../src/operator/books/settlement-reports.js';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import type { Database } from '../../src/platform/db/database.js';
import type { SettlementLine } from '../../src/settlement/settlement-lines-sql.js';
import type { SettlementSummary } from '../../src/settlement/settlement-report.js';

export interface OrderRow {
  readonly orderNo: number;
  readonly channelId: string;
  readonly mode?: 'SVC_DEDUCT' | 'CHANNEL_COLLECT';
  readonly productCode?: string;
  readonly externalOrderNo?: string;
}

export async function putOrder(database: Database, row: OrderRow): Promise<void> {
  await database.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, cycle_no)
     values ($1, $2, $3, 'user', $4, $5, 'ACTIVE', 'MONTH', 1, 12, 1990, now(), 1)`,
    [
      ...[row.orderNo, row.channelId, row.externalOrderNo ?? `order-${row.orderNo}`],
      ...[row.productCode ?? 'MONTHLY', row.mode ?? 'SVC_DEDUCT'],
    ],
  );
}

export interface PaymentRow {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly channelId: string;
  readonly amountCent: number;
  readonly status: string;
  readonly paidAt: number | null;
  readonly refunds?: readonly { readonly amountCent: number; readonly at: number }[];
}

/** Inserts a period in the state that it has after its settlement and its refunds. */
export async function putPayment(database: Database, row: PaymentRow): Promise<void> {
  const refunds = row.refunds ?? [];
  const refunded = refunds.reduce((sum, { amountCent }) => sum + amountCent, 0);
  await database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, refund_amount_cent)
     values ($1, $2, $3, $4, now(), $5, $6, $7)`,
    [
      ...[row.orderNo, row.cycleNo, row.channelId, row.status],
      ...[row.paidAt === null ? null : new Date(row.paidAt), row.amountCent, refunded],
    ],
  );
  for (const [index, { amountCent, at }] of refunds.entries()) {
    await database.query(
      `insert into refunds (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent, status,
         requested_by, started_at, refunded_at)
       values ($1, $2, $3, 1, $4, 'PAY', $5, 'SUCCESS', 'test', $6, $6)`,
      [row.orderNo, row.cycleNo, index + 1, row.channelId, amountCent, new Date(at)],
    );
  }
}

export async function reportAs(
  operator: OperatorWithClock,
  format: 'json' | 'csv',
  month: string,
  appId: string,
): Promise<string> {
  let text = '';
  await writeSettlementReport(operator, { appId, month, format }, async (piece) => {
    text += piece;
  });
  return text;
}

export type JsonReport = SettlementSummary & { readonly lines: readonly SettlementLine[] };

export const report = async (operator: OperatorWithClock, month: string, appId: string): Promise<JsonReport> =>
  JSON.parse(await reportAs(operator, 'json', month, appId));
