/** As the operation names them, so that a dry run of all that match means what the list shows. */
export const PAYMENTS_FILTERS = [
  'status',
  'reason',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
] as const;
