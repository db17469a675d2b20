import type { SettlementKind } from './settlement-lines-sql.js';

export const ZERO_SUMS = {
  collectedCent: 0,
  collectedCount: 0,
  refundedCent: 0,
  refundedCount: 0,
  billedCent: 0,
  billedCount: 0,
};
export type Sums = Readonly<typeof ZERO_SUMS>;

/** Adds an amount and a number of lines to the sums of one kind. */
export function addToSums(sums: Sums, kind: SettlementKind, cents: number, count: number): Sums {
  const name = kind.toLowerCase() as Lowercase<SettlementKind>;
  return { ...sums, [`${name}Cent`]: sums[`${name}Cent`] + cents, [`${name}Count`]: sums[`${name}Count`] + count };
}

export const addSums = (one: Sums, other: Sums): Sums => combine(one, other, 1);
export const subtractSums = (from: Sums, other: Sums): Sums => combine(from, other, -1);

function combine(one: Sums, other: Sums, sign: 1 | -1): Sums {
  const sums = { ...ZERO_SUMS };
  for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] = one[name] + sign * other[name];
  return sums;
}

export const areZero = (sums: Sums): boolean => Object.values(sums).every((value) => value === 0);

/** Returns the amount collected by the service minus its refunds. Excludes amounts that channels collect themselves. */
export const netCent = ({ collectedCent, refundedCent }: Sums): number => collectedCent - refundedCent;
