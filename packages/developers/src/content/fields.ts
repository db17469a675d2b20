const CARD = {
  bankCardNoEncrypted: 'Card number: 8 to 32 digits, encrypted.',
  bankMobileEncrypted:
    'Mobile number registered with the bank: 5 to 20 digits, with an optional `+` before them, encrypted.',
  certificateNoEncrypted: 'Number of the identity document: 1 to 64 characters, encrypted.',
  realNameEncrypted: "Cardholder's name as registered with the bank: 1 to 100 characters, encrypted.",
};

const PERIODS = {
  periodType: 'Unit of a period: `DAY`, or `MONTH` for calendar months.',
  period: 'Number of units in one period.',
  totalCycles: 'Number of periods.',
};

/** Descriptions of request fields, by field name. */
export const REQUEST_FIELDS: Readonly<Record<string, string>> = {
  ...CARD,
  orderNo: "The service's order number. Send exactly one of `orderNo` and `externalOrderNo`.",
  externalOrderNo: 'Your order number. Send exactly one of `orderNo` and `externalOrderNo`.',
  channelUserId: 'Your id of the user.',
  mobileEncrypted:
    'Mobile number that the user logs in with: 5 to 20 digits, with an optional `+` before them, encrypted. Within your channel a user has one mobile.',
  certType: 'Type of the identity document.',
  page: 'Page of the list, from 1. Not together with `cursor`.',
  size: 'Records per page.',
  cursor: 'Instead of `page`: the `nextCursor` of an earlier answer to the same query.',
  appId: 'Your `appId`, the same as in the header `X-SVC-App-Id`.',
  grantType: 'Always `client_credentials`.',
};

/** Descriptions of answer fields, by field name. */
export const ANSWER_FIELDS: Readonly<Record<string, string>> = {
  ...PERIODS,
  bankCardNoEncrypted: 'Card number, encrypted.',
  bankMobileEncrypted: 'Mobile number registered with the bank, encrypted.',
  certificateNoEncrypted: 'Number of the identity document, encrypted.',
  realNameEncrypted: "Cardholder's name, encrypted.",
  orderNo: "The service's order number.",
  externalOrderNo: 'Your order number.',
  channelUserId: 'Your id of the user.',
  page: 'As in the request. Null if the request has a `cursor`.',
  size: 'As in the request.',
  hasMore: 'True if there are older records.',
  nextCursor: 'Send it as `cursor` to read the next records. Null at the end of the list.',
  paymentOrderNo: "Payment number of the period: `orderNo`, followed by the period's number in four digits.",
  cycleNo: 'Number of the period, from 1.',
  expectPayTime: 'Due time.',
  paidAt: 'Time of the payment or billing. Null before that.',
  amountCent: 'Price of the period, in cents.',
  refundAmountCent: 'Amount refunded so far, in cents. Always 0 in B.',
  refundTime: 'Time of the latest refund. Null if there is none.',
  settlementMode: 'Who collects the money.',
  paymentStatus: 'Status of the period.',
  orderStatus: 'Status of the order.',
  createTime: 'Creation time of the order. All due times are counted from it.',
  orderSuccessTime: 'Time at which the order first became `ACTIVE`. Null before that.',
  totalPaidAmountCent: 'Sum of all periods that were paid or billed, in cents. Refunds are not subtracted.',
  totalRefundAmountCent: 'Sum of all refunds, in cents. Always 0 in B.',
  nextPayTime: 'Time of the next debit or billing. Null unless the order is `ACTIVE`.',
  paymentChannelCode: 'Code of the payment channel in use.',
  agreementStatus: 'Status of the agreement.',
  eventId:
    'Id of the event, as text: digits, and for one of several voided periods also a hyphen and a number, such as `4711-2`. Do not store it as a number. It is the same in every push of the event.',
  eventType: 'Type of the event.',
  occurredAt: 'Time of the change.',
  benefitCode: 'Code of the benefit.',
  faceValueCent: 'Face value, in cents.',
  usedAmountCent: 'Face value of the claimed benefits, at most `amountCent`.',
  claimRecords: 'Benefits of this period that the user has claimed.',
  agreementShareFlag: 'True if the order uses an agreement that you have shared (A.2).',
  retryNo: 'Retry counter: 0 in the first push. It may repeat after a crash of the service: de-duplicate by `eventId`.',
};

