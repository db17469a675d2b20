export const RUN_FILTERS = ['status'] as const;
