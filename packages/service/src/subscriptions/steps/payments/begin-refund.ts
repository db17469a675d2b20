import type { Queryable } from '../../../platform/db/database.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { DEBIT_DEADLINE_MS, FIRST_ASK_SECONDS } from '../../domain/payments/debit-policy.js';
import { findPaymentTransition } from '../../domain/payments/payment-states.js';
import { findPayingAttempt, insertRefund, type Refund } from '../../store/payments/refunds-sql.js';

/** A period, with its order and refunds. */
export interface PeriodToRefund {
  readonly order: Order;
  readonly payment: Payment;
  readonly refunds: readonly Refund[];
}

export const isRefundable = ({ status }: Pick<Payment, 'status'>): boolean =>
  findPaymentTransition(status, 'refunded-in-part') !== undefined;

export const nextRefundSeq = (refunds: readonly Refund[]): number => (refunds.at(-1)?.refundSeq ?? 0) + 1;

const sumCents = (refunds: readonly Refund[]) => refunds.reduce((sum, { amountCent }) => sum + amountCent, 0);

/** Sums the refunds of a period. Refunds in flight and refunds that were made outside the service count as refunded. */
export function sumRefunds({ payment, refunds }: Pick<PeriodToRefund, 'payment' | 'refunds'>) {
  const open = refunds.filter(({ status }) => status === 'STARTED');
  const openCent = sumCents(open);
  const outsideCent = sumCents(refunds.filter(({ status }) => status === 'OUTSIDE'));
  const refundedCent = payment.refundAmountCent + openCent + outsideCent;
  return { open, openCent, outsideCent, refundedCent, leftCent: payment.amountCent - refundedCent };
}

/** Seconds until the job queries the institution, if this process dies. By then this process's call is over. */
const ASK_AFTER_SECONDS = DEBIT_DEADLINE_MS / 1000 + FIRST_ASK_SECONDS;

/**
 * Stores a refund before it is sent, or a refund that was made outside the service. The caller holds the order's lock
 * and has checked the amount.
 */
export async function storeRefund(
  tx: Queryable,
  { order, payment, refunds }: PeriodToRefund,
  asked: Pick<Refund, 'amountCent' | 'key' | 'note' | 'keepBenefits' | 'requestedBy' | 'startedAt'> & {
    /** Null: the refund had no approval. */
    readonly approvalId: number | null;
    /** True if the refund was made outside the service. Unset: false. */
    readonly outside?: boolean;
  },
): Promise<Refund> {
  const period = { orderNo: order.orderNo, cycleNo: payment.cycleNo };
  const attempt = await findPayingAttempt(tx, period);
  if (!attempt) {
    throw new Error(
      `period ${period.cycleNo} of order ${period.orderNo} is ${payment.status}, and no attempt has paid for it`,
    );
  }
  const status: 'STARTED' | 'OUTSIDE' = asked.outside ? 'OUTSIDE' : 'STARTED';
  const refund = {
    ...period,
    ...attempt,
    ...asked,
    status,
    refundSeq: nextRefundSeq(refunds),
    channelId: order.channelId,
  };
  return insertRefund(tx, { ...refund, askAfterSeconds: ASK_AFTER_SECONDS });
}
