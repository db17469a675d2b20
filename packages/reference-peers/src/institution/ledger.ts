import { formatTime } from '@perennial/wire';
import type { LineMessage, WireDecline } from '@perennial/wire/bridge';
import { PeerError } from '../shared/peer-error.js';

/** How the notice of a pending debit's result goes out. */
export type NoticeManner = 'plain' | 'duplicate' | 'late' | 'forged';

export type SettledResult =
  | { readonly status: 'SUCCESS'; readonly amountCent: number }
  | { readonly status: 'DECLINED'; readonly decline: WireDecline; readonly reason: string };
export type DebitResult =
  | SettledResult
  | {
      readonly status: 'PENDING';
      readonly dueAt: number;
      readonly becomes: SettledResult;
      readonly notice: NoticeManner;
    };
type RefusedRefund = { readonly status: 'REFUSED'; readonly reason: string };
export type RefundResult =
  | { readonly status: 'SUCCESS' }
  | RefusedRefund
  /** Becomes a success unless it says otherwise. */
  | { readonly status: 'PENDING'; readonly dueAt: number; readonly becomes?: RefusedRefund };

/** A line of the journal. Without card number, name or mobile: only the tail of a card is kept. */
export type JournalEntry =
  | { readonly type: 'code-sent'; readonly at: number; readonly bindOrderNo: string; readonly cardTail: string }
  | {
      readonly type: 'bound';
      readonly at: number;
      readonly bindOrderNo: string;
      readonly institutionNo: string;
      readonly appId?: string;
    }
  | { readonly type: 'bind-refused'; readonly at: number; readonly bindOrderNo: string }
  | {
      readonly type: 'agreement-canceled';
      readonly at: number;
      readonly institutionNo: string;
      /** By the institution itself, which then owes a notice of it. */
      readonly noticeNo?: string;
      readonly reason: string;
    }
  | {
      readonly type: 'debit';
      readonly at: number;
      readonly attemptNo: string;
      readonly institutionNo: string;
      /** The channel. Lines from before the protocol named it have none. */
      readonly appId?: string;
      readonly askedCent: number;
      readonly ref: string;
      readonly result: DebitResult;
    }
  | { readonly type: 'debit-settled'; readonly at: number; readonly attemptNo: string }
  /** A request with a known number, with another amount, or one that fails: no new debit. */
  | { readonly type: 'arrival'; readonly at: number; readonly attemptNo: string }
  | {
      readonly type: 'refund';
      readonly at: number;
      readonly refundNo: string;
      readonly attemptNo: string;
      readonly amountCent: number;
      readonly ref: string;
      readonly result: RefundResult;
    }
  | { readonly type: 'refund-settled'; readonly at: number; readonly refundNo: string }
  | { readonly type: 'notice-accepted'; readonly at: number; readonly noticeNo: string };

/** When something was booked, and where it stands in its day's statement. */
export interface BookedPlace {
  readonly at: number;
  readonly day: string;
  readonly position: number;
}
const NOT_BOOKED: BookedPlace = { at: 0, day: '', position: -1 };

export interface Debit {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly appId: string | undefined;
  readonly askedCent: number;
  readonly ref: string;
  readonly takenAt: number;
  result: DebitResult;
  booked: BookedPlace;
  /** Successful and pending refunds together. */
  refundedCent: number;
}

export interface LedgerRefund {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
  readonly ref: string;
  result: RefundResult;
  booked: BookedPlace;
}

export interface Binding {
  readonly cardTail: string;
  state: 'CODE_SENT' | 'BOUND' | 'REFUSED';
  institutionNo: string | undefined;
}

export interface OwedNotice {
  readonly noticeNo: string;
  readonly about: { readonly debit: Debit } | { readonly institutionNo: string; readonly reason: string };
  readonly manner: NoticeManner;
}

/** The state after all entries, replayed or new. It makes no decisions. */
export class Ledger {
  readonly debits = new Map<string, Debit>();
  readonly refunds = new Map<string, LedgerRefund>();
  readonly bindings = new Map<string, Binding>();
  readonly arrivals = new Map<string, number>();
  readonly canceled = new Set<string>();
  readonly owedNotices = new Map<string, OwedNotice>();
  /** By the number of an agreement: the channel that bound it, or first debited it. */
  readonly #channels = new Map<string, string>();
  /** The tails of the cards that were bound here. */
  readonly #tails = new Map<string, string>();
  /** In the order of booking, so that a position is a cursor. */
  readonly #days = new Map<string, (Debit | LedgerRefund)[]>();

