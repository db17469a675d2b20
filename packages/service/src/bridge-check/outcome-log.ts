import { setTimeout as pause } from 'node:timers/promises';
import { type Fields, numberOf, reasonOf } from '@perennial/wire/bridge';
import { type Attempt, amountOf, type Book, type Refund } from './book.js';
import type { Asking, Caller, Said } from './exchange/caller.js';
import { type Findings, NotTried } from './findings.js';
import type { Given } from './given.js';
import type { RuleName } from './rules.js';

/** The first pause between two queries. Each further pause is twice as long, up to LONGEST_PAUSE_MS. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export interface OutcomeLogOptions {
  readonly given: Given;
  readonly book: Book;
  readonly caller: Caller;
  readonly findings: Findings;
}

/**
 * Sends debits, refunds and queries, and compares every reported outcome of a number with the number's earlier outcome.
 */
export class OutcomeLog {
  readonly #options: OutcomeLogOptions;

  constructor(options: OutcomeLogOptions) {
    this.#options = options;
  }

  newAttempt(more: Partial<Attempt> = {}): Attempt {
    const { given, book } = this.#options;
    const institutionNo = more.institutionNo ?? given.agreement;
    // Rules that need an agreement never cause this error: the runner skips these rules if no agreement is given.
    if (institutionNo === undefined) throw new NotTried('no agreement is given');
    const attemptNo = more.attemptNo ?? book.nextNumber('D');
    return book.addAttempt({ ...this.unsent(attemptNo), ...more, attemptNo, institutionNo });
  }

  /** Returns a debit that was not sent, so queries about it move no money. */
  unsent(attemptNo = this.#options.book.nextNumber('D')): Attempt {
    const { amountCent: askedCent, clock } = this.#options.given;
    return { attemptNo, institutionNo: 'nobody', askedCent, orderNo: attemptNo, startedAt: clock.now() };
  }

