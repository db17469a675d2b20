/** Test files that only proofs run, from the root of the checkout. */
export const movedTests: readonly string[];
