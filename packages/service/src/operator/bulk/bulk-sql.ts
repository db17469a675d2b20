import type { Queryable } from '../../platform/db/database.js';
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
import type { OperatorError } from '../operator.js';
import { resultText } from '../result-texts.js';
import type { BULK_KINDS, BULK_STATUSES, ITEM_STATUSES } from '../schemas/payments.js';

export type BulkKind = (typeof BULK_KINDS)[number];
type BulkItemStatus = (typeof ITEM_STATUSES)[number];

/** A bulk run: one action on many items. */
export type BulkRun = RowOf<typeof RUN_COLUMNS>;

const APPROVAL = `from approvals a where a.kind = 'BULK' and a.subject = r.run_id::text`;
const RUN_FIELDS = `r.run_id as "runId", r.kind, r.status, r.request_key as key, r.filter, r.reason, r.items,
  r.amount_cent as "amountCent", r.done, r.failed, r.skipped, r.requested_by as "requestedBy",
  (select count(*)::integer from bulk_items p where p.run_id = r.run_id and p.status = 'PENDING') as pending,
  ${shanghaiText('r.requested_at')} as "requestedAt", ${shanghaiText('r.started_at')} as "startedAt",
  ${shanghaiText('r.finished_at')} as "finishedAt", (select a.approval_id::text ${APPROVAL}) as "approvalId",
  (select a.decided_by ${APPROVAL} and a.status = 'APPROVED') as "approvedBy"`;

const RUN_COLUMNS = columns({
  runId: 'bigint',
  kind: column<BulkKind>('text'),
  status: column<(typeof BULK_STATUSES)[number]>('text'),
  key: 'text',
  filter: 'jsonb',
  reason: 'text',
  items: 'integer',
  amountCent: 'bigint',
  done: 'integer',
  pending: 'integer',
  failed: 'integer',
  skipped: 'integer',
  requestedBy: 'text',
  requestedAt: 'text',
  startedAt: 'text?',
  finishedAt: 'text?',
  /** The approval's number. Null if the run needs no second operator, or was not started yet. */
  approvalId: 'text?',
  approvedBy: 'text?',
});

/** An item of a new run. */
export interface NewBulkItem {
  readonly subject: string;
  readonly orderNo: number | null;
  readonly amountCent: number;
  /** The reason why the item cannot be processed. Null if it can be. */
  readonly refusal: OperatorError | null;
}

type NewBulkRun = Pick<BulkRun, 'kind' | 'key' | 'reason' | 'requestedBy'> & { readonly filter: unknown };

const INSERT_RUN = statement({
  text: `insert into bulk_runs as r (kind, request_key, filter, reason, requested_by, items, amount_cent, skipped, requested_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now()) on conflict (requested_by, request_key) do nothing returning ${RUN_FIELDS}`,
  parameters: ['text', 'text', 'jsonb', 'text', 'text', 'integer', 'bigint', 'integer'],
  columns: RUN_COLUMNS,
});

const INSERT_ITEMS = statement({
  text: `insert into bulk_items (run_id, item_no, subject, order_no, amount_cent, status, result, refusal)
     select $1, n.item_no, n.subject, n.order_no, n.amount_cent, case when n.result is null then 'WAITING' else 'SKIPPED' end,
       n.result, n.refusal::jsonb
     from unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) with ordinality
       as n(subject, order_no, amount_cent, result, refusal, item_no)`,
  parameters: ['bigint', 'text[]', 'bigint[]', 'bigint[]', 'text[]', 'text[]'],
});

/** Stores a run and its items. Returns undefined if the operator has used the idempotency key before. */
export async function insertRun(
  tx: Queryable,
  run: NewBulkRun,
  items: readonly NewBulkItem[],
): Promise<BulkRun | undefined> {
  const meant = items.filter(({ refusal }) => refusal === null);
  const [row] = await tx.query(INSERT_RUN, [
    run.kind,
    run.key,
    JSON.stringify(run.filter),
    run.reason,
    run.requestedBy,
    items.length,
    meant.reduce((sum, { amountCent }) => sum + amountCent, 0),
    items.length - meant.length,
  ]);
  if (!row) return undefined;
  await tx.query(INSERT_ITEMS, [
    row.runId,
    items.map(({ subject }) => subject),
    items.map(({ orderNo }) => orderNo),
    items.map(({ amountCent }) => amountCent),
    items.map(({ refusal }) => refusal?.message ?? null),
    items.map(({ refusal }) => toJson(refusal?.refusal)),
  ]);
  return row;
}

