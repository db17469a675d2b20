import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import type { Queryable } from '../../platform/db/database.js';
import { listTermsIn } from '../../settlement/channel-fees-sql.js';
import {
  type ClosedChannelMonth,
  type ClosedFigures,
  type ClosedMonth,
  listClosedFigures,
  listClosedMonths,
  lockClosing,
  type ProductSums,
  storeClosedMonth,
} from '../../settlement/closed-months-sql.js';
import { computeFees, type Fees, payableOf } from '../../settlement/fees.js';
import { findLaterChanges, type LaterChanges, sumLater } from '../../settlement/later-changes.js';
import {
  countAllUnsettled,
  type SummedLines,
  sumMonths,
  sumSettlementLines,
  type TimeBounds,
} from '../../settlement/settlement-lines-sql.js';
import { describeState, type MonthState, sortProducts, sumProducts } from '../../settlement/settlement-report.js';
import { addSums, addToSums, netCent, ZERO_SUMS } from '../../settlement/sums.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type OperatorWithClock, refusal } from '../operator.js';
import { requireName } from '../rules.js';
import { monthAfter, monthAt, requireBegunMonth, requireMonth } from './months.js';
import { findFirstMonth, listChannelNames } from './settlement-months-sql.js';

/** The settlement of a month, for all channels. A closed month keeps the figures stored when it was closed. */
export type SettlementMonth = Awaited<ReturnType<typeof readMonth>>;

/**
 * Time limit in ms of each statement. It is long, because the statements read all settlement lines of the month and of
 * the closed months before it.
 */
const MAX_READ_MS = 120_000;

export async function showSettlementMonth(operator: OperatorWithClock, { month }: { readonly month: string }) {
  const bounds = requireBegunMonth(month, operator);
  const now = operator.clock.now();
  return operator.database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    await tx.setStatementLimit(MAX_READ_MS);
    return readMonth(tx, { month, bounds, now, currency: operator.currency });
  });
}

interface AskedMonth {
  readonly month: string;
  readonly bounds: TimeBounds;
  readonly now: number;
  readonly currency: string | undefined;
}

async function readMonth(db: Queryable, { month, bounds, now, currency = DEFAULT_CURRENCY }: AskedMonth) {
  const months = await listClosedMonths(db);
  const closed = months.find((one) => one.month === month);
  const figures = closed
    ? toChannelFigures((await listClosedFigures(db)).filter((one) => one.month === month))
    : await readOpenMonth(db, { month, bounds }, months);
  const names = await listChannelNames(db);
  const channels = names.flatMap(({ channelId, appId, name }) => {
    const one = figures.get(channelId) ?? (closed ? undefined : NO_FIGURES);
    return one ? [{ appId, name, ...toChannelSums(one) }] : [];
  });
  return {
    month,
    monthIsOver: now >= bounds.to,
    currency,
    ...describeState(closed),
    totals: sumProducts(channels),
    laterCent: channels.reduce((sum, { laterCent }) => sum + laterCent, 0),
    ...sumFees(channels),
    unsettled: channels.reduce((sum, { unsettled }) => sum + unsettled, 0),
    channels,
  };
}

/** Returns null for each sum if no channel has terms. */
function sumFees(channels: readonly { readonly fees: Fees | null; readonly payableCent: number | null }[]) {
  const all = channels.flatMap(({ fees, payableCent }) => (fees ? [{ ...fees, payableCent: payableCent ?? 0 }] : []));
  const sumOf = (name: 'feeCent' | 'shareCent' | 'payableCent') =>
    all.length === 0 ? null : all.reduce((sum, one) => sum + one[name], 0);
  return { feeCent: sumOf('feeCent'), shareCent: sumOf('shareCent'), payableCent: sumOf('payableCent') };
}

const NO_FIGURES: ClosedFigures = { products: [], later: {}, unsettled: 0 };

function toChannelSums({ products, later, unsettled, fees }: ClosedFigures) {
  const changes = sumLater(later);
  const sums = sumProducts(products);
  return {
    ...sums,
    later: changes,
    laterCent: netCent(changes),
    unsettled,
    products,
    fees: fees ?? null,
    payableCent: payableOf(fees ?? null, addSums(sums, changes)),
  };
}

function toChannelFigures(rows: readonly ClosedChannelMonth[]): Map<string, ClosedFigures> {
  return new Map(rows.map(({ channelId, figures }) => [channelId, figures]));
}

/** Computes the figures of an open month. Closing it now would store these figures. */
async function readOpenMonth(
  db: Queryable,
  { month, bounds }: Pick<AskedMonth, 'month' | 'bounds'>,
  closedMonths: readonly ClosedMonth[],
): Promise<Map<string, ClosedFigures>> {
  const products = sumByChannel(await sumSettlementLines(db, bounds));
  const unsettled = await countAllUnsettled(db, bounds);
  const later = await findLaterFor(db, month, closedMonths);
  const channelIds = new Set([...products.keys(), ...unsettled.keys(), ...later.keys()]);
  const termsOf = new Map((await listTermsIn(db, month)).map((terms) => [terms.channelId, terms]));
  return new Map(
    [...channelIds].map((channelId) => {
      const figures = {
        products: sortProducts(products.get(channelId) ?? []),
        later: later.get(channelId) ?? {},
        unsettled: unsettled.get(channelId) ?? 0,
      };
      const terms = termsOf.get(channelId);
      if (!terms) return [channelId, figures];
      const sums = addSums(sumProducts(figures.products), sumLater(figures.later));
      return [channelId, { ...figures, fees: computeFees(sums, terms) }];
    }),
  );
}

