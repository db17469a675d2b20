/**
 * The filters of failed payments. They are named like the API's parameters, so that a dry run of all matching payments
 * selects the same payments as the list.
 */
export const FAILED_FILTERS = [
  'status',
  'declineKind',
  'reason',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
] as const;

/** The filters of refunds, named like the API's parameters. */
export const REFUND_FILTERS = [
  'status',
  'paymentChannelCode',
  'appId',
  'productCode',
  'from',
  'to',
  'amountFrom',
  'amountTo',
] as const;

/** The filters of debits, named like the API's parameters. */
export const DEBIT_FILTERS = [...REFUND_FILTERS, 'tryNo'] as const;

export const PAYMENTS_FILTERS = ['tab', ...DEBIT_FILTERS, 'reason'] as const;
