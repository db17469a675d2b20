/** `status` is ALL or a status; the default is waiting requests. `open` is the request open beside the list. */
export const APPROVALS_FILTERS = ['status', 'open'] as const;
