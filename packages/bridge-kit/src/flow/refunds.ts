import { numberOf, positiveOf, type RefundMessage, reasonOf, timeOf } from '@perennial/wire/bridge';
import type { Book, RefundEntry, RefundTerms } from '../book/book.js';
import type { Institution, KnownRefund, NotFound, Refund, RefundOutcome, RefundResult } from '../institution.js';
import { NumberConflict, Unavailable } from '../server/refusals.js';
import type { AskedRefund } from '../server/requests.js';
import type { Debits } from './debits.js';
import { Shared } from './shared.js';
import { type Manner, type Pending, type Tools, toPendingMessage, UNHEARD, Undertakings } from './undertakings.js';

type Word = RefundResult | Pending | NotFound;

/** Refunds: given back once for each number, and never more in sum than was debited. */
export class Refunds {
  readonly #book: Book;
  readonly #institution: Institution;
  readonly #debits: Debits;
  readonly #tools: Tools;
  readonly #undertakings: Undertakings<RefundTerms, RefundResult>;
  readonly #sending = new Map<string, AskedRefund>();
  readonly #sent = new Shared<string, RefundResult | Pending>();
  readonly #asked = new Shared<string, Word>();

  constructor(book: Book, institution: Institution, debits: Debits, tools: Tools) {
    this.#book = book;
    this.#institution = institution;
    this.#debits = debits;
    this.#tools = tools;
    // There are no notices of refunds: the service asks.
    this.#undertakings = new Undertakings(tools, createManner(book, institution), () => undefined);
  }

