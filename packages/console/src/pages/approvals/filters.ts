/** ALL, APPROVED or DECLINED; what waits unless it says so. */
export const APPROVALS_FILTERS = ['status'] as const;
