/** Named as in the operation, so that a dry run of all matching payments means what the list shows. */
export const PAYMENTS_FILTERS = [
  'status',
  'reason',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
] as const;