/** Descriptions by `Schema.field`. They override the two tables above. */
export const OWN_FIELDS: Readonly<Record<string, string>> = {
  'Token.accessToken': 'Send it as `Authorization: Bearer …`. Treat it as opaque.',
  'Token.expiresIn': 'Validity in seconds, as a string.',
  'Token.expiresAt': 'Expiry time.',

  'ProductsListData.items': 'The products.',
  'Product.productCode': 'Code of the product.',
  'Product.productName': 'Display name.',
  'Product.settlementModes': 'Settlement modes in which the product is sold.',
  'Product.amountCent': 'Price of one period, in cents.',
  'Product.benefits': 'Benefits that each paid period grants.',
  'ProductBenefit.name': 'Display name.',

  'PaymentChannelsListData.items': 'The payment channels.',
  'PaymentChannel.code': 'Code of the payment channel.',
  'PaymentChannel.displayName': 'Name to show to users.',
  'PaymentChannel.isDefault':
    'True for the payment channel that is used if a request names none. At most one is the default.',
  'PaymentChannel.shareEnabled': 'True if it accepts your shared agreements (A.2).',
  'PaymentChannel.supportedBanks': 'Bank codes. `["*"]` means any bank.',

  'BindSmsRequest.paymentChannelCode': 'Default: your default payment channel, or your only one.',
  'BindSmsRequest.bankCode': 'Code of the bank, if the payment channel requires one. It must be in `supportedBanks`.',
  'BindSmsRequest.productCode': 'Optional check: your channel must be authorized for this product.',
  'BindSmsRequest.bindOrderNo': 'Send it to request another code for a binding in progress.',
  'BindSmsData.bindOrderNo': 'Number of the binding.',
  'BindSmsData.agreementStatus': '`BIND_ING`.',
  'BindSmsData.smsStatus': 'Result of sending the code.',
  'BindSmsData.failReason': 'Readable reason. Only with `SEND_FAIL`.',
  'BindConfirmRequest.bindOrderNo': 'Number of the binding, from bind-sms.',
  'BindConfirmRequest.smsCodeEncrypted': 'Code that the user typed: 1 to 32 characters, encrypted.',
  'BindConfirmData.agreementNo': 'Number of the agreement. Null with `BIND_FAIL`.',
  'BindConfirmData.agreementStatus': '`BIND_SUCCESS` or `BIND_FAIL`.',
  'BindConfirmData.bankCardTailNo': 'Last four digits of the card.',
  'BindConfirmData.failReason': 'Readable reason. Only with `BIND_FAIL`.',
  'BindConfirmData.codeRetryable':
    '`true` if only the code was wrong and the user can enter another code on the same binding. Absent in all other answers: with `BIND_FAIL` the binding has then failed.',

  'UserDataRequest.channelUserId':
    'Your id of the user. Send at least one of this, `bankCardNoEncrypted` and `certificateNoEncrypted`.',
  'UserDataData.bankDataList': 'The agreements.',
  'BankData.bindOrderNo': 'Number of the binding. Null for a shared agreement.',
  'BankData.agreementNo': 'Number of the agreement.',

  'ReplaceRequest.newSharedAgreement': "The new agreement. Its `channelUserId` must be the order's.",
  'ReplaceRequest.retryFailedNow': 'If true, a period that is `FAIL_RETRY` is retried immediately.',
  'ReplaceData.oldAgreementNo': 'The agreement that is now `REPLACED`.',
  'ReplaceData.newAgreementNo': 'The agreement that the order now uses.',
  'ReplaceData.affectedPayments': 'Periods that are not yet debited, including one whose debit is in flight.',
  'AffectedPayment.previousStatus': 'Status of the period before the replacement.',
  'ReplaceData.retriedNow': 'The period that was `FAIL_RETRY`, if there was one and `retryFailedNow` is not false.',
  'RetriedPayment.newStatus': 'Current status of the period.',

  'SharedAgreement.paymentChannelCode': 'A payment channel with `shareEnabled`, else 403004.',
  'SharedAgreement.sharedAgreementNo':
    "The agreement's number at the payment institution. Numbers that differ only in spaces, full-width characters or invisible characters are the same number. If another channel uses the number, the answer is 403004.",
  'SharedAgreement.channelUserId': "Must equal the order's `channelUserId`, else 400001.",

  'OrdersCreateRequest.settlementMode': 'Who charges the user. It is fixed for the order.',
  'OrdersCreateRequest.externalOrderNo':
    'Your order number. It must be unique across all channels: prefix it with your name.',
  'OrdersCreateRequest.productCode': 'Code of a product from products/list.',
  'OrdersCreateRequest.bindOrderNo': 'Required in A.1, must be absent otherwise: a binding that is `BIND_SUCCESS`.',
  'OrdersCreateRequest.sharedAgreement':
    'Required in A.2, must be absent otherwise: your agreement at the payment institution.',
  'OrdersCreateRequest.channelAgreementRef': 'B only: any text of yours. The service stores it. Ignored in A.',
  'OrdersCreateRequest.channelUserId':
    "Your id of the user. Required in A.2 and B. Optional in A.1: it must equal the binding's.",
  'OrdersCreateRequest.mobileEncrypted':
    "The user's login mobile, encrypted. Required in A.2 and B. Optional in A.1: it must equal the binding's.",
  'OrdersCreateRequest.periodType': "Optional check: must equal the product's, else 420007.",
  'OrdersCreateRequest.period': "Optional check: must equal the product's, else 420007.",
  'OrdersCreateRequest.totalCycles': "Optional check: must equal the product's, else 420007.",

  'MainOrder.unsubscribeTime': 'Time of the unsubscribe. Null if there was none.',
  'MainOrder.redeemUrl':
    'Link to the redemption page, valid for 7 days from this answer. Null if nothing is left to claim, and after an unsubscribe.',
  'MainOrder.paymentRecords': 'The periods, by number. Periods that have not started are `WAIT` or `CANCELED`.',

  'OrdersListRequest.cycleType': 'Only orders with one period, or only orders with several. Default: both.',
  'OrdersListData.orders': 'The orders.',
  'OrdersUnsubscribeRequest.reason': 'Any text, stored for the operators. Card numbers in it are masked.',

  'PaymentsQueryRequest.paymentOrderNo': 'Payment number of the period, from `paymentRecords`.',
  'ClaimRecord.claimNo': 'Number of the claim.',
  'ClaimRecord.benefitName': 'Display name.',
  'ClaimRecord.claimedAt': 'Time of the claim.',

  'EventsListRequest.orderNo': 'Only events of this order. Not together with `externalOrderNo`.',
  'EventsListRequest.externalOrderNo': 'Only events of this order, by your number. Not together with `orderNo`.',
  'EventsListRequest.eventType': 'Only events of this type.',
  'EventsListRequest.deliveryStatus': 'Only events with this delivery status. Default: all.',
  'EventsListRequest.from': 'Only events that were written at this time or later.',
  'EventsListRequest.to': 'Only events that were written before this time.',
  'EventsListData.events': 'The events.',
  'EventRecord.lastEventId':
    'Periods that were voided together share one record: `eventId` is the id of the first, this is the id of the last. Null for every other event.',
  'EventRecord.deliveryStatus': 'Status of the delivery to your receiver.',
  'EventRecord.pushes': 'Number of pushes so far.',
  'EventRecord.lastPushTime': 'Time of the latest push. Null before the first.',
  'EventRecord.data': 'The `data` of the event, without `mobileEncrypted`: the state at the time of the event.',
  'EventsReplayRequest.eventIds':
    'Ids of events. `4711-8` is one of several periods that were voided together, `4711` is all of them. Not together with a time range.',
  'EventsReplayRequest.from': 'Events that are `GIVE_UP` or `NO_CALLBACK` and were written at this time or later.',
  'EventsReplayRequest.to': 'Events that are `GIVE_UP` or `NO_CALLBACK` and were written before this time.',
  'EventsReplayData.replayed': 'Number of events that are sent again.',

  'OrdersAdvanceRequest.cycles':
    'Number of periods to run. A period that is `FAIL_RETRY` counts as the first. Send either this or `to`.',
  'OrdersAdvanceRequest.to': 'Runs everything that is due up to this time. Send either this or `cycles`.',
  'OrdersAdvanceRequest.outcomes': 'Outcome of each period, in order. Periods without an outcome succeed.',

  'PaymentsRefundRequest.paymentOrderNo': 'Payment number of a paid period of an order in mode A.',
  'PaymentsRefundRequest.amountCent': 'Amount to refund, in cents. Default: all that is left.',
  'PaymentsRefundRequest.reason': 'Any text, stored with the refund. Card numbers in it are masked.',
  'PaymentsRefundData.refundStatus':
    'Result of this refund: `SUCCESS`, `FAIL` if the institution refused it, `PROCESSING` if there is no result yet.',
  'PaymentsRefundData.refundFailReason': "The institution's reason for a refusal, else null.",

  'EventsPullRequest.path': 'Path of your callback address, such as `/events`. It is part of the signature.',
  'EventsPullRequest.from': 'Only events that were written at this time or later. Default: all.',
  'EventsPullRequest.cursor': 'The `nextCursor` of an earlier answer to the same query.',
  'EventsPullData.pushes': 'The events, oldest first. Periods that were voided together are one push each.',
  'EventsPullData.readAt': 'Time at which the events were read.',
  'EventsPullData.nextCursor': 'Send it as `cursor` to read the next events. Null at the end of the list.',
  'PulledPush.writtenAt': 'Time at which the event was written.',
  'PulledPush.headers': 'Headers by name.',
  'PulledPush.body': 'Send it unchanged: the signature covers its bytes.',
  'EventsTestRequest.eventType': 'Type whose callback address is tested. Default: `order.status.changed`.',
  'EventsTestData.eventId': 'Id of the push. It begins with `test-`. Null if there is no callback address.',
  'EventsTestData.url': 'Address to which it was sent. Null if there is none.',
  'EventsTestData.accepted': 'True if your receiver answered HTTP 200 with code `0`.',
  'EventsTestData.httpStatus': 'Status that your receiver answered. Null if there was no answer.',
  'EventsTestData.answer': 'First 200 characters of the answer, or the reason why there is none.',
  'EventsTestData.durationMs': 'Duration of the push in milliseconds.',
  'RequestsListRequest.code': 'Only requests with this result code. `failed` selects every code except `0`.',
  'RequestsListRequest.requestId': 'Only the request with this id.',
  'RequestsListRequest.cursor': 'The `nextCursor` of an earlier answer to the same query.',
  'RequestsListData.requests': 'The requests, newest first.',
  'RequestsListData.nextCursor': 'Send it as `cursor` to read older requests. Null at the end of the list.',
  'RequestRecord.requestId': 'Your `X-SVC-Request-Id`, or the id that the service generated.',
  'RequestRecord.answeredAt': 'Time of the answer.',
  'RequestRecord.path': 'Path of the endpoint. `unknown` if there is no such endpoint.',
  'RequestRecord.code': 'Result code. Empty if the connection was closed before the answer.',
  'RequestRecord.reason':
    'Message of a refusal, with its warnings and the probable mistake of a wrong signature. Null on success.',
  'RequestRecord.httpStatus': 'HTTP status. 499 if the connection was closed before the answer.',
  'RequestRecord.durationMs': 'Duration in milliseconds.',
  'RequestRecord.address': 'IP address from which the request came.',
  'ChannelSetRequest.callbackUrl':
    'Address to which your events are sent: HTTPS on the public internet, or `http://localhost` if the service runs on your machine with its embedded database. An empty text removes the address.',
  'ChannelSetRequest.encryptedFields':
    'Version of encrypted fields in events, and in answers to requests without encrypted fields.',
  'ChannelSetRequest.upcomingNoticeDays':
    'Days before a debit at which [`payment.upcoming`](/developers/guides/webhooks#notice-before-a-debit) is sent. 0: never.',
  'ChannelSetRequest.appSecretEncrypted': 'New `appSecret`: 32 random bytes in base64, encrypted.',
  'ChannelSetRequest.aesKeyEncrypted': 'New `aesKey`: 32 random bytes in base64, encrypted.',
  'ChannelSetRequest.callbackSecretEncrypted': 'New `callbackSecret`: 32 random bytes in base64, encrypted.',
  'ChannelSetRequest.overlapHours':
    'Only with `appSecretEncrypted`: hours for which the former secret and your tokens stay valid. Default: 0.',
  'ChannelSetData.callbackUrls': 'Addresses to which your events are sent.',
  'CallbackAddress.forEvents': 'An event type, or `*` for the types without their own address.',
  'CallbackAddress.url': 'The address.',
  'ChannelSetData.encryptedFields':
    'Version of encrypted fields in events, and in answers to requests without encrypted fields.',
  'ChannelSetData.acceptsV1': 'True if your requests may use `svc_aes_v1`.',
  'ChannelSetData.upcomingNoticeDays': 'Days before a debit at which `payment.upcoming` is sent. 0: never.',
  'ChannelSetData.formerSecretUntil': 'Time until which the former `appSecret` is valid. Null if it is invalid.',

  'PushHeaders.Content-Type': '`application/json`.',
  'PushHeaders.X-SVC-App-Id': 'Your `appId`.',
  'PushHeaders.X-SVC-Timestamp': 'Current time in Unix milliseconds.',
  'PushHeaders.X-SVC-Nonce': '32 hex characters, different in each push.',
  'PushHeaders.X-SVC-Event-Id': 'The same as `eventId`.',
  'PushHeaders.X-SVC-Signature': 'Signature under your `callbackSecret`.',

  'OrderPayload.orderStatus': 'New status of the order.',
  'OrderPayload.totalPaidCycles': 'Number of periods that were paid or billed so far.',
  'OrderPayload.latestPaymentStatus': 'Status of the latest period that has started. Null if none has.',
  'PaymentPayload.paymentStatus': 'New status of the period.',
  'PaymentPayload.mobileEncrypted':
    "The user's login mobile, encrypted with your `aesKey`. Null unless `agreementShareFlag` is true.",
  'UpcomingPayload.cycleNo': 'Number of the next period.',
  'UpcomingPayload.expectPayTime': 'Time at which it will be debited, or billed in mode B.',
  'UpcomingPayload.amountCent': 'Amount that will be debited or billed, in cents.',
  'UpcomingPayload.redeemUrl':
    'Link to the redemption page, where the user can cancel before. Created when the event is sent, and valid for seven days. Absent in events/list.',
  'OrderStatusChangedEvent.data': 'The order: its state at the time of the event.',
  'PaymentStatusChangedEvent.data': 'The period: its state at the time of the event.',
  'PaymentUpcomingEvent.data': 'The coming period: its state at the time of the event.',
  'WebhookAck.code': 'The string `0`.',
};

/** Descriptions of the envelope's fields. */
export const ENVELOPE_FIELDS: Readonly<Record<string, string>> = {
  code: '`0` is success, any other code is a failure. Decide by this field.',
  message: 'Text for people and logs. It may change: do not decide by it.',
  data: 'The result. Null on every failure.',
  requestId: 'Your `X-SVC-Request-Id`, or one that the service generated if yours was missing or unusable.',
  timestamp: 'Time of the answer.',
  success: 'True exactly if `code` is `0`.',
};
