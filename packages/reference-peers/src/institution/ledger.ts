import { formatTime } from '@perennial/wire';
import type { DebitMessage, DeclineKind, LineMessage, RefundMessage, WireDecline } from '@perennial/wire/bridge';
import { type Book, openBook, type Table } from '../book.js';

/** How the notice of a pending debit's result is sent. */
export type NoticeManner = 'plain' | 'duplicate' | 'late' | 'forged';

export type SettledResult =
  | { readonly status: 'SUCCESS'; readonly amountCent: number }
  | {
      readonly status: 'DECLINED';
      readonly decline: WireDecline;
      readonly declineKind?: DeclineKind;
      readonly reason: string;
    };
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
  /** A pending refund. It succeeds at `dueAt`, unless `becomes` is set. */
  | { readonly status: 'PENDING'; readonly dueAt: number; readonly becomes?: RefusedRefund };

/** The time and position of a booking. The position is the cursor of statements. */
export interface BookedPlace {
  readonly at: number;
  readonly position: number;
}

export interface Debit {
  readonly attemptNo: string;
  readonly institutionNo: string;
  /** The channel. Undefined if the debit came from an older service, which does not name the channel. */
  readonly appId?: string;
  readonly askedCent: number;
  readonly ref: string;
  readonly takenAt: number;
  result: DebitResult;
  booked: BookedPlace;
  /** The sum of successful and pending refunds. */
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

/** A binding. Of the card, stores only the tail: no card number, name or mobile. */
export interface Binding {
  readonly cardTail: string;
  readonly state: 'CODE_SENT' | 'BOUND' | 'REFUSED';
  readonly institutionNo?: string;
}

export interface OwedNotice {
  readonly noticeNo: string;
  readonly about: { readonly attemptNo: string } | { readonly institutionNo: string; readonly reason: string };
  readonly manner: NoticeManner;
}

/** The institution's records. After changing a row, call `set` again, or the change is not stored. */
export class Ledger {
  readonly debits: Table<Debit>;
  readonly refunds: Table<LedgerRefund>;
  readonly bindings: Table<Binding>;
  /** Agreements bound here. */
  readonly bound: Table<{ readonly cardTail: string; readonly appId?: string }>;
  /** How often each attempt number arrived. */
  readonly arrivals: Table<number>;
  /** Reasons why agreements ended, by agreement number. */
  readonly canceled: Table<string>;
  readonly owedNotices: Table<OwedNotice>;
  #bookings = 0;

  constructor(book: Book = openBook()) {
    this.debits = book.table('debits');
    this.refunds = book.table('refunds');
    this.bindings = book.table('bindings');
    this.bound = book.table('bound');
    this.arrivals = book.table('arrivals');
    this.canceled = book.table('canceled');
    this.owedNotices = book.table('owedNotices');
    for (const { booked } of this.#items()) this.#bookings = Math.max(this.#bookings, booked.position);
  }

  /**
   * Returns the next position in the statement. A pending debit or refund gets a second position when it is settled.
   */
  book(at: number): BookedPlace {
    this.#bookings += 1;
    return { at, position: this.#bookings };
  }

  /** Returns the last four characters of the bound card, or of the agreement number if the channel shared it. */
  tailOf(institutionNo: string): string {
    return this.bound.get(institutionNo)?.cardTail ?? institutionNo.slice(-4);
  }

  /** Returns true if another channel bound the agreement or was the first to debit it. */
  isOfAnotherChannel(institutionNo: string, appId: string | undefined): boolean {
    const debits = [...this.debits.values()].filter((debit) => debit.institutionNo === institutionNo);
    const first = [this.bound.get(institutionNo), ...debits].find((one) => one?.appId !== undefined);
    return first !== undefined && first.appId !== appId;
  }

  /** Returns a page of the day's bookings, and the position at which the next page starts. */
  statement(day: string, from: number, size: number): { lines: LineMessage[]; next: number | undefined } {
    const items = [...this.#items()]
      .filter(({ booked: { at, position } }) => position >= from && formatTime(at).startsWith(day))
      .toSorted((one, other) => one.booked.position - other.booked.position);
    return { lines: items.slice(0, size).map(toLine), next: items[size]?.booked.position };
  }

  *#items(): Iterable<Debit | LedgerRefund> {
    yield* this.debits.values();
    yield* this.refunds.values();
  }
}

const LINE_STATUSES = { SUCCESS: 'SUCCESS', PENDING: 'PENDING', DECLINED: 'FAIL', REFUSED: 'FAIL' } as const;

function toLine(item: Debit | LedgerRefund): LineMessage {
  const { result, booked, ref } = item;
  const common = { status: LINE_STATUSES[result.status], bookedAt: booked.at, institutionRef: ref };
  if ('refundNo' in item) return { kind: 'REFUND', number: item.refundNo, amountCent: item.amountCent, ...common };
  const amountCent = item.result.status === 'SUCCESS' ? item.result.amountCent : item.askedCent;
  return { kind: 'DEBIT', number: item.attemptNo, amountCent, ...common };
}

export function toDebitMessage({ attemptNo, result, booked, ref }: Debit): DebitMessage {
  if (result.status === 'PENDING') return { attemptNo, status: 'PENDING' };
  if (result.status === 'DECLINED') return { attemptNo, ...result };
  return { attemptNo, ...result, paidAt: booked.at, institutionRef: ref };
}

export function toRefundMessage({ refundNo, amountCent, result, booked, ref }: LedgerRefund): RefundMessage {
  if (result.status === 'SUCCESS')
    return { refundNo, status: 'SUCCESS', amountCent, refundedAt: booked.at, institutionRef: ref };
  if (result.status === 'REFUSED') return { refundNo, ...result };
  return { refundNo, status: 'PENDING' };
}
