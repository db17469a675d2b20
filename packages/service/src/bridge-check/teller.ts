import { setTimeout as pause } from 'node:timers/promises';
import { type Fields, reasonOf } from '@perennial/wire/bridge';
import { type Attempt, amountOf, type Book, type Refund } from './book.js';
import type { Asking, Caller, Said } from './exchange/caller.js';
import { type Findings, NotTried } from './findings.js';
import type { Given } from './given.js';
import type { RuleName } from './rules.js';

/** The first pause between two questions; it doubles up to the longest. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export interface TellerOptions {
  readonly given: Given;
  readonly book: Book;
  readonly caller: Caller;
  readonly findings: Findings;
}

/** Debits, refunds and asks, and compares everything that is said of a number with what was said of it before. */
export class Teller {
  readonly #options: TellerOptions;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  newAttempt(more: Partial<Attempt> = {}): Attempt {
    const { given, book } = this.#options;
    const institutionNo = more.institutionNo ?? given.agreement;
    // The runner leaves out rules whose agreement is not given.
    if (institutionNo === undefined) throw new NotTried('no agreement is given');
    const attemptNo = more.attemptNo ?? book.nextNumber('D');
    const common = { askedCent: given.amountCent, orderNo: attemptNo, startedAt: given.clock.now() };
    return book.addAttempt({ ...common, ...more, attemptNo, institutionNo });
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
    this.noteDebit(attempt, said);
    return said;
  }

  async query(attempt: Attempt): Promise<Said> {
    const { findings, caller } = this.#options;
    // Of what was refused the bridge must know nothing.
    const blame = attempt.never && ('debit-query-unknown' as const);
    const said = await caller.ask({ ...this.queryOf(attempt), ...(blame && { blame }) });
    this.noteDebit(attempt, said);
    // The question tells what was really debited.
    if (said.word === 'SUCCESS' && !attempt.isTwice && attempt.blame === undefined) {
      const amount = amountOf(said.fields);
      findings.judge('debit-asked', amount === attempt.askedCent, `asked for ${attempt.askedCent}, debited ${amount}`);
    }
    return said;
  }

  /** A debit that has succeeded. One whose answer cannot be used is asked for, as the service does. */
  async debitedOnce(more: Partial<Attempt> = {}): Promise<Attempt> {
    const attempt = this.newAttempt(more);
    await unlessUnusable(this.debit(attempt));
    await this.requireDebited(attempt);
    return attempt;
  }

  async requireDebited(attempt: Attempt): Promise<Said> {
    let said = attempt.said ?? (await this.query(attempt));
    if (said.word === 'PENDING') said = await this.untilSettled(attempt);
    if (said.word === 'SUCCESS') return said;
    throw new NotTried(`a debit on the agreement was answered ${describeSaid(said)}`);
  }

  /** A bank may answer PENDING before it declines or debits. */
  async settledDebit(attempt: Attempt): Promise<Said> {
    const said = await this.debit(attempt);
    return said.word === 'PENDING' ? this.untilSettled(attempt) : said;
  }

  /** Asks until a pending debit has its result. */
  untilSettled(attempt: Attempt): Promise<Said> {
    return this.#untilKnown('debit', () => this.query(attempt));
  }

  untilRefunded(refund: Refund): Promise<Said> {
    return this.#untilKnown('refund', () => this.queryRefund(refund));
  }

  async #untilKnown(what: string, ask: () => Promise<Said>): Promise<Said> {
    const { clock, waitMs } = this.#options.given;
    const until = clock.now() + waitMs;
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const said = await ask();
      if (said.word !== 'PENDING') return said;
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
    this.#noteRefund(refund, said);
    return said;
  }

  async settledRefund(refund: Refund, asking: Asking = this.refundOf(refund)): Promise<Said> {
    await this.refund(refund, asking);
    return this.settled(refund);
  }

  /** What was said of it last, once that is a result. */
  async settled(refund: Refund): Promise<Said> {
    const { said } = refund;
    return said === undefined || said.word === 'PENDING' ? this.untilRefunded(refund) : said;
  }

  async queryRefund(refund: Refund): Promise<Said> {
    const { caller, given, findings } = this.#options;
    const body = { appId: given.appId, refundNo: refund.refundNo };
    const said = await caller.ask({ operation: 'refund-query', body });
    this.#noteRefund(refund, said);
    if (said.word === 'SUCCESS' && refund.blame === undefined) {
      const amount = amountOf(said.fields);
      findings.judge('refund-asked', amount === refund.askedCent, `asked for ${refund.askedCent}, refunded ${amount}`);
    }
    return said;
  }

  /** A refund that was taken. One whose answer cannot be used is asked for. */
  async refundedOnce(attempt: Attempt, askedCent: number, once?: RuleName): Promise<Refund> {
    const refund = this.newRefund(attempt, askedCent, once);
    await unlessUnusable(this.refund(refund));
    const said = refund.said ?? (await this.queryRefund(refund));
    if (['SUCCESS', 'PENDING'].includes(said.word)) return refund;
    throw new NotTried(`a refund was answered ${describeSaid(said)}`);
  }

  noteDebit(attempt: Attempt, said: Said): void {
    const before = attempt.said;
    if (attempt.never !== undefined || before === undefined || before.word === 'NOT_FOUND') {
      attempt.said = said;
      return;
    }
    const { findings } = this.#options;
    const seen = `${attempt.attemptNo}: first ${describeSaid(before)}, then ${describeSaid(said)}`;
    const rule = attempt.once === 'restart' ? 'restart' : 'debit-query-known';
    // What was known of it still counts, when it is given back.
    if (!findings.judge(rule, said.word !== 'NOT_FOUND', seen)) return;
    attempt.said = said;
    if (before.word === 'PENDING') return;
    if (!findings.judge('result-stays', before.word === said.word, seen)) return;
    if (said.word === 'SUCCESS') this.#compareDebits(attempt, before.fields, said.fields);
  }

  #compareDebits(attempt: Attempt, before: Fields, now: Fields): void {
    const { findings } = this.#options;
    const { attemptNo, once } = attempt;
    const refs = [String(before['institutionRef']), String(now['institutionRef'])];
    const isSame = refs[0] === refs[1];
    attempt.isTwice ||= !isSame;
    const seen = `${attemptNo} has two institutionRefs: ${refs.join(' and ')}`;
    // Two debits may well have two amounts.
    if (!findings.judge(once ?? 'result-stays', isSame, seen)) return;
    const amounts = [amountOf(before), amountOf(now)];
    const changed = `${attemptNo}: first ${amounts[0]}, then ${amounts[1]}`;
    findings.judge(attempt.blame ?? 'debit-amount', amounts[0] === amounts[1], changed);
  }

  #noteRefund(refund: Refund, said: Said): void {
    const { findings } = this.#options;
    const before = refund.said;
    if (before === undefined || before.word === 'NOT_FOUND' || said.word !== 'NOT_FOUND') refund.said = said;
    if (before === undefined || before.word === 'NOT_FOUND') return;
    const seen = `${refund.refundNo}: first ${describeSaid(before)}, then ${describeSaid(said)}`;
    if (said.word === 'NOT_FOUND') {
      findings.judge(refund.once === 'restart' ? 'restart' : 'refund-query-known', false, seen);
      return;
    }
    if (before.word === 'PENDING') return;
    if (!findings.judge(refund.once ?? 'result-stays', before.word === said.word, seen) || said.word !== 'SUCCESS') {
      return;
    }
    findings.judge(refund.blame ?? 'refund-amount', amountOf(before.fields) === amountOf(said.fields), seen);
  }
}

/** Passes over an answer that cannot be used: which rule it breaks is noted. */
export async function unlessUnusable(asked: Promise<unknown>): Promise<void> {
  await asked.catch((error: unknown) => {
    if (!(error instanceof NotTried)) throw error;
  });
}

/** In a few words, for a line. */
export function describeSaid({ word, fields }: Said): string {
  const { amountCent, decline } = fields as { readonly amountCent?: unknown; readonly decline?: unknown };
  if (word === 'SUCCESS') return `SUCCESS of ${String(amountCent)}`;
  const kind = word === 'DECLINED' ? ` ${String(decline)}` : '';
  const reason = reasonOf(fields['reason']);
  return `${word}${kind}${reason === '' ? '' : ` (${reason})`}`;
}
