/** The result of a debit when it was sent or settled. */
export const DEBIT_OUTCOMES = ['success', 'declined', 'pending', 'unknown'] as const;
export type CountedDebit = (typeof DEBIT_OUTCOMES)[number];

/** The result of a user's claim: a code, a code later, the same code again, or nothing. */
export const CLAIM_OUTCOMES = ['fulfilled', 'waiting', 'repeated', 'gone'] as const;
export type CountedClaim = (typeof CLAIM_OUTCOMES)[number];

/** Counters of this node's work, incremented after the commit. */
export interface SubscriptionCounts {
  countDebit(paymentChannelCode: string, outcome: CountedDebit): void;
  countClaim(outcome: CountedClaim): void;
}
