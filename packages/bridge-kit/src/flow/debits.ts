import { randomUUID } from 'node:crypto';
import {
  DECLINES,
  type DebitMessage,
  numberOf,
  positiveOf,
  reasonOf,
  timeOf,
  type WireDecline,
} from '@perennial/wire/bridge';
import type { Book, DebitEntry, DebitTerms } from '../book/book.js';
import { ABOUT_DEBIT } from '../book/notices.js';
import type { OwedNotice } from '../book/numbers.js';
import type { Debit, DebitOutcome, DebitResult, Institution, KnownDebit, NotFound } from '../institution.js';
import { NumberConflict, Unavailable } from '../server/refusals.js';
import type { DebitQuestion } from '../server/requests.js';
import { Shared } from './shared.js';
import { type Manner, type Pending, type Tools, toPendingMessage, UNHEARD, Undertakings } from './undertakings.js';

type Word = DebitResult | Pending | NotFound;
/** A question, or a refund that knows no more than the number. */
export type DebitToFind = Pick<DebitQuestion, 'attemptNo'> & Partial<DebitQuestion>;

/** Debits: paid once for each number, whatever is lost on the way. */
export class Debits {
  readonly #book: Book;
  readonly #institution: Institution;
  readonly #tools: Tools;
  readonly #undertakings: Undertakings<DebitTerms, DebitResult>;
  readonly #sending = new Map<string, Debit>();
  readonly #sent = new Shared<string, DebitResult | Pending>();
  readonly #asked = new Shared<string, Word>();

  constructor(book: Book, institution: Institution, tools: Tools, owed: () => void) {
    this.#book = book;
    this.#institution = institution;
    this.#tools = tools;
    this.#undertakings = new Undertakings(tools, createManner(book, institution), owed);
  }

  async debit(debit: Debit): Promise<DebitMessage> {
    const { attemptNo } = debit;
    const under = this.#sending.get(attemptNo);
    if (under !== undefined) requireSameTerms(under, debit);
    return toMessage(attemptNo, await (this.#sent.of(attemptNo) ?? this.#sendShared(debit)));
  }

  async query(question: DebitToFind): Promise<DebitMessage> {
    return toMessage(question.attemptNo, await this.#word(question));
  }

  /** Takes those that have no result and are due, and asks for them. Whether there may be more. */
  async askForDue(most: number): Promise<boolean> {
    const due = await this.#book.debits.takeDue(this.#tools.clock.now(), most);
    await Promise.all(due.map((entry) => this.#asked.run(entry.number, () => this.#settleByAsking(entry))));
    return due.length === most;
  }

  /** What a webhook of the institution said. False when the book does not have the number. */
  async told(attemptNo: string, outcome: DebitOutcome): Promise<boolean> {
    const known = await this.#book.debits.find(attemptNo);
    if (known === undefined) return false;
    await this.#undertakings.told(attemptNo, outcome);
    return true;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#sent.idle(), this.#asked.idle()]);
  }

  #sendShared(debit: Debit): Promise<DebitResult | Pending> {
    const { attemptNo } = debit;
    this.#sending.set(attemptNo, debit);
    return this.#sent.run(attemptNo, () => this.#send(debit).finally(() => this.#sending.delete(attemptNo)));
  }

  async #send(debit: Debit): Promise<DebitResult | Pending> {
    const { attemptNo, ...terms } = debit;
    const { clock, calls, at } = this.#tools;
    const signal = calls.deadline('debit');
    const entry = await this.#book.debits.insert(attemptNo, terms, clock.now());
    if (entry === undefined) return this.#sendAgain(debit, signal);
    await at('book-written', attemptNo);
    if (await this.#book.isEnded(debit.institutionNo)) {
      return this.#decline(attemptNo, 'AGREEMENT_INVALID', 'the agreement has ended');
    }
    return this.#mayBeForgotten(debit) ? this.#payUnlessFound(entry, signal) : this.#undertakings.pay(entry, signal);
  }

  /** The book has it: it is looked for, and paid only if the institution has never seen it and still pays it once. */
  async #sendAgain(debit: Debit, signal: AbortSignal): Promise<DebitResult | Pending> {
    const { attemptNo, institutionNo } = debit;
    const known = await this.#book.debits.find(attemptNo);
    if (known !== undefined) requireSameTerms({ ...debit, ...onlyKnown(known.terms) }, debit);
    if (known?.result !== undefined) return known.result;
    await this.#book.debits.complete(attemptNo, 'institutionNo', institutionNo);
    const entry = await this.#book.debits.takeInHand(attemptNo, this.#tools.clock.now());
    if (entry === undefined) return (await this.#book.debits.find(attemptNo))?.result ?? { status: 'PENDING' };
    return this.#payUnlessFound(entry, signal, () => this.#undertakings.isRepeatable(entry));
  }

  async #payUnlessFound(
    entry: DebitEntry,
    signal: AbortSignal,
    mayPay: () => boolean = () => true,
  ): Promise<DebitResult | Pending> {
    const found = await this.#undertakings.ask(entry, signal, 'answered');
    if (found === undefined) return UNHEARD;
    if (found.status !== 'NOT_FOUND') return found;
    if (!mayPay()) {
      await this.#book.debits.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
      return { status: 'PENDING' };
    }
    if (this.#isTooOld(entry)) return this.#decline(entry.number, 'FINAL', 'it was begun too long ago');
    return this.#undertakings.pay(entry, signal);
  }

  /** Begun so long ago that the institution would take it for a new one, or the book has deleted it; or the book was lost. */
  #mayBeForgotten({ startedAt }: Debit): boolean {
    const { clock, repeatableForMs, keepMs } = this.#tools;
    return clock.now() - startedAt >= Math.min(repeatableForMs.debit, keepMs);
  }

  /** So old that the book may have had its result and deleted it. */
  #isTooOld({ terms: { startedAt } }: DebitEntry): boolean {
    return startedAt !== undefined && this.#tools.clock.now() - startedAt >= this.#tools.keepMs;
  }

  /** Without the institution: it was not asked to pay, or says that it never was. */
  #decline(attemptNo: string, decline: WireDecline, reason: string): Promise<DebitResult | Pending> {
    return this.#undertakings.record(attemptNo, { status: 'DECLINED', decline, reason }, 'answered');
  }

