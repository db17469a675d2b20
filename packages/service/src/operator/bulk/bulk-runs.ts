import { parseTime, type Static } from '@perennial/wire';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { createCsvTable } from '../../platform/csv/csv-field.js';
import type { Queryable } from '../../platform/db/database.js';
import { insertApproval } from '../approvals/approvals-sql.js';
import { recordAudit } from '../audit/audit.js';
import { recordLimited } from '../audit/trace-read.js';
import { maskTexts, maskUserId } from '../masking.js';
import { inTransaction, type Operator, type OperatorWithClock, refusal } from '../operator.js';
import { type PageInput, readPage } from '../paging.js';
import { requireRoleForRun } from '../people/not-allowed.js';
import type { Role } from '../people/roles.js';
import { readResult } from '../result-texts.js';
import { createNotFound, quoted, requireName, requireOneOf } from '../rules.js';
import type { Asked } from '../schemas/parts.js';
import { BULK_KINDS, type bulkRequest } from '../schemas/payments.js';
import {
  type BulkKind,
  type BulkRun,
  findItems,
  findRun,
  findRunOfKey,
  findRuns,
  insertRun,
  lockRun,
  storeCanceledRun,
  storeRunStatus,
} from './bulk-sql.js';
import { type BulkChoice, findBulkItems, MAX_ITEMS } from './find-items.js';
import { readNumbers } from './numbers.js';

type PrepareRunInput = Asked<Static<typeof bulkRequest>>;

const ROLE_FOR: Readonly<Record<BulkKind, Role>> = {
  RETRY: 'support',
  UNSUBSCRIBE: 'support',
  REPLAY: 'support',
  REFUND: 'finance',
};

/** Bulk refunds always need a second operator. */
const needsApproval = (kind: BulkKind): boolean => kind === 'REFUND';

/** Prepares a bulk run as a dry run: stores the run, its items and an audit entry, and changes no order. */
export async function prepareRun(operator: OperatorWithClock, input: PrepareRunInput, role: Role) {
  const { database, actor } = operator;
  const kind = requireOneOf('the kind', input.kind, BULK_KINDS);
  requireRoleForRun(role, ROLE_FOR[kind], kind);
  const reason = requireName('the reason', input.reason);
  const key = requireName('the key', input.key);
  const choice = requireChoice(kind, input);
  const before = await findRunOfKey(database, actor, key);
  if (before) return { ...describeRun(requireSameKind(before, kind), role), changed: false };
  const items = await findBulkItems(operator, kind, choice);
  const meant = items.filter(({ refusal }) => refusal === null);
  if (meant.length === 0) {
    throw items[0]?.refusal ?? refusal('nothing-matches')`no matching item can be processed`;
  }
  const run = await inTransaction(operator, async (tx) => {
    const inserted = await insertRun(
      tx,
      { kind, key, reason, requestedBy: actor, filter: describeChoice(choice) },
      items,
    );
    if (!inserted) return undefined;
    const detail = { kind, items: meant.length, amountCent: inserted.amountCent, reason };
    await recordLimited(tx, { actor, action: 'bulk.prepare', subject: runSubject(inserted.runId), detail });
    return inserted;
  });
  if (run) return { ...describeRun(run, role), changed: true };
  // The key was taken: a concurrent request of the same operator has stored the run.
  const same = await findRunOfKey(database, actor, key);
  if (!same) throw new Error('a run whose key is taken is not there');
  return { ...describeRun(requireSameKind(same, kind), role), changed: false };
}

function requireSameKind(run: BulkRun, kind: BulkKind): BulkRun {
  if (run.kind === kind) return run;
  throw refusal('run-key-used')`the key ${quoted(run.key)} was already used for run ${run.runId} (${run.kind})`;
}

/**
 * Returns the selection: items, a list of numbers, or a filter. Adds the status to the filter of a RETRY run, because an empty
 * stored filter would look like a run of named items.
 */
