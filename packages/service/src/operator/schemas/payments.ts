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
  /** FAIL_RETRY: is tried again; FAIL: for good. Both unless given. */
  status: Type.Optional(oneOf('FAIL_RETRY', 'FAIL')),
  /** As the institution gave it. */
  reason: Type.Optional(text(500)),
  paymentChannelCode: Type.Optional(text(64)),
  appId: Type.Optional(text(64)),
  productCode: Type.Optional(text(64)),
  /** By when the latest attempt failed. */
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
  /** How often it was tried. */
  tries: count,
  failedAt: time,
  nextTryAt: timeOrNull,
});
export const failedAnswer = Type.Object({ payments: Type.Array(failedPayment), nextCursor });

const group = { payments: count, amountCent: cents };
export const failedSummary = Type.Object({
  /** Counted up to a limit; true when there are more. */
  isAtLeast: Type.Boolean(),
  total: Type.Object(group),
  byReason: Type.Array(Type.Object({ reason: textOrNull, ...group })),
  byInstitution: Type.Array(Type.Object({ paymentChannelCode: Type.String(), ...group })),
  byTry: Type.Array(Type.Object({ tryNo: count, ...group })),
  /** Of the last 30 days: payments that succeeded by their second try or a later one. */
  recoveredByTry: Type.Array(Type.Object({ tryNo: count, ...group })),
  /** They are counted for as long as somebody waits; true when there are more. */
  isRecoveredAtLeast: Type.Boolean(),
});

export const BULK_KINDS = ['RETRY', 'REFUND', 'UNSUBSCRIBE', 'REPLAY'] as const;
/** PENDING: every item was handled, and some have no final result yet. */
export const BULK_STATUSES = ['PREPARED', 'WAITING', 'RUNNING', 'PENDING', 'DONE', 'CANCELED', 'DECLINED'] as const;
/** PENDING: sent, without a final result yet. */
export const ITEM_STATUSES = ['WAITING', 'PENDING', 'DONE', 'FAILED', 'SKIPPED'] as const;

/** A dry run: it finds out what is meant, and changes nothing but that it can be started. */
export const bulkRequest = Type.Object({
  kind: oneOf(...BULK_KINDS),
  /** RETRY and REFUND of named periods: `orderNo-cycleNo`; UNSUBSCRIBE: order numbers; REPLAY: event ids. */
  items: Type.Optional(Type.Array(text(64), { maxItems: 1000 })),
  /** Everything that matches, by the filter of the list it was chosen from. */
  filter: Type.Optional(
    Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  ),
  reason,
  /** A second request with the same key is the same run. */
  key: text(),
});

export const bulkRun = Type.Object({
  runId: Type.String(),
  kind: oneOf(...BULK_KINDS),
  status: oneOf(...BULK_STATUSES),
  filter: Type.Unknown(),
  reason: Type.String(),
  /** What the dry run found. */
  items: count,
  amountCent: cents,
  /** Must be typed to start it: for example RETRY 37. */
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
      /** What came of it, in words. */
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
  /** Only one's own of which nothing came, as far as one has not said that one knows. */
  unseen: Type.Optional(oneOf('true')),
  ...paging,
});
export const approval = Type.Object({
  approvalId: Type.String(),
  kind: oneOf('REFUND', 'BULK'),
  /** WITHDRAWN by who asked; FAILED: approved, and could not be done. */
  status: oneOf(...APPROVAL_STATUSES),
  /** An order with its period, or a run. */
  subject: Type.String(),
  orderNo: textOrNull,
  runId: textOrNull,
  amountCent: cents,
  note: Type.String(),
  requestedBy: Type.String(),
  requestedAt: time,
  decidedBy: textOrNull,
  decidedAt: timeOrNull,
  decisionNote: textOrNull,
  /** What came of it once approved: a refund's number, or why it failed. */
  result: textOrNull,
  said,
  /** Whether the person who asks may decide: never their own. */
  mayDecide: Type.Boolean(),
  /** Their own, while nobody has decided. */
  mayWithdraw: Type.Boolean(),
  /** Their own that was declined or could not be done, until they say that they know. */
  isUnseen: Type.Boolean(),
});
export const approvals = Type.Object({ approvals: Type.Array(approval), nextCursor });
export const decision = Type.Object({ note: Type.Optional(text()) });
