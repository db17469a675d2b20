/** `view` is "days"; without it, the page lists the differences. `no` is the difference open beside the list. */
export const DIFFERENCE_FILTERS = ['paymentChannelCode', 'day', 'which'] as const;
export const RECONCILIATION_FILTERS = [...DIFFERENCE_FILTERS, 'view', 'no'] as const;
