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
  /** Several with commas. */
  status: Type.Optional(text(200)),
  appId: Type.Optional(text(64)),
  productCode: Type.Optional(text(64)),
  settlementMode: Type.Optional(oneOf(...settlementModes)),
  createdFrom: Type.Optional(moment),
  createdTo: Type.Optional(moment),
  dueFrom: Type.Optional(moment),
  dueTo: Type.Optional(moment),
  /** Those whose latest period failed, for now or for good. */
  failed: Type.Optional(oneOf('true', 'false')),
  /** Those with a debit or a refund that has no final result yet. */
  unsettled: Type.Optional(oneOf('true')),
  channelUserId: Type.Optional(text(128)),
};
export const orderFilter = Type.Object(filterFields);
export const ordersQuery = Type.Object({ ...filterFields, ...paging });

export const orderLine = Type.Object({
  orderNo: Type.String(),
  externalOrderNo: Type.String(),
  appId: Type.String(),
  /** Masked for those who may not see it. */
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
  /** There are more, and counting them would take too long. */
  isAtLeast: Type.Boolean(),
  totalPaidAmountCent: cents,
  totalRefundAmountCent: cents,
});

/** RFC 4180, with a line of names first. */
export const ordersCsv = Type.String();

/** One thing that happened to an order, or will. */
export const timelineEntry = Type.Object({
  at: time,
  /** future: what comes next. */
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
  /** Which period it is about. */
  cycleNo: integerOrNull,
  /** A status or an outcome, in the words of the interface: SUCCESS, FAIL, ACCEPTED. */
  status: textOrNull,
  /** What is shown, as a sentence in English; the page makes its own from kind, status and data. */
  title: Type.String(),
  /** The institution's words, the receiver's answer, the note. */
  detail: textOrNull,
  actor: textOrNull,
  amountCent: integerOrNull,
  /** The record behind it, for those who want the whole of it. */
  data: Type.Unknown(),
});

export const orderAction = Type.Object({
  action: oneOf('unsubscribe', 'retry', 'refund', 'cancel-agreement', 'advance'),
  cycleNo: integerOrNull,
  /** Whether the role of the person who asks may do it. */
  isAllowed: Type.Boolean(),
  /** At most, of a refund. */
  maxAmountCent: integerOrNull,
});

/** A refund that was asked for and is not made yet: of an approval, or of a bulk run. */
const waitingRefund = {
  approvalId: textOrNull,
  runId: textOrNull,
  amountCent: cents,
  requestedBy: Type.String(),
  requestedAt: time,
};

/** What happens next by itself, and why. */
export const nextStep = Type.Object({
  at: time,
  what: oneOf('debit', 'bill', 'retry', 'complete', 'wait-for-institution', 'expire'),
  /** Null when the order is only completed. */
  cycleNo: integerOrNull,
  /** Of a retry: its number, and how many there may be. */
  tryNo: integerOrNull,
  tries: integerOrNull,
  amountCent: integerOrNull,
});

/** Beside the order itself. */
export const orderAnswer = {
  product: Type.OrNull(Type.Object({ productCode: Type.String(), productName: Type.String() })),
  channel: Type.Object({ appId: Type.String(), name: Type.String() }),
  /** With the tail only: 138****5678. Null when the user has none. */
  mobile: textOrNull,
  timeline: Type.Array(timelineEntry),
  /** The timeline leaves out older entries of an order with very many. */
  timelineIsCut: Type.Boolean(),
  /** Null when nothing happens by itself any more. */
  next: Type.OrNull(nextStep),
  actions: Type.Array(orderAction),
  /** By period, the first that was asked for first. */
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
  /** Unset: all that is left. */
  amountCent: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000_000 })),
  note: text(),
  /** A second request with the same key is the same refund. */
  key: text(),
});
export const refundAnswer = Type.Object({
  /** WAITING: it needs a second person, and has not been sent. */
  status: oneOf('STARTED', 'SUCCESS', 'WAITING'),
  refundNo: textOrNull,
  approvalId: textOrNull,
  amountCent: cents,
  paymentStatus: textOrNull,
  changed,
});

export const previewQuery = Type.Object({
  amountCent: Type.Optional(inDigits(15)),
  /** What would happen if this were approved. */
  approvalId: Type.Optional(digits),
});
/** What would happen. */
export const preview = Type.Object({
  /** Money given back to the user, or no longer collected. */
  refundCent: cents,
  notCollectedCent: cents,
  benefitsRevoked: Type.Array(Type.Object({ cycleNo: count, name: Type.String(), status: Type.String() })),
  periodsVoided: count,
  /** Event types, each with how many are sent. */
  events: Type.Array(Type.Object({ eventType: Type.String(), count })),
  needsApproval: Type.Boolean(),
  /** What else was asked for of the same period and is not made yet. */
  waiting: Type.Array(Type.Object(waitingRefund)),
  /** Why it cannot be done now, as a problem says it; null when it can. */
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
  /** The orders that were unsubscribed with it. */
  unsubscribed: Type.Array(Type.String()),
  changed,
});
