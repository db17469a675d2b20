import {
  BadMessage,
  NumberConflict,
  readBindCode,
  readBindConfirm,
  readCancellation,
  readDebit,
  readRefund,
  readRefundNo,
  readStatementPage,
  requireField,
  requireSameCurrency,
} from '@perennial/bridge-kit/server';
import { randomBytes } from '@perennial/wire';
import { type Fields, type NoticeMessage, numberOf, OPERATIONS, type Operation } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import { type Clock, createFaultyServer, type PreparedRequest, type Timers } from '../peer.js';
import { decideDebit, decideRefund } from './decisions.js';
import type { FaultName, FaultOccasion, InstitutionFaults } from './faults.js';
import { type DebitResult, type Ledger, type OwedNotice, toDebitMessage, toRefundMessage } from './ledger.js';
import type { NoticeSender } from './notices.js';

/** Delays of operations that are slow on purpose. */
export interface Delays {
  /** How long a pending debit or refund waits for its result. */
  readonly settleMs: number;
  /** How long the fault `delay` delays an answer: longer than any timeout of the service. */
  readonly answerMs: number;
  /** How long after a query's answer the late notice is sent. */
  readonly lateNoticeMs: number;
  readonly noticeRetryMs: number;
  readonly longestNoticeRetryMs: number;
}

export interface InstitutionHandlerOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly delays: () => Delays;
  readonly sender: NoticeSender | undefined;
  readonly pageLines: number;
  readonly currency: string;
}

type PreparedOperation = PreparedRequest<FaultOccasion, FaultName>;

export interface InstitutionServerOptions {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly handler: InstitutionHandler;
  readonly faults: Pick<InstitutionFaults, 'take'>;
  readonly timers: Timers;
  readonly delays: () => Delays;
}

export function createInstitutionServer(options: InstitutionServerOptions): FastifyInstance {
  const { handler, faults, delays, ...rest } = options;
  return createFaultyServer({
    ...rest,
    operations: OPERATIONS,
    prepare: (operation, fields, idempotencyKey) => handler.prepare(operation, fields, idempotencyKey),
    takeFault: (occasion) => faults.take(occasion),
    answerMs: () => delays().answerMs,
  });
}

/** Executes the operations of the bridge. */
export class InstitutionHandler {
  readonly #options: InstitutionHandlerOptions;
  /** The notices of the fault `late-notice`, which wait until the service queries. */
  readonly #held = new Map<string, OwedNotice>();

  constructor(options: InstitutionHandlerOptions) {
    this.#options = options;
  }

  /** Continues operations that a stop or a crash interrupted. */
  resume(): void {
    const { ledger } = this.#options;
    for (const { attemptNo, result } of ledger.debits.values()) {
      if (result.status === 'PENDING') this.#at(result.dueAt, () => this.settleDebit(attemptNo));
    }
    for (const { refundNo, result } of ledger.refunds.values()) {
      if (result.status === 'PENDING') this.#at(result.dueAt, () => this.#settleRefund(refundNo));
    }
    for (const owed of ledger.owedNotices.values()) this.#send(owed);
  }

  prepare(operation: Operation, fields: Fields, idempotencyKey: string | undefined): PreparedOperation {
    const { currency } = this.#options;
    if (operation === 'handshake') return prepared('handshake', {}, () => ({ currency }));
    requireSameCurrency(fields, currency);
    const operations = {
      'bind-code': () => this.#bindCode(fields),
      'bind-confirm': () => this.#bindConfirm(fields),
      debit: () => this.#debit(fields, idempotencyKey),
      'debit-query': () => this.#debitQuery(fields),
      refund: () => this.#refund(fields, idempotencyKey),
      'refund-query': () => this.#refundQuery(fields),
      'agreement-cancel': () => this.#agreementCancel(fields),
      statement: () => this.#statement(fields),
    };
    return operations[operation]();
  }

