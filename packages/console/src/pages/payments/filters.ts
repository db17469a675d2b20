/**
 * The filters. They are named like the API's parameters, so that a dry run of all matching payments selects the same
 * payments as the list.
 */
export const PAYMENTS_FILTERS = [
  'status',
  'reason',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
] as const;
