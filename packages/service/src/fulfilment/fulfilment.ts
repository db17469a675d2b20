import type { Queryable } from '../platform/db/database.js';
import type { Origin } from '../platform/tracing.js';

export const FULFILMENTS = ['GENERATED', 'POOL', 'SUPPLIER'] as const;
export type FulfilmentKind = (typeof FULFILMENTS)[number];

/** What somebody has claimed and is to get a code for. */
export interface ClaimToFulfil {
  readonly claimNo: string;
  readonly benefitCode: string;
  readonly faceValueCent: number;
  readonly orderNo: number;
  readonly cycleNo: number;
  /** The request that it is claimed by; undefined when a job goes on with it. */
  readonly origin?: Origin;
}

/** Has the code in the claim's own transaction, or nothing while there is none to be had. */
export interface ImmediateFulfilment {
  readonly kind: 'GENERATED' | 'POOL';
  takeCode(tx: Queryable, claim: ClaimToFulfil): Promise<string | undefined>;
}

export type SupplierOutcome =
  | { readonly kind: 'fulfilled'; readonly code: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** No answer that could be trusted: nobody knows whether there is a code by now. */
  | { readonly kind: 'unknown' };

/** Only a question can be answered so. */
export interface NeverHeard {
  readonly kind: 'never-heard';
}

/** A program elsewhere, asked with no transaction open. It keeps one order for one claim number. */
export interface Supplier {
  readonly kind: 'SUPPLIER';
  fulfil(claim: ClaimToFulfil): Promise<SupplierOutcome>;
  query(claim: ClaimToFulfil): Promise<SupplierOutcome | NeverHeard>;
}

/** Where codes come from: the port. */
export type Fulfilment = ImmediateFulfilment | Supplier;

/** The longest code that is taken, from a supplier or a file, in characters. */
export const MAX_CODE_LENGTH = 200;

/** Line breaks and escape sequences would tear pages and tables apart. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
