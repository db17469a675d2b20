import { type Queryable, queryOne, requireOne } from '../../platform/db/database.js';
import {
  declareFind,
  declareHas,
  declareList,
  declareRequire,
  declareWrite,
  type Query,
} from '../../platform/db/declared.js';
import { column, columns, type RowOf, statement } from '../../platform/db/statement.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import type { Refusal } from '../../platform/plain-error.js';
import type { AuditEntry } from '../audit/audit.js';
import type { KeptResult } from '../result-texts.js';
import type { APPROVAL_STATUSES } from '../schemas/payments.js';

/** A request for a second operator's approval, waiting or decided. */
export type Approval = RowOf<typeof APPROVAL_COLUMNS>;

/** An audit entry of a change: the old and new values, without secrets. */
export type ChangeEntry = Pick<AuditEntry, 'action' | 'subject' | 'detail'>;

/** A change as it is stored until a second admin has decided. */
export interface StoredChange {
  /** The method and path of the operation, by which its step is found. */
  readonly operation: string;
  /**
   * Removed after the change was made, failed or lapsed, and after the request was declined or withdrawn. The input may
   * name a user.
   */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The audit entries that the step wrote in a trial run, which was rolled back. */
  readonly entries: readonly ChangeEntry[];
}

/** Approved refunds that support requested. Equals the condition of a partial index, except the result. */
const UNSEEN_APPROVED = `a.tells_approval and a.status = 'APPROVED' and a.seen_at is null and a.result is not null`;
/** Each part equals the condition of a partial index, so that PostgreSQL can use the index. */
const UNSEEN = `(a.status in ('DECLINED', 'FAILED') and a.seen_at is null or ${UNSEEN_APPROVED})`;

/** The requester can carry out a change for this number of hours after its approval. */
const OPEN_HOURS = 24;

/** Equals the condition of the partial index. */
const TO_CARRY_OUT = `a.kind = 'CHANGE' and a.status = 'APPROVED' and a.done_at is null`;
const OPEN = `${TO_CARRY_OUT} and a.decided_at > now() - interval '${OPEN_HOURS} hours'`;

/** Removes the input of approved changes that were not carried out in time. Returns one row per change. */
export const FORGET_LAPSED_CHANGES = statement({
  text: `update approvals a set change = a.change - 'input'
     where ${TO_CARRY_OUT} and not (${OPEN}) and a.change ? 'input' returning 1`,
  parameters: [],
});

const APPROVAL_FIELDS = `a.approval_id as "approvalId", a.kind, a.status, a.subject, a.request_key as key,
  a.amount_cent as "amountCent", a.note, a.requested_by as "requestedBy", ${shanghaiText('a.requested_at')} as "requestedAt",
  a.decided_by as "decidedBy", ${shanghaiText('a.decided_at')} as "decidedAt", a.decision_note as "decisionNote", a.result,
  a.keep_benefits as "keepBenefits", a.outside, a.refusal, ${UNSEEN} as "isUnseen", a.change, ${OPEN} as "isOpen"`;

const APPROVAL_COLUMNS = columns({
  approvalId: 'bigint',
  kind: column<'REFUND' | 'BULK' | 'CHANGE'>('text'),
  status: column<(typeof APPROVAL_STATUSES)[number]>('text'),
  /** `orderNo-cycleNo` for a refund, the run's number for a bulk run, the changed object for a change. */
  subject: 'text',
  /** The idempotency key of the request. An approved refund is made with the same key. */
  key: 'text',
  amountCent: 'bigint',
  note: 'text',
  /** True if the refund revokes no benefits. */
  keepBenefits: 'boolean',
  /** True if the refund was made outside the service and is only recorded. */
  outside: 'boolean',
  requestedBy: 'text',
  requestedAt: 'text',
  decidedBy: 'text?',
  decidedAt: 'text?',
  decisionNote: 'text?',
  /**
   * The result of the approved action. Null until it is known. A declined or withdrawn request has none, unless its
   * bulk run was canceled.
   */
  result: 'text?',
  /** The reason as a code, if the approved action was refused. */
  refusal: column<Refusal>('jsonb?'),
  /**
   * True if the request was declined or failed, or support's request was approved and carried out, and the requester has
   * not acknowledged that yet.
   */
  isUnseen: 'boolean',
  change: column<StoredChange>('jsonb?'),
  /** True if the change is approved, and its requester can carry it out. */
  isOpen: 'boolean',
});