  async refund(refund: AskedRefund): Promise<RefundMessage> {
    const { refundNo } = refund;
    const under = this.#sending.get(refundNo);
    if (under !== undefined) requireSameTerms(under, refund);
    return toMessage(refundNo, await (this.#sent.of(refundNo) ?? this.#sendShared(refund)));
  }

  async query(refundNo: string): Promise<RefundMessage> {
    const ask = () => this.#asked.run(refundNo, () => this.#askOnce(refundNo));
    return toMessage(refundNo, await (this.#sent.of(refundNo)?.catch(ask) ?? this.#asked.of(refundNo) ?? ask()));
  }

  async askForDue(most: number): Promise<boolean> {
    const due = await this.#book.refunds.takeDue(this.#tools.clock.now(), most);
    await Promise.all(due.map((entry) => this.#asked.run(entry.number, () => this.#settleByAsking(entry))));
    return due.length === most;
  }

  async told(refundNo: string, outcome: RefundOutcome): Promise<boolean> {
    const known = await this.#book.refunds.find(refundNo);
    if (known === undefined) return false;
    await this.#undertakings.told(refundNo, outcome);
    return true;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#sent.idle(), this.#asked.idle()]);
  }

  #sendShared(refund: AskedRefund): Promise<RefundResult | Pending> {
    const { refundNo } = refund;
    this.#sending.set(refundNo, refund);
    return this.#sent.run(refundNo, () => this.#send(refund).finally(() => this.#sending.delete(refundNo)));
  }

  async #send(refund: AskedRefund): Promise<RefundResult | Pending> {
    const { refundNo, attemptNo, amountCent } = refund;
    const { clock, calls, at } = this.#tools;
    const signal = calls.deadline();
    const known = await this.#book.refunds.find(refundNo);
    if (known !== undefined) return this.#sendAgain(known, refund, signal);

    const debit = await this.#debits.query({ attemptNo });
    if (debit.status === 'PENDING') throw new Unavailable('the debit has no result yet');
    const isPaid = debit.status === 'SUCCESS';
    const terms = { attemptNo, amountCent, debitRef: isPaid ? debit.institutionRef : undefined };
    const entry = await this.#book.insertRefund(refundNo, terms, isPaid ? debit.amountCent : 0, clock.now());
    // Another process was faster.
    if (entry === undefined) return { status: 'PENDING' };
    await at('book-written', refundNo);
    // The book may have been lost, and a refund does not say how old it is.
    return entry.result ?? this.#payUnlessFound(entry, signal, () => true);
  }

  async #sendAgain(known: RefundEntry, refund: AskedRefund, signal: AbortSignal): Promise<RefundResult | Pending> {
    requireSameTerms({ refundNo: refund.refundNo, ...known.terms }, refund);
    if (known.result !== undefined) return known.result;
    const entry = await this.#book.refunds.takeInHand(known.number, this.#tools.clock.now());
    if (entry === undefined) return (await this.#book.refunds.find(known.number))?.result ?? { status: 'PENDING' };
    return this.#payUnlessFound(entry, signal, () => this.#undertakings.isRepeatable(entry));
  }

  async #payUnlessFound(
    entry: RefundEntry,
    signal: AbortSignal,
    mayPay: () => boolean,
  ): Promise<RefundResult | Pending> {
    const found = await this.#undertakings.ask(entry, signal, 'answered');
    if (found === undefined) return UNHEARD;
    if (found.status !== 'NOT_FOUND') return found;
    if (mayPay()) return this.#undertakings.pay(entry, signal);
    await this.#book.refunds.leaveOpen(entry.number, 'AS_IT_WAS', undefined);
    return { status: 'PENDING' };
  }

  async #askOnce(refundNo: string): Promise<Word> {
    const known = await this.#book.refunds.find(refundNo);
    if (known === undefined) return this.#findLost(refundNo);
    if (known.result !== undefined) return known.result;
    const entry = await this.#book.refunds.takeInHand(refundNo, this.#tools.clock.now());
    if (entry !== undefined) return this.#settleByAsking(entry);
    return (await this.#book.refunds.find(refundNo))?.result ?? { status: 'PENDING' };
  }

  #settleByAsking(entry: RefundEntry): Promise<Word> {
    return this.#undertakings.settleByAsking(entry, this.#tools.calls.deadline());
  }

  /** Answered and not written down: which debit it is of, only the service could say, and it asks again. */
  async #findLost(refundNo: string): Promise<Word> {
    const { calls } = this.#tools;
    const find = async (signal: AbortSignal) => {
      const said = await this.#institution.findRefund({ refundNo }, signal);
      return said.status === 'SUCCESS' || said.status === 'REFUSED' ? cleanRefundResult(said) : said;
    };
    const said = await calls.make('refund-query', calls.deadline(), find);
    if (said === undefined) throw new Unavailable('the institution cannot be asked');
    return said;
  }
}

function createManner(book: Book, institution: Institution): Manner<RefundTerms, RefundResult> {
  return {
    name: 'refund',
    numbers: book.refunds,
    pay: (entry, signal) => institution.refund(toRefund(entry), signal),
    find: (entry, signal) => institution.findRefund(toKnownRefund(entry), signal),
    clean: cleanRefundResult,
    refOf: (result) => (result.status === 'SUCCESS' ? result.institutionRef : undefined),
    contradict: (one, other) =>
      one.status !== other.status ||
      (one.status === 'SUCCESS' && other.status === 'SUCCESS' && one.amountCent !== other.amountCent),
    notice: () => undefined,
  };
}

function toRefund({ number, terms: { attemptNo, amountCent, debitRef } }: RefundEntry): Refund {
  if (debitRef === undefined) throw new Error('the book does not know what to give back');
  return { refundNo: number, attemptNo, amountCent, debitRef };
}

function toKnownRefund({
  number,
  terms: { attemptNo, amountCent, debitRef },
  institutionRef,
}: RefundEntry): KnownRefund {
  return {
    refundNo: number,
    attemptNo,
    amountCent,
    ...(debitRef === undefined ? {} : { debitRef }),
    ...(institutionRef === undefined ? {} : { institutionRef }),
  };
}

function requireSameTerms(known: AskedRefund, given: AskedRefund): void {
  if (known.amountCent === given.amountCent && known.attemptNo === given.attemptNo) return;
  throw new NumberConflict('this refundNo was used for another debit or amount');
}

function cleanRefundResult(result: RefundResult): RefundResult {
  if (result.status === 'REFUSED') return { status: 'REFUSED', reason: reasonOf(result.reason) };
  const { status, amountCent, refundedAt, institutionRef } = result;
  const isWell =
    status === 'SUCCESS' && positiveOf(amountCent) && timeOf(refundedAt) && numberOf(institutionRef) !== undefined;
  if (!isWell) throw new Error('the institution’s file gave a result that the protocol cannot say');
  return { status, amountCent, refundedAt, institutionRef };
}

function toMessage(refundNo: string, said: Word): RefundMessage {
  if (said.status === 'SUCCESS') {
    const { status, amountCent, refundedAt } = said;
    return { refundNo, status, amountCent, refundedAt };
  }
  if (said.status === 'PENDING') return { refundNo, ...toPendingMessage(said) };
  return { refundNo, ...said };
}
