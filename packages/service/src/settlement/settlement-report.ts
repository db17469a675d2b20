import type { Transaction } from '../platform/db/database.js';
import {
  countUnsettled,
  readSettlementLines,
  type SettlementKind,
  type SettlementLine,
  type TimeBounds,
} from './settlement-lines-sql.js';

export interface Sums {
  readonly collectedCent: number;
  readonly collectedCount: number;
  readonly refundedCent: number;
  readonly refundedCount: number;
  readonly billedCent: number;
  readonly billedCount: number;
}

export interface ProductSums extends Sums {
  readonly productCode: string;
  readonly settlementMode: string;
}

export interface SettlementSummary {
  readonly appId: string;
  /** Of Asia/Shanghai, yyyy-MM. */
  readonly month: string;
  /** False while the month is still running. */
  readonly monthIsOver: boolean;
  /** Begun before the end of the month and still without an outcome: the month may still change. */
  readonly unsettled: { readonly debits: number; readonly refunds: number };
  /** By product code and settlement mode. */
  readonly products: readonly ProductSums[];
  readonly totals: Sums;
}

export interface SettlementReport {
  readonly appId: string;
  readonly channelId: string;
  readonly month: string;
  readonly bounds: TimeBounds;
  readonly now: number;
}

/** Reads everything at one moment. The sums are made from the lines that `take` gets, so they always agree with them. */
export async function reportSettlement(
  tx: Transaction,
  { appId, channelId, month, bounds, now }: SettlementReport,
  take: (lines: readonly SettlementLine[]) => Promise<void>,
): Promise<SettlementSummary> {
  await tx.query('set transaction isolation level repeatable read, read only');
  const unsettled = await countUnsettled(tx, channelId, bounds);
  const products = new Map<string, ProductSums>();
  for await (const lines of readSettlementLines(tx, channelId, bounds)) {
    for (const line of lines) {
      const { productCode, settlementMode } = line;
      const key = `${productCode} ${settlementMode}`;
      products.set(key, { ...addLine(products.get(key) ?? ZERO_SUMS, line), productCode, settlementMode });
    }
    await take(lines);
  }
  const sorted = [...products].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sums]) => sums);
  return {
    appId,
    month,
    monthIsOver: now >= bounds.to,
    unsettled,
    products: sorted,
    totals: sorted.reduce(addSums, ZERO_SUMS),
  };
}

const ZERO_SUMS: Sums = {
  collectedCent: 0,
  collectedCount: 0,
  refundedCent: 0,
  refundedCount: 0,
  billedCent: 0,
  billedCount: 0,
};

const SUM_NAMES: Readonly<Record<SettlementKind, 'collected' | 'refunded' | 'billed'>> = {
  COLLECTED: 'collected',
  REFUNDED: 'refunded',
  BILLED: 'billed',
};

function addLine(sums: Sums, { kind, amountCent }: SettlementLine): Sums {
  const name = SUM_NAMES[kind];
  return {
    ...sums,
    [`${name}Cent`]: sums[`${name}Cent`] + amountCent,
    [`${name}Count`]: sums[`${name}Count`] + 1,
  };
}

function addSums(one: Sums, other: Sums): Sums {
  return {
    collectedCent: one.collectedCent + other.collectedCent,
    collectedCount: one.collectedCount + other.collectedCount,
    refundedCent: one.refundedCent + other.refundedCent,
    refundedCount: one.refundedCount + other.refundedCount,
    billedCent: one.billedCent + other.billedCent,
    billedCount: one.billedCount + other.billedCount,
  };
}
