import { setTimeout as pause } from 'node:timers/promises';
import { type Fields, reasonOf } from '@perennial/wire/bridge';
import { type Attempt, amountOf, type Book, type Refund } from './book.js';
import type { Asking, Caller, Said } from './exchange/caller.js';
import { type Findings, NotTried } from './findings.js';
import type { Given } from './given.js';
import type { RuleName } from './rules.js';

const ASK_EVERY_MS = 250;

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
    const said = await this.#options.caller.ask(this.queryOf(attempt));
    this.noteDebit(attempt, said);
    const { findings } = this.#options;
    // The question tells what was really debited.
    if (said.word === 'SUCCESS') {
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
    for (;;) {
      const said = await ask();
      if (said.word !== 'PENDING') return said;
      if (clock.now() >= until) throw new NotTried(`the ${what} is still pending after ${waitMs / 1000} s`);
      await pause(ASK_EVERY_MS);
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

  async refund(refund: Refund): Promise<Said> {
    const said = await this.#options.caller.ask(this.refundOf(refund));
    this.#noteRefund(refund, said);
    return said;
  }

  async queryRefund(refund: Refund): Promise<Said> {
    const { caller, given, findings } = this.#options;
    const body = { appId: given.appId, refundNo: refund.refundNo };
    const said = await caller.ask({ operation: 'refund-query', body });
    this.#noteRefund(refund, said);
    if (said.word === 'SUCCESS') {
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
    const { findings } = this.#options;
    const before = attempt.said;
    attempt.said = said;
    if (attempt.never !== undefined || before === undefined || before.word === 'NOT_FOUND') return;
    const seen = `${attempt.attemptNo}: first ${describeSaid(before)}, then ${describeSaid(said)}`;
    if (said.word === 'NOT_FOUND') {
      findings.judge(attempt.once === 'restart' ? 'restart' : 'debit-query-known', false, seen);
      return;
    }
    findings.judge('debit-query-known', true, '');
    if (before.word === 'PENDING') return;
    if (!findings.judge('result-stays', before.word === said.word, seen) || said.word !== 'SUCCESS') return;
    findings.judge('debit-amount', amountOf(before.fields) === amountOf(said.fields), seen);
    const isSame = before.fields['institutionRef'] === said.fields['institutionRef'];
    const refs = `${String(before.fields['institutionRef'])} and ${String(said.fields['institutionRef'])}`;
    findings.judge(attempt.once ?? 'result-stays', isSame, `${attempt.attemptNo} has two institutionRefs: ${refs}`);
  }

  #noteRefund(refund: Refund, said: Said): void {
    const { findings } = this.#options;
    const before = refund.said;
    refund.said = said;
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
    findings.judge('refund-amount', amountOf(before.fields) === amountOf(said.fields), seen);
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
