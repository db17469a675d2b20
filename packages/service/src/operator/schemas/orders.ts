import { orderStatuses, settlementModes, Type } from '@perennial/wire';
import {
  cents,
  changed,
  count,
  digits,
  inDigits,
  integerOrNull,
  moment,
  nextCursor,
  oneOf,
  paging,
  reason,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './parts.js';

const filterFields = {
  /** Comma-separated. */
  status: Type.Optional(text(200)),
  appId: Type.Optional(text(64)),
  productCode: Type.Optional(text(64)),
  settlementMode: Type.Optional(oneOf(...settlementModes)),
  createdFrom: Type.Optional(moment),
  createdTo: Type.Optional(moment),
  dueFrom: Type.Optional(moment),
  dueTo: Type.Optional(moment),
  /** Orders whose latest period failed, for now or for good. */
  failed: Type.Optional(oneOf('true', 'false')),
  /** Orders with a debit or a refund without a final result. */
  unsettled: Type.Optional(oneOf('true')),
  channelUserId: Type.Optional(text(128)),
};
export const orderFilter = Type.Object(filterFields);
export const ordersQuery = Type.Object({ ...filterFields, ...paging });

export const orderLine = Type.Object({
  orderNo: Type.String(),
  externalOrderNo: Type.String(),
  appId: Type.String(),
  /** Masked for roles that may not see it. */
  channelUserId: Type.String(),
  productCode: Type.String(),
  settlementMode: oneOf(...settlementModes),
  orderStatus: oneOf(...orderStatuses),
  amountCent: cents,
  cycleNo: count,
  totalCycles: count,
  totalPaidAmountCent: cents,
  totalRefundAmountCent: cents,
  latestPaymentStatus: textOrNull,
  createTime: time,
  nextPayTime: timeOrNull,
});
export const ordersAnswer = Type.Object({ orders: Type.Array(orderLine), nextCursor });

export const ordersTotals = Type.Object({
  count,
  /** True if counting stopped at the limit. */
  isAtLeast: Type.Boolean(),
  totalPaidAmountCent: cents,
  totalRefundAmountCent: cents,
});

/** RFC 4180, with a header line. */
export const ordersCsv = Type.String();

/** A past or future event of an order. */
export const timelineEntry = Type.Object({
  at: time,
  when: oneOf('past', 'future'),
  kind: oneOf(
    'created',
    'period',
    'attempt',
    'refund',
    'claim',
    'benefit',
    'event',
    'push',
    'agreement',
    'ended',
    'operator',
    'note',
    'alert',
    'next',
  ),
  /** The period, if any. */
  cycleNo: integerOrNull,
  /** A status or an outcome of the API: SUCCESS, FAIL, ACCEPTED. */
  status: textOrNull,
  /** An English sentence. The page composes its own from kind, status and data. */
  title: Type.String(),
  /** The institution's text, the receiver's answer, or the note. */
  detail: textOrNull,
  actor: textOrNull,
  amountCent: integerOrNull,
  /** The complete record. */
  data: Type.Unknown(),
});

export const orderAction = Type.Object({
  action: oneOf('unsubscribe', 'retry', 'refund', 'cancel-agreement', 'advance'),
  cycleNo: integerOrNull,
  /** True if the operator's role allows it. */
  isAllowed: Type.Boolean(),
  /** The limit of a refund. */
  maxAmountCent: integerOrNull,
});

/** A requested refund that is not made yet, of an approval or a bulk run. */
const waitingRefund = {
  approvalId: textOrNull,
  runId: textOrNull,
  amountCent: cents,
  requestedBy: Type.String(),
  requestedAt: time,
};

/** The next automatic step, and its reason. */
export const nextStep = Type.Object({
  at: time,
  what: oneOf('debit', 'bill', 'retry', 'complete', 'wait-for-institution', 'expire'),
  /** Null if the order is only completed. */
  cycleNo: integerOrNull,
  /** The number of the retry, and their total. */
  tryNo: integerOrNull,
  tries: integerOrNull,
  amountCent: integerOrNull,
});

/** The answer besides the order itself. */
export const orderAnswer = {
  product: Type.OrNull(Type.Object({ productCode: Type.String(), productName: Type.String() })),
  channel: Type.Object({ appId: Type.String(), name: Type.String() }),
  /** With the tail only: 138****5678. Null if the user has none. */
  mobile: textOrNull,
  timeline: Type.Array(timelineEntry),
  /** True if older entries were omitted. */
  timelineIsCut: Type.Boolean(),
  /** Null if no automatic step follows. */
  next: Type.OrNull(nextStep),
  actions: Type.Array(orderAction),
  /** By period, oldest request first. */
  waitingRefunds: Type.Array(Type.Object({ cycleNo: count, ...waitingRefund })),
};

export const reasonRequest = Type.Object({ reason });

export const unsubscribeAnswer = Type.Object({
  orderNo: Type.String(),
  orderStatus: Type.String(),
  unsubscribeTime: timeOrNull,
  changed,
});

export const retryAnswer = Type.Object({
  orderNo: Type.String(),
  cycleNo: count,
  paymentStatus: Type.String(),
  changed,
});

export const refundRequest = Type.Object({
  /** Unset: the whole rest. */
  amountCent: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000_000 })),
  note: text(),
  /** The idempotency key. */
  key: text(),
});
export const refundAnswer = Type.Object({
  /** WAITING: it needs a second operator, and was not sent. */
  status: oneOf('STARTED', 'SUCCESS', 'WAITING'),
  refundNo: textOrNull,
  approvalId: textOrNull,
  amountCent: cents,
  paymentStatus: textOrNull,
  changed,
});

