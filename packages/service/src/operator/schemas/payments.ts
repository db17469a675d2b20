import { Type } from '@perennial/wire';
import {
  cents,
  count,
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

const failedFields = {
  /** FAIL_RETRY: the period waits for a retry. FAIL: the failure is final. Unset: both. */
  status: Type.Optional(oneOf('FAIL_RETRY', 'FAIL')),
  /** The reason, exactly as the institution gave it. */
  reason: Type.Optional(text(500)),
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
  /** The number of attempts. */
  tries: count,
  failedAt: time,
  nextTryAt: timeOrNull,
});
export const failedAnswer = Type.Object({ payments: Type.Array(failedPayment), nextCursor });

const group = { payments: count, amountCent: cents };
export const failedSummary = Type.Object({
  /** True if counting stopped at a limit of number or time, so that the real numbers may be higher. */
  isAtLeast: Type.Boolean(),
  total: Type.Object(group),
  byReason: Type.Array(Type.Object({ reason: textOrNull, ...group })),
  byInstitution: Type.Array(Type.Object({ paymentChannelCode: Type.String(), ...group })),
  byTry: Type.Array(Type.Object({ tryNo: count, ...group })),
  /** Payments of the last 30 days that succeeded on their second or a later attempt, by the number of attempts. */
  recoveredByTry: Type.Array(Type.Object({ tryNo: count, ...group })),
  /** True if counting stopped at the time limit, so that the real numbers may be higher. */
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
  reason,
  /** The idempotency key. */
  key: text(),
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
export const bulkItemsQuery = Type.Object({
  status: Type.Optional(oneOf(...ITEM_STATUSES)),
  ...paging,
});
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
   * True: only those of the operator's own requests that were declined or failed and are not acknowledged yet, and the
   * operator's own approved changes that can be carried out.
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
  /** True if the operator may approve or decline the request. Always false for their own requests. */
  mayDecide: Type.Boolean(),
  /** True for the operator's own undecided requests. */
  mayWithdraw: Type.Boolean(),
  /** True for the operator's own approved changes that they can carry out now, to see the secrets. */
  mayCarryOut: Type.Boolean(),
  /** True for the operator's own declined or failed requests until they are acknowledged. */
  isUnseen: Type.Boolean(),
});
export const approvals = Type.Object({ approvals: Type.Array(approval), nextCursor });
/** The secrets are shown once. */
export const carriedOut = Type.Object({
  approval,
  secrets: Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object' }),
});
export const decision = Type.Object({ note: Type.Optional(text()) });
