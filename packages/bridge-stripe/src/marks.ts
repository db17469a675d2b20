import type { Stripe } from 'stripe';

/**
 * The metadata keys by which payments and refunds are found without the book. Stripe allows keys of 40 and values of
 * 500 characters (docs.stripe.com/api/metadata); our numbers have up to 64 characters.
 */
const REALM = 'perennial_realm';
const ATTEMPT = 'perennial_attempt_no';
const ORDER = 'perennial_order_no';
const REFUND = 'perennial_refund_no';

/** Marks this bridge's payments, so that they can be distinguished from other payments of the account. */
export class Marks {
  readonly #realm: string;

  constructor(realm: string) {
    this.#realm = realm;
  }

  ofDebit(attemptNo: string, orderNo: string): Record<string, string> {
    return { [REALM]: this.#realm, [ATTEMPT]: attemptNo, [ORDER]: orderNo };
  }

  ofRefund(refundNo: string): Record<string, string> {
    return { [REALM]: this.#realm, [REFUND]: refundNo };
  }

  attemptNoOf(marked: Marked): string | undefined {
    return this.#isOurs(marked) ? marked.metadata?.[ATTEMPT] : undefined;
  }

  refundNoOf(marked: Marked): string | undefined {
    return this.#isOurs(marked) ? marked.metadata?.[REFUND] : undefined;
  }

  /** Returns an idempotency key, at most 255 characters: docs.stripe.com/api/idempotent_requests */
  idempotencyKey(kind: 'debit' | 'refund', number: string): string {
    return `${this.#realm}/${kind}/${number}`;
  }

  /** Returns a query for docs.stripe.com/search, or undefined if the number contains a quote or a backslash. */
  queryOf(attemptNo: string): string | undefined {
    return /['"\\]/.test(attemptNo) ? undefined : `metadata['${ATTEMPT}']:'${attemptNo}'`;
  }

  #isOurs({ metadata }: Marked): boolean {
    return metadata?.[REALM] === this.#realm;
  }
}

export interface Marked {
  readonly metadata: Stripe.Metadata | null;
}