export const findRunOfKey: Query<[requestedBy: string, key: string], BulkRun | undefined> = declareFind({
  text: `select ${RUN_FIELDS} from bulk_runs r where r.requested_by = $1 and r.request_key = $2`,
  parameters: ['text', 'text'],
  columns: RUN_COLUMNS,
});

export const findRun: Query<[runId: number], BulkRun | undefined> = declareFind({
  text: `select ${RUN_FIELDS} from bulk_runs r where r.run_id = $1`,
  parameters: ['bigint'],
  columns: RUN_COLUMNS,
});

export const lockRun: Query<[runId: number], BulkRun | undefined> = declareFind({
  text: `select ${RUN_FIELDS} from bulk_runs r where r.run_id = $1 for update`,
  parameters: ['bigint'],
  columns: RUN_COLUMNS,
});

const OF_DISABLED = (run: string) =>
  `exists (select from people p where p.name = ${run}.requested_by and p.status = 'DISABLED')`;

/** Returns the unfinished runs of operators who are disabled now. */
export const findRunsOfDisabled: Query<[], { runId: number; requestedBy: string }[]> = declareList({
  text: `select r.run_id as "runId", r.requested_by as "requestedBy" from bulk_runs r
     where r.status = 'RUNNING' and ${OF_DISABLED('r')}`,
  parameters: [],
  columns: columns({ runId: 'bigint', requestedBy: 'text' }),
});

/** Returns runs older than `before`, latest first. */
export const findRuns: Query<[before: number | undefined, limit: number], BulkRun[]> = declareList({
  text: `select ${RUN_FIELDS} from bulk_runs r where $1::bigint is null or r.run_id < $1 order by r.run_id desc limit $2`,
  parameters: ['bigint?', 'bigint'],
  columns: RUN_COLUMNS,
});

/** Stores the status. The caller holds the run's lock. */
export const storeRunStatus: Query<[runId: number, status: 'WAITING' | 'RUNNING'], BulkRun> = declareRequire({
  text: `update bulk_runs r set status = $2, started_at = case when $2 = 'RUNNING' then now() else r.started_at end
     where r.run_id = $1 returning ${RUN_FIELDS}`,
  parameters: ['bigint', 'text'],
  columns: RUN_COLUMNS,
});

const CANCEL_RUN = statement({
  text: `with left_over as (
       update bulk_items set status = 'SKIPPED', result = '${resultText('run-canceled')}', finished_at = now()
       where run_id = $1 and status = 'WAITING' returning 1)
     update bulk_runs r set status = 'CANCELED', finished_at = now(), lease_until = null,
       skipped = r.skipped + (select count(*)::integer from left_over)
     where r.run_id = $1`,
  parameters: ['bigint'],
});
const END_APPROVAL_OF_RUN = statement({
  text: `update approvals set status = case when requested_by = $2 then 'WITHDRAWN' else 'DECLINED' end, decided_by = $2,
       decided_at = now(), result = '${resultText('run-canceled')}'
     where kind = 'BULK' and subject = $1::bigint::text and status = 'WAITING'`,
  parameters: ['bigint', 'text'],
});

/** Cancels a run, whose lock the caller holds. Items that were sent stay pending until their result is known. */
export async function storeCanceledRun(tx: Queryable, runId: number, canceledBy: string): Promise<BulkRun> {
  await tx.query(CANCEL_RUN, [runId]);
  await tx.query(END_APPROVAL_OF_RUN, [runId, canceledBy]);
  const run = await findRun(tx, runId);
  if (!run) throw new Error('a run that is locked has a row');
  return run;
}

export type BulkItem = RowOf<typeof ITEM_COLUMNS>;

const ITEM_FIELDS = `i.item_no as "itemNo", i.subject, i.order_no::text as "orderNo", i.amount_cent as "amountCent", i.status,
  i.result, i.refusal, ${shanghaiText('i.finished_at')} as "finishedAt"`;
const ITEM_COLUMNS = columns({
  itemNo: 'integer',
  subject: 'text',
  orderNo: 'text?',
  amountCent: 'bigint',
  status: column<BulkItemStatus>('text'),
  /** The result in words. */
  result: 'text?',
  refusal: column<Refusal>('jsonb?'),
  finishedAt: 'text?',
});

const LIST_ITEMS = statement({
  text: `select ${ITEM_FIELDS} from bulk_items i
     where i.run_id = $1 and ($2::text is null or i.status = $2) and i.item_no > $3 order by i.item_no limit $4`,
  parameters: ['bigint', 'text', 'integer', 'bigint'],
  columns: ITEM_COLUMNS,
});