export type NewApproval = Pick<Approval, 'kind' | 'subject' | 'key' | 'amountCent' | 'note' | 'requestedBy'> &
  Partial<Pick<Approval, 'change' | 'keepBenefits' | 'outside'>> & {
    /** True if the requester is also notified of an approval. */
    readonly tellsApproval?: boolean;
  };

const INSERT_APPROVAL = statement({
  text: `insert into approvals as a (kind, subject, request_key, amount_cent, note, requested_by, change, tells_approval, keep_benefits,
       outside, requested_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now()) returning ${APPROVAL_FIELDS}`,
  parameters: ['text', 'text', 'text', 'bigint', 'text', 'text', 'jsonb', 'boolean', 'boolean', 'boolean'],
  columns: APPROVAL_COLUMNS,
});

/** Inserts an approval. The caller has checked, under a lock, that the same request does not exist yet. */
export async function insertApproval(tx: Queryable, approval: NewApproval): Promise<Approval> {
  const { kind, subject, key, amountCent, note, requestedBy } = approval;
  const { change = null, tellsApproval = false, keepBenefits = false, outside = false } = approval;
  const stored = change && JSON.stringify(change);
  const values = [
    kind,
    subject,
    key,
    amountCent,
    note,
    requestedBy,
    stored,
    tellsApproval,
    keepBenefits,
    outside,
  ] as const;
  return requireOne(tx, INSERT_APPROVAL, values);
}

/** Finds the same request. Ignores the sealed mobile, which differs each time. Its hash is compared. */
export const findWaitingChange: Query<[requestedBy: string, change: string], Approval | undefined> = declareFind({
  text: `select ${APPROVAL_FIELDS} from approvals a
     where a.status = 'WAITING' and a.requested_by = $1 and a.change #- '{input,mobile}' = $2::jsonb #- '{input,mobile}'`,
  parameters: ['text', 'jsonb'],
  columns: APPROVAL_COLUMNS,
});

export const findApprovalOfRequest: Query<
  [kind: Approval['kind'], subject: string, key: string],
  Approval | undefined
> = declareFind({
  text: `select ${APPROVAL_FIELDS} from approvals a where a.kind = $1 and a.subject = $2 and a.request_key = $3`,
  parameters: ['text', 'text', 'text'],
  columns: APPROVAL_COLUMNS,
});

export const lockApproval: Query<[approvalId: number], Approval | undefined> = declareFind({
  text: `select ${APPROVAL_FIELDS} from approvals a where a.approval_id = $1 for update`,
  parameters: ['bigint'],
  columns: APPROVAL_COLUMNS,
});

export const findApproval: Query<[approvalId: number], Approval | undefined> = declareFind({
  text: `select ${APPROVAL_FIELDS} from approvals a where a.approval_id = $1`,
  parameters: ['bigint'],
  columns: APPROVAL_COLUMNS,
});

/**
 * Stores a decision on a WAITING approval, locked by the caller. If the result of an approved request is null, the
 * request must still be carried out.
 */
export const storeDecision: Query<
  [approvalId: number, status: Approval['status'], decidedBy: string, note: string | null, result: string | null],
  Approval
> = declareRequire({
  text: `update approvals a set status = $2, decided_by = $3, decided_at = now(), decision_note = $4, result = $5,
       change = case when $2 = 'APPROVED' then change else change - 'input' end
     where a.approval_id = $1 returning ${APPROVAL_FIELDS}`,
  parameters: ['bigint', 'text', 'text', 'text?', 'text?'],
  columns: APPROVAL_COLUMNS,
});

/** Stores that a change was made, or why it was not made. The caller holds the lock of the approval. */
export const storeChangeResult: Query<
  [approvalId: number, status: Outcome['status'], result: string, refusal: string | null],
  Approval
