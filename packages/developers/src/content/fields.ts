/** What each field means: by its name in requests and in answers, and for a schema whose field means something else there. */

const CARD = {
  bankCardNoEncrypted: 'Number of the card: 8 to 32 digits, encrypted.',
  bankMobileEncrypted: 'The mobile that the bank knows: 5 to 20 digits after an optional `+`, encrypted.',
  certificateNoEncrypted: 'Number of the identity document: 1 to 64 characters, encrypted.',
  realNameEncrypted: "The owner's name as the bank has it: 1 to 100 characters, encrypted.",
};

const PERIODS = {
  periodType: 'Unit of a period: `DAY`, or `MONTH` for calendar months.',
  period: 'How many of these units make one period.',
  totalCycles: 'Number of periods.',
};

export const REQUEST_FIELDS: Readonly<Record<string, string>> = {
  ...CARD,
  orderNo: "The service's number of the order. Exactly one of `orderNo` and `externalOrderNo`.",
  externalOrderNo: 'Your number of the order. Exactly one of `orderNo` and `externalOrderNo`.',
  channelUserId: 'Your name for the user.',
  mobileEncrypted:
    'The mobile that the user logs in with: 5 to 20 digits after an optional `+`, encrypted. Within your channel one user has one mobile.',
  certType: 'Kind of the identity document.',
  page: 'Page of the list, from 1. Not together with `cursor`.',
  size: 'Records of one page.',
  cursor: 'In place of `page`: the `nextCursor` of an earlier answer to the same question.',
  appId: 'Your `appId`, the same as in the header `X-SVC-App-Id`.',
  grantType: 'Always `client_credentials`.',
};

export const ANSWER_FIELDS: Readonly<Record<string, string>> = {
  ...PERIODS,
  bankCardNoEncrypted: 'Number of the card, encrypted.',
  bankMobileEncrypted: 'The mobile that the bank knows, encrypted.',
  certificateNoEncrypted: 'Number of the identity document, encrypted.',
  realNameEncrypted: "The owner's name, encrypted.",
  orderNo: "The service's number of the order.",
  externalOrderNo: 'Your number of the order.',
  channelUserId: 'Your name for the user.',
  page: 'As asked. Null in an answer to a `cursor`.',
  size: 'As asked.',
  hasMore: 'Whether there are older records.',
  nextCursor: 'Goes on behind the last record of this answer. Null when there is no more.',
  paymentOrderNo: "Number of the period's payment: `orderNo`, followed by the period's number in four digits.",
  cycleNo: 'The period, from 1.',
  expectPayTime: 'When it is due.',
  paidAt: 'When it was paid or billed. Null before that.',
  amountCent: 'Price of the period, in cents.',
  refundAmountCent: 'What was refunded so far, in cents. Always 0 in B.',
  refundTime: 'When it was last refunded. Null if it was not.',
  paymentStatus: 'State of the period.',
  orderStatus: 'State of the order.',
  createTime: 'When the order was made. All due times are counted from it.',
  orderSuccessTime: 'When the order first became `ACTIVE`. Null before that.',
  totalPaidAmountCent: 'Sum of all periods that were paid or billed, in cents. Refunds are not taken off.',
  totalRefundAmountCent: 'Sum of all refunds, in cents. Always 0 in B.',
  nextPayTime: 'When the next period is debited or billed. Null unless the order is `ACTIVE`.',
  paymentChannelCode: 'The payment channel that is used.',
  agreementStatus: 'State of the agreement.',
  eventId: 'Names the event; the same however often it is sent.',
  eventType: 'What changed: an order or a period.',
  occurredAt: 'When it happened.',
  benefitCode: 'Names the benefit.',
  faceValueCent: 'What it is worth, in cents.',
  usedAmountCent: 'Face value of what the user has claimed, at most `amountCent`.',
  claimRecords: 'What the user has claimed of this period.',
  agreementShareFlag: 'True on an agreement that you have shared (A.2).',
  retryNo:
    'How often the event was sent before: 0 the first time, then 1, 2, 3. Do not use it to find duplicates: after a fault of the service the same number can come twice. `eventId` is what stays the same.',
};

