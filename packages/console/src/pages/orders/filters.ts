/** As the operation names them, so that an address, a question and an export are the same text. */
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
