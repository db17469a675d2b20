/** `status`: ALL or one of them; what waits unless it says so. `open`: the one that is shown beside the list. */
export const APPROVALS_FILTERS = ['status', 'open'] as const;