  apply(entry: JournalEntry): void {
    switch (entry.type) {
      case 'code-sent':
        this.bindings.set(entry.bindOrderNo, {
          cardTail: entry.cardTail,
          state: 'CODE_SENT',
          institutionNo: undefined,
        });
        return;
      case 'bound': {
        const binding = requireKnown(this.bindings, entry.bindOrderNo);
        binding.state = 'BOUND';
        binding.institutionNo = entry.institutionNo;
        this.#tails.set(entry.institutionNo, binding.cardTail);
        this.#used(entry.institutionNo, entry.appId);
        return;
      }
      case 'bind-refused':
        requireKnown(this.bindings, entry.bindOrderNo).state = 'REFUSED';
        return;
      case 'agreement-canceled': {
        const { institutionNo, noticeNo, reason } = entry;
        this.canceled.add(institutionNo);
        if (noticeNo !== undefined) {
          this.owedNotices.set(noticeNo, { noticeNo, about: { institutionNo, reason }, manner: 'plain' });
        }
        return;
      }
      case 'debit': {
        const { attemptNo, institutionNo, appId, askedCent, ref, result, at } = entry;
        if (this.debits.has(attemptNo)) throw new PeerError(`the journal debits ${attemptNo} twice`);
        const debit = {
          attemptNo,
          institutionNo,
          appId,
          askedCent,
          ref,
          takenAt: at,
          result,
          booked: NOT_BOOKED,
          refundedCent: 0,
        };
        this.debits.set(attemptNo, debit);
        this.#used(institutionNo, appId);
        this.#arrived(attemptNo);
        this.#book(debit, at);
        return;
      }
      case 'debit-settled': {
        const debit = requireKnown(this.debits, entry.attemptNo);
        if (debit.result.status !== 'PENDING') throw new PeerError(`the journal settles ${entry.attemptNo} twice`);
        const { becomes, notice } = debit.result;
        debit.result = becomes;
        this.#book(debit, entry.at);
        const noticeNo = `N-${debit.ref}`;
        this.owedNotices.set(noticeNo, { noticeNo, about: { debit }, manner: notice });
        return;
      }
      case 'arrival':
        this.#arrived(entry.attemptNo);
        return;
      case 'refund': {
        const { refundNo, attemptNo, amountCent, ref, result, at } = entry;
        const refund = { refundNo, attemptNo, amountCent, ref, result, booked: NOT_BOOKED };
        this.refunds.set(refundNo, refund);
        if (result.status !== 'REFUSED') requireKnown(this.debits, attemptNo).refundedCent += amountCent;
        this.#book(refund, at);
        return;
      }
      case 'refund-settled': {
        const refund = requireKnown(this.refunds, entry.refundNo);
        const refused = refund.result.status === 'PENDING' ? refund.result.becomes : undefined;
        if (refused !== undefined) requireKnown(this.debits, refund.attemptNo).refundedCent -= refund.amountCent;
        refund.result = refused ?? { status: 'SUCCESS' };
        this.#book(refund, entry.at);
        return;
      }
      case 'notice-accepted':
        this.owedNotices.delete(entry.noticeNo);
        return;
      default:
        throw new PeerError('the journal holds a line that this version does not know');
    }
  }

  /** Of the bound card; any other agreement is one that the channel shared, and its own text counts. */
  tailOf(institutionNo: string): string {
    return this.#tails.get(institutionNo) ?? institutionNo.slice(-4);
  }

  /** Whether another channel was the first to use the agreement. */
  isOfAnotherChannel(institutionNo: string, appId: string | undefined): boolean {
    const first = this.#channels.get(institutionNo);
    return first !== undefined && first !== appId;
  }

  /** A page of what was booked on a day, and where the next one starts. */
  statement(day: string, from: number, size: number): { lines: LineMessage[]; next: number | undefined } {
    const booked = this.#days.get(day) ?? [];
    const lines: LineMessage[] = [];
    let position = from;
    for (; position < booked.length && lines.length < size; position += 1) {
      const item = booked[position];
      if (item === undefined || item.booked.day !== day || item.booked.position !== position) continue;
      lines.push('refundNo' in item ? toRefundLine(item) : toDebitLine(item));
    }
    return { lines, next: position < booked.length ? position : undefined };
  }

  #used(institutionNo: string, appId: string | undefined): void {
    if (appId !== undefined && !this.#channels.has(institutionNo)) this.#channels.set(institutionNo, appId);
  }

  #arrived(attemptNo: string): void {
    this.arrivals.set(attemptNo, (this.arrivals.get(attemptNo) ?? 0) + 1);
  }

  /** A pending item is booked again on the day when it is settled; its former position in the statement stays empty. */
  #book(item: Debit | LedgerRefund, at: number): void {
    const day = formatTime(at).slice(0, 10);
    const booked = this.#days.get(day) ?? [];
    if (booked.length === 0) this.#days.set(day, booked);
    item.booked = { at, day, position: booked.length };
    booked.push(item);
  }
}

function toDebitLine({ attemptNo, askedCent, ref, result, booked }: Debit): LineMessage {
  return {
    kind: 'DEBIT',
    number: attemptNo,
    amountCent: result.status === 'SUCCESS' ? result.amountCent : askedCent,
    status: result.status === 'DECLINED' ? 'FAIL' : result.status,
    bookedAt: booked.at,
    institutionRef: ref,
  };
}

function toRefundLine({ refundNo, amountCent, ref, result, booked }: LedgerRefund): LineMessage {
  return {
    kind: 'REFUND',
    number: refundNo,
    amountCent,
    status: result.status === 'REFUSED' ? 'FAIL' : result.status,
    bookedAt: booked.at,
    institutionRef: ref,
  };
}

function requireKnown<T>(items: ReadonlyMap<string, T>, number: string): T {
  const item = items.get(number);
  if (item === undefined) throw new PeerError(`the journal goes on with ${number}, which it never began`);
  return item;
}
