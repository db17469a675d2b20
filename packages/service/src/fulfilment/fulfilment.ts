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
  /** The request that claims it. Undefined if a job queries it. */
  readonly origin?: Origin;
}

/** A source that gives the code in the transaction of the claim, or undefined while it has none. */
export interface ImmediateFulfilment {
  readonly kind: 'GENERATED' | 'POOL';
  takeCode(tx: Queryable, claim: ClaimToFulfil): Promise<string | undefined>;
}

export type SupplierOutcome =
  | { readonly kind: 'fulfilled'; readonly code: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** No trusted answer: there may or may not be a code by now. */
  | { readonly kind: 'unknown' };

/** The answer to a query if the supplier does not know the claim. */
export interface NeverHeard {
  readonly kind: 'never-heard';
}

/** A remote program, called outside of transactions. It keeps one order per claim number. */
export interface Supplier {
  readonly kind: 'SUPPLIER';
  fulfil(claim: ClaimToFulfil): Promise<SupplierOutcome>;
  query(claim: ClaimToFulfil): Promise<SupplierOutcome | NeverHeard>;
}

/** A source of benefit codes. */
export type Fulfilment = ImmediateFulfilment | Supplier;

/** In characters, for codes from suppliers and files. */
export const MAX_CODE_LENGTH = 200;

/** Line breaks and escape sequences, which would break pages and tables. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
