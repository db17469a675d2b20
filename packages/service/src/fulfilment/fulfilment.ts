import type { Queryable } from '../platform/db/database.js';
import type { Origin } from '../platform/tracing.js';

export const FULFILMENTS = ['GENERATED', 'POOL', 'SUPPLIER'] as const;
export type FulfilmentKind = (typeof FULFILMENTS)[number];

/** A claimed benefit that needs a code. */
export interface ClaimToFulfil {
  readonly claimNo: string;
  readonly benefitCode: string;
  readonly faceValueCent: number;
  readonly orderNo: number;
  readonly cycleNo: number;
  /** The claim number of the code that this code replaces. The supplier must no longer honour that code. */
  readonly replaces?: string;
  /** The request that claims the benefit. Undefined if a job asks the supplier about the claim. */
  readonly origin?: Origin;
}

/** A source that returns the code in the transaction of the claim, or undefined if it has no code now. */
export interface ImmediateFulfilment {
  readonly kind: 'GENERATED' | 'POOL';
  takeCode(tx: Queryable, claim: ClaimToFulfil): Promise<string | undefined>;
}

export type SupplierOutcome =
  | { readonly kind: 'fulfilled'; readonly code: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** There was no trusted answer, so the supplier may or may not have issued a code. */
  | { readonly kind: 'unknown' };

/** The answer to a query if the supplier does not know the claim. */
export interface NeverHeard {
  readonly kind: 'never-heard';
}

/** A remote program that issues codes, called outside of transactions. It issues one code per claim number. */
export interface Supplier {
  readonly kind: 'SUPPLIER';
  fulfil(claim: ClaimToFulfil): Promise<SupplierOutcome>;
  query(claim: ClaimToFulfil): Promise<SupplierOutcome | NeverHeard>;
}

/** A source of benefit codes. */
export type Fulfilment = ImmediateFulfilment | Supplier;

/** The limit in characters, for codes from suppliers and files. */
export const MAX_CODE_LENGTH = 200;

/** Line breaks and control characters, which would break pages and tables. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
