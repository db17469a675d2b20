import type { EndpointName } from '@perennial/wire';

const TIME = 'as "2026-01-31 08:00:00" in UTC+8';

/** Descriptions of the options, by field name without Encrypted. */
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
  bindOrderNo: 'as agreements bind-sms has answered it',
  smsCode: 'code that the user was sent',
  page: 'page of the list; not together with --cursor',
  size: 'records of one page',
  cursor: 'nextCursor of the answer before, for the next page',
  paymentOrderNo: "number of the period's payment: the order's number and four digits",
  eventType: 'only events of this type',
  deliveryStatus: 'only events that this has become of',
  from: `only what was written at this time or later, ${TIME}`,
  to: `only what was written before this time, ${TIME}`,
  reason: 'any text, kept for the operators',
};

/** Descriptions that differ for one endpoint. */
const OWN_TEXTS: Readonly<Partial<Record<EndpointName, Readonly<Record<string, string>>>>> = {
  'agreements/bind-sms': {
    paymentChannelCode: 'as payment-channels list shows it; default: your default, or the only one',
    productCode: 'product that will be sold; checked if it is given',
    bindOrderNo: 'only for another code on a binding that was begun',
  },
  'agreements/user-data': {
    channelUserId: 'your id of the user; this, --bank-card-no or --certificate-no is needed',
  },
  'agreements/replace': {
    retryFailedNow: `whether a failed period is debited again at once; to say no: --body '{"retryFailedNow":false}'`,
  },
  'orders/create': {
    settlementMode: 'who takes the money: the service (A) or you (B)',
    externalOrderNo: 'your own number of the order, never used before',
    bindOrderNo: 'A.1: a binding that agreements bind-confirm has finished',
    channelAgreementRef: 'B: any text of yours, which is kept',
    channelUserId: 'your id of the user; needed in A.2 and B',
    mobile: 'mobile that the user logs in with; needed in A.2 and B',
    periodType: "checked against the product's if it is given: DAY or MONTH",
    period: "checked against the product's if it is given: how many of these make a period",
    totalCycles: "checked against the product's if it is given: number of periods",
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
    from: `what was written at this time or later and is not sent any more, ${TIME}`,
    to: `what was written before this time and is not sent any more, ${TIME}`,
  },
  'sandbox/orders/advance': {
    cycles: 'run so many periods; this or --to',
    to: `run everything that is due up to this time, ${TIME}; this or --cycles`,
    outcomes: 'what becomes of each period in turn; those that are missing succeed',
  },
  'sandbox/payments/refund': { amountCent: 'in cents; default: all that is left' },
  'sandbox/events/pull': {
    path: 'path of the address that the events are for, such as /events: it is signed',
    from: `what was written at this time or later, ${TIME}; default: everything`,
  },
};

/** Returns '' for a field without a description. */
export function textOfField(endpoint: string, path: readonly string[]): string {
  const own: Readonly<Record<string, string>> = OWN_TEXTS[endpoint as EndpointName] ?? {};
  return own[path.join('.')] ?? TEXTS[path.at(-1) ?? ''] ?? '';
}
