/** What a debit came to: settled, or left without a result when it was sent. */
export const DEBIT_OUTCOMES = ['success', 'declined', 'pending', 'unknown'] as const;
export type CountedDebit = (typeof DEBIT_OUTCOMES)[number];

/** What somebody got who pressed the button: a code, the promise of one, the same as before, or nothing. */
export const CLAIM_OUTCOMES = ['fulfilled', 'waiting', 'repeated', 'gone'] as const;
export type CountedClaim = (typeof CLAIM_OUTCOMES)[number];

export const PUSH_OUTCOMES = ['accepted', 'refused', 'timeout', 'unreachable', 'forbidden'] as const;
export type CountedPush = (typeof PUSH_OUTCOMES)[number];

/** What this node has done, counted where it is done and once it is committed. */
export interface BusinessCounts {
  countDebit(paymentChannelCode: string, outcome: CountedDebit): void;
  countClaim(outcome: CountedClaim): void;
  countPush(outcome: CountedPush): void;
  /** Events that are not sent any more. */
  countGivenUp(events: number): void;
}
