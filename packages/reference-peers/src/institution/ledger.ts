import { formatTime } from '@perennial/wire';
import type { DebitMessage, LineMessage, RefundMessage, WireDecline } from '@perennial/wire/bridge';
import { type Book, openBook, type Table } from '../book.js';

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

/** When something was booked, and its place among all bookings: the cursor of statements. */
export interface BookedPlace {
  readonly at: number;
  readonly position: number;
}

export interface Debit {
  readonly attemptNo: string;
  readonly institutionNo: string;
  /** Unset for a service of an older version, which does not name the channel. */
  readonly appId?: string;
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

/** A binding in progress. Without card number, name or mobile: only the tail of a card is kept. */
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

/** What the institution knows. A row that was changed is set again. */
export class Ledger {
  readonly debits: Table<Debit>;
  readonly refunds: Table<LedgerRefund>;
  readonly bindings: Table<Binding>;
  /** Agreements that were bound here. */
  readonly bound: Table<{ readonly cardTail: string; readonly appId?: string }>;
  /** How often each attempt number came. */
  readonly arrivals: Table<number>;
  /** By the number of an agreement: why it has ended. */
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

  /** The next place among the bookings. A pending item gets another one when it is settled. */
  book(at: number): BookedPlace {
    this.#bookings += 1;
    return { at, position: this.#bookings };
  }

  /** Of the bound card; any other agreement is one that the channel shared, and its own text counts. */
  tailOf(institutionNo: string): string {
    return this.bound.get(institutionNo)?.cardTail ?? institutionNo.slice(-4);
  }

  /** Whether another channel has bound the agreement, or was the first to debit it. */
  isOfAnotherChannel(institutionNo: string, appId: string | undefined): boolean {
    const debits = [...this.debits.values()].filter((debit) => debit.institutionNo === institutionNo);
    const first = [this.bound.get(institutionNo), ...debits].find((one) => one?.appId !== undefined);
    return first !== undefined && first.appId !== appId;
  }

  /** A page of what was booked on a day, and where the next one starts. */
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

export function toRefundMessage({ refundNo, amountCent, result, booked }: LedgerRefund): RefundMessage {
  if (result.status === 'SUCCESS') return { refundNo, status: 'SUCCESS', amountCent, refundedAt: booked.at };
  if (result.status === 'REFUSED') return { refundNo, ...result };
  return { refundNo, status: 'PENDING' };
}
