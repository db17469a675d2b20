export const CELLS_FILTERS = ['range'] as const;
