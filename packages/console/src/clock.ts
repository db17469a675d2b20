/** The present moment, in milliseconds. */
export const now = (): number => Date.now();
