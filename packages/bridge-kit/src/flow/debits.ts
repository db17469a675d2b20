import { randomUUID } from 'node:crypto';
import {
  DECLINES,
  type DebitMessage,
  declineKindOf,
  numberOf,
  positiveOf,
  reasonOf,
  timeOf,
} from '@perennial/wire/bridge';
import type { Book, DebitEntry, DebitTerms } from '../book/book.js';
import { ABOUT_DEBIT } from '../book/notices.js';
import type { OwedNotice } from '../book/numbers.js';
import type { Debit, DebitResult, Institution, NotFound } from '../institution.js';
import { NumberConflict } from '../server/refusals.js';
import type { DebitQuestion } from '../server/requests.js';
import { type CallKind, NumberedCalls, type Pending, type Tools, toPendingMessage } from './numbered-calls.js';

type Word = DebitResult | Pending | NotFound;
/**
 * A debit to query. The service's query has every field. A query that a refund needs has only the debit's `attemptNo`.
 */
export type DebitToFind = Pick<DebitQuestion, 'attemptNo'> & Partial<DebitQuestion>;

/** Executes each debit number at most once, whichever requests or responses are lost. */
export class Debits extends NumberedCalls<Debit, DebitTerms, DebitResult> {
  readonly #book: Book;
  readonly #institution: Institution;
  readonly #tools: Tools;

  constructor(book: Book, institution: Institution, tools: Tools, owed: () => void) {
    super(tools, createKind(book, institution, tools), owed);
    this.#book = book;
    this.#institution = institution;
    this.#tools = tools;
  }

  async debit(debit: Debit): Promise<DebitMessage> {
    const { attemptNo } = debit;
    return toMessage(attemptNo, await this.sendShared(attemptNo, debit, () => this.#send(debit)));
  }

  async query(question: DebitToFind): Promise<DebitMessage> {
    const { attemptNo } = question;
    return toMessage(attemptNo, await this.queryShared(attemptNo, () => this.#findLost(question)));
  }

  async #send(debit: Debit): Promise<DebitResult | Pending> {
    const { attemptNo, ...terms } = debit;
    const { clock, calls, at } = this.#tools;
    const signal = calls.deadline('debit');
    const entry = await this.#book.debits.insert(attemptNo, terms, clock.now());
    if (entry === undefined) return this.#sendAgain(debit, signal);
    await at('book-written', attemptNo);
    if (await this.#book.isEnded(debit.institutionNo)) {
      const reason = 'the agreement has ended';
      const result = {
        status: 'DECLINED',
        decline: 'AGREEMENT_INVALID',
        declineKind: 'AGREEMENT_ENDED',
        reason,
      } as const;
      return this.record(attemptNo, result, 'answered');
    }
    return this.#mayBeForgotten(debit) ? this.payUnlessFound(entry, signal) : this.pay(entry, signal);
  }

  async #sendAgain(debit: Debit, signal: AbortSignal): Promise<DebitResult | Pending> {
    const { attemptNo, institutionNo } = debit;
    const known = await this.#book.debits.find(attemptNo);
    if (known !== undefined) requireSameTerms({ ...debit, ...onlyKnown(known.terms) }, debit);
    if (known?.result !== undefined) return known.result;
    await this.#book.debits.complete(attemptNo, 'institutionNo', institutionNo);
    return this.payAgain(attemptNo, signal);
  }

  /**
   * Returns true if the debit is so old that one of two things may have happened: the institution no longer guarantees
   * to pay its number only once, or the book has deleted it.
   */
  #mayBeForgotten({ startedAt }: Debit): boolean {
    const { clock, repeatableForMs, keepMs } = this.#tools;
    return clock.now() - startedAt >= Math.min(repeatableForMs.debit, keepMs);
  }

  async #findLost(question: DebitToFind): Promise<Word> {
    const { attemptNo } = question;
    const terms = toTerms(question);
    const said = await this.askLost<Word>((signal) =>
      this.#institution.findDebit({ ...terms, attemptNo, institutionRef: undefined }, signal),
    );
    if (said.status === 'NOT_FOUND') return said;
    await this.#book.debits.insert(attemptNo, terms, this.#tools.clock.now());
    return this.record(attemptNo, said, 'told-by-notice');
  }
}

function createKind(
  book: Book,
  institution: Institution,
  { clock, keepMs }: Tools,
): CallKind<Debit, DebitTerms, DebitResult> {
  return {
    name: 'debit',
    numbers: book.debits,
    requireSame: requireSameTerms,
    pay: (entry, signal) => institution.debit(toDebit(entry), signal),
    find: (entry, signal) =>
      institution.findDebit({ attemptNo: entry.number, ...entry.terms, institutionRef: entry.institutionRef }, signal),
    // Refuses a debit that is so old that the book may have deleted its result.
    refuse: ({ terms: { startedAt } }) =>
      startedAt !== undefined && clock.now() - startedAt >= keepMs
        ? { status: 'DECLINED', decline: 'FINAL', declineKind: 'TECHNICAL', reason: 'the debit began too long ago' }
        : undefined,
    clean: cleanDebitResult,
    notice: toNotice,
  };
}

function toTerms(question: DebitToFind): DebitTerms {
  const { appId, amountCent, orderNo, cycleNo, externalOrderNo, startedAt } = question;
  return { appId, institutionNo: undefined, amountCent, orderNo, cycleNo, externalOrderNo, startedAt };
}

function toDebit({ number, terms }: DebitEntry): Debit {
  const { institutionNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt, appId } = terms;
  const isWhole =
    institutionNo !== undefined &&
    amountCent !== undefined &&
    orderNo !== undefined &&
    cycleNo !== undefined &&
    externalOrderNo !== undefined &&
    startedAt !== undefined;
  if (!isWhole) throw new Error('the book lacks the terms of the debit');
  return { attemptNo: number, appId, institutionNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt };
}

function onlyKnown(terms: DebitTerms): Partial<Debit> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function requireSameTerms(known: Debit, given: Debit): void {
  if (known.amountCent === given.amountCent && known.institutionNo === given.institutionNo) return;
  throw new NumberConflict('this attemptNo was used for another amount or agreement');
}

/**
 * Returns the result with the protocol's fields. Throws if the protocol cannot express it: the outcome is then unknown.
 */
function cleanDebitResult(result: DebitResult): DebitResult {
  if (result.status === 'DECLINED') {
    const { status, decline, reason } = result;
    const declineKind = declineKindOf(result.declineKind);
    if (!DECLINES.includes(decline)) throw new Error('the institution’s code returned an unknown decline');
    return { status, decline, ...(declineKind && { declineKind }), reason: reasonOf(reason) };
  }
  const { status, amountCent, paidAt, institutionRef } = result;
  const isWell =
    status === 'SUCCESS' && positiveOf(amountCent) && timeOf(paidAt) && numberOf(institutionRef) !== undefined;
  if (!isWell) throw new Error('the institution’s code returned a result that the protocol cannot express');
  return { status, amountCent, paidAt, institutionRef };
}

const toMessage = (attemptNo: string, said: Word): DebitMessage =>
  said.status === 'PENDING' ? { attemptNo, ...toPendingMessage(said) } : { attemptNo, ...said };

function toNotice(attemptNo: string, result: DebitResult): OwedNotice {
  const noticeNo = randomUUID();
  return { noticeNo, about: `${ABOUT_DEBIT}${attemptNo}`, message: { kind: 'DEBIT', noticeNo, attemptNo, ...result } };
}
