import type { DataOf, EndpointName, RequestOf } from '../src/endpoints.js';
import type { OrderStatusChangedEvent, PaymentStatusChangedEvent } from '../src/schemas/events.js';

const encrypted = 'svc_aes_v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const time = '2026-01-31 08:09:10';

export const sharedAgreement = {
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo: 'SA-1',
  bankCardNoEncrypted: encrypted,
  bankMobileEncrypted: encrypted,
  certificateNoEncrypted: encrypted,
  realNameEncrypted: encrypted,
  channelUserId: 'user-1',
};

export const bindSms = {
  channelUserId: 'user-1',
  mobileEncrypted: encrypted,
  bankCardNoEncrypted: encrypted,
  certificateNoEncrypted: encrypted,
  realNameEncrypted: encrypted,
  bankMobileEncrypted: encrypted,
};

export const orderA1 = {
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: 'EXT-1',
  productCode: 'TEST_SPU_001',
  bindOrderNo: '600000000000001',
} satisfies RequestOf<'orders/create'>;

export const orderA2 = {
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: 'EXT-2',
  productCode: 'TEST_SPU_001',
  sharedAgreement,
  channelUserId: 'user-1',
  mobileEncrypted: encrypted,
} satisfies RequestOf<'orders/create'>;

export const orderB = {
  settlementMode: 'CHANNEL_COLLECT',
  externalOrderNo: 'EXT-3',
  productCode: 'TEST_SPU_001',
  channelUserId: 'user-1',
  mobileEncrypted: encrypted,
} satisfies RequestOf<'orders/create'>;

const mainOrder = {
  orderNo: '700000000000001',
  externalOrderNo: '订单-🎈',
  createTime: time,
  orderStatus: 'ACTIVE',
  orderSuccessTime: time,
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  totalPaidAmountCent: 1990,
  totalRefundAmountCent: 0,
  nextPayTime: '2026-02-28 08:09:10',
  unsubscribeTime: null,
  redeemUrl: 'https://h5.example.test/redeem?orderNo=700000000000001',
  paymentRecords: [
    {
      paymentOrderNo: '7000000000000010001',
      cycleNo: 1,
      expectPayTime: time,
      paidAt: time,
      amountCent: 1990,
      refundAmountCent: 0,
      paymentStatus: 'SUCCESS',
    },
    {
      paymentOrderNo: '7000000000000010002',
      cycleNo: 2,
      expectPayTime: '2026-02-28 08:09:10',
      paidAt: null,
      amountCent: 1990,
      refundAmountCent: 0,
      paymentStatus: 'WAIT',
    },
  ],
} satisfies DataOf<'orders/query'>;

const page = { page: 1, size: 100, hasMore: false, nextCursor: null };
const byCursor = { page: null, size: 2, hasMore: true, nextCursor: 'WyJldmVudHMvbGlzdCJd' };

/** Requests that must be accepted; the first of each is the one the rejections are made from. */
export const requests: { [Name in EndpointName]: [RequestOf<Name>, ...RequestOf<Name>[]] } = {
  'auth/token': [{ grantType: 'client_credentials', appId: 'test_demo' }],
  'products/list': [
    {},
    { page: 1, size: 1 },
    { cursor: 'WyJldmVudHMvbGlzdCJd', size: 1 },
    { page: 2_147_483_647, size: 100 },
  ],
  'payment-channels/list': [{}, { page: 2 }, { size: 50 }, { cursor: 'x' }],
  'agreements/bind-sms': [
    bindSms,
    { ...bindSms, productCode: '' },
    {
      ...bindSms,
      paymentChannelCode: 'MOCKBANK',
      bankCode: 'ICBC',
      certType: 'PASSPORT',
      productCode: 'TEST_SPU_001',
      bindOrderNo: '600000000000001',
    },
  ],
  'agreements/bind-confirm': [{ bindOrderNo: '600000000000001', smsCodeEncrypted: encrypted }],
  'agreements/user-data': [
    { channelUserId: 'user-1' },
    { bankCardNoEncrypted: encrypted, page: 1, size: 10 },
    { certificateNoEncrypted: encrypted },
  ],
  'agreements/replace': [
    { orderNo: '700000000000001', newSharedAgreement: sharedAgreement },
    {
      externalOrderNo: 'EXT-2',
      newSharedAgreement: { ...sharedAgreement, certType: 'ID_CARD' },
      retryFailedNow: false,
    },
  ],
  'orders/create': [
    orderA1,
    orderA2,
    orderB,
    {
      ...orderA1,
      channelUserId: 'user-1',
      mobileEncrypted: encrypted,
      periodType: 'MONTH',
      period: 1,
      totalCycles: 12,
    },
    { ...orderB, channelAgreementRef: '' },
    { ...orderB, periodType: 'WEEK', period: 0, totalCycles: -1 },
  ],
  'orders/query': [{ orderNo: '700000000000001' }, { externalOrderNo: 'EXT-1' }],
  'orders/list': [
    { channelUserId: 'user-1' },
    { channelUserId: 'user-1', cycleType: 'SINGLE', page: 3, size: 20 },
    { channelUserId: 'user-1', cursor: 'x', size: 20 },
  ],
  'orders/unsubscribe': [{ orderNo: '700000000000001' }, { externalOrderNo: 'EXT-1', reason: '' }],
  'payments/query': [{ paymentOrderNo: '7000000000000010001' }, { paymentOrderNo: 'no such number' }],
  'events/list': [
    {},
    { orderNo: '700000000000001', eventType: 'payment.status.changed', deliveryStatus: 'NO_CALLBACK' },
    { externalOrderNo: 'EXT-1', from: time, to: '2026-01-31T08:09:10Z', page: 2, size: 10 },
  ],
  'events/replay': [
    { eventIds: ['4711'] },
    { eventIds: ['4711-2', 'no such id'] },
    { from: time },
    { to: '2026-01-31T08:09:10Z' },
  ],
  'sandbox/orders/advance': [
    { orderNo: '700000000000001', cycles: 1 },
    { orderNo: '700000000000001', cycles: 9999, outcomes: [] },
    { externalOrderNo: 'EXT-1', cycles: 4, outcomes: ['SUCCESS', 'FAIL_RETRY', 'FAIL', 'AGREEMENT_INVALID'] },
    { externalOrderNo: 'EXT-1', to: time, outcomes: ['FAIL'] },
    { externalOrderNo: 'EXT-1', to: '2026-01-31T08:09:10Z' },
  ],
  'sandbox/payments/refund': [
    { paymentOrderNo: '7000000000000010001' },
    { paymentOrderNo: 'no such number', amountCent: 1, reason: '' },
  ],
  'sandbox/events/pull': [
    { path: '/' },
    { path: '/events/%E4%BA%8B', from: time, size: 10, cursor: 'x' },
    { path: '/a/b', from: '2026-01-31T08:09:10Z' },
  ],
};

