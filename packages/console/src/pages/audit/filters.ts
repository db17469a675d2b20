export const AUDIT_FILTERS = ['actor', 'action', 'subject'] as const;
