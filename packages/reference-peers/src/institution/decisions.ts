import type { FaultName } from './faults.js';
import type { Debit, DebitResult, NoticeManner, RefundResult } from './ledger.js';

/** The result of a debit on a valid agreement. */
export function decideDebit(fault: FaultName | undefined, amountCent: number, dueAt: number): DebitResult {
  const success = { status: 'SUCCESS', amountCent } as const;
  const retryable = { status: 'DECLINED', decline: 'RETRYABLE', reason: 'insufficient funds' } as const;
  const final = { status: 'DECLINED', decline: 'FINAL', reason: 'the card is blocked' } as const;
  const pending = (notice: NoticeManner): DebitResult => ({ status: 'PENDING', dueAt, becomes: success, notice });
  switch (fault) {
    case 'decline-retryable':
      return retryable;
    case 'decline-final':
      return final;
    case 'agreement-invalid':
      return { status: 'DECLINED', decline: 'AGREEMENT_INVALID', reason: 'the agreement is not valid' };
    case 'pending-success':
      return pending('plain');
    case 'pending-decline':
      return { status: 'PENDING', dueAt, becomes: final, notice: 'plain' };
    case 'pending-retryable':
      return { status: 'PENDING', dueAt, becomes: retryable, notice: 'plain' };
    case 'duplicate-notice':
      return pending('duplicate');
    case 'late-notice':
      return pending('late');
    case 'forged-notice':
      return pending('forged');
    case 'wrong-debit':
      return { status: 'SUCCESS', amountCent: amountCent + 1 };
    default:
      return success;
  }
}

export function decideRefund(
  debit: Debit | undefined,
  amountCent: number,
  fault: FaultName | undefined,
  dueAt: number,
): RefundResult {
  if (debit?.result.status !== 'SUCCESS') return { status: 'REFUSED', reason: 'there is no such debit to refund' };
  if (debit.refundedCent + amountCent > debit.result.amountCent) {
    return { status: 'REFUSED', reason: 'more than what is left of the debit' };
  }
  const refused = { status: 'REFUSED', reason: 'the bank refuses refunds to this card' } as const;
  switch (fault) {
    case 'refund-refused':
      return refused;
    case 'refund-pending':
      return { status: 'PENDING', dueAt };
    case 'refund-pending-refused':
      return { status: 'PENDING', dueAt, becomes: refused };
    default:
      return { status: 'SUCCESS' };
  }
}
