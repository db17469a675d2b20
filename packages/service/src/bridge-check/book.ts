import type { Fields } from '@perennial/wire/bridge';
import type { Said } from './exchange/caller.js';
import type { RuleName } from './rules.js';

/** A debit that was sent, including debits that the bridge must refuse. */
export interface Attempt {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly askedCent: number;
  readonly orderNo: string;
  readonly startedAt: number;
  /** The rule that is broken if the attempt is debited twice. */
  readonly once?: RuleName;
  /** The rule that is broken if the attempt has any effect. */
  readonly never?: RuleName;
  /** The latest outcome that the bridge reported. For a valid debit, NOT_FOUND does not replace a known outcome. */
  said?: Said;
  /**
   * Set after a request that must not change the amount: the rule that is broken if the bridge then reports a different
   * amount.
   */
  blame?: RuleName;
  /** True if the attempt has two references, or two lines in the statement. */
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

/** The debits and refunds of the run, each with the latest outcome that the bridge reported for it. */
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

  /** Returns the amount of a debit that can still be refunded. Pending refunds count as refunded. */
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