function requireChoice(kind: BulkKind, { items, filter, numbers, fileName, cycleNo }: PrepareRunInput): BulkChoice {
  if (numbers !== undefined && !items && !filter && kind !== 'REPLAY') {
    return { numbers: readNumbers(numbers), fileName, cycleNo };
  }
  if (items && !filter && items.length > 0) return { items };
  if (filter && !items) return { filter: kind === 'RETRY' ? { status: 'FAIL_RETRY', ...filter } : filter };
  throw refusal('run-without-choice')`give either items, a list of numbers or a filter`;
}

/**
 * Returns the selection as the run stores and shows it: the filter, or the number of entries of a list with its file and
 * period. The entries themselves are the run's items. Empty for items that were named one by one.
 */
function describeChoice({ filter, numbers, fileName, cycleNo }: BulkChoice): Readonly<Record<string, string>> {
  if (!numbers) return filter ?? {};
  return {
    list: String(numbers.length),
    ...(fileName === undefined ? {} : { fileName: requireName('the name of the file', fileName) }),
    ...(cycleNo === undefined ? {} : { cycleNo: String(cycleNo) }),
  };
}

/** The maximum age of a prepared run. An older run cannot be started, because its dry run is outdated. */
const MAX_AGE_MS = 86_400_000;

const runSubject = (runId: number): string => `run-${runId}`;

/**
 * Starts a run after the operator has typed its confirmation. Idempotent. Runs of refunds wait for a second operator's
 * approval. Only the operator who prepared a run may start it. Otherwise the operator who chose the items could also
 * approve them.
 */
export async function startRun(
  operator: OperatorWithClock,
  { runId, confirmation }: { readonly runId: string; readonly confirmation: string },
  role: Role,
) {
  const { actor } = operator;
  return inTransaction(operator, async (tx) => {
    const run = await requireLockedRun(tx, runId);
    requireRoleForRun(role, ROLE_FOR[run.kind], run.kind);
    if (run.requestedBy !== actor) {
      throw refusal('run-not-yours')`run ${runId} can only be started by ${run.requestedBy}, who prepared it`;
    }
    if (['WAITING', 'RUNNING', 'PENDING', 'DONE'].includes(run.status))
      return { ...describeRun(run, role), changed: false };
    if (run.status !== 'PREPARED') throw refusal('run-in-status')`run ${runId} is ${run.status}`;
    if (operator.clock.now() - (parseTime(run.requestedAt) ?? 0) > MAX_AGE_MS) {
      throw refusal('run-too-old')`run ${runId} was prepared more than a day ago; prepare it again`;
    }
    const needed = confirmationOf(run);
    if (confirmation !== needed) {
      throw refusal('run-not-typed')`type ${quoted(needed)} to start run ${runId}, not ${quoted(confirmation)}`;
    }
    const waits = needsApproval(run.kind);
    if (waits) {
      const { amountCent, reason: note, key } = run;
      await insertApproval(tx, { kind: 'BULK', subject: String(run.runId), key, amountCent, note, requestedBy: actor });
    }
    const started = await storeRunStatus(tx, run.runId, waits ? 'WAITING' : 'RUNNING');
    const detail = { kind: run.kind, items: run.items - run.skipped, from: run.status, to: started.status };
    await recordAudit(tx, { actor, action: 'bulk.start', subject: runSubject(run.runId), detail });
    return { ...describeRun(started, role), changed: true };
  });
}

/**
 * Cancels a run: skips items that have not begun. Finished items keep their results, and sent items still get results.
 */