function sumByChannel(lines: readonly SummedLines[]): Map<string, ProductSums[]> {
  const products = new Map<string, ProductSums & { readonly channelId: string }>();
  for (const { channelId, productCode, settlementMode, kind, cents, count } of lines) {
    const key = `${channelId} ${productCode} ${settlementMode}`;
    const sums = addToSums(products.get(key) ?? ZERO_SUMS, kind, cents, count);
    products.set(key, { ...sums, channelId, productCode, settlementMode });
  }
  const channels = new Map<string, ProductSums[]>();
  for (const { channelId, ...product } of products.values()) {
    channels.set(channelId, [...(channels.get(channelId) ?? []), product]);
  }
  return channels;
}

/**
 * Sums the changes that were made to closed months after their closing. They count in the first open month, so this
 * reads the unbroken row of closed months that ends before `month`.
 */
async function findLaterFor(
  db: Queryable,
  month: string,
  closedMonths: readonly ClosedMonth[],
  channelId?: string,
): Promise<LaterChanges> {
  const months = findMonthsBefore(month, closedMonths);
  const first = months[0];
  if (first === undefined) return new Map();
  const bounds = { from: requireMonth(first).from, to: requireMonth(month).from };
  return findLaterChanges(await sumMonths(db, bounds, channelId), await listClosedFigures(db, channelId), months);
}

/** Returns the closed months that directly precede `month` without a gap, oldest first. */
function findMonthsBefore(month: string, closedMonths: readonly ClosedMonth[]): string[] {
  const before: string[] = [];
  for (const one of closedMonths.toReversed()) {
    if (one.month < month && monthAfter(one.month) === (before[0] ?? month)) before.unshift(one.month);
  }
  return before;
}

/** Returns whether the month is closed, with its figures and later changes, for the report of one channel. */
export async function findMonthState(db: Queryable, month: string, channelId: string): Promise<MonthState> {
  const months = await listClosedMonths(db);
  const closed = months.find((one) => one.month === month);
  if (!closed) {
    const later = await findLaterFor(db, month, months, channelId);
    const [terms] = await listTermsIn(db, month, channelId);
    return { closed: undefined, later: sumLater(later.get(channelId)), terms };
  }
  const rows = await listClosedFigures(db, channelId);
  const figures = rows.find((one) => one.month === month)?.figures ?? NO_FIGURES;
  return { closed: { ...closed, figures }, later: sumLater(figures.later), terms: undefined };
}

export type MonthInList = Pick<SettlementMonth, 'month' | 'status' | 'closedBy' | 'closedAt'>;

/**
 * Returns the months up to the current one, latest first. The earliest is the month in which the first channel was
 * created, or an earlier closed month.
 */
export async function listSettlementMonths({ database, clock }: OperatorWithClock): Promise<MonthInList[]> {
  return listMonths(database, clock.now());
}

async function listMonths(db: Queryable, now: number): Promise<MonthInList[]> {
  const closedMonths = await listClosedMonths(db);
  const closed = new Map(closedMonths.map((one) => [one.month, one]));
  const present = monthAt(now);
  const [first = present] = [await findFirstMonth(db), closedMonths[0]?.month, present]
    .filter((month) => month !== undefined)
    .toSorted();
  const months: MonthInList[] = [];
  for (let month = first; month <= present; month = monthAfter(month)) {
    months.push({ month, ...describeState(closed.get(month)) });
  }
  return months.reverse();
}

/**
 * Closes a past month, which freezes its figures. Months are closed in order, the earliest open month first. Debits and
 * refunds that become known later count in the first open month after it.
 */
export async function closeSettlementMonth(
  operator: OperatorWithClock,
  { month, note: given }: { readonly month: string; readonly note?: string | undefined },
): Promise<SettlementMonth> {
  const bounds = requireMonth(month);
  const note = given === undefined ? null : requireName('the note', given);
  const now = operator.clock.now();
  if (now < bounds.to) throw refusal('month-not-over')`${month} is not over yet in Asia/Shanghai`;
  return inTransaction(operator, async (tx) => {
    await tx.setStatementLimit(MAX_READ_MS);
    await lockClosing(tx);
    const closedMonths = await listClosedMonths(tx);
    const figures = await readOpenMonth(tx, { month, bounds }, closedMonths);
    requireNextMonth(month, closedMonths, await listMonths(tx, now), figures.size > 0);
    await storeClosedMonth(tx, month, figures, { by: operator.actor, note });
    const closed = await readMonth(tx, { month, bounds, now, currency: operator.currency });
    const { totals, laterCent, feeCent, shareCent, payableCent, unsettled } = closed;
    const detail = {
      note,
      ...totals,
      laterCent,
      ...(feeCent === null ? {} : { feeCent, shareCent, payableCent }),
      unsettled,
    };
    await recordAudit(tx, { actor: operator.actor, action: 'settlement.close', subject: month, detail });
    return closed;
  });
}

/**
 * Throws unless the month is the earliest open month. A month before the first listed month may be closed if it has
 * figures. The list then begins with that month.
 */
function requireNextMonth(
  month: string,
  closed: readonly ClosedMonth[],
  months: readonly MonthInList[],
  hasFigures: boolean,
): void {
  const same = closed.find((one) => one.month === month);
  if (same) throw refusal('month-closed')`${month} was already closed by ${same.closedBy} at ${same.closedAt}`;
  const next = months.findLast(({ status }) => status === 'OPEN')?.month ?? month;
  const first = months.at(-1)?.month ?? month;
  if (month === next || (month < first && hasFigures)) return;
  throw refusal('month-not-next')`months must be closed in order: the next one is ${next}`;
}
