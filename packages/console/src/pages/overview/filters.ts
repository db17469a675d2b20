export const OVERVIEW_FILTERS = ['range', 'appId'] as const;
