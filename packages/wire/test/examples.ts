import { EXAMPLES } from '../../developers/src/content/examples.js';
import type { Example } from '../../developers/src/content/story/cast.js';
import { EVENT_EXAMPLES } from '../../developers/src/content/story/events.js';
import { type EndpointName, endpoints } from '../src/endpoints.js';

/** The documentation's examples, which other tests send to a running service, and cases that no example covers. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into examples freely
type Body = Record<string, any>;
type Bodies = Readonly<Record<EndpointName, readonly [Body, ...Body[]]>>;

const gather = (part: 'request' | 'answer', more: Readonly<Partial<Record<EndpointName, readonly Body[]>>>): Bodies =>
  Object.fromEntries(
    endpoints.map(({ name }) => [
      name,
      [
        ...EXAMPLES.filter(({ endpoint }) => endpoint === name).map((one: Example) => one[part]),
        ...(more[name as EndpointName] ?? []),
      ],
    ]),
  ) as unknown as Bodies;

const time = '2026-01-31 08:09:10';
const encrypted = 'svc_aes_v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const [bindSms, orderA1, orderA2, orderB] = ['first-code', 'a1', 'a2', 'b'].map(
  (name) => EXAMPLES.find((one) => one.name === name)?.request ?? {},
) as [Body, Body, Body, Body];

export { orderA1, orderA2, orderB };

/** Valid requests by endpoint. Tests derive invalid requests from the first of each endpoint. */
export const requests = gather('request', {
  'products/list': [
    { page: 1, size: 1 },
    { cursor: 'WyJldmVudHMvbGlzdCJd', size: 1 },
    { page: 2_147_483_647, size: 100 },
  ],
  'agreements/bind-sms': [
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
  'agreements/user-data': [{ certificateNoEncrypted: encrypted }],
  'agreements/replace': [
    { orderNo: '1', newSharedAgreement: { ...orderA2['sharedAgreement'], certType: 'ID_CARD' }, retryFailedNow: false },
  ],
  'orders/create': [
    { ...orderB, ...{ channelAgreementRef: '', periodType: 'MONTH', period: 1, totalCycles: 12 } },
    { ...orderB, periodType: 'WEEK', period: 0, totalCycles: -1 },
  ],
  'orders/list': [
    { channelUserId: 'user-1', cycleType: 'SINGLE', page: 3, size: 20 },
    { channelUserId: 'user-1', cursor: 'x', size: 20 },
  ],
  'orders/unsubscribe': [{ orderNo: '700000000000001', reason: '' }],
  'payments/query': [{ paymentOrderNo: 'no such number' }],
  'events/list': [
    {},
    { orderNo: '1', deliveryStatus: 'NO_CALLBACK', from: time, to: '2026-01-31T08:09:10Z', page: 2, size: 10 },
  ],
  'events/replay': [{ eventIds: ['4711-2', 'no such id'] }, { to: '2026-01-31T08:09:10Z' }],
  'sandbox/orders/advance': [
    { orderNo: '700000000000001', cycles: 9999, outcomes: [] },
    { externalOrderNo: 'EXT-1', cycles: 4, outcomes: ['SUCCESS', 'FAIL_RETRY', 'FAIL', 'AGREEMENT_INVALID'] },
    { externalOrderNo: 'EXT-1', to: time, outcomes: ['FAIL'] },
  ],
  'sandbox/payments/refund': [{ paymentOrderNo: 'no such number', amountCent: 1, reason: '' }],
  'sandbox/events/pull': [{ path: '/events/%E4%BA%8B', from: '2026-01-31T08:09:10Z', size: 10, cursor: 'x' }],
  'sandbox/events/test': [{ eventType: 'payment.upcoming' }],
  'sandbox/requests/list': [{ requestId: 'r', size: 100, cursor: 'x' }],
  'sandbox/channel/set': [
    {},
    { callbackUrl: '', encryptedFields: 'v1', upcomingNoticeDays: 0, aesKeyEncrypted: encrypted },
  ],
});

const answerOf = (endpoint: EndpointName): Body => EXAMPLES.find((one) => one.endpoint === endpoint)?.answer ?? {};
const byCursor = { page: null, size: 2, hasMore: true, nextCursor: 'WyJldmVudHMvbGlzdCJd' };
const claim = { claimNo: 'C1', benefitCode: 'COUPON', benefitName: 'Coupon', faceValueCent: 490, claimedAt: time };

/** Response data in every form that matters to a serialiser: nulls, absent optional fields, empty and full lists. */
export const data = gather('answer', {
  'products/list': [{ items: [], ...byCursor }],
  'agreements/bind-sms': [
    { ...answerOf('agreements/bind-sms'), smsStatus: 'SEND_FAIL', failReason: 'number\nunreachable' },
  ],
  'agreements/bind-confirm': [
    { agreementNo: null, agreementStatus: 'BIND_FAIL', bankCardTailNo: '0001', failReason: 'wrong "code"' },
  ],
  'agreements/user-data': [
    { bankDataList: [{ ...answerOf('agreements/user-data')['bankDataList'][0], bindOrderNo: null }], ...byCursor },
    { bankDataList: [], ...byCursor },
  ],
  'orders/query': [
    {
      ...answerOf('orders/query'),
      ...{ externalOrderNo: '订单-🎈', orderStatus: 'TERMINATED', totalPaidAmountCent: Number.MAX_SAFE_INTEGER },
      ...{ orderSuccessTime: null, nextPayTime: null, redeemUrl: null, paymentRecords: [] },
    },
  ],
  'payments/query': [{ ...answerOf('payments/query'), usedAmountCent: 490, claimRecords: [claim] }],
  'events/list': [
    {
      events: [
        {
          ...answerOf('events/list')['events'][0],
          ...{ eventId: '4712-2', lastEventId: '4712-12', eventType: 'payment.status.changed' },
          ...{ deliveryStatus: 'GIVE_UP', pushes: 121, lastPushTime: time },
        },
      ],
      ...byCursor,
    },
  ],
  'sandbox/payments/refund': [
    { ...answerOf('sandbox/payments/refund'), refundStatus: 'FAIL', refundFailReason: 'no "funds"' },
  ],
  'sandbox/events/pull': [{ pushes: [], readAt: time, nextCursor: null }],
  'sandbox/events/test': [
    { ...answerOf('sandbox/events/test'), accepted: false, httpStatus: null, answer: 'ENOTFOUND' },
  ],
  'sandbox/requests/list': [{ requests: [], nextCursor: null }],
  'sandbox/channel/set': [{ ...answerOf('sandbox/channel/set'), callbackUrls: [], acceptsV1: false }],
});

const [orderExample, paymentEvent] = EVENT_EXAMPLES;
const nothingYet = { orderSuccessTime: null, latestPaymentStatus: null, nextPayTime: null };
export const orderEvent = {
  ...orderExample,
  data: { ...orderExample?.data, orderStatus: 'TERMINATED', ...nothingYet },
};
export { paymentEvent };
