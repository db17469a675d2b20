/** The filters. They are named like the API's parameters, so that the URL, the query and the export are the same. */
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
