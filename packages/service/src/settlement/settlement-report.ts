import type { Transaction } from '../platform/db/database.js';
import type { ClosedFigures, ClosedMonth, ProductSums } from './closed-months-sql.js';
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
  /** Of Asia/Shanghai, yyyy-MM. */
  readonly month: string;
  /** Of every amount. */
  readonly currency: string;
  /** False while the month is still running. */
  readonly monthIsOver: boolean;
  /** Begun before the end of the month and still without an outcome: the month may still change. */
  readonly unsettled: { readonly debits: number; readonly refunds: number };
  /** By product code and settlement mode. Of a closed month, as they were when it was closed. */
  readonly products: readonly ProductSums[];
  readonly totals: Sums;
  /** What has changed in months that were closed before, and stands in this one. */
  readonly later: Sums;
  /** Of a closed month: what the lines come to beyond the totals. It stands in a later month. */
  readonly sinceClosed: Sums;
}

/** What is known about a month beside its lines. */
export interface MonthState {
  readonly closed: (ClosedMonth & { readonly figures: ClosedFigures }) | undefined;
  readonly later: Sums;
}

interface SettlementReport {
  readonly appId: string;
  readonly channelId: string;
  readonly month: string;
  readonly bounds: TimeBounds;
  readonly now: number;
  readonly currency: string;
  /** Read in the same transaction. */
  findState(tx: Transaction): Promise<MonthState>;
}

/**
 * Reads everything at one moment. The sums of an open month are made from the lines that `take` gets, so they always agree with
 * them; those of a closed month are what they were, and `sinceClosed` is what came since.
 */
export async function reportSettlement(
  tx: Transaction,
  { appId, channelId, month, bounds, now, currency, findState }: SettlementReport,
  take: (lines: readonly SettlementLine[]) => Promise<void>,
): Promise<SettlementSummary> {
  await tx.query('set transaction isolation level repeatable read, read only');
  // All lines are read, and of the closed months too.
  await tx.setStatementLimit(REPORT_STATEMENT_MS);
  const { closed, later } = await findState(tx);
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
  };
}

/** Whether a month is closed, and by whom and when. */
export function describeState(closed: ClosedMonth | undefined) {
  const status: 'OPEN' | 'CLOSED' = closed ? 'CLOSED' : 'OPEN';
  return { status, closedBy: closed?.closedBy ?? null, closedAt: closed?.closedAt ?? null };
}

/** By product code and settlement mode. */
export function sortProducts(products: readonly ProductSums[]): ProductSums[] {
  const nameOf = ({ productCode, settlementMode }: ProductSums) => `${productCode} ${settlementMode}`;
  return products.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** Only the sums, whatever else the products have. */
export const sumProducts = (products: readonly Sums[]): Sums => products.reduce(addSums, ZERO_SUMS);
