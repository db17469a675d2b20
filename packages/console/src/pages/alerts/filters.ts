/** `owner` is mine or nobody. `subject`, with `of` for its kind, is the alert open beside the list. */
export const ALERT_LIST_FILTERS = ['which', 'kind', 'owner'] as const;
export const ALERT_FILTERS = [...ALERT_LIST_FILTERS, 'of', 'subject'] as const;
