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
  /**
   * True: only orders whose latest period failed, whether it waits for a retry or failed finally. False: only orders
   * whose latest period did not fail.
   */
  failed: Type.Optional(oneOf('true', 'false')),
  channelUserId: Type.Optional(text(128)),
};
export const orderFilter = Type.Object(filterFields);
export const ordersQuery = Type.Object({ ...filterFields, ...paging });

export const orderLine = Type.Object({
  orderNo: Type.String(),
  externalOrderNo: Type.String(),
  appId: Type.String(),
  /** The user id, masked if the role may not see it. */
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
  /** True if more than 10,000 match: the sums are of the first 10,000. */
  isAtLeast: Type.Boolean(),
  totalPaidAmountCent: cents,
  totalRefundAmountCent: cents,
});

/** A CSV file as in RFC 4180, with a header line. */
export const ordersCsv = Type.String();

/** An entry of an order's timeline, in the past or the future. */
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
  /** The new status, or the outcome of an attempt: SUCCESS, FAIL, ACCEPTED. */
  status: textOrNull,
  /** A sentence in English. The console ignores it and composes a translated one from kind, status and data. */
  title: Type.String(),
  /** For example the institution's reason, the receiver's answer, or the text of a note. */
  detail: textOrNull,
  actor: textOrNull,
  amountCent: integerOrNull,
  /** The complete record. */
  data: Type.Unknown(),
});

export const orderAction = Type.Object({
  action: oneOf('unsubscribe', 'retry', 'refund', 'cancel-agreement', 'advance'),
  cycleNo: integerOrNull,
  /** True if the operator's role allows the action. */
  isAllowed: Type.Boolean(),
  /** The maximum amount of a refund. Null for other actions. */
  maxAmountCent: integerOrNull,
});

/** A requested refund that has not been made. It belongs to an approval or a bulk run. */
const waitingRefund = {
  approvalId: textOrNull,
  runId: textOrNull,
  amountCent: cents,
  requestedBy: Type.String(),
  requestedAt: time,
};

/** The next automatic step of an order, with its time. */
export const nextStep = Type.Object({
  at: time,
  what: oneOf('debit', 'bill', 'retry', 'complete', 'wait-for-institution', 'expire'),
  /** The period. Null if the step only completes the order. */
  cycleNo: integerOrNull,
  /** The number of the retry, from 1. */
  tryNo: integerOrNull,
  /** The total number of retries. */
  tries: integerOrNull,
  amountCent: integerOrNull,
});

/** The fields of the answer besides the order itself. */
export const orderAnswer = {
  product: Type.OrNull(Type.Object({ productCode: Type.String(), productName: Type.String(), version: count })),
  channel: Type.Object({ appId: Type.String(), name: Type.String() }),
  /** The user's mobile number, masked: 138****5678. Null if none is stored. */
  mobile: textOrNull,
  timeline: Type.Array(timelineEntry),
  /** True if older entries were omitted. */
  timelineIsCut: Type.Boolean(),
  /** Null if no automatic step follows. */
  next: Type.OrNull(nextStep),
  /** The due times of the periods that have not begun. */
  comingPeriods: Type.Array(Type.Object({ cycleNo: count, expectPayTime: time })),
  actions: Type.Array(orderAction),
  /** Requested refunds that have not been made, by period, oldest request first. */
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
  /** True: revokes no benefits. Not for a refund of the whole remainder, unless it was made outside. Unset: false. */
  keepBenefits: Type.Optional(Type.Boolean()),
  /**
   * True: records a refund that was made outside the service, for example by bank transfer. Revokes no benefits. Unset:
   * false.
   */
  outside: Type.Optional(Type.Boolean()),
  /** True: unsubscribes the order in the same transaction, also if the refund waits for an approval. Unset: false. */
  unsubscribe: Type.Optional(Type.Boolean()),
  /** The idempotency key. */
  key: text(),
});
export const refundAnswer = Type.Object({
  /** WAITING: the refund waits for a second operator and was not sent. OUTSIDE: it was recorded. */
  status: oneOf('STARTED', 'SUCCESS', 'OUTSIDE', 'WAITING'),
  refundNo: textOrNull,
  approvalId: textOrNull,
  amountCent: cents,
  paymentStatus: textOrNull,
  changed,
});

export const receiptQuery = Type.Object({ lang: oneOf('en', 'zh') });
/** HTML. */
export const receipt = Type.String();