> = declareRequire({
  text: `update approvals a set status = $2, result = $3, refusal = $4, done_at = now(), change = change - 'input'
     where a.approval_id = $1 returning ${APPROVAL_FIELDS}`,
  parameters: ['bigint', 'text', 'text', 'jsonb?'],
  columns: APPROVAL_COLUMNS,
});

export interface Outcome extends KeptResult {
  /** FAILED: no retry follows. */
  readonly status: 'APPROVED' | 'FAILED';
}

const STORE_RESULT = statement({
  text: `update approvals a set status = $2, result = $3, refusal = $4
     where a.approval_id = $1 and a.status = 'APPROVED' and a.result is null returning ${APPROVAL_FIELDS}`,
  parameters: ['bigint', 'text', 'text', 'jsonb'],
  columns: APPROVAL_COLUMNS,
});

/** Stores the result of the action. Returns undefined if another node has already stored it. */
export async function storeResult(
  tx: Queryable,
  approvalId: number,
  { status, result, refusal }: Outcome,
): Promise<Approval | undefined> {
  return queryOne(tx, STORE_RESULT, [approvalId, status, result, refusal && JSON.stringify(refusal)]);
}

/** Marks an approval as acknowledged. The caller holds the approval's lock. */
export const storeSeen: Query<[approvalId: number], Approval> = declareRequire({
  text: `update approvals a set seen_at = now() where a.approval_id = $1 returning ${APPROVAL_FIELDS}`,
  parameters: ['bigint'],
  columns: APPROVAL_COLUMNS,
});

/**
 * Returns the requests whose outcome the requester has not acknowledged, and the approved changes that the requester can
 * carry out, latest first.
 */
export const findUnseenApprovals: Query<[requestedBy: string, before: number | undefined, limit: number], Approval[]> =
  declareList({
    text: `select ${APPROVAL_FIELDS} from approvals a where a.requested_by = $1 and (${UNSEEN} or ${OPEN})
       and ($2::bigint is null or a.approval_id < $2)
     order by a.approval_id desc limit $3`,
    parameters: ['text', 'bigint?', 'bigint'],
    columns: APPROVAL_COLUMNS,
  });

/** Returns approvals older than `before`, latest first. */
export const findApprovals: Query<[status: string | undefined, before: number | undefined, limit: number], Approval[]> =
  declareList({
    text: `select ${APPROVAL_FIELDS} from approvals a
     where ($1::text is null or a.status = $1) and ($2::bigint is null or a.approval_id < $2)
     order by a.approval_id desc limit $3`,
    parameters: ['text?', 'bigint?', 'bigint'],
    columns: APPROVAL_COLUMNS,
  });

/** Returns approvals without a result that were approved at least `seconds` seconds ago. */
export const findUnfinishedApprovals: Query<[seconds: number, limit: number], Approval[]> = declareList({
  text: `select ${APPROVAL_FIELDS} from approvals a
     where a.status = 'APPROVED' and a.result is null and a.decided_at <= now() - $1::double precision * interval '1 s'
     order by a.approval_id limit $2`,
  parameters: ['double precision', 'bigint'],
  columns: APPROVAL_COLUMNS,
});

/** Returns false if the run was canceled while it waited for its approval. */
export const startApprovedRun: Query<[runId: number], boolean> = declareHas({
  text: `update bulk_runs set status = 'RUNNING', started_at = now() where run_id = $1 and status = 'WAITING' returning 1`,
  parameters: ['bigint'],
});

/** Ends a run that waits for its approval, after the approval was declined or the requester withdrew the request. */
export const endWaitingRun: Query<[runId: number, status: 'DECLINED' | 'CANCELED'], void> = declareWrite({
  text: `with ended as (
       update bulk_runs set status = $2, finished_at = now(), skipped = items where run_id = $1 and status = 'WAITING'
       returning run_id)
     update bulk_items i set status = 'SKIPPED', result = 'the run was ' || lower($2), finished_at = now()
     from ended where i.run_id = ended.run_id and i.status = 'WAITING'`,
  parameters: ['bigint', 'text'],
});
