/** Test files that only proofs run, relative to the checkout's root. */
export const movedTests: readonly string[];