const paymentDetail: DataOf<'payments/query'> = {
  paymentOrderNo: '7000000000000010001',
  orderNo: '700000000000001',
  externalOrderNo: 'EXT-1',
  cycleNo: 1,
  expectPayTime: time,
  paidAt: time,
  amountCent: 1990,
  usedAmountCent: 490,
  refundTime: null,
  refundAmountCent: 0,
  paymentStatus: 'SUCCESS',
  claimRecords: [{ claimNo: 'C1', benefitCode: 'COUPON', benefitName: 'Coupon', faceValueCent: 490, claimedAt: time }],
};

/** Response data in every shape that matters to a serialiser: nulls, absent optionals, empty and full lists. */
export const data: { [Name in EndpointName]: [DataOf<Name>, ...DataOf<Name>[]] } = {
  'auth/token': [{ accessToken: 'opaque', expiresIn: '7200', expiresAt: time }],
  'products/list': [
    {
      items: [
        {
          productCode: 'TEST_SPU_001',
          productName: 'Monthly "VIP"',
          settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
          periodType: 'MONTH',
          period: 1,
          totalCycles: 12,
          amountCent: 1990,
          benefits: [{ benefitCode: 'VIP_PASS', name: 'VIP pass', faceValueCent: 1500 }],
        },
      ],
      ...page,
    },
    { items: [], ...page, page: 2, hasMore: true },
    { items: [], ...byCursor },
  ],
  'payment-channels/list': [
    {
      items: [{ code: 'MOCKPAY', displayName: 'Mock', isDefault: true, shareEnabled: true, supportedBanks: ['*'] }],
      ...page,
    },
  ],
  'agreements/bind-sms': [
    {
      bindOrderNo: '600000000000001',
      paymentChannelCode: 'MOCKPAY',
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_SUCCESS',
    },
    {
      bindOrderNo: '600000000000001',
      paymentChannelCode: 'MOCKPAY',
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_FAIL',
      failReason: 'number\nunreachable',
    },
  ],
  'agreements/bind-confirm': [
    { agreementNo: 'AG1', agreementStatus: 'BIND_SUCCESS', bankCardTailNo: '0001' },
    { agreementNo: null, agreementStatus: 'BIND_FAIL', bankCardTailNo: '0001', failReason: 'wrong code' },
  ],
  'agreements/user-data': [
    {
      bankDataList: [
        {
          bindOrderNo: '600000000000001',
          agreementNo: 'AG1',
          bankCardNoEncrypted: encrypted,
          certificateNoEncrypted: encrypted,
          realNameEncrypted: encrypted,
          bankMobileEncrypted: encrypted,
          agreementStatus: 'BIND_SUCCESS',
        },
        {
          bindOrderNo: null,
          agreementNo: 'AG2',
          bankCardNoEncrypted: encrypted,
          certificateNoEncrypted: encrypted,
          realNameEncrypted: encrypted,
          bankMobileEncrypted: encrypted,
          agreementStatus: 'REPLACED',
        },
      ],
      ...page,
    },
    { bankDataList: [], ...page },
    { bankDataList: [], ...byCursor },
  ],
  'agreements/replace': [
    {
      orderNo: '700000000000001',
      oldAgreementNo: 'AG1',
      newAgreementNo: 'AG2',
      paymentChannelCode: 'MOCKPAY',
      affectedPayments: [{ paymentOrderNo: '7000000000000010002', cycleNo: 2, previousStatus: 'FAIL_RETRY' }],
      retriedNow: [{ paymentOrderNo: '7000000000000010002', cycleNo: 2, newStatus: 'PROCESSING' }],
    },
  ],
  'orders/create': [mainOrder],
  'orders/query': [
    mainOrder,
    {
      ...mainOrder,
      orderStatus: 'TERMINATED',
      orderSuccessTime: null,
      nextPayTime: null,
      redeemUrl: null,
      totalPaidAmountCent: Number.MAX_SAFE_INTEGER,
      paymentRecords: [],
    },
  ],
  'orders/list': [
    { orders: [mainOrder, mainOrder], ...page },
    { orders: [mainOrder], ...byCursor },
  ],
  'orders/unsubscribe': [{ ...mainOrder, orderStatus: 'UNSUBSCRIBED', unsubscribeTime: time, redeemUrl: null }],
  'payments/query': [paymentDetail],
  'events/list': [
    {
      events: [
        {
          eventId: '4711',
          lastEventId: null,
          eventType: 'order.status.changed',
          orderNo: '700000000000001',
          occurredAt: time,
          deliveryStatus: 'PENDING',
          pushes: 0,
          lastPushTime: null,
          data: { orderStatus: 'ACTIVE', nextPayTime: null },
        },
        {
          eventId: '4712-2',
          lastEventId: '4712-12',
          eventType: 'payment.status.changed',
          orderNo: '700000000000001',
          occurredAt: time,
          deliveryStatus: 'GIVE_UP',
          pushes: 121,
          lastPushTime: time,
          data: { paymentStatus: 'CANCELED', cycleNo: 2 },
        },
      ],
      ...page,
    },
    { events: [], ...page },
    { events: [], ...byCursor },
  ],
  'events/replay': [{ replayed: 0 }, { replayed: 10_000 }],
  'sandbox/orders/advance': [mainOrder],
  'sandbox/payments/refund': [
    { ...paymentDetail, refundStatus: 'PROCESSING', refundFailReason: null },
    { ...paymentDetail, refundStatus: 'FAIL', refundFailReason: 'no "funds"' },
  ],
  'sandbox/events/pull': [
    {
      pushes: [
        {
          eventId: '4712-2',
          eventType: 'payment.status.changed',
          occurredAt: time,
          writtenAt: time,
          headers: {
            'Content-Type': 'application/json',
            'X-SVC-App-Id': 'test_demo',
            'X-SVC-Timestamp': '1767225600000',
            'X-SVC-Nonce': 'ffeeddccbbaa99887766554433221100',
            'X-SVC-Event-Id': '4712-2',
            'X-SVC-Signature': 'R4EMQB4GY7GEREeoYk9rFJxUAclqyS1yl92M+NFRByI=',
          },
          body: '{"eventId":"4712-2","data":{"name":"你好 \\"🎈\\""}}',
        },
      ],
      readAt: time,
      nextCursor: 'WyJzYW5kYm94L2V2ZW50cy9wdWxsIl0',
    },
    { pushes: [], readAt: time, nextCursor: null },
  ],
};

export const orderEvent: OrderStatusChangedEvent = {
  eventId: 'evt_1',
  eventType: 'order.status.changed',
  occurredAt: time,
  retryNo: 0,
  data: {
    orderNo: '700000000000001',
    externalOrderNo: 'EXT-1',
    createTime: time,
    orderStatus: 'TERMINATED',
    orderSuccessTime: null,
    periodType: 'DAY',
    period: 1,
    totalCycles: 7,
    totalPaidAmountCent: 0,
    totalPaidCycles: 0,
    totalRefundAmountCent: 0,
    latestPaymentStatus: null,
    nextPayTime: null,
  },
};

export const paymentEvent: PaymentStatusChangedEvent = {
  eventId: 'evt_2',
  eventType: 'payment.status.changed',
  occurredAt: time,
  retryNo: 10,
  data: {
    orderNo: '700000000000001',
    externalOrderNo: 'EXT-1',
    paymentOrderNo: '7000000000000010001',
    channelUserId: 'user-1',
    mobileEncrypted: null,
    cycleNo: 1,
    expectPayTime: time,
    paidAt: time,
    amountCent: 100,
    refundTime: time,
    refundAmountCent: 40,
    paymentStatus: 'REFUND_PART',
    agreementShareFlag: false,
  },
};