  /** Settles a pending debit. Returns false if no pending debit has this number. */
  settleDebit(attemptNo: string): boolean {
    const { ledger, clock } = this.#options;
    const debit = ledger.debits.get(attemptNo);
    if (debit?.result.status !== 'PENDING') return false;
    const { becomes, notice } = debit.result;
    debit.result = becomes;
    debit.booked = ledger.book(clock.now());
    ledger.debits.set(attemptNo, debit);
    const owed = this.#owe({ noticeNo: `N-${debit.ref}`, about: { attemptNo }, manner: notice });
    if (notice === 'late') this.#held.set(attemptNo, owed);
    else this.#send(owed);
    return true;
  }

  /** Ends an agreement, as a bank would if its customer revoked the mandate. */
  endAgreement(institutionNo: string, reason: string): void {
    const { ledger } = this.#options;
    if (ledger.canceled.has(institutionNo)) return;
    ledger.canceled.set(institutionNo, reason);
    const about = { institutionNo, reason };
    this.#send(this.#owe({ noticeNo: `N-A${randomCode()}`, about, manner: 'plain' }));
  }

  #bindCode(fields: Fields): PreparedOperation {
    const { bindOrderNo, card } = readBindCode(fields);
    const cardTail = card.bankCardNo.slice(-4);
    const { bindings } = this.#options.ledger;
    return prepared('bind-code', { tail: cardTail }, () => {
      const state = bindings.get(bindOrderNo)?.state;
      if (state === 'BOUND') return { status: 'NOT_SENT', reason: 'this binding is already complete' };
      if (card.bankMobile.endsWith('9')) return { status: 'NOT_SENT', reason: 'the number cannot be reached' };
      bindings.set(bindOrderNo, { cardTail, state: 'CODE_SENT' });
      return { status: 'SENT', reference: bindReference(bindOrderNo) };
    });
  }

  #bindConfirm(fields: Fields): PreparedOperation {
    const { bindOrderNo, smsCode, reference = bindReference(String(fields['bindOrderNo'])) } = readBindConfirm(fields);
    const { bindings, bound } = this.#options.ledger;
    const binding = bindings.get(bindOrderNo);
    return prepared('bind-confirm', { tail: binding?.cardTail }, () => {
      if (binding === undefined || reference !== bindReference(bindOrderNo)) {
        return { status: 'REFUSED', reason: 'no code was sent for this binding' };
      }
      const refusal = { status: 'REFUSED', reason: 'the bank refuses this card' };
      // A request that is repeated because its response was lost gets the same response.
      if (binding.state === 'REFUSED') return refusal;
      if (binding.state === 'BOUND') return { status: 'BOUND', institutionNo: binding.institutionNo };
      if (smsCode === '000000') return { status: 'WRONG_CODE', reason: 'the code is wrong' };
      if (smsCode === '999999') {
        bindings.set(bindOrderNo, { ...binding, state: 'REFUSED' });
        return refusal;
      }
      const institutionNo = `RA${randomCode()}`;
      bindings.set(bindOrderNo, { ...binding, state: 'BOUND', institutionNo });
      const appId = numberOf(fields['appId']);
      bound.set(institutionNo, { cardTail: binding.cardTail, ...(appId !== undefined && { appId }) });
      return { status: 'BOUND', institutionNo };
    });
  }

  #debit(fields: Fields, idempotencyKey: string | undefined): PreparedOperation {
    const { attemptNo, institutionNo, amountCent: askedCent, appId } = readDebit(fields, idempotencyKey);
    const { ledger, clock } = this.#options;
    const before = ledger.arrivals.get(attemptNo) ?? 0;
    const target = { tail: ledger.tailOf(institutionNo), number: attemptNo, first: before === 0 };
    const recordArrival = () => void ledger.arrivals.set(attemptNo, before + 1);
    const run = (fault: FaultName | undefined) => {
      recordArrival();
      const known = ledger.debits.get(attemptNo);
      if (known !== undefined) {
        if (known.askedCent === askedCent && known.institutionNo === institutionNo) return toDebitMessage(known);
        throw new NumberConflict('this attemptNo was used for another amount or agreement');
      }
      const takenAt = clock.now();
      const channel = appId === undefined ? {} : { appId };
      const result = this.#decideDebit(fault, { institutionNo, askedCent, takenAt, ...channel });
      const common = { attemptNo, institutionNo, ...channel, askedCent, ref: this.#nextRef(), takenAt };
      const debit = { ...common, result, booked: ledger.book(takenAt), refundedCent: 0 };
      ledger.debits.set(attemptNo, debit);
      if (result.status === 'PENDING') this.#at(result.dueAt, () => this.settleDebit(attemptNo));
      if (fault === 'agreement-ended') this.endAgreement(institutionNo, 'ended by the customer');
      const message = toDebitMessage(debit);
      return fault === 'wrong-amount' ? withOneCentMore(message) : message;
    };
    return { ...prepared('debit', target, run), recordArrival };
  }

  #decideDebit(
    fault: FaultName | undefined,
    asked: { institutionNo: string; askedCent: number; takenAt: number; appId?: string },
  ): DebitResult {
    const { ledger, delays } = this.#options;
    const { institutionNo, askedCent, takenAt, appId } = asked;
    if (ledger.canceled.has(institutionNo)) {
      return { status: 'DECLINED', decline: 'AGREEMENT_INVALID', reason: 'the agreement has ended' };
    }
    if (fault === 'foreign-channel' && ledger.isOfAnotherChannel(institutionNo, appId)) {
      return { status: 'DECLINED', decline: 'FINAL', reason: 'the agreement belongs to another channel' };
    }
    return decideDebit(fault, askedCent, takenAt + delays().settleMs);
  }

  #debitQuery(fields: Fields): PreparedOperation {
    const attemptNo = requireField(numberOf(fields['attemptNo']), 'attemptNo');
    const { ledger, timers, delays } = this.#options;
    const debit = ledger.debits.get(attemptNo);
    const tail = debit === undefined ? undefined : ledger.tailOf(debit.institutionNo);
    return prepared('debit-query', { tail, number: attemptNo }, () => {
      if (debit === undefined) return { attemptNo, status: 'NOT_FOUND' };
      const held = this.#held.get(attemptNo);
      if (held !== undefined) {
        this.#held.delete(attemptNo);
        timers.after(delays().lateNoticeMs, () => this.#send(held));
      }
      return toDebitMessage(debit);
    });
  }

  #refund(fields: Fields, idempotencyKey: string | undefined): PreparedOperation {
    const { refundNo, attemptNo, amountCent } = readRefund(fields, idempotencyKey);
    const { ledger, clock, delays } = this.#options;
    const debit = ledger.debits.get(attemptNo);
    const known = ledger.refunds.get(refundNo);
    const tail = debit === undefined ? undefined : ledger.tailOf(debit.institutionNo);
    return prepared('refund', { tail, number: refundNo, first: known === undefined }, (fault) => {
      if (known !== undefined) {
        if (known.attemptNo === attemptNo && known.amountCent === amountCent) return toRefundMessage(known);
        throw new NumberConflict('this refundNo was used for another debit or amount');
      }
      const at = clock.now();
      const result = decideRefund(debit, amountCent, fault, at + delays().settleMs);
      const refund = { refundNo, attemptNo, amountCent, ref: this.#nextRef(), result, booked: ledger.book(at) };
      ledger.refunds.set(refundNo, refund);
      if (result.status !== 'REFUSED') this.#countRefunded(attemptNo, amountCent);
      if (result.status === 'PENDING') this.#at(result.dueAt, () => this.#settleRefund(refundNo));
      const message = toRefundMessage(refund);
      return fault === 'refund-wrong-amount' ? withOneCentMore(message) : message;
    });
  }

  #refundQuery(fields: Fields): PreparedOperation {
    const refundNo = readRefundNo(fields);
    return prepared('refund-query', { number: refundNo }, () => {
      const refund = this.#options.ledger.refunds.get(refundNo);
      return refund === undefined ? { refundNo, status: 'NOT_FOUND' } : toRefundMessage(refund);
    });
  }

  #agreementCancel(fields: Fields): PreparedOperation {
    const institutionNo = readCancellation(fields);
    const { ledger } = this.#options;
    return prepared('agreement-cancel', { tail: ledger.tailOf(institutionNo) }, (fault) => {
      if (!ledger.canceled.has(institutionNo)) {
        if (fault === 'cancel-refused') return { status: 'REFUSED', reason: 'the bank keeps this agreement' };
        ledger.canceled.set(institutionNo, 'canceled by the service');
      }
      return { status: 'CANCELED' };
    });
  }

  #statement(fields: Fields): PreparedOperation {
    const { day, cursor = '0' } = readStatementPage(fields);
    if (!/^\d{1,15}$/.test(cursor)) throw new BadMessage('cursor is invalid');
    const { ledger, pageLines } = this.#options;
    return prepared('statement', {}, () => {
      const { lines, next } = ledger.statement(day, Number(cursor), pageLines);
      return { day, lines, nextCursor: next === undefined ? null : String(next) };
    });
  }

  #settleRefund(refundNo: string): void {
    const { ledger, clock } = this.#options;
    const refund = ledger.refunds.get(refundNo);
    if (refund?.result.status !== 'PENDING') return;
    const { becomes: refused } = refund.result;
    if (refused !== undefined) this.#countRefunded(refund.attemptNo, -refund.amountCent);
    refund.result = refused ?? { status: 'SUCCESS' };
    refund.booked = ledger.book(clock.now());
    ledger.refunds.set(refundNo, refund);
  }

  #countRefunded(attemptNo: string, amountCent: number): void {
    const { debits } = this.#options.ledger;
    const debit = requireField(debits.get(attemptNo), 'debit');
    debit.refundedCent += amountCent;
    debits.set(attemptNo, debit);
  }

  #owe(owed: OwedNotice): OwedNotice {
    this.#options.ledger.owedNotices.set(owed.noticeNo, owed);
    return owed;
  }

  #send({ noticeNo, about, manner }: OwedNotice): void {
    const { sender, ledger } = this.#options;
    const message: NoticeMessage =
      'attemptNo' in about
        ? { kind: 'DEBIT', noticeNo, ...toDebitMessage(requireField(ledger.debits.get(about.attemptNo), 'debit')) }
        : { kind: 'AGREEMENT_CANCELED', noticeNo, ...about };
    sender?.send(message, manner, () => void ledger.owedNotices.delete(noticeNo));
  }

  #at(due: number, act: () => unknown): void {
    const { timers, clock } = this.#options;
    timers.after(due - clock.now(), () => void act());
  }

  #nextRef(): string {
    const { debits, refunds } = this.#options.ledger;
    return `RI${String(debits.size + refunds.size + 1).padStart(12, '0')}`;
  }
}

function prepared(
  operation: Operation,
  target: { readonly tail?: string | undefined; readonly number?: string; readonly first?: boolean },
  run: PreparedOperation['run'],
): PreparedOperation {
  const { tail, number, first = true } = target;
  return { occasion: { operation, tail, number, first }, run };
}

const withOneCentMore = <Message extends { status: string; amountCent?: number }>(message: Message): Message =>
  message.amountCent === undefined ? message : { ...message, amountCent: message.amountCent + 1 };

function bindReference(bindOrderNo: string): string {
  return `RC-${bindOrderNo}`;
}

function randomCode(): string {
  return Buffer.from(randomBytes(8)).toString('hex').toUpperCase();
}
