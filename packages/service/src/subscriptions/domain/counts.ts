/** The result of a debit when it was sent or settled. */
export const DEBIT_OUTCOMES = ['success', 'declined', 'pending', 'unknown'] as const;
export type CountedDebit = (typeof DEBIT_OUTCOMES)[number];

/** What a user got who claimed a benefit: a code, a code later, the same code again, or nothing. */
export const CLAIM_OUTCOMES = ['fulfilled', 'waiting', 'repeated', 'gone'] as const;
export type CountedClaim = (typeof CLAIM_OUTCOMES)[number];

/** Counts what this node has done, once it is committed. */
export interface SubscriptionCounts {
  countDebit(paymentChannelCode: string, outcome: CountedDebit): void;
  countClaim(outcome: CountedClaim): void;
}