  /** Shares the answer of whatever is under way for the number. */
  #word(question: DebitToFind): Promise<Word> {
    const { attemptNo } = question;
    const ask = () => this.#asked.run(attemptNo, () => this.#askOnce(question));
    const sent = this.#sent.of(attemptNo);
    return sent?.catch(ask) ?? this.#asked.of(attemptNo) ?? ask();
  }

  async #askOnce(question: DebitToFind): Promise<Word> {
    const { attemptNo } = question;
    const known = await this.#book.debits.find(attemptNo);
    if (known === undefined) return this.#findLost(question);
    if (known.result !== undefined) return known.result;
    const entry = await this.#book.debits.takeInHand(attemptNo, this.#tools.clock.now());
    if (entry !== undefined) return this.#settleByAsking(entry);
    return (await this.#book.debits.find(attemptNo))?.result ?? { status: 'PENDING' };
  }

  #settleByAsking(entry: DebitEntry): Promise<Word> {
    return this.#undertakings.settleByAsking(entry, this.#tools.calls.deadline());
  }

  /** The book does not have it. The institution has, if the book was lost. */
  async #findLost(question: DebitToFind): Promise<Word> {
    const { calls, clock } = this.#tools;
    const { attemptNo } = question;
    const terms = toTerms(question);
    const find = async (signal: AbortSignal) => {
      const said = await this.#institution.findDebit({ ...terms, attemptNo, institutionRef: undefined }, signal);
      return said.status === 'SUCCESS' || said.status === 'DECLINED' ? cleanDebitResult(said) : said;
    };
    const said = await calls.make('debit-query', calls.deadline(), find);
    if (said === undefined) throw new Unavailable('the institution cannot be asked');
    if (said.status === 'NOT_FOUND') return said;
    await this.#book.debits.insert(attemptNo, terms, clock.now());
    return this.#undertakings.record(attemptNo, said, 'told-by-notice');
  }
}

function createManner(book: Book, institution: Institution): Manner<DebitTerms, DebitResult> {
  return {
    name: 'debit',
    numbers: book.debits,
    pay: (entry, signal) => institution.debit(toDebit(entry), signal),
    find: (entry, signal) => institution.findDebit(toKnownDebit(entry), signal),
    clean: cleanDebitResult,
    refOf: (result) => (result.status === 'SUCCESS' ? result.institutionRef : undefined),
    contradict: (one, other) =>
      one.status !== other.status ||
      (one.status === 'SUCCESS' && other.status === 'SUCCESS' && one.amountCent !== other.amountCent),
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
  if (!isWhole) throw new Error('the book does not know what to debit');
  return { attemptNo: number, appId, institutionNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt };
}

function toKnownDebit({ number, terms, institutionRef }: DebitEntry): KnownDebit {
  return { attemptNo: number, ...terms, institutionRef };
}

function onlyKnown(terms: DebitTerms): Partial<Debit> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function requireSameTerms(known: Debit, given: Debit): void {
  if (known.amountCent === given.amountCent && known.institutionNo === given.institutionNo) return;
  throw new NumberConflict('this attemptNo was used for another amount or agreement');
}

/** As the protocol can say it. An error here means that the outcome is unknown, since nobody could be told of it. */
function cleanDebitResult(result: DebitResult): DebitResult {
  if (result.status === 'DECLINED') {
    const { status, decline, reason } = result;
    if (!DECLINES.includes(decline)) throw new Error('the institution’s file named a decline that is not listed');
    return { status, decline, reason: reasonOf(reason) };
  }
  const { status, amountCent, paidAt, institutionRef } = result;
  const isWell =
    status === 'SUCCESS' && positiveOf(amountCent) && timeOf(paidAt) && numberOf(institutionRef) !== undefined;
  if (!isWell) throw new Error('the institution’s file gave a result that the protocol cannot say');
  return { status, amountCent, paidAt, institutionRef };
}

const toMessage = (attemptNo: string, said: Word): DebitMessage =>
  said.status === 'PENDING' ? { attemptNo, ...toPendingMessage(said) } : { attemptNo, ...said };

function toNotice(attemptNo: string, result: DebitResult): OwedNotice {
  const noticeNo = randomUUID();
  return { noticeNo, about: `${ABOUT_DEBIT}${attemptNo}`, message: { kind: 'DEBIT', noticeNo, attemptNo, ...result } };
}
