import type { FeeTerms } from './channel-fees-sql.js';
import type { Sums } from './sums.js';

/** The fee and the revenue share of a channel in a month, with the terms that they were computed by. */
export interface Fees extends FeeTerms {
  /** The fee for debits. */
  readonly feeCent: number;
  /** The channel's share of what is left of its revenue after refunds and the fee. */
  readonly shareCent: number;
}

/**
 * Returns the amount payable to the channel: its share minus the billed amounts, which it has collected itself. Negative
 * if the channel pays. Null without terms.
 */
export const payableOf = (fees: Fees | null, { billedCent }: Sums): number | null =>
  fees && fees.shareCent - billedCent;

const BASIS_POINTS = 10_000;

/**
 * Computes the fee and the share from the sums of a month, with the amounts of earlier months that are booked in it.
 * Each of the two is rounded once, so they do not depend on the number of debits or on the products.
 */
export function computeFees(sums: Sums, terms: FeeTerms): Fees {
  const { collectedCent, collectedCount, refundedCent, billedCent } = sums;
  const feeCent = takePart(collectedCent, terms.feeBasisPoints) + terms.feeFixedCent * collectedCount;
  const shareCent = takePart(collectedCent - refundedCent + billedCent - feeCent, terms.shareBasisPoints);
  const { fromMonth, feeBasisPoints, feeFixedCent, shareBasisPoints } = terms;
  return { fromMonth, feeBasisPoints, feeFixedCent, shareBasisPoints, feeCent, shareCent };
}

/** Rounds to the nearest cent, halves away from zero. Uses BigInt, because the product may exceed 2^53. */
function takePart(cents: number, basisPoints: number): number {
  const product = BigInt(Math.abs(cents)) * BigInt(basisPoints);
  const part = Number((product + BigInt(BASIS_POINTS / 2)) / BigInt(BASIS_POINTS));
  return cents < 0 && part > 0 ? -part : part;
}
