/** The names of the API's parameters, so that a dry run of all matching payments selects what the list shows. */
export const PAYMENTS_FILTERS = [
  'status',
  'reason',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
] as const;
