/** The result of sending or settling a debit. */
export const DEBIT_OUTCOMES = ['success', 'declined', 'pending', 'unknown'] as const;
export type CountedDebit = (typeof DEBIT_OUTCOMES)[number];

/**
 * The result of a user's claim: the user got a code, will get it later, had already claimed the benefit, or cannot
 * claim it.
 */
export const CLAIM_OUTCOMES = ['fulfilled', 'waiting', 'repeated', 'gone'] as const;
export type CountedClaim = (typeof CLAIM_OUTCOMES)[number];

/** Counts this node's work. Settled debits and claims are counted after the commit. */
export interface SubscriptionCounts {
  countDebit(paymentChannelCode: string, outcome: CountedDebit): void;
  countClaim(outcome: CountedClaim): void;
}
