import type { Transaction } from '../platform/db/database.js';
import type { FeeTerms } from './channel-fees-sql.js';
import type { ClosedFigures, ClosedMonth, ProductSums } from './closed-months-sql.js';
import { computeFees, type Fees, payableOf } from './fees.js';
import {
  countUnsettled,
  REPORT_STATEMENT_MS,
  readSettlementLines,
  type SettlementLine,
  type TimeBounds,
} from './settlement-lines-sql.js';
import { addSums, addToSums, type Sums, subtractSums, ZERO_SUMS } from './sums.js';

export interface SettlementSummary extends ReturnType<typeof describeState> {
  readonly appId: string;
  /** A month of Asia/Shanghai, yyyy-MM. */
  readonly month: string;
  /** The currency of every amount. */
  readonly currency: string;
  readonly monthIsOver: boolean;
  /** Debits and refunds that began before the end of the month and have no outcome. They may still change the month. */
  readonly unsettled: { readonly debits: number; readonly refunds: number };
  /** Sums by product code and settlement mode. For a closed month, these are the sums at its closing. */
  readonly products: readonly ProductSums[];
  readonly totals: Sums;
  /** Changes in earlier closed months that are booked in this month. */
  readonly later: Sums;
  /** Changes of a closed month after it was closed. They are booked in a later month. */
  readonly sinceClosed: Sums;
  /** The fee and the share, of the totals and of `later` together. Null if the channel has no terms. */
  readonly fees: Fees | null;
  /** The amount payable to the channel. Negative if the channel pays. Null without terms. */
  readonly payableCent: number | null;
}

/** What a report needs to know of a month besides its lines. */
export interface MonthState {
  readonly closed: (ClosedMonth & { readonly figures: ClosedFigures }) | undefined;
  readonly later: Sums;
  /** The terms of an open month. Undefined if there are none. */
  readonly terms: FeeTerms | undefined;
}

interface SettlementReport {
  readonly appId: string;
  readonly channelId: string;
  readonly month: string;
  readonly bounds: TimeBounds;
  readonly now: number;
  readonly currency: string;
  /** Finds the month's state. Called in the transaction of the report. */
  findState(tx: Transaction): Promise<MonthState>;
}

/**
 * Reads everything from one snapshot. Computes the sums of an open month from the lines passed to `take`, so that sums
 * and lines always agree. A closed month has the sums at its closing, and `sinceClosed` has the later changes.
 */
export async function reportSettlement(
  tx: Transaction,
  { appId, channelId, month, bounds, now, currency, findState }: SettlementReport,
  take: (lines: readonly SettlementLine[]) => Promise<void>,
): Promise<SettlementSummary> {
  await tx.query('set transaction isolation level repeatable read, read only');
  // The statement limit is raised, because this reads all lines, including those of the closed months.
  await tx.setStatementLimit(REPORT_STATEMENT_MS);
  const { closed, later, terms } = await findState(tx);
  const unsettled = await countUnsettled(tx, channelId, bounds);
  const products = new Map<string, ProductSums>();
  for await (const lines of readSettlementLines(tx, channelId, bounds)) {
    for (const line of lines) {
      const { productCode, settlementMode } = line;
      const key = `${productCode} ${settlementMode}`;
      const sums = addToSums(products.get(key) ?? ZERO_SUMS, line.kind, line.amountCent, 1);
      products.set(key, { ...sums, productCode, settlementMode });
    }
    await take(lines);
  }
  const fromLines = sortProducts([...products.values()]);
  const shown = closed?.figures.products ?? fromLines;
  const totals = sumProducts(shown);
  const withLater = addSums(totals, later);
  const fees = closed ? (closed.figures.fees ?? null) : terms ? computeFees(withLater, terms) : null;
  return {
    appId,
    month,
    currency,
    monthIsOver: now >= bounds.to,
    unsettled,
    ...describeState(closed),
    products: shown,
    totals,
    later,
    sinceClosed: closed ? subtractSums(sumProducts(fromLines), totals) : ZERO_SUMS,
    fees,
    payableCent: payableOf(fees, withLater),
  };
}

/** Returns whether a month is closed, and if so, by whom and when. */
export function describeState(closed: ClosedMonth | undefined) {
  const status: 'OPEN' | 'CLOSED' = closed ? 'CLOSED' : 'OPEN';
  return { status, closedBy: closed?.closedBy ?? null, closedAt: closed?.closedAt ?? null };
}

export function sortProducts(products: readonly ProductSums[]): ProductSums[] {
  const nameOf = ({ productCode, settlementMode }: ProductSums) => `${productCode} ${settlementMode}`;
  return products.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** Adds up the sums of products. Drops their other fields. */
export const sumProducts = (products: readonly Sums[]): Sums => products.reduce(addSums, ZERO_SUMS);
