export const REQUEST_LIST_FILTERS = ['code', 'endpoint', 'requestId', 'from', 'to'] as const;
export const REQUEST_FILTERS = ['appId', ...REQUEST_LIST_FILTERS] as const;
