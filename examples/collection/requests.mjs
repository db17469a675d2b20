// The requests of the collection, in an order in which they can all be run one after another. Fields whose names end in
// Encrypted are plain text here: the collection's script encrypts them.

const card = {
  bankCardNoEncrypted: '6222020000001234567',
  certificateNoEncrypted: '110101199001011234',
  realNameEncrypted: '张三',
  bankMobileEncrypted: '13800000001',
};

const user = { channelUserId: 'user-{{run}}', mobileEncrypted: '1{{mobile}}' };

const agreement = {
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo: 'agreement-{{$randomUUID}}',
  channelUserId: 'user-{{run}}',
  ...card,
};

/** One entry per request. Entries also have a name if several requests go to the same endpoint. */
export const REQUESTS = [
  { endpoint: 'auth/token', body: { grantType: 'client_credentials', appId: '{{appId}}' } },
  { endpoint: 'products/list', body: {} },
  { endpoint: 'payment-channels/list', body: {} },
  { endpoint: 'agreements/bind-sms', body: { ...user, ...card } },
  { endpoint: 'agreements/bind-confirm', body: { bindOrderNo: '{{bindOrderNo}}', smsCodeEncrypted: '123456' } },
  { endpoint: 'agreements/user-data', body: { channelUserId: 'user-{{run}}' } },
  {
    endpoint: 'orders/create',
    name: 'B, the channel collects',
    body: {
      settlementMode: 'CHANNEL_COLLECT',
      externalOrderNo: 'collected-{{$randomUUID}}',
      productCode: '{{productCode}}',
      ...user,
    },
  },
  {
    endpoint: 'orders/create',
    name: 'A.2, on an agreement of the channel',
    body: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: 'shared-{{$randomUUID}}',
      productCode: '{{productCode}}',
      ...user,
      sharedAgreement: agreement,
    },
  },
  {
    endpoint: 'orders/create',
    name: 'A.1, on the card that was bound',
    body: {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: 'own-{{$randomUUID}}',
      productCode: '{{productCode}}',
      bindOrderNo: '{{bindOrderNo}}',
    },
  },
  { endpoint: 'orders/query', body: { orderNo: '{{orderNo}}' } },
  { endpoint: 'orders/list', body: { channelUserId: 'user-{{run}}' } },
  { endpoint: 'payments/query', body: { paymentOrderNo: '{{paymentOrderNo}}' } },
  {
    endpoint: 'agreements/replace',
    body: { orderNo: '{{sharedOrderNo}}', newSharedAgreement: agreement },
  },
  {
    endpoint: 'sandbox/orders/advance',
    body: { orderNo: '{{orderNo}}', cycles: 2, outcomes: ['FAIL_RETRY', 'SUCCESS'] },
  },
  { endpoint: 'sandbox/payments/refund', body: { paymentOrderNo: '{{paymentOrderNo}}', reason: 'a rehearsal' } },
  { endpoint: 'events/list', body: { size: 10 } },
  { endpoint: 'events/replay', body: { eventIds: ['{{eventId}}'] } },
  { endpoint: 'sandbox/events/pull', body: { path: '/events', size: 10 } },
  { endpoint: 'sandbox/requests/list', body: { code: 'failed', size: 10 } },
  { endpoint: 'sandbox/channel/set', body: {} },
  { endpoint: 'sandbox/events/test', body: {} },
  { endpoint: 'orders/unsubscribe', body: { orderNo: '{{orderNo}}', reason: 'too expensive' } },
];
