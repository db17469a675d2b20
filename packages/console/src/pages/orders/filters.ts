/** Named as in the operation, so that the URL, the query and the export share one text. */
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
  'unsettled',
  'channelUserId',
] as const;
