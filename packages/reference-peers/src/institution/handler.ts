import { BadMessage, NumberConflict, requireField, requireSameCurrency } from '@perennial/bridge-kit/server';
import { randomBytes } from '@perennial/wire';
import {
  type Fields,
  fieldsOf,
  MAX_TEXT_LENGTH,
  type NoticeMessage,
  numberOf,
  type Operation,
  positiveOf,
  type StatementMessage,
  textOf,
  timeOf,
} from '@perennial/wire/bridge';
import type { Clock } from '../shared/clock.js';
import type { PreparedRequest } from '../shared/faulty-server.js';
import type { Journal } from '../shared/journal.js';
import type { Timers } from '../shared/timers.js';
import type { FaultName, FaultOccasion } from './faults.js';
import type { DebitResult, JournalEntry, Ledger, OwedNotice } from './ledger.js';
import type { NoticeSender } from './notices.js';
import { decideDebit, decideRefund, toDebitMessage, toRefundMessage } from './results.js';

/** How long things take that are slow on purpose. */
export interface Delays {
  /** Until a pending debit or refund has its result. */
  readonly settleMs: number;
  /** Of the fault `delay`: longer than any deadline of the service. */
  readonly answerMs: number;
  /** From the answer to a query until the late notice. */
  readonly lateNoticeMs: number;
  readonly noticeRetryMs: number;
  readonly longestNoticeRetryMs: number;
}

export interface InstitutionHandlerOptions {
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly delays: () => Delays;
  readonly sender: NoticeSender | undefined;
  readonly pageLines: number;
  readonly currency: string;
}

type PreparedOperation = PreparedRequest<FaultOccasion, FaultName>;

/** Carries out the operations of the bridge. Nothing is answered before it is in the journal on the disk. */
export class InstitutionHandler {
  readonly #options: InstitutionHandlerOptions;
  /** Late notices that wait for a query. */
  readonly #held = new Map<string, OwedNotice>();

  constructor(options: InstitutionHandlerOptions) {
    this.#options = options;
  }