  debitOf(attempt: Attempt, more: Fields = {}): Asking & { readonly body: Fields } {
    const { attemptNo, institutionNo } = attempt;
    return {
      operation: 'debit',
      body: { ...this.#about(attempt), institutionNo, ...more },
      idempotencyKey: attemptNo,
    };
  }

  queryOf(attempt: Attempt, more: Fields = {}): Asking & { readonly body: Fields } {
    return { operation: 'debit-query', body: { ...this.#about(attempt), ...more } };
  }

  #about({ attemptNo, askedCent: amountCent, orderNo, startedAt }: Attempt): Fields {
    const { appId } = this.#options.given;
    return { appId, attemptNo, amountCent, orderNo, cycleNo: 1, externalOrderNo: orderNo, startedAt };
  }

  async debit(attempt: Attempt, asking: Asking = this.debitOf(attempt)): Promise<Said> {
    const said = await this.#options.caller.ask(asking);
    this.note(attempt, said);
    return said;
  }

  async query(one: Attempt | Refund): Promise<Said> {
    const { findings, caller, given } = this.#options;
    const isRefund = 'refundNo' in one;
    // A query about a debit that the bridge has refused must get the same answer as a query about an unknown number.
    const blame = !isRefund && one.never ? ('debit-query-unknown' as const) : undefined;
    const asking: Asking = isRefund
      ? { operation: 'refund-query', body: { appId: given.appId, refundNo: one.refundNo } }
      : this.queryOf(one);
    const said = await caller.ask({ ...asking, ...(blame && { blame }) });
    this.note(one, said);
    // Compares the reported amount with the requested amount here, because a query reports the amount that was really
    // debited or refunded.
    if (said.word === 'SUCCESS' && !one.isTwice && one.blame === undefined) {
      const amount = amountOf(said.fields);
      const rule = isRefund ? 'refund-asked' : 'debit-asked';
      findings.judge(rule, amount === one.askedCent, `asked for ${one.askedCent}, was ${amount}`);
    }
    return said;
  }

  /** Sends a debit that must succeed. If the answer is unusable, queries the debit, as the service does. */
  async debitedOnce(more: Partial<Attempt> = {}): Promise<Attempt> {
    const attempt = this.newAttempt(more);
    await unlessUnusable(this.debit(attempt));
    await this.requireDebited(attempt);
    return attempt;
  }

  async requireDebited(attempt: Attempt): Promise<Said> {
    const said = await this.settled(attempt);
    if (said.word === 'SUCCESS') return said;
    throw new NotTried(`a debit on the agreement was answered ${describeSaid(said)}`);
  }

  /** Sends a debit, and waits for its result if the bank answers PENDING first. */
  async settledDebit(attempt: Attempt): Promise<Said> {
    await this.debit(attempt);
    return this.settled(attempt);
  }

  /** Returns the latest outcome. If it is PENDING, waits for the final outcome and returns that. */
  async settled(one: Attempt | Refund): Promise<Said> {
    const said = one.said ?? (await this.query(one));
    return said.word === 'PENDING' ? this.untilSettled(one) : said;
  }

  /** Queries until the outcome is no longer PENDING. Throws NotTried if that takes too long. */
  async untilSettled(one: Attempt | Refund): Promise<Said> {
    const { clock, waitMs } = this.#options.given;
    const until = clock.now() + waitMs;
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const said = await this.query(one);
      if (said.word !== 'PENDING') return said;
      const what = 'refundNo' in one ? 'refund' : 'debit';
      if (clock.now() >= until) throw new NotTried(`the ${what} is still pending after ${waitMs / 1000} s`);
      await pause(pauseMs);
    }
  }

  newRefund(attempt: Attempt, askedCent: number, once?: RuleName): Refund {
    const { book } = this.#options;
    return book.addRefund({ refundNo: book.nextNumber('R'), attempt, askedCent, ...(once && { once }) });
  }

  refundOf({ refundNo, attempt, askedCent }: Refund, more: Fields = {}): Asking & { readonly body: Fields } {
    const { appId } = this.#options.given;
    const body = { appId, refundNo, attemptNo: attempt.attemptNo, amountCent: askedCent, ...more };
    return { operation: 'refund', body, idempotencyKey: refundNo };
  }

  async refund(refund: Refund, asking: Asking = this.refundOf(refund)): Promise<Said> {
    const said = await this.#options.caller.ask(asking);
    this.note(refund, said);
    return said;
  }

  async settledRefund(refund: Refund, asking: Asking = this.refundOf(refund)): Promise<Said> {
    await this.refund(refund, asking);
    return this.settled(refund);
  }

  /** Sends a refund that must be accepted, and returns it. If the answer is unusable, queries the refund. */
  async refundedOnce(attempt: Attempt, askedCent: number, once?: RuleName): Promise<Refund> {
    const refund = this.newRefund(attempt, askedCent, once);
    await unlessUnusable(this.refund(refund));
    const said = refund.said ?? (await this.query(refund));
    if (['SUCCESS', 'PENDING'].includes(said.word)) return refund;
    throw new NotTried(`a refund was answered ${describeSaid(said)}`);
  }

  /** Records an outcome, and compares it with the earlier outcome of the same number. */
  note(one: Attempt | Refund, said: Said): void {
    const { findings } = this.#options;
    const isRefund = 'refundNo' in one;
    const before = one.said;
    if (before === undefined || before.word === 'NOT_FOUND' || (!isRefund && one.never !== undefined)) {
      one.said = said;
      return;
    }
    const number = isRefund ? one.refundNo : one.attemptNo;
    const seen = `${number}: first ${describeSaid(before)}, then ${describeSaid(said)}`;
    const known = isRefund ? 'refund-query-known' : 'debit-query-known';
    // Keeps the earlier outcome after NOT_FOUND, because refunding still needs it.
    if (!findings.judge(one.once === 'restart' ? 'restart' : known, said.word !== 'NOT_FOUND', seen)) return;
    one.said = said;
    if (before.word === 'PENDING') return;
    const stays = (isRefund && one.once) || 'result-stays';
    if (!findings.judge(stays, before.word === said.word, seen) || said.word !== 'SUCCESS') return;
    // Refunds may have no reference.
    const refs = [before, said].flatMap(({ fields }) => numberOf(fields['institutionRef']) ?? []);
    const hasTwo = new Set(refs).size > 1;
    one.isTwice ||= hasTwo;
    const twice = `${number} has two institutionRefs: ${refs.join(' and ')}`;
    // Does not compare the amounts if there are two references, because they may have two different amounts.
    if (!findings.judge(one.once ?? 'result-stays', !hasTwo, twice)) return;
    const amount = isRefund ? 'refund-amount' : 'debit-amount';
    findings.judge(one.blame ?? amount, amountOf(before.fields) === amountOf(said.fields), seen);
  }
}

/** Ignores an unusable answer, because the broken rule is already recorded. */
export async function unlessUnusable(asked: Promise<unknown>): Promise<void> {
  await asked.catch((error: unknown) => {
    if (!(error instanceof NotTried)) throw error;
  });
}

/** Describes an outcome in a few words. */
export function describeSaid({ word, fields }: Said): string {
  const { amountCent, decline } = fields as { readonly amountCent?: unknown; readonly decline?: unknown };
  if (word === 'SUCCESS') return `SUCCESS of ${String(amountCent)}`;
  const kind = word === 'DECLINED' ? ` ${String(decline)}` : '';
  const reason = reasonOf(fields['reason']);
  return `${word}${kind}${reason === '' ? '' : ` (${reason})`}`;
}
