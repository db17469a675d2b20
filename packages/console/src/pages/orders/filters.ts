/**
 * The filters. They are named like the API's parameters, so that the page's URL, the list's query and the export use
 * the same names.
 */
export const ORDERS_FILTERS = [
  'status',
  'appId',
  'productCode',
  'settlementMode',
  'createdFrom',
  'createdTo',
  'dueFrom',
  'dueTo',
  'failed',
  'channelUserId',
] as const;
