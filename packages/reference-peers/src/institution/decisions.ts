import type { DeclineKind, WireDecline } from '@perennial/wire/bridge';
import type { FaultName } from './faults.js';
import type { Debit, DebitResult, NoticeManner, RefundResult, SettledResult } from './ledger.js';

const declined = (decline: WireDecline, declineKind: DeclineKind, reason: string) =>
  ({ status: 'DECLINED', decline, declineKind, reason }) as const;

const DECLINES: Partial<Record<FaultName, SettledResult>> = {
  'decline-retryable': declined('RETRYABLE', 'INSUFFICIENT_FUNDS', 'insufficient funds'),
  'decline-final': declined('FINAL', 'CARD_LOST', 'the card is blocked'),
  'agreement-invalid': declined('AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the agreement is not valid'),
};

/**
 * The faults with which a debit is PENDING at first. For each: the fault that decides the debit's result (undefined
 * means success), and how the notice of the result is sent.
 */
const PENDING: Partial<Record<FaultName, readonly [becomes: FaultName | undefined, notice: NoticeManner]>> = {
  'pending-success': [undefined, 'plain'],
  'pending-decline': ['decline-final', 'plain'],
  'pending-retryable': ['decline-retryable', 'plain'],
  'duplicate-notice': [undefined, 'duplicate'],
  'late-notice': [undefined, 'late'],
  'forged-notice': [undefined, 'forged'],
};

/** Returns the result of a debit on a valid agreement. */
export function decideDebit(fault: FaultName | undefined, amountCent: number, dueAt: number): DebitResult {
  const settle = (by: FaultName | undefined): SettledResult =>
    (by && DECLINES[by]) ?? { status: 'SUCCESS', amountCent: by === 'wrong-debit' ? amountCent + 1 : amountCent };
  const pending = fault && PENDING[fault];
  if (pending === undefined) return settle(fault);
  const [becomes, notice] = pending;
  return { status: 'PENDING', dueAt, becomes: settle(becomes), notice };
}

export function decideRefund(
  debit: Debit | undefined,
  amountCent: number,
  fault: FaultName | undefined,
  dueAt: number,
): RefundResult {
  if (debit?.result.status !== 'SUCCESS') return { status: 'REFUSED', reason: 'there is no such debit to refund' };
  if (debit.refundedCent + amountCent > debit.result.amountCent) {
    return { status: 'REFUSED', reason: 'the amount exceeds the rest of the debit' };
  }
  const refused = { status: 'REFUSED', reason: 'the bank refuses refunds to this card' } as const;
  if (fault === 'refund-refused') return refused;
  if (fault === 'refund-pending') return { status: 'PENDING', dueAt };
  if (fault === 'refund-pending-refused') return { status: 'PENDING', dueAt, becomes: refused };
  return { status: 'SUCCESS' };
}
