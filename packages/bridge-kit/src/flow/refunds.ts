import { numberOf, positiveOf, type RefundMessage, reasonOf, timeOf } from '@perennial/wire/bridge';
import type { Book, RefundEntry, RefundTerms } from '../book/book.js';
import type { Institution, KnownRefund, NotFound, Refund, RefundResult } from '../institution.js';
import { NumberConflict, Unavailable } from '../server/refusals.js';
import type { AskedRefund } from '../server/requests.js';
import type { Debits } from './debits.js';
import { type CallKind, NumberedCalls, type Pending, type Tools, toPendingMessage } from './numbered-calls.js';

type Word = RefundResult | Pending | NotFound;

/** Executes each refund number at most once, and never refunds more in total than was debited. */
export class Refunds extends NumberedCalls<AskedRefund, RefundTerms, RefundResult> {
  readonly #book: Book;
  readonly #institution: Institution;
  readonly #debits: Debits;
  readonly #tools: Tools;

  constructor(book: Book, institution: Institution, debits: Debits, tools: Tools) {
    // Refunds have no notices: the service queries them.
    super(tools, createKind(book, institution), () => undefined);
    this.#book = book;
    this.#institution = institution;
    this.#debits = debits;
    this.#tools = tools;
  }

  async refund(refund: AskedRefund): Promise<RefundMessage> {
    const { refundNo } = refund;
    return toMessage(refundNo, await this.sendShared(refundNo, refund, () => this.#send(refund)));
  }

  /**
   * Queries a refund. If the book was lost, does not store the refund: its debit is unknown until the service resends
   * the refund.
   */
  async query(refundNo: string): Promise<RefundMessage> {
    const findLost = () => this.askLost<Word>((signal) => this.#institution.findRefund({ refundNo }, signal));
    return toMessage(refundNo, await this.queryShared(refundNo, findLost));
  }

  async #send(refund: AskedRefund): Promise<RefundResult | Pending> {
    const { refundNo, attemptNo, amountCent } = refund;
    const { clock, calls, at } = this.#tools;
    const signal = calls.deadline();
    const known = await this.#book.refunds.find(refundNo);
    if (known !== undefined) {
      requireSameTerms({ refundNo, ...known.terms }, refund);
      return known.result ?? this.payAgain(refundNo, signal);
    }
    const debit = await this.#debits.query({ attemptNo });
    if (debit.status === 'PENDING') throw new Unavailable('the debit has no result yet');
    const isPaid = debit.status === 'SUCCESS';
    const terms = { attemptNo, amountCent, debitRef: isPaid ? debit.institutionRef : undefined };
    const entry = await this.#book.insertRefund(refundNo, terms, isPaid ? debit.amountCent : 0, clock.now());
    // Another process was faster.
    if (entry === undefined) return { status: 'PENDING' };
    await at('book-written', refundNo);
    // Queries before it pays: a refund does not state its age, so an old refund that the book lost looks new.
    return entry.result ?? this.payUnlessFound(entry, signal);
  }
}

function createKind(book: Book, institution: Institution): CallKind<AskedRefund, RefundTerms, RefundResult> {
  return {
    name: 'refund',
    numbers: book.refunds,
    requireSame: requireSameTerms,
    pay: (entry, signal) => institution.refund(toRefund(entry), signal),
    find: (entry, signal) => institution.findRefund(toKnownRefund(entry), signal),
    clean: cleanRefundResult,
  };
}

function toRefund({ number, terms: { attemptNo, amountCent, debitRef } }: RefundEntry): Refund {
  if (debitRef === undefined) throw new Error('the book lacks the terms of the refund');
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
  if (!isWell) throw new Error('the institution’s code returned a result that the protocol cannot express');
  return { status, amountCent, refundedAt, institutionRef };
}

function toMessage(refundNo: string, said: Word): RefundMessage {
  if (said.status === 'PENDING') return { refundNo, ...toPendingMessage(said) };
  return { refundNo, ...said };
}
