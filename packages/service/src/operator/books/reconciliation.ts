import type { Static } from '@perennial/wire';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { storeAlertDetail } from '../../alerts/alerts-sql.js';
import { describePaymentChannels } from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import { createCsvTable } from '../../platform/csv/csv-field.js';
import type { Queryable } from '../../platform/db/database.js';
import { readCell } from '../../platform/installation/cell-sql.js';
import {
  type DifferenceKey,
  type DifferenceView,
  findStoredDifferences,
  lockDifference,
  storeClosedDifference,
  storeDifferenceOwner,
} from '../../reconciliation/differences-sql.js';
import { alertAboutOpenDifferences, reconcile } from '../../reconciliation/reconcile.js';
import {
  findReconciliations,
  type ReconciliationKey,
  type ReconciliationView,
} from '../../reconciliation/reconciliation-runs-sql.js';
import { readStatementFromGateway, withoutOtherCells, withStatement } from '../../reconciliation/statement.js';
import { readStatementFromCsv } from '../../reconciliation/statement-csv.js';
import { recordAudit } from '../audit/audit.js';
import { maskTexts } from '../masking.js';
import {
  type Changed,
  inTransaction,
  type Operator,
  type OperatorWithClock,
  type OperatorWithGateways,
  refusal,
} from '../operator.js';
import { orderOfLine, withOrders } from '../order-of-number.js';
import { readPage, readPieces } from '../paging.js';
import { requireActivePerson } from '../people/owner-sql.js';
import type { Role } from '../people/roles.js';
import { createNotFound, isDay, requireFound, requireInteger, requireName, requirePastDay } from '../rules.js';
import {
  difference,
  type differenceFilter,
  type differencesQuery,
  type reconciliationsQuery,
} from '../schemas/books.js';

interface RunReconciliationInput {
  readonly paymentChannelCode: string;
  /** A day in Asia/Shanghai, yyyy-MM-dd. */
  readonly day: string;
  /** The bytes of a statement file. Unset: the statement is requested from the bridge. */
  readonly csv?: AsyncIterable<Uint8Array>;
}

/**
 * Compares an institution's statement of a day, from a file or from its bridge, with the service's records. The same
 * day can be reconciled again, from either source.
 */
export async function runReconciliation(
  operator: OperatorWithGateways,
  { paymentChannelCode, day: asked, csv }: RunReconciliationInput,
): Promise<ReconciliationView> {
  const { database, gateways, clock, actor, cells = [] } = operator;
  const day = requirePastDay(asked, clock.now());
  const found = await describePaymentChannels(database, paymentChannelCode);
  const paymentChannel = requireFound(found, 'payment channel', paymentChannelCode);
  if (csv === undefined && paymentChannel.gateway !== 'bridge') {
    throw refusal('no-statements')`the ${paymentChannel.gateway} gateway provides no statements; give a file`;
  }
  const all =
    csv === undefined
      ? readStatementFromGateway(await gateways.of(paymentChannelCode), day)
      : readStatementFromCsv(csv);
  const lines = cells.length === 0 ? all : withoutOtherCells(all, cells, await readCell(database));
  const source = csv === undefined ? 'GATEWAY' : 'FILE';
  return withStatement(lines, day, (statement) =>
    inTransaction(operator, async (tx) => {
      const run = { paymentChannelCode, day, source, runBy: actor, runAt: clock.now() } as const;
      const done = await reconcile(tx, run, statement);
      const detail = { day, source, lines: done.lines, differences: done.differences };
      await recordAudit(tx, { actor, action: 'reconciliation.run', subject: paymentChannelCode, detail });
      return done;
    }),
  );
}

interface ListReconciliationsInput {
  /** Unset: all payment channels. */
  readonly paymentChannelCode?: string;
  readonly limit?: number;
}

/** Returns reconciliations, latest day first. */
export async function listReconciliations(
  { database }: Operator,
  { paymentChannelCode, limit = 50 }: ListReconciliationsInput = {},
): Promise<ReconciliationView[]> {
  requireInteger('the limit', limit, 1, 1000);
  return findReconciliations(database, { paymentChannelCode: paymentChannelCode ?? null, limit });
}

/** Returns a page of reconciliations. */
export async function pageReconciliations(
  { database }: Operator,
  { paymentChannelCode, ...page }: Static<typeof reconciliationsQuery> = {},
) {
  return readPage<ReconciliationView, ReconciliationKey>(
    'reconciliations',
    page,
    [A_DAY, ''],
    (after, limit) =>
      findReconciliations(database, {
        paymentChannelCode: paymentChannelCode ?? null,
        after: after && [requireDay(after[0]), after[1]],
        limit,
      }),
    (one) => [one.day, one.paymentChannelCode],
  );
}

const A_DAY = '2026-01-31';

/** Checks the day in a cursor, because a client may have forged it. */
function requireDay(text: string): string {
  if (isDay(text)) return text;
  throw refusal('cursor-unknown')`the cursor is not valid for this list; start at the first page`;
}

type FilterInput = Static<typeof differenceFilter>;

interface ListDifferencesInput extends ListReconciliationsInput {
  /** Includes closed differences. */
  readonly all?: boolean;
  readonly day?: string;
}

