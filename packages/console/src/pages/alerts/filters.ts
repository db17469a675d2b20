/** `owner` is "mine" or "nobody". `of` (the kind) and `subject` identify the alert that is open beside the list. */
export const ALERT_LIST_FILTERS = ['which', 'kind', 'owner'] as const;
export const ALERT_FILTERS = [...ALERT_LIST_FILTERS, 'of', 'subject'] as const;
