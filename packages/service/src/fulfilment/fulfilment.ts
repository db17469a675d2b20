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
  /** The request that claims it. Undefined when a job asks about it. */
  readonly origin?: Origin;
}

/** Gives the code in the transaction of the claim. Undefined while there is none. */
export interface ImmediateFulfilment {
  readonly kind: 'GENERATED' | 'POOL';
  takeCode(tx: Queryable, claim: ClaimToFulfil): Promise<string | undefined>;
}

export type SupplierOutcome =
  | { readonly kind: 'fulfilled'; readonly code: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** No answer that can be trusted: there may or may not be a code by now. */
  | { readonly kind: 'unknown' };

/** Answer to a query only: the supplier does not know the claim. */
export interface NeverHeard {
  readonly kind: 'never-heard';
}

/** A program elsewhere, called outside of transactions. It keeps one order for each claim number. */
export interface Supplier {
  readonly kind: 'SUPPLIER';
  fulfil(claim: ClaimToFulfil): Promise<SupplierOutcome>;
  query(claim: ClaimToFulfil): Promise<SupplierOutcome | NeverHeard>;
}

/** Where codes of benefits come from. */
export type Fulfilment = ImmediateFulfilment | Supplier;

/** In characters, for codes from suppliers and from files. */
export const MAX_CODE_LENGTH = 200;

/** Line breaks and escape sequences would break pages and tables. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
