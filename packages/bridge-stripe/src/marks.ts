import type { Stripe } from 'stripe';

/**
 * What a payment or a refund carries at Stripe, so that it is found again without the book. Keys have up to 40 characters, values up to
 * 500, of any kind (docs.stripe.com/api/metadata); our numbers have up to 64.
 */
const REALM = 'perennial_realm';
const ATTEMPT = 'perennial_attempt_no';
const ORDER = 'perennial_order_no';
const REFUND = 'perennial_refund_no';

/** One bridge's payments among all of an account. */
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

  /** Up to 255 characters: docs.stripe.com/api/idempotent_requests */
  idempotencyKey(kind: 'debit' | 'refund', number: string): string {
    return `${this.#realm}/${kind}/${number}`;
  }

  /** A query of docs.stripe.com/search. Undefined when the number has a character that would end it. */
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