/** Returns items after a given item number, sorted by item number. */
export async function findItems(
  db: Queryable,
  runId: number,
  status: string | undefined,
  after: number | undefined,
  limit: number,
): Promise<BulkItem[]> {
  return db.query(LIST_ITEMS, [runId, status ?? null, after ?? 0, limit]);
}

/** Leases a run to this node. Of all free runs, takes the run whose last lease ended first. */
export const leaseRun: Query<[leaseSeconds: number], BulkRun | undefined> = declareFind({
  text: `update bulk_runs r set lease_until = now() + $1::double precision * interval '1 s'
     where r.run_id = (
       select n.run_id from bulk_runs n where n.status = 'RUNNING' and (n.lease_until is null or n.lease_until <= now())
         and not ${OF_DISABLED('n')}
       order by n.lease_until nulls first, n.run_id limit 1 for update skip locked)
     returning ${RUN_FIELDS}`,
  parameters: ['double precision'],
  columns: RUN_COLUMNS,
});

/** Extends the lease and locks the run. Returns false if the run was canceled, or its operator was disabled. */
export const renewLease: Query<[runId: number, leaseSeconds: number], boolean> = declareHas({
  text: `update bulk_runs r set lease_until = now() + $2::double precision * interval '1 s'
     where r.run_id = $1 and r.status = 'RUNNING' and not ${OF_DISABLED('r')} returning 1`,
  parameters: ['bigint', 'double precision'],
});

/** Ends the lease, so that any node may continue the run. */
export const releaseRun: Query<[runId: number], void> = declareWrite({
  text: `update bulk_runs set lease_until = now() where run_id = $1 and status = 'RUNNING'`,
  parameters: ['bigint'],
});

/** Locks and returns the next waiting item. The caller holds the run's lock. */
export const lockNextItem: Query<[runId: number], BulkItem | undefined> = declareFind({
  text: `select ${ITEM_FIELDS} from bulk_items i where i.run_id = $1 and i.status = 'WAITING' order by i.item_no limit 1 for update`,
  parameters: ['bigint'],
  columns: ITEM_COLUMNS,
});

/** Ends a run that has no waiting items. Its status becomes PENDING if any item is pending, otherwise DONE. */
export const finishRun: Query<[runId: number], void> = declareWrite({
  text: `update bulk_runs r set status = case when n.pending then 'PENDING' else 'DONE' end,
       finished_at = case when n.pending then null else now() end, lease_until = null
     from (select exists (select from bulk_items i where i.run_id = $1 and i.status = 'PENDING') as pending) n
     where r.run_id = $1 and r.status = 'RUNNING'`,
  parameters: ['bigint'],
});

export interface ItemResult {
  readonly status: Exclude<BulkItemStatus, 'WAITING'>;
  readonly result: string;
  readonly refusal?: Refusal | undefined;
  /** For a pending retry of a period: the item waits for the result of the attempt with this number (from 1). */
  readonly awaitedTry?: number | undefined;
}

const STORE_ITEM_RESULT = statement({
  text: `with run as materialized (
       select r.run_id from bulk_runs r where r.run_id = $1 for no key update
     ), former as materialized (
       select i.item_no, i.status from bulk_items i join run using (run_id) where i.item_no = $2 for update of i
     ), stored as (
       update bulk_items i set status = $3, result = $4, refusal = $5, awaited_try = $6,
         finished_at = case when $3 <> 'PENDING' then now() end
       from former f where i.run_id = $1 and i.item_no = f.item_no and f.status in ('WAITING', 'PENDING', 'SKIPPED')
       returning case when f.status = 'SKIPPED' then 1 else 0 end as was_skipped)
     update bulk_runs r set done = r.done + case when $3 = 'DONE' then 1 else 0 end,
       failed = r.failed + case when $3 = 'FAILED' then 1 else 0 end,
       skipped = r.skipped + case when $3 = 'SKIPPED' then 1 else 0 end - s.was_skipped
     from stored s where r.run_id = $1`,
  parameters: ['bigint', 'integer', 'text', 'text', 'jsonb', 'integer'],
});

/**
 * Stores the result of an item, unless a final result is stored already. An item that was in flight when its run was
 * canceled was marked as skipped, but its result is still stored.
 */
export async function storeItemResult(
  tx: Queryable,
  runId: number,
  itemNo: number,
  { status, result, refusal, awaitedTry }: ItemResult,
): Promise<void> {
  await tx.query(STORE_ITEM_RESULT, [runId, itemNo, status, result, toJson(refusal), awaitedTry ?? null]);
}

const toJson = (refusal: Refusal | undefined): string | null => (refusal ? JSON.stringify(refusal) : null);