/** Returns differences, latest day first. */
export async function listDifferences(
  { database, clock }: OperatorWithClock,
  { all = false, paymentChannelCode, day, limit = 100 }: ListDifferencesInput = {},
): Promise<DifferenceView[]> {
  requireInteger('the limit', limit, 1, 10_000);
  return findStoredDifferences(database, {
    paymentChannelCode: paymentChannelCode ?? null,
    day: day === undefined ? null : requirePastDay(day, clock.now()),
    which: all ? 'all' : 'open',
    limit,
  });
}

/** Returns a page of differences, each with the number of the order that it concerns, if any. */
export async function pageDifferences(
  { database, clock }: OperatorWithClock,
  { paymentChannelCode, day: asked, which, ...page }: Static<typeof differencesQuery> = {},
) {
  const filter = readDifferenceFilter({ paymentChannelCode, day: asked, which }, clock.now());
  const { rows, nextCursor } = await readPage<DifferenceView, DifferenceKey>(
    'differences',
    page,
    [A_DAY, 0],
    (after, limit) =>
      findStoredDifferences(database, { ...filter, after: after && [requireDay(after[0]), after[1]], limit }),
    keyOfDifference,
  );
  return { rows: await withOrders(database, rows, ({ number }) => orderOfLine(number)), nextCursor };
}

const keyOfDifference = ({ day, differenceNo }: DifferenceView): DifferenceKey => [day, Number(differenceNo)];

const readDifferenceFilter = (
  { paymentChannelCode, day, which = 'open' }: { readonly [F in keyof FilterInput]: FilterInput[F] | undefined },
  now: number,
) => ({
  paymentChannelCode: paymentChannelCode ?? null,
  which,
  day: day === undefined ? null : requirePastDay(day, now),
});

const CSV_COLUMNS = Object.keys(difference.properties) as (keyof typeof difference.properties)[];
const CSV = createCsvTable([...CSV_COLUMNS, 'currency']);
const ROWS_PER_PIECE = 1_000;

/** Exports all matching differences as CSV, piece by piece. */
export function exportDifferences(
  { database, clock, currency = DEFAULT_CURRENCY }: OperatorWithClock,
  input: FilterInput,
  role: Role,
): AsyncIterable<string> {
  const filter = readDifferenceFilter(input, clock.now());
  return (async function* pieces() {
    yield CSV.header;
    const read = (after: DifferenceKey | undefined) =>
      findStoredDifferences(database, { ...filter, after, limit: ROWS_PER_PIECE });
    for await (const rows of readPieces(read, keyOfDifference, ROWS_PER_PIECE)) {
      const named = await withOrders(database, rows, ({ number }) => orderOfLine(number));
      yield maskTexts(named, role)
        .map((row) => CSV.toRow({ ...row, currency }))
        .join('');
    }
  })();
}

/** Adds the number of the order that the difference concerns. */
export async function withOrderOfDifference({ database }: Operator, difference: DifferenceView) {
  const [one] = await withOrders(database, [difference], ({ number }) => orderOfLine(number));
  if (!one) throw new Error('one difference is one');
  return one;
}

/** Assigns a difference to an operator, or to nobody if `owner` is null. */
export async function setDifferenceOwner(
  operator: Operator,
  { differenceNo, owner: asked }: { readonly differenceNo: string; readonly owner: string | null },
): Promise<Changed<DifferenceView>> {
  return inTransaction(operator, async (tx) => {
    const difference = await requireLockedDifference(tx, differenceNo);
    const to = asked === null ? null : await requireActivePerson(tx, asked);
    const { owner: from, day, paymentChannelCode: subject } = difference;
    if (from === to) return { ...difference, changed: false };
    const detail = { differenceNo, day, from, to };
    await recordAudit(tx, { actor: operator.actor, action: 'reconciliation.set-owner', subject, detail });
    return { ...(await storeDifferenceOwner(tx, differenceNo, to)), changed: true };
  });
}

async function requireLockedDifference(tx: Queryable, differenceNo: string): Promise<DifferenceView> {
  const difference = /^[1-9]\d{0,17}$/.test(differenceNo) ? await lockDifference(tx, differenceNo) : undefined;
  if (!difference) throw createNotFound('difference', differenceNo);
  return difference;
}

/** Closes a difference with a note of its cause and fix. A later reconciliation with different facts reopens it. */
export async function closeDifference(
  operator: Operator,
  { differenceNo, note: given }: { readonly differenceNo: string; readonly note: string },
): Promise<Changed<DifferenceView>> {
  const note = requireName('the note', given);
  return inTransaction(operator, async (tx) => {
    const difference = await requireLockedDifference(tx, differenceNo);
    if (difference.closedAt !== null) return { ...difference, changed: false };
    const { kind, lineKind, number, day, paymentChannelCode: subject } = difference;
    const detail = { differenceNo, day, kind, lineKind, number, note };
    const closed = await storeClosedDifference(tx, differenceNo, operator.actor, note);
    await alertAboutOpenDifferences(tx, difference, storeAlertDetail);
    await recordAudit(tx, { actor: operator.actor, action: 'reconciliation.close', subject, detail });
    return { ...closed, changed: true };
  });
}
