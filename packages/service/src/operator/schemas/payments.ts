import { Type } from '@perennial/wire';
import { declineKinds } from '@perennial/wire/enums';
import {
  cents,
  count,
  digits,
  inDigits,
  moment,
  nextCursor,
  oneOf,
  paging,
  reason,
  said,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './parts.js';

const listedFields = {
  appId: Type.Optional(text(64)),
  productCode: Type.Optional(text(64)),
  paymentChannelCode: Type.Optional(text(64)),
  /** Selects debits and refunds by the time at which they were sent. */
  from: Type.Optional(moment),
  to: Type.Optional(moment),
  /** In cents, inclusive. */
  amountFrom: Type.Optional(digits),
  amountTo: Type.Optional(digits),
};
/** STARTED: the institution has not given a final result. OUTSIDE: a refund that was made outside the service. */
const listedStatuses = oneOf('STARTED', 'SUCCESS', 'FAIL', 'OUTSIDE');
const listedStatus = { status: Type.Optional(listedStatuses) };
/** The number of the attempt in its period. */
const ofAttempt = { tryNo: Type.Optional(Type.String({ pattern: '^[1-9]\\d?$' })) };
export const debitFilter = Type.Object({ ...listedStatus, ...listedFields, ...ofAttempt });
export const debitsQuery = Type.Object({ ...listedStatus, ...listedFields, ...ofAttempt, ...paging });
export const refundFilter = Type.Object({ ...listedStatus, ...listedFields });
export const refundsQuery = Type.Object({ ...listedStatus, ...listedFields, ...paging });
/** Without a number: all that match and have no final result. */
export const askRequest = Type.Object({
  /** The number of an attempt or a refund. */
  number: Type.Optional(text(64)),
  ...listedFields,
  ...ofAttempt,
});
export const askAnswer = Type.Object({
  /** The number of queries that were brought forward: at most 1,000. */
  asked: count,
  /** The number of matching debits or refunds that are queried within seconds anyway. */
  soon: count,
  /** The number of further matches, because of the limit. */
  left: count,
});

const listedLine = {
  orderNo: Type.String(),
  externalOrderNo: Type.String(),
  cycleNo: count,
  paymentOrderNo: Type.String(),
  appId: Type.String(),
  productCode: Type.String(),
  paymentChannelCode: Type.String(),
  status: listedStatuses,
  /** The current status of the period. */
  paymentStatus: Type.String(),
  amountCent: cents,
  /** The institution's reason for a refusal. */
  reason: textOrNull,
  startedAt: time,
  /** When the service learned of the result. */
  settledAt: timeOrNull,
  /** When the institution is queried next. Null if the result is final. */
  askAt: timeOrNull,
};
/** A debit: one attempt to collect a period. */
export const debitLine = Type.Object({
  attemptNo: Type.String(),
  ...listedLine,
  tryNo: count,
  /** The institution's time. */
  paidAt: timeOrNull,
  institutionRef: textOrNull,
});
export const refundLine = Type.Object({
  refundNo: Type.String(),
  ...listedLine,
  /** The institution's time. */
  refundedAt: timeOrNull,
  requestedBy: Type.String(),
  /** Null also for refunds of older bridges, which send no reference. */
  institutionRef: textOrNull,
});
export const debitsAnswer = Type.Object({ payments: Type.Array(debitLine), nextCursor });
export const refundsAnswer = Type.Object({ refunds: Type.Array(refundLine), nextCursor });
export const listedTotals = Type.Object({
  count,
  amountCent: cents,
  /** True if more than 10,000 match: the sums are of the first 10,000. */
  isAtLeast: Type.Boolean(),
});
/** A CSV file as in RFC 4180, with a header line. */
export const listedCsv = Type.String();

/** A list of payments with its filters, under a name that its operator chose. */
export const savedView = Type.Object({ viewId: Type.String(), name: Type.String(), address: Type.String() });
export const savedViews = Type.Object({ views: Type.Array(savedView) });
export const viewRequest = Type.Object({
  name: text(60),
  /** The page's URL below /console. These pages have no personal data in their filters. */
  address: Type.String({ maxLength: 5000, pattern: '^/payments(\\?[\\w=&%.~+*!()-]*)?$' }),
});
export const viewDeleted = Type.Object({ viewId: Type.String() });

const failedFields = {
  /** FAIL_RETRY: the period waits for a retry. FAIL: the failure is final. Unset: both. */
  status: Type.Optional(oneOf('FAIL_RETRY', 'FAIL')),
  /** The reason, exactly as the institution gave it. */
  reason: Type.Optional(text(500)),
  declineKind: Type.Optional(oneOf(...declineKinds)),
  paymentChannelCode: Type.Optional(text(64)),
  appId: Type.Optional(text(64)),
  productCode: Type.Optional(text(64)),
  /** Selects periods by the time of their latest failure. */
  from: Type.Optional(moment),
  to: Type.Optional(moment),
};
export const failedFilter = Type.Object(failedFields);
export const failedQuery = Type.Object({ ...failedFields, ...paging });

export const failedPayment = Type.Object({
  orderNo: Type.String(),
  cycleNo: count,
  paymentOrderNo: Type.String(),
  appId: Type.String(),
  productCode: Type.String(),
  paymentChannelCode: Type.String(),
  paymentStatus: oneOf('FAIL_RETRY', 'FAIL'),
  amountCent: cents,
  reason: textOrNull,
  declineKind: oneOf(...declineKinds),
  /** The number of attempts. */
  tries: count,
  failedAt: time,
  nextTryAt: timeOrNull,
});
export const failedAnswer = Type.Object({ payments: Type.Array(failedPayment), nextCursor });

const group = { payments: count, amountCent: cents };
export const failedSummary = Type.Object({
  /** True if more than 10,000 match: the sums are of the first 10,000. */
  isAtLeast: Type.Boolean(),
  total: Type.Object(group),
  byKind: Type.Array(Type.Object({ declineKind: oneOf(...declineKinds), ...group })),
  /** The institutions' own words, each with the kind to which it belongs. */
  byReason: Type.Array(Type.Object({ reason: textOrNull, declineKind: oneOf(...declineKinds), ...group })),
  byInstitution: Type.Array(Type.Object({ paymentChannelCode: Type.String(), ...group })),
  byTry: Type.Array(Type.Object({ tryNo: count, ...group })),
  /** Payments of the last 30 days that succeeded on their second or a later attempt, by the number of attempts. */
  recoveredByTry: Type.Array(Type.Object({ tryNo: count, ...group })),
  /** True if more than 10,000 were recovered: the sums are of the latest 10,000. */
  isRecoveredAtLeast: Type.Boolean(),
});

export const BULK_KINDS = ['RETRY', 'REFUND', 'UNSUBSCRIBE', 'REPLAY'] as const;
/** The statuses of a run. PENDING: every item was processed, but some have no final result yet. */
export const BULK_STATUSES = ['PREPARED', 'WAITING', 'RUNNING', 'PENDING', 'DONE', 'CANCELED', 'DECLINED'] as const;
/** The statuses of an item. PENDING: it was sent, but has no final result yet. */
export const ITEM_STATUSES = ['WAITING', 'PENDING', 'DONE', 'FAILED', 'SKIPPED'] as const;

/** Prepares a run without starting it: selects the items and changes no order. */
export const bulkRequest = Type.Object({
  kind: oneOf(...BULK_KINDS),
  /** The items: `orderNo-cycleNo` for RETRY and REFUND, order numbers for UNSUBSCRIBE, event ids for REPLAY. */
  items: Type.Optional(Type.Array(text(64), { maxItems: 1000 })),
  /** Selects all items that match. Has the same fields as the filter of the list from which the items are selected. */
  filter: Type.Optional(
    Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  ),
  /**
   * A pasted or uploaded list: numbers of orders or payments, or the channel's own numbers, one on each line. For
   * RETRY, REFUND and UNSUBSCRIBE.
   */
  numbers: Type.Optional(text(500_000)),
  /** The name of the file with the numbers, which the run shows. */
  fileName: Type.Optional(text(100)),
  /** The period that is meant in each order of a list. Unset: the latest. The number of a payment names its period. */
  cycleNo: Type.Optional(Type.Integer({ minimum: 1, maximum: 9999 })),
  reason,
  /** The idempotency key. */
  key: text(),
});

/**
 * The filter of a REFUND run in addition to the filter of orders. With `paidFrom` or `paidTo`, the run selects all
 * refundable payments of this time, and only `appId`, `productCode` and `cycleNo` limit them further.
 */
export const refundRunFilter = Type.Object({
  cycleNo: Type.Optional(inDigits(4)),
  paidFrom: Type.Optional(moment),
  paidTo: Type.Optional(moment),
});

export const bulkRun = Type.Object({
  runId: Type.String(),
  kind: oneOf(...BULK_KINDS),
  status: oneOf(...BULK_STATUSES),
  filter: Type.Unknown(),
  reason: Type.String(),
  /** The number of items that the dry run selected. */
  items: count,
  amountCent: cents,
  /** The text that the operator must type to start the run, such as RETRY 37. */
  confirmation: Type.String(),
  needsApproval: Type.Boolean(),
  approvalId: textOrNull,
  done: count,
  pending: count,
  failed: count,
  skipped: count,
  requestedBy: Type.String(),
  requestedAt: time,
  startedAt: timeOrNull,
  finishedAt: timeOrNull,
});
export const bulkRuns = Type.Object({ runs: Type.Array(bulkRun), nextCursor });
export const bulkQuery = Type.Object(paging);
export const bulkStart = Type.Object({ confirmation: text(64) });
const itemStatus = { status: Type.Optional(oneOf(...ITEM_STATUSES)) };
export const bulkItemsFilter = Type.Object(itemStatus);
export const bulkItemsQuery = Type.Object({ ...itemStatus, ...paging });
export const bulkItems = Type.Object({
  items: Type.Array(
    Type.Object({
      itemNo: count,
      subject: Type.String(),
      orderNo: textOrNull,
      amountCent: cents,
      status: oneOf(...ITEM_STATUSES),
      /** The result in words. */
      result: textOrNull,
      said,
      finishedAt: timeOrNull,
    }),
  ),
  nextCursor,
});

export const APPROVAL_STATUSES = ['WAITING', 'APPROVED', 'DECLINED', 'WITHDRAWN', 'FAILED'] as const;

export const approvalsQuery = Type.Object({
  status: Type.Optional(oneOf(...APPROVAL_STATUSES)),
  /**
   * True: only those of the operator's own requests whose outcome is not acknowledged yet, and the operator's own approved
   * changes that can be carried out. For requests of support, an approval is an outcome too.
   */
  unseen: Type.Optional(oneOf('true')),
  ...paging,
});
export const approval = Type.Object({
  approvalId: Type.String(),
  kind: oneOf('REFUND', 'BULK', 'CHANGE'),
  /** WITHDRAWN: by the requester. FAILED: approved, but the action could not be done. */
  status: oneOf(...APPROVAL_STATUSES),
  /** The period of a refund as `orderNo-cycleNo`, the run's number, or what is changed. */
  subject: Type.String(),
  orderNo: textOrNull,
  runId: textOrNull,
  /** The audit entries that a change would write, with old and new values. Null for refunds and bulk runs. */
  changes: Type.OrNull(
    Type.Array(
      Type.Object({
        action: Type.String(),
        subject: Type.String(),
        detail: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }),
      }),
    ),
  ),
  amountCent: cents,
  note: Type.String(),
  /** True if the refund revokes no benefits. */
  keepBenefits: Type.Boolean(),
  /** True if the refund was made outside the service and is only recorded. */
  outside: Type.Boolean(),
  requestedBy: Type.String(),
  requestedAt: time,
  decidedBy: textOrNull,
  decidedAt: timeOrNull,
  decisionNote: textOrNull,
  /**
   * The number of the refund that was begun, a message that the bulk run has started, or the reason for a failure. Null
   * without such a result.
   */
  result: textOrNull,
  said,
  /** The role that decides, besides admins. */
  decider: oneOf('support', 'finance', 'admin'),
  /** True if the operator may approve or decline the request. Always false for their own requests. */
  mayDecide: Type.Boolean(),
  /** True for the operator's own undecided requests. */
  mayWithdraw: Type.Boolean(),
  /** True for the operator's own approved changes that they can carry out now, to see the secrets. */
  mayCarryOut: Type.Boolean(),
  /** True for the operator's own requests whose outcome is not acknowledged. */
  isUnseen: Type.Boolean(),
});
export const approvals = Type.Object({ approvals: Type.Array(approval), nextCursor });
/** The secrets are shown once. */
export const carriedOut = Type.Object({
  approval,
  secrets: Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object' }),
});
export const decision = Type.Object({ note: Type.Optional(text()) });
