/** The kinds of entries shown, separated by commas, and the period. */
export const ORDER_FILTERS = ['show', 'period'] as const;
