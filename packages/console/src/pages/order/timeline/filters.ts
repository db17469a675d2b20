/** `show` lists the kinds of entries shown, separated by commas. `period` limits the entries to one period. */
export const ORDER_FILTERS = ['show', 'period'] as const;