  /** Continues what a stop or a crash has interrupted. */
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
    if (operation === 'handshake') return this.#prepared('handshake', {}, async () => ({ currency }));
    requireSameCurrency(fields, currency);
    switch (operation) {
      case 'bind-code':
        return this.#bindCode(fields);
      case 'bind-confirm':
        return this.#bindConfirm(fields);
      case 'debit':
        return this.#debit(fields, idempotencyKey);
      case 'debit-query':
        return this.#debitQuery(fields);
      case 'refund':
        return this.#refund(fields, idempotencyKey);
      case 'refund-query':
        return this.#refundQuery(fields);
      case 'agreement-cancel':
        return this.#agreementCancel(fields);
      case 'statement':
        return this.#statement(fields);
    }
  }

  /** Whether there was anything to settle. */
  async settleDebit(attemptNo: string): Promise<boolean> {
    const { ledger, clock } = this.#options;
    const debit = ledger.debits.get(attemptNo);
    if (debit?.result.status !== 'PENDING') return false;
    const { notice } = debit.result;
    await this.#record({ type: 'debit-settled', at: clock.now(), attemptNo });
    const owed = ledger.owedNotices.get(`N-${debit.ref}`);
    if (owed !== undefined && notice === 'late') this.#held.set(attemptNo, owed);
    else if (owed !== undefined) this.#send(owed);
    return true;
  }

  /** As a bank does whose customer takes the mandate back. */
  async endAgreement(institutionNo: string, reason: string): Promise<void> {
    const { ledger, clock } = this.#options;
    if (ledger.canceled.has(institutionNo)) return;
    const noticeNo = `N-A${randomCode()}`;
    await this.#record({ type: 'agreement-canceled', at: clock.now(), institutionNo, noticeNo, reason });
    const owed = ledger.owedNotices.get(noticeNo);
    if (owed !== undefined) this.#send(owed);
  }

  #bindCode(fields: Fields): PreparedOperation {
    const bindOrderNo = requireField(numberOf(fields['bindOrderNo']), 'bindOrderNo');
    const card = requireField(fieldsOf(fields['card']), 'card');
    const bankCardNo = requireField(textOf(card['bankCardNo'], MAX_TEXT_LENGTH), 'card.bankCardNo');
    const bankMobile = requireField(textOf(card['bankMobile'], MAX_TEXT_LENGTH), 'card.bankMobile');
    for (const name of ['certificateNo', 'certType', 'realName']) {
      requireField(textOf(card[name], MAX_TEXT_LENGTH), `card.${name}`);
    }
    const cardTail = bankCardNo.slice(-4);
    return this.#prepared('bind-code', { tail: cardTail }, async () => {
      const { ledger, clock } = this.#options;
      const state = ledger.bindings.get(bindOrderNo)?.state;
      if (state === 'BOUND') return { status: 'NOT_SENT', reason: 'this binding is finished' };
      if (bankMobile.endsWith('9')) return { status: 'NOT_SENT', reason: 'the number cannot be reached' };
      await this.#record({ type: 'code-sent', at: clock.now(), bindOrderNo, cardTail });
      return { status: 'SENT', reference: bindReference(bindOrderNo) };
    });
  }

  #bindConfirm(fields: Fields): PreparedOperation {
    const bindOrderNo = requireField(numberOf(fields['bindOrderNo']), 'bindOrderNo');
    const smsCode = requireField(textOf(fields['smsCode'], MAX_TEXT_LENGTH), 'smsCode');
    const reference = fields['reference'] ?? bindReference(bindOrderNo);
    const binding = this.#options.ledger.bindings.get(bindOrderNo);
    return this.#prepared('bind-confirm', { tail: binding?.cardTail }, async () => {
      if (binding === undefined || reference !== bindReference(bindOrderNo)) {
        return { status: 'REFUSED', reason: 'no code was sent for this binding' };
      }
      if (binding.state === 'CODE_SENT' && smsCode === '000000') {
        return { status: 'WRONG_CODE', reason: 'the code is wrong' };
      }
      const at = this.#options.clock.now();
      if (binding.state === 'CODE_SENT' && smsCode === '999999') {
        await this.#record({ type: 'bind-refused', at, bindOrderNo });
      } else if (binding.state === 'CODE_SENT') {
        await this.#record({
          type: 'bound',
          at,
          bindOrderNo,
          institutionNo: `RA${randomCode()}`,
          ...pickChannel(fields),
        });
      } else await this.#options.journal.untilSynced();
      // The same answer when it is asked again after a lost answer.
      return binding.institutionNo === undefined
        ? { status: 'REFUSED', reason: 'the bank refuses this card' }
        : { status: 'BOUND', institutionNo: binding.institutionNo };
    });
  }

  #debit(fields: Fields, idempotencyKey: string | undefined): PreparedOperation {
    const attemptNo = requireField(numberOf(fields['attemptNo']), 'attemptNo');
    if (idempotencyKey !== attemptNo) throw new BadMessage('header Idempotency-Key must be the attemptNo');
    const institutionNo = requireField(textOf(fields['institutionNo'], MAX_TEXT_LENGTH), 'institutionNo');
    const askedCent = requireField(positiveOf(fields['amountCent']), 'amountCent');
    requireField(numberOf(fields['orderNo']), 'orderNo');
    requireField(positiveOf(fields['cycleNo']), 'cycleNo');
    requireField(textOf(fields['externalOrderNo'], MAX_TEXT_LENGTH), 'externalOrderNo');
    requireField(timeOf(fields['startedAt']), 'startedAt');
    const channel = pickChannel(fields);
    const { ledger, clock, delays } = this.#options;
    const first = !ledger.arrivals.has(attemptNo);
    const target = { tail: ledger.tailOf(institutionNo), number: attemptNo, first };
    const arrive = () => this.#record({ type: 'arrival', at: clock.now(), attemptNo });
    return this.#prepared(
      'debit',
      target,
      async (fault) => {
        const before = ledger.debits.get(attemptNo);
        if (before !== undefined) {
          // This line is behind that of the debit, so once it is on the disk, both are.
          await arrive();
          if (before.askedCent === askedCent && before.institutionNo === institutionNo) return toDebitMessage(before);
          throw new NumberConflict('this attemptNo was used for another amount or agreement');
        }
        const at = clock.now();
        const isForeign = fault === 'foreign-channel' && ledger.isOfAnotherChannel(institutionNo, channel.appId);
        const result: DebitResult = ledger.canceled.has(institutionNo)
          ? { status: 'DECLINED', decline: 'AGREEMENT_INVALID', reason: 'the agreement has ended' }
          : isForeign
            ? { status: 'DECLINED', decline: 'FINAL', reason: 'the agreement is of another channel' }
            : decideDebit(fault, askedCent, at + delays().settleMs);
        const ref = this.#nextRef();
        await this.#record({ type: 'debit', at, attemptNo, institutionNo, ...channel, askedCent, ref, result });
        if (result.status === 'PENDING') this.#at(result.dueAt, () => this.settleDebit(attemptNo));
        if (fault === 'agreement-ended') await this.endAgreement(institutionNo, 'ended by the customer');
        const message = toDebitMessage(requireField(ledger.debits.get(attemptNo), 'debit'));
        return fault === 'wrong-amount' && message.status === 'SUCCESS'
          ? { ...message, amountCent: message.amountCent + 1 }
          : message;
      },
      arrive,
    );
  }

  #debitQuery(fields: Fields): PreparedOperation {
    const attemptNo = requireField(numberOf(fields['attemptNo']), 'attemptNo');
    const { ledger, journal, timers, delays } = this.#options;
    const debit = ledger.debits.get(attemptNo);
    const tail = debit === undefined ? undefined : ledger.tailOf(debit.institutionNo);
    return this.#prepared('debit-query', { tail, number: attemptNo }, async () => {
      await journal.untilSynced();
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
    const refundNo = requireField(numberOf(fields['refundNo']), 'refundNo');
    if (idempotencyKey !== refundNo) throw new BadMessage('header Idempotency-Key must be the refundNo');
    const attemptNo = requireField(numberOf(fields['attemptNo']), 'attemptNo');
    const amountCent = requireField(positiveOf(fields['amountCent']), 'amountCent');
    const { ledger, journal, clock, delays } = this.#options;
    const debit = ledger.debits.get(attemptNo);
    const target = {
      tail: debit === undefined ? undefined : ledger.tailOf(debit.institutionNo),
      number: refundNo,
      first: !ledger.refunds.has(refundNo),
    };
    return this.#prepared('refund', target, async (fault) => {
      const before = ledger.refunds.get(refundNo);
      if (before !== undefined) {
        await journal.untilSynced();
        if (before.attemptNo === attemptNo && before.amountCent === amountCent) return toRefundMessage(before);
        throw new NumberConflict('this refundNo was used for another debit or amount');
      }
      const at = clock.now();
      const result = decideRefund(debit, amountCent, fault, at + delays().settleMs);
      const ref = this.#nextRef();
      const durable = this.#record({ type: 'refund', at, refundNo, attemptNo, amountCent, ref, result });
      const refund = requireField(ledger.refunds.get(refundNo), 'refund');
      await durable;
      if (result.status === 'PENDING') this.#at(result.dueAt, () => this.#settleRefund(refundNo));
      const message = toRefundMessage(refund);
      return fault === 'refund-wrong-amount' && message.status === 'SUCCESS'
        ? { ...message, amountCent: message.amountCent + 1 }
        : message;
    });
  }

  #refundQuery(fields: Fields): PreparedOperation {
    const refundNo = requireField(numberOf(fields['refundNo']), 'refundNo');
    const { ledger, journal } = this.#options;
    return this.#prepared('refund-query', { number: refundNo }, async () => {
      const refund = ledger.refunds.get(refundNo);
      await journal.untilSynced();
      return refund === undefined ? { refundNo, status: 'NOT_FOUND' } : toRefundMessage(refund);
    });
  }

  #agreementCancel(fields: Fields): PreparedOperation {
    const institutionNo = requireField(textOf(fields['institutionNo'], MAX_TEXT_LENGTH), 'institutionNo');
    requireField(numberOf(fields['agreementNo']), 'agreementNo');
    const { ledger, journal, clock } = this.#options;
    return this.#prepared('agreement-cancel', { tail: ledger.tailOf(institutionNo) }, async (fault) => {
      if (ledger.canceled.has(institutionNo)) await journal.untilSynced();
      else if (fault === 'cancel-refused') return { status: 'REFUSED', reason: 'the bank keeps this agreement' };
      else {
        const reason = 'canceled by the service';
        await this.#record({ type: 'agreement-canceled', at: clock.now(), institutionNo, reason });
      }
      return { status: 'CANCELED' };
    });
  }

  #statement(fields: Fields): PreparedOperation {
    const day = fields['day'];
    if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day)) throw new BadMessage('day must be yyyy-MM-dd');
    const cursor = fields['cursor'] ?? '0';
    if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw new BadMessage('cursor is not one of ours');
    const { ledger, journal, pageLines } = this.#options;
    return this.#prepared('statement', {}, async (): Promise<StatementMessage> => {
      const { lines, next } = ledger.statement(day, Number(cursor), pageLines);
      await journal.untilSynced();
      return { day, lines, nextCursor: next === undefined ? null : String(next) };
    });
  }

  #prepared(
    operation: Operation,
    target: { readonly tail?: string | undefined; readonly number?: string; readonly first?: boolean },
    run: PreparedOperation['run'],
    arrive: () => Promise<void> = async () => undefined,
  ): PreparedOperation {
    const { tail, number, first = true } = target;
    return { occasion: { operation, tail, number, first }, run, recordArrival: arrive };
  }

  async #settleRefund(refundNo: string): Promise<void> {
    const { ledger, clock } = this.#options;
    if (ledger.refunds.get(refundNo)?.result.status !== 'PENDING') return;
    await this.#record({ type: 'refund-settled', at: clock.now(), refundNo });
  }

  #send({ noticeNo, about, manner }: OwedNotice): void {
    const { sender, clock } = this.#options;
    const message: NoticeMessage =
      'debit' in about
        ? { kind: 'DEBIT', noticeNo, ...toDebitMessage(about.debit) }
        : { kind: 'AGREEMENT_CANCELED', noticeNo, institutionNo: about.institutionNo, reason: about.reason };
    sender?.send(message, manner, () => this.#record({ type: 'notice-accepted', at: clock.now(), noticeNo }));
  }

  /** In memory at once, so that the next request sees it. The promise resolves when it is on the disk. */
  #record(entry: JournalEntry): Promise<void> {
    this.#options.ledger.apply(entry);
    return this.#options.journal.append(entry);
  }

  #at(due: number, act: () => Promise<unknown>): void {
    const { timers, clock } = this.#options;
    // A failure of the journal is answered to every request; here no request waits.
    timers.after(due - clock.now(), () => void act().catch(() => undefined));
  }

  #nextRef(): string {
    const { debits, refunds } = this.#options.ledger;
    return `RI${String(debits.size + refunds.size + 1).padStart(12, '0')}`;
  }
}

/** The channel that a request is for. Empty for a service of an older version, which does not name it. */
function pickChannel(fields: Fields): { readonly appId?: string } {
  const appId = numberOf(fields['appId']);
  return appId === undefined ? {} : { appId };
}

function bindReference(bindOrderNo: string): string {
  return `RC-${bindOrderNo}`;
}

function randomCode(): string {
  return Buffer.from(randomBytes(8)).toString('hex').toUpperCase();
}