export const previewQuery = Type.Object({
  amountCent: Type.Optional(inDigits(15)),
  keepBenefits: Type.Optional(oneOf('true')),
  outside: Type.Optional(oneOf('true')),
  unsubscribe: Type.Optional(oneOf('true')),
  /** The approval whose effects to preview. Unset: previews a new refund. */
  approvalId: Type.Optional(digits),
});
/** The effects that an action would have. */
export const preview = Type.Object({
  /** The number of refunds. Of a bulk run: of the items that wait and can be refunded now. */
  refunds: count,
  /** The money that is refunded, or that is recorded as refunded outside. */
  refundCent: cents,
  outside: Type.Boolean(),
  /** True if the order is unsubscribed, at once even if the refund needs an approval. */
  unsubscribes: Type.Boolean(),
  /** The money that is no longer collected. */
  notCollectedCent: cents,
  /** The number of revoked benefits of each name. */
  benefitsRevoked: Type.Array(Type.Object({ name: Type.String(), count })),
  /** True if the refund would revoke benefits, and can keep them instead. */
  mayKeepBenefits: Type.Boolean(),
  periodsVoided: count,
  /** The number of events of each type that would be sent. */
  events: Type.Array(Type.Object({ eventType: Type.String(), count })),
  needsApproval: Type.Boolean(),
  /** Further requested refunds of the same period that have not been made. */
  waiting: Type.Array(Type.Object(waitingRefund)),
  /** Why the action would be refused now. Null if it is allowed. */
  refusal: Type.OrNull(Type.Object({ detail: Type.String(), code: textOrNull, values: Type.Array(Type.String()) })),
});

export const noteRequest = Type.Object({ text: text(2000) });
const noteFields = { noteId: Type.String(), author: Type.String(), at: time, text: Type.String() };
export const note = Type.Object({
  ...noteFields,
  /** The names of the operators who are notified, because the note mentions them or their role. */
  mentioned: Type.Array(Type.String()),
});

export const mentionsQuery = Type.Object(paging);
export const mention = Type.Object({ ...noteFields, orderNo: Type.String() });
export const mentions = Type.Object({ mentions: Type.Array(mention), nextCursor });
export const mentionDismissed = Type.Object({ noteId: Type.String() });

export const unmasked = Type.Object({ mobile: textOrNull, channelUserId: Type.String() });

/** A claimed benefit's code. The operator gives a reason. */
export const revealedCode = Type.Object({ claimNo: Type.String(), code: Type.String() });
export const codeReplaceRequest = Type.Object({
  /** The number of earlier codes that the page shows. A repeated request then replaces no further code. */
  replaced: Type.Integer({ minimum: 0, maximum: 99 }),
  reason,
});
export const codeReplaced = Type.Object({
  claimNo: Type.String(),
  /** PENDING: the new code is not there yet. */
  status: oneOf('PENDING', 'FULFILLED'),
  replaced: count,
  changed,
});

export const redemptionLink = Type.Object({ url: Type.String(), expiresAt: time });
export const linkCheckRequest = Type.Object({ link: text(16_000) });
export const linkCheck = Type.Object({
  /**
   * OTHER_HOST: genuine, but the address is not this installation's. CHANGED: a value was changed, or the channel's
   * secret was reset. INCOMPLETE: a part of the link is missing. NOT_OURS: of another installation or site.
   */
  status: oneOf('VALID', 'EXPIRED', 'CHANGED', 'INCOMPLETE', 'OTHER_HOST', 'NOT_OURS'),
  host: textOrNull,
  orderNo: textOrNull,
  expiresAt: timeOrNull,
});

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
  /** Bindings that the user has not finished. */
  bindings: Type.Array(
    Type.Object({
      bindOrderNo: Type.String(),
      agreementStatus: Type.String(),
      paymentChannelCode: Type.String(),
      bankCardTailNo: Type.String(),
      /** Masked. The institution sends the code to this mobile. */
      bankMobile: Type.String(),
      createTime: time,
      /** Null if the institution has not confirmed that it sent the latest code. */
      codeSentAt: timeOrNull,
      wrongCodes: count,
    }),
  ),
  /** When the redemption page sent codes and links to the login mobile in the last two days, latest first. */
  messageTimes: Type.Array(time),
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

const userFields = { appId: text(64), channelUserId: text(1024) };
export const userExportRequest = Type.Object(userFields);
export const userEraseRequest = Type.Object({ ...userFields, reason });
export const userErased = Type.Object({
  appId: Type.String(),
  /** The hash under which the erasure is listed. */
  userHash: Type.String(),
  erasedAt: time,
  /** The orders and agreements that are kept without personal data. */
  orders: count,
  agreements: count,
  /** Audit entries of earlier versions whose texts cannot be erased. */
  auditTextsKept: count,
  changed,
});

export const mobileRequest = Type.Object({ ...userFields, mobile: text(32), reason });
export const mobileChanged = Type.Object({
  appId: Type.String(),
  /** Masked. */
  mobile: Type.String(),
  changed,
});

export const agreementCanceled = Type.Object({
  agreementNo: Type.String(),
  agreementStatus: Type.String(),
  /** The orders that were unsubscribed with the agreement. */
  unsubscribed: Type.Array(Type.String()),
  changed,
});
