import type { EndpointName } from '@perennial/wire';

const TIME = 'as "2026-01-31 08:00:00" in UTC+8';

/** The descriptions of options, by field name. The field names lack the suffix Encrypted. */
const TEXTS: Readonly<Record<string, string>> = {
  orderNo: "the service's number of the order; this or --external-order-no",
  externalOrderNo: 'your own number of the order; this or --order-no',
  channelUserId: 'your id of the user',
  mobile: 'mobile that the user logs in with',
  bankCardNo: 'number of the card',
  bankMobile: 'mobile that the bank knows',
  certificateNo: 'number of the identity document',
  certType: 'kind of the identity document',
  realName: "the card owner's name",
  bankCode: 'code of the bank, where the payment channel needs one',
  paymentChannelCode: 'as payment-channels list shows it',
  sharedAgreementNo: "the agreement's number at the payment institution",
  productCode: 'as products list shows it',
  bindOrderNo: 'from the answer of agreements bind-sms',
  smsCode: 'code that the user received',
  page: 'page of the list; not together with --cursor',
  size: 'records per page',
  cursor: 'nextCursor of the previous answer',
  paymentOrderNo: "number of the period's payment: the order's number and four digits",
  eventType: 'only events of this type',
  deliveryStatus: 'only events with this delivery status',
  from: `only events written at this time or later, ${TIME}`,
  to: `only events written before this time, ${TIME}`,
  reason: 'any text, kept for the operators',
};

/** Descriptions that differ from TEXTS for a single endpoint. */
const OWN_TEXTS: Readonly<Partial<Record<EndpointName, Readonly<Record<string, string>>>>> = {
  'agreements/bind-sms': {
    paymentChannelCode: 'as payment-channels list shows it; default: your default, or the only one',
    productCode: 'product to be sold; checked if given',
    bindOrderNo: 'only to send another code for a pending binding',
  },
  'agreements/user-data': {
    channelUserId: 'your id of the user; this, --bank-card-no or --certificate-no is needed',
  },
  'agreements/replace': {
    retryFailedNow: `whether a failed period is retried at once; to disable it: --body '{"retryFailedNow":false}'`,
  },
  'orders/create': {
    settlementMode: 'who collects the money: the service (A) or you (B)',
    externalOrderNo: 'your own number of the order; it must be unique',
    bindOrderNo: 'A.1: a binding confirmed by agreements bind-confirm',
    channelAgreementRef: 'B: any text of yours, stored with the order',
    channelUserId: 'your id of the user; needed in A.2 and B',
    mobile: 'mobile that the user logs in with; needed in A.2 and B',
    periodType: "checked against the product's if given: DAY or MONTH",
    period: "checked against the product's if given: number of days or months in a period",
    totalCycles: "checked against the product's if given: number of periods",
    'sharedAgreement.paymentChannelCode': 'A.2: one with shareEnabled, as payment-channels list shows it',
    'sharedAgreement.sharedAgreementNo': "A.2: the agreement's number at the payment institution",
    'sharedAgreement.channelUserId': 'the same as --channel-user-id',
  },
  'orders/list': { cycleType: 'only orders of one period, or of several; default: both' },
  'events/list': {
    orderNo: "only of this order, by the service's number",
    externalOrderNo: 'only of this order, by your own number',
  },
  'events/replay': {
    eventIds: 'events by their ids; not together with --from and --to',
    from: `events written at this time or later that are no longer sent, ${TIME}`,
    to: `events written before this time that are no longer sent, ${TIME}`,
  },
  'sandbox/orders/advance': {
    cycles: 'number of periods to run; this or --to',
    to: `run everything that is due up to this time, ${TIME}; this or --cycles`,
    outcomes: 'outcome of each period in turn; missing ones succeed',
  },
  'sandbox/payments/refund': { amountCent: 'in cents; default: all that is left' },
  'sandbox/events/pull': {
    path: 'path of the callback URL, such as /events; it is part of the signature',
    from: `events written at this time or later, ${TIME}; default: all`,
  },
  'sandbox/events/test': { eventType: 'type whose callback address is tested; default: order.status.changed' },
  'sandbox/requests/list': {
    code: 'only requests with this result code, or failed for every code except 0',
    requestId: 'only the request with this id',
  },
  'sandbox/channel/set': {
    callbackUrl: "where your events are sent; '' removes it",
    encryptedFields: 'encrypted fields of events, and of answers to requests without them',
    upcomingNoticeDays: 'days before a debit at which payment.upcoming is sent; 0: never',
    appSecret: 'new app secret, 32 random bytes in base64',
    aesKey: 'new aesKey, 32 random bytes in base64',
    callbackSecret: 'new callbackSecret, 32 random bytes in base64',
    overlapHours: 'with --app-secret: hours for which the former app secret stays valid; default 0',
  },
};

/** Returns the description of a field, or '' if it has none. */
export function textOfField(endpoint: string, path: readonly string[]): string {
  const own: Readonly<Record<string, string>> = OWN_TEXTS[endpoint as EndpointName] ?? {};
  return own[path.join('.')] ?? TEXTS[path.at(-1) ?? ''] ?? '';
}
