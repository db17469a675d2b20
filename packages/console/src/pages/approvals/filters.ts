/** `status` is ALL or a status; the default is the waiting ones. `open` is the request open beside the list. */
export const APPROVALS_FILTERS = ['status', 'open'] as const;
