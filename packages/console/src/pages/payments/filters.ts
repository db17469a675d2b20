/** The filters, named like the API's parameters: a dry run of all matching payments selects what the list shows. */
export const PAYMENTS_FILTERS = [
  'status',
  'reason',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
] as const;
