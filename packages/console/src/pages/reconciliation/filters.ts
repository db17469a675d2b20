/** `view` is days; unless it is given, the differences are shown. `no` is the difference that is open beside the list. */
export const DIFFERENCE_FILTERS = ['paymentChannelCode', 'day', 'which'] as const;
export const RECONCILIATION_FILTERS = [...DIFFERENCE_FILTERS, 'view', 'no'] as const;
