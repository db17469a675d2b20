/** The names of the API's parameters, so that the URL, the query and the export use the same ones. */
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
