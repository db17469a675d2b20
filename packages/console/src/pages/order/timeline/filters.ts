/** Which kinds of the timeline are shown, with commas, and of which period. */
export const ORDER_FILTERS = ['show', 'period'] as const;