export const previewQuery = Type.Object({
  amountCent: Type.Optional(inDigits(15)),
  /** Previews the approval of this request. */
  approvalId: Type.Optional(digits),
});
/** The effects of an action. */
export const preview = Type.Object({
  /** Money refunded, or no longer collected. */
  refundCent: cents,
  notCollectedCent: cents,
  benefitsRevoked: Type.Array(Type.Object({ cycleNo: count, name: Type.String(), status: Type.String() })),
  periodsVoided: count,
  /** The number of events of each type. */
  events: Type.Array(Type.Object({ eventType: Type.String(), count })),
  needsApproval: Type.Boolean(),
  /** Other requested refunds of the same period that are not made yet. */
  waiting: Type.Array(Type.Object(waitingRefund)),
  /** Why the action is refused now, as in a problem. Null if it is allowed. */
  refusal: Type.OrNull(Type.Object({ detail: Type.String(), code: textOrNull, values: Type.Array(Type.String()) })),
});

export const noteRequest = Type.Object({ text: text(2000) });
export const note = Type.Object({ noteId: Type.String(), author: Type.String(), at: time, text: Type.String() });

export const unmasked = Type.Object({ mobile: textOrNull, channelUserId: Type.String() });

export const userQuery = Type.Object({ appId: text(64), channelUserId: text(128) });
export const userAnswer = Type.Object({
  appId: Type.String(),
  channelUserId: Type.String(),
  mobile: textOrNull,
  orders: Type.Array(orderLine),
  agreements: Type.Array(
    Type.Object({
      agreementNo: Type.String(),
      agreementStatus: Type.String(),
      paymentChannelCode: Type.String(),
      bankCardTailNo: Type.String(),
      createTime: time,
    }),
  ),
  refunds: Type.Array(
    Type.Object({
      refundNo: Type.String(),
      orderNo: Type.String(),
      cycleNo: count,
      amountCent: cents,
      status: Type.String(),
      startedAt: time,
      requestedBy: Type.String(),
    }),
  ),
  claims: Type.Array(
    Type.Object({
      claimNo: Type.String(),
      orderNo: Type.String(),
      cycleNo: count,
      benefitCode: Type.String(),
      name: Type.String(),
      status: Type.String(),
      claimedAt: time,
    }),
  ),
});

export const agreementCanceled = Type.Object({
  agreementNo: Type.String(),
  agreementStatus: Type.String(),
  /** The orders that were unsubscribed too. */
  unsubscribed: Type.Array(Type.String()),
  changed,
});
