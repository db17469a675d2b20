import type { Fields } from '@perennial/wire/bridge';
import type { Said } from './exchange/caller.js';
import type { RuleName } from './rules.js';

/** A debit that was sent, or was meant to be refused. */
export interface Attempt {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly askedCent: number;
  readonly orderNo: string;
  readonly startedAt: number;
  /** The rule that is broken if it is debited twice. */
  readonly once?: RuleName;
  /** The rule that is broken if anything at all comes of it. */
  readonly never?: RuleName;
  /** What was said of it last. */
  said?: Said;
  /** The rule that is broken if its amount changes from now on. */
  blame?: RuleName;
  /** It has two references, or two lines in the statement. */
  isTwice?: boolean;
}

export interface Refund {
  readonly refundNo: string;
  readonly attempt: Attempt;
  readonly askedCent: number;
  readonly once?: RuleName;
  said?: Said;
  blame?: RuleName;
  isTwice?: boolean;
}

export interface Left {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly why: string;
}

/** Every number of the run, and what was said of it. */
export class Book {
  readonly attempts: Attempt[] = [];
  readonly refunds: Refund[] = [];
  readonly #prefix: string;
  #count = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  nextNumber(kind: 'D' | 'R' | 'B' | 'A'): string {
    this.#count += 1;
    return `${this.#prefix}${kind}${String(this.#count).padStart(3, '0')}`;
  }

  addAttempt(attempt: Attempt): Attempt {
    this.attempts.push(attempt);
    return attempt;
  }

  addRefund(refund: Refund): Refund {
    this.refunds.push(refund);
    return refund;
  }

  /** What may still be given back of a debit: refunds that are pending count as given. */
  remainingCent(attempt: Attempt): number {
    return debitedCent(attempt) - this.#refundedCent(attempt, ['SUCCESS', 'PENDING']);
  }

  givenBackCent(attempt: Attempt): number {
    return this.#refundedCent(attempt, ['SUCCESS']);
  }

  #refundedCent(attempt: Attempt, words: readonly string[]): number {
    return this.refunds
      .filter((one) => one.attempt === attempt && words.includes(one.said?.word ?? ''))
      .reduce((sum, { askedCent }) => sum + askedCent, 0);
  }
}

export function debitedCent({ said }: Attempt): number {
  return said?.word === 'SUCCESS' ? amountOf(said.fields) : 0;
}

export function amountOf(fields: Fields): number {
  return Number(fields['amountCent'] ?? 0);
}