export async function cancelRun(operator: Operator, { runId }: { readonly runId: string }, role: Role) {
  const { actor } = operator;
  return inTransaction(operator, async (tx) => {
    const run = await requireLockedRun(tx, runId);
    requireRoleForRun(role, ROLE_FOR[run.kind], run.kind);
    if (run.status === 'CANCELED') return { ...describeRun(run, role), changed: false };
    if (['PENDING', 'DONE', 'DECLINED'].includes(run.status))
      throw refusal('run-in-status')`run ${runId} is ${run.status}`;
    const canceled = await storeCanceledRun(tx, run.runId, actor);
    const detail = { kind: run.kind, from: run.status, to: canceled.status, done: canceled.done };
    await recordAudit(tx, { actor, action: 'bulk.cancel', subject: runSubject(run.runId), detail });
    return { ...describeRun(canceled, role), changed: true };
  });
}

/** Returns a page of runs, latest first. */
export async function listRuns({ database }: Operator, input: PageInput, role: Role) {
  const { rows, nextCursor } = await readPage(
    'bulk',
    input,
    [0],
    (before, limit) => findRuns(database, before?.[0], limit),
    (run) => [run.runId],
  );
  return { runs: rows.map((run) => describeRun(run, role)), nextCursor };
}

export async function showRun({ database }: Operator, { runId }: { readonly runId: string }, role: Role) {
  const run = await findRun(database, parseRunId(runId));
  if (!run) throw createNotFound('run', runId);
  return describeRun(run, role);
}

/** Returns a page of a run's items with their results, and the codes by which a page translates the result texts. */
export async function listRunItems(
  { database }: Operator,
  input: PageInput & { readonly runId: string; readonly status?: string | undefined },
) {
  const runId = parseRunId(input.runId);
  if (!(await findRun(database, runId))) throw createNotFound('run', input.runId);
  const { rows, nextCursor } = await readPage(
    `bulk/${runId}/items`,
    input,
    [0],
    (after, limit) => findItems(database, runId, input.status, after?.[0], limit),
    ({ itemNo }) => [itemNo],
  );
  return {
    items: rows.map(({ refusal: why, ...item }) => ({
      ...item,
      said: readResult({ result: item.result, refusal: why }),
    })),
    nextCursor,
  };
}

const CSV = createCsvTable([
  'itemNo',
  'subject',
  'orderNo',
  'amountCent',
  'currency',
  'status',
  'result',
  'finishedAt',
]);

/** Exports the items of a run with their results as CSV. A run has at most some thousand items. */
export async function exportRunItems(
  { database, currency = DEFAULT_CURRENCY }: Operator,
  { runId, status }: { readonly runId: string; readonly status?: string | undefined },
  role: Role,
): Promise<AsyncIterable<string>> {
  const id = parseRunId(runId);
  if (!(await findRun(database, id))) throw createNotFound('run', runId);
  const items = await findItems(database, id, status, undefined, MAX_ITEMS);
  return (async function* pieces() {
    yield CSV.header;
    yield maskTexts(items, role)
      .map((item) => CSV.toRow({ ...item, currency }))
      .join('');
  })();
}

/** Returns the run number. If the text is not a number, returns 0, which no run has. */
export function parseRunId(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}

async function requireLockedRun(tx: Queryable, runId: string): Promise<BulkRun> {
  const run = await lockRun(tx, parseRunId(runId));
  if (!run) throw createNotFound('run', runId);
  return run;
}

/** Before the run starts, `skipped` counts the items that cannot be processed. */
const confirmationOf = ({ kind, items, skipped }: Pick<BulkRun, 'kind' | 'items' | 'skipped'>): string =>
  `${kind} ${items - skipped}`;

function describeRun({ key: _1, approvedBy: _2, ...run }: BulkRun, role: Role) {
  return {
    ...run,
    runId: String(run.runId),
    filter: maskFilter(run.filter, role),
    /** The text that must be typed to start the run. */
    confirmation: confirmationOf(run),
    needsApproval: needsApproval(run.kind),
  };
}

function maskFilter(filter: unknown, role: Role): unknown {
  if (typeof filter !== 'object' || filter === null || !('channelUserId' in filter)) return filter;
  return { ...filter, channelUserId: maskUserId(String(filter.channelUserId), role) };
}
