/** What the values of closed sets mean, by the name of the field that holds them. */
const PAYMENT = {
  WAIT: 'not started',
  PROCESSING: 'being debited; no result yet',
  SUCCESS: 'debited',
  FAIL_RETRY: 'the debit failed, and is tried again',
  FAIL: 'the debit failed for good',
  BILLED: 'billed to the channel, which collects',
  CANCELED: 'will not come: the order was ended before',
  REFUND_PART: 'debited, and a part was refunded',
  REFUND_FULL: 'debited, and all of it was refunded',
};

const MODES = {
  SVC_DEDUCT: 'the service debits the user (A)',
  CHANNEL_COLLECT: 'the channel collects and is billed (B)',
};

export const VALUE_MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  settlementMode: MODES,
  settlementModes: MODES,
  orderStatus: {
    INITIALIZING: 'the first debit has no result yet',
    ACTIVE: 'running',
    UNSUBSCRIBED: 'ended before its last period; final',
    COMPLETED: 'its last period is over; final',
    TERMINATED: 'the first debit failed; final',
  },
  paymentStatus: PAYMENT,
  latestPaymentStatus: PAYMENT,
  previousStatus: PAYMENT,
  newStatus: PAYMENT,
  agreementStatus: {
    BIND_ING: 'a code was asked for; not bound yet',
    BIND_SUCCESS: 'bound: orders may run on it',
    BIND_FAIL: 'the code was wrong, or the institution refused',
    CANCELED: 'ended; final',
    REPLACED: 'another agreement has taken over; final',
  },
  smsStatus: { SEND_SUCCESS: 'the code is on its way', SEND_FAIL: 'it could not be sent: try again' },
  periodType: { DAY: 'days', MONTH: 'calendar months' },
  cycleType: { SINGLE: 'orders of one period', MULTIPLE: 'orders of several periods' },
  eventType: {
    'order.status.changed': 'an order changed',
    'payment.status.changed': 'a period changed',
    'payment.upcoming': 'a period is debited or billed soon',
  },
  deliveryStatus: {
    PENDING: 'still to be sent, or to be sent again',
    DELIVERED: 'acknowledged',
    GIVE_UP: 'refused eleven times',
    NO_CALLBACK: 'there was no address to send it to',
  },
  outcomes: {
    SUCCESS: 'the debit succeeds',
    FAIL_RETRY: 'it fails, and is tried again by the schedule',
    FAIL: 'it fails for good',
    AGREEMENT_INVALID: 'the institution says that the agreement has ended',
  },
  grantType: { client_credentials: 'the only one' },
};