/** `Schema.field`, for what the two tables above do not say, or say otherwise. */
export const OWN_FIELDS: Readonly<Record<string, string>> = {
  'Token.accessToken': 'Send it as `Authorization: Bearer …`. Do not look into it.',
  'Token.expiresIn': 'Seconds for which it is good, as text.',
  'Token.expiresAt': 'The same as a time.',

  'ProductsListData.items': 'The products.',
  'Product.productCode': 'Names the product.',
  'Product.productName': 'For people.',
  'Product.settlementModes': 'Who may take the money for it.',
  'Product.amountCent': 'Price of one period, in cents.',
  'Product.benefits': 'What each paid period gives.',
  'ProductBenefit.name': 'For people.',

  'PaymentChannelsListData.items': 'The payment channels.',
  'PaymentChannel.code': 'Names the payment channel.',
  'PaymentChannel.displayName': 'For end users.',
  'PaymentChannel.isDefault': 'Whether it is used where none is named. True for at most one.',
  'PaymentChannel.shareEnabled': 'Whether agreements of your own may be shared on it (A.2).',
  'PaymentChannel.supportedBanks': 'Codes of banks. `["*"]` is any bank.',

  'BindSmsRequest.paymentChannelCode': 'Default: your default, or the only one you have.',
  'BindSmsRequest.bankCode':
    'Code of the bank, where the payment channel needs one. If it is sent, it must be in `supportedBanks`.',
  'BindSmsRequest.productCode': 'If it is sent, your channel must be authorized for it.',
  'BindSmsRequest.bindOrderNo': 'For another code on a binding that was begun.',
  'BindSmsData.bindOrderNo': 'Names the binding from now on.',
  'BindSmsData.agreementStatus': '`BIND_ING`.',
  'BindSmsData.smsStatus': 'Whether the code was sent.',
  'BindSmsData.failReason': 'With `SEND_FAIL` only; for people.',
  'BindConfirmRequest.bindOrderNo': 'As bind-sms has answered it.',
  'BindConfirmRequest.smsCodeEncrypted': 'The code that the user has typed: 1 to 32 characters, encrypted.',
  'BindConfirmData.agreementNo': "The agreement's own number. Null with `BIND_FAIL`.",
  'BindConfirmData.agreementStatus': '`BIND_SUCCESS` or `BIND_FAIL`.',
  'BindConfirmData.bankCardTailNo': 'Last four digits of the card.',
  'BindConfirmData.failReason': 'With `BIND_FAIL` only; for people.',

  'UserDataRequest.channelUserId':
    'Your name for the user. At least one of this, `bankCardNoEncrypted` and `certificateNoEncrypted`.',
  'UserDataData.bankDataList': 'The agreements.',
  'BankData.bindOrderNo': 'Null for a shared agreement, which never had one.',
  'BankData.agreementNo': "The agreement's own number.",

  'ReplaceRequest.newSharedAgreement': "The agreement that takes over. Its `channelUserId` must be the order's.",
  'ReplaceRequest.retryFailedNow': 'Whether a period that is `FAIL_RETRY` is debited again at once.',
  'ReplaceData.oldAgreementNo': 'The agreement that is `REPLACED` now.',
  'ReplaceData.newAgreementNo': 'The agreement that the order runs on now.',
  'ReplaceData.affectedPayments': 'Periods that are still to be debited, or being debited.',
  'AffectedPayment.previousStatus': 'State of the period before.',
  'ReplaceData.retriedNow': 'The period that was `FAIL_RETRY`, if there was one and `retryFailedNow` is not false.',
  'RetriedPayment.newStatus': 'State of the period now.',

  'SharedAgreement.paymentChannelCode': 'One with `shareEnabled`, else 403004.',
  'SharedAgreement.sharedAgreementNo':
    "The agreement's number at the payment institution. One that another channel has in force is 403004.",
  'SharedAgreement.channelUserId': 'The same as outside, else 400001.',

  'OrdersCreateRequest.settlementMode': 'Who takes the money. It never changes for an order.',
  'OrdersCreateRequest.externalOrderNo': 'Your own number, used by nobody before, in no channel.',
  'OrdersCreateRequest.productCode': 'One that products/list shows.',
  'OrdersCreateRequest.bindOrderNo': 'A.1 only, and required there: a binding that is `BIND_SUCCESS`.',
  'OrdersCreateRequest.sharedAgreement':
    'A.2 only, and required there: an agreement of yours at the payment institution.',
  'OrdersCreateRequest.channelAgreementRef': 'B only: any text of yours, which is kept. Ignored in A.',
  'OrdersCreateRequest.channelUserId':
    'Your name for the user. Required in A.2 and B; in A.1 known from the binding, and compared if it is sent.',
  'OrdersCreateRequest.mobileEncrypted':
    "The user's login mobile, encrypted. Required in A.2 and B; in A.1 known from the binding, and compared if it is sent.",
  'OrdersCreateRequest.periodType': 'If it is sent: as the product has it, else 420007.',
  'OrdersCreateRequest.period': 'If it is sent: as the product has it, else 420007.',
  'OrdersCreateRequest.totalCycles': 'If it is sent: as the product has it, else 420007.',

  'MainOrder.unsubscribeTime': 'When it was ended. Null if it was not.',
  'MainOrder.redeemUrl':
    'Where the user claims what was paid for, good for 7 days from this answer. Null when nothing is left to claim, and after an unsubscribe.',
  'MainOrder.paymentRecords': 'The periods, by number. Those that were not started are `WAIT`, or `CANCELED`.',

  'OrdersListRequest.cycleType': 'Only orders of one period, or only those of several. Default: both.',
  'OrdersListData.orders': 'The orders.',
  'OrdersUnsubscribeRequest.reason': 'Any text; kept for the operators.',

  'PaymentsQueryRequest.paymentOrderNo': "Number of the period's payment, as in `paymentRecords`.",
  'ClaimRecord.claimNo': 'Names the claim.',
  'ClaimRecord.benefitName': 'For people.',
  'ClaimRecord.claimedAt': 'When it was claimed.',

  'EventsListRequest.orderNo': 'Only of one order. Not together with `externalOrderNo`.',
  'EventsListRequest.externalOrderNo': 'Only of one order, by your number. Not together with `orderNo`.',
  'EventsListRequest.eventType': 'Only of one type.',
  'EventsListRequest.deliveryStatus': 'Only events whose delivery is in this state. Default: all.',
  'EventsListRequest.from': 'Only those that were written at this time or later.',
  'EventsListRequest.to': 'Only those that were written before this time.',
  'EventsListData.events': 'The events.',
  'EventRecord.lastEventId':
    'Periods that were voided together are one record: this is the id of the last, `eventId` that of the first. Null for every other event.',
  'EventRecord.deliveryStatus': 'Whether your receiver has it.',
  'EventRecord.pushes': 'How often it was sent so far.',
  'EventRecord.lastPushTime': 'When it was last sent. Null if it was not.',
  'EventRecord.data': 'As it was sent, but without `mobileEncrypted`.',
  'EventsReplayRequest.eventIds':
    'Events by their ids. `4711-8` is one of several periods that were voided together, `4711` all of them. Not together with a range of time.',
  'EventsReplayRequest.from': 'Those that were written at this time or later and are not sent any more.',
  'EventsReplayRequest.to': 'Those that were written before this time and are not sent any more.',
  'EventsReplayData.replayed': 'How many events are sent again.',

  'OrdersAdvanceRequest.cycles': 'So many periods; one that is `FAIL_RETRY` counts as the first. Either this or `to`.',
  'OrdersAdvanceRequest.to': 'Everything that is due up to this time. Either this or `cycles`.',
  'OrdersAdvanceRequest.outcomes': 'What becomes of each period in turn. Those that are missing succeed.',

  'PaymentsRefundRequest.paymentOrderNo': 'Of a period that was paid, in A.',
  'PaymentsRefundRequest.amountCent': 'What is refunded, in cents. Default: all that is left.',
  'PaymentsRefundRequest.reason': 'Any text; kept with the refund.',
  'PaymentsRefundData.refundStatus':
    'What became of this refund: `SUCCESS`, `FAIL` if the institution refused, `PROCESSING` while it has not said.',
  'PaymentsRefundData.refundFailReason': 'What the institution said when it refused, else null.',

  'EventsPullRequest.path': 'The path of the address that they are to be sent to, such as `/events`: it is signed.',
  'EventsPullRequest.from': 'Those that were written at this time or later. Default: all.',
  'EventsPullRequest.cursor': 'The `nextCursor` of an earlier answer to the same question.',
  'EventsPullData.pushes': 'The oldest first. Periods that were voided together are a push each.',
  'EventsPullData.readAt': 'When this was read.',
  'EventsPullData.nextCursor': 'Goes on behind the last push. Null when there is no more.',
  'PulledPush.writtenAt': 'When the event was written.',
  'PulledPush.headers': 'Each header by its name.',
  'PulledPush.body': 'To be sent as it is: the signature is about its bytes.',
  'PushHeaders.Content-Type': '`application/json`.',
  'PushHeaders.X-SVC-App-Id': 'Your `appId`.',
  'PushHeaders.X-SVC-Timestamp': 'Now, in Unix milliseconds.',
  'PushHeaders.X-SVC-Nonce': '32 hex characters, new each time.',
  'PushHeaders.X-SVC-Event-Id': 'The same as `eventId`.',
  'PushHeaders.X-SVC-Signature': 'Under your `callbackSecret`.',

  'OrderPayload.orderStatus': 'What it has become.',
  'OrderPayload.totalPaidCycles': 'Periods that were paid or billed so far.',
  'OrderPayload.latestPaymentStatus': 'State of the period that was started last. Null if none was.',
  'PaymentPayload.paymentStatus': 'What it has become.',
  'PaymentPayload.mobileEncrypted':
    "The user's login mobile under your `aesKey`. Null unless `agreementShareFlag` is true.",
  'UpcomingPayload.cycleNo': 'The period that comes next.',
  'UpcomingPayload.expectPayTime': 'When it is to be debited, or in mode B billed.',
  'UpcomingPayload.amountCent': 'What is to be debited or billed.',
  'UpcomingPayload.redeemUrl':
    'The redemption page, where the user can end the subscription before. Made when the event is sent, for seven days; events/list has none.',
  'OrderStatusChangedEvent.data': 'The order as it was when it happened.',
  'PaymentStatusChangedEvent.data': 'The period as it was when it happened.',
  'PaymentUpcomingEvent.data': 'What is to come.',
  'WebhookAck.code': 'The text `0`.',
};

/** The fields around every answer. */
export const ENVELOPE_FIELDS: Readonly<Record<string, string>> = {
  code: '`0` is success; everything else is not. Decide by it.',
  message: 'For people and logs. It may change: do not decide by it.',
  data: 'The result. Null when there is none: on every failure.',
  requestId: 'Your `X-SVC-Request-Id`, or one made by the service if yours could not be used.',
  timestamp: 'When the service answered.',
  success: 'True exactly when `code` is `0`.',
};
