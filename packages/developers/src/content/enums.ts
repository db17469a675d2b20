const PAYMENT = {
  WAIT: 'not started',
  PROCESSING: 'being debited; no result yet',
  SUCCESS: 'debited',
  FAIL_RETRY: 'the debit failed and will be retried',
  FAIL: 'the debit failed permanently',
  BILLED: 'billed to the channel, which charges the user',
  CANCELED: 'canceled: the order ended before the period was paid',
  REFUND_PART: 'debited and partly refunded',
  REFUND_FULL: 'debited and fully refunded',
};

const MODES = {
  SVC_DEDUCT: 'the service debits the user (A)',
  CHANNEL_COLLECT: 'the channel charges the user and is billed (B)',
};

/** The meanings of enum values, by field name and value. */
export const VALUE_MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  settlementMode: MODES,
  settlementModes: MODES,
  orderStatus: {
    INITIALIZING: 'the first debit has no result yet',
    ACTIVE: 'running',
    UNSUBSCRIBED: 'ended before its last period; final',
    COMPLETED: 'the payment of its last period is final, or the period is billed; the order does not change again',
    TERMINATED: 'the first debit failed; final',
  },
  paymentStatus: PAYMENT,
  latestPaymentStatus: PAYMENT,
  previousStatus: PAYMENT,
  newStatus: PAYMENT,
  agreementStatus: {
    BIND_ING: 'a code was requested; not bound yet',
    BIND_SUCCESS: 'bound: orders may use it',
    BIND_FAIL: 'the code was wrong, or the institution refused the binding',
    CANCELED: 'ended; final',
    REPLACED: 'replaced by another agreement; final',
  },
  smsStatus: { SEND_SUCCESS: 'the code was sent', SEND_FAIL: 'the code could not be sent: call bind-sms again' },
  periodType: { DAY: 'days', MONTH: 'calendar months' },
  cycleType: { SINGLE: 'orders with one period', MULTIPLE: 'orders with several periods' },
  eventType: {
    'order.status.changed': 'an order changed',
    'payment.status.changed': 'a period changed',
    'payment.upcoming': 'a period will be debited or billed soon',
  },
  deliveryStatus: {
    PENDING: 'not yet acknowledged: waits for its first push or a retry',
    DELIVERED: 'acknowledged',
    GIVE_UP: 'given up after eleven refused pushes',
    NO_CALLBACK: 'no callback address was registered',
  },
  outcomes: {
    SUCCESS: 'the debit succeeds',
    FAIL_RETRY: 'the debit fails and is retried on schedule',
    FAIL: 'the debit fails permanently',
    RETRY_MISSED:
      'as `FAIL_RETRY`; if the period already waits for a retry, the retry is missed, as in an outage: the next period falls due first, and this one is `FAIL`',
    PENDING:
      'the debit stays `PROCESSING` and gets its result about 20 s later: `SUCCESS`, or `FAIL` if `externalOrderNo` ends in `_RENEWAL_DECLINED`',
    AGREEMENT_INVALID: 'the institution reports that the agreement has ended',
  },
  encryptedFields: { v1: '`svc_aes_v1`, the default', v2: '`svc_aes_v2`, which detects tampering' },
  grantType: { client_credentials: 'the only value' },
};
