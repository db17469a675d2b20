import type { Queryable } from '../../platform/db/database.js';
import {
  type PaymentReference,
  parseOrderNo,
  parsePaymentOrderNo,
} from '../../subscriptions/domain/orders/order-numbers.js';
import { maskMobile } from '../masking.js';
import { type OperatorError, refusal } from '../operator.js';
import { parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { quoted } from '../rules.js';
import { findNumbers } from './find-items-sql.js';

/** The maximum length of an entry. A channel's own number has at most 64 characters. */
const MAX_LENGTH = 64;

/** An entry of a list. A repeated number has its first line. */
export interface ListEntry {
  readonly number: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * Reads a pasted or uploaded list with a number on each line. Ignores blank lines, quotes around a number, and repeated
 * numbers. Refuses a line with several columns, because a date or an amount beside a number could be another order's
 * number.
 */
export function readNumbers(text: string): ListEntry[] {
  const entries = new Map<string, ListEntry>();
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  for (const [index, written] of lines.entries()) {
    const line = index + 1;
    const number = written
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim();
    if (/[,;\t]/.test(number) || [...number].length > MAX_LENGTH) {
      throw refusal(
        'numbers-line',
      )`line ${line} of the list must be one number of at most ${MAX_LENGTH} characters, without other columns`;
    }
    if (number !== '' && !entries.has(number)) entries.set(number, { number, line });
  }
  if (entries.size === 0) throw refusal('run-without-choice')`give either items, a list of numbers or a filter`;
  return [...entries.values()];
}

/** The order, or the period of an order, that an entry of a list names. */
export interface FoundNumber {
  readonly orderNo: number;
  readonly latestCycleNo: number;
  /** Set if the entry is the number of a payment. */
  readonly cycleNo: number | undefined;
}

/**
 * An entry that names nothing, or several things. It may be a mobile number or a card number that was pasted by mistake,
 * so only its line and a masked form are stored.
 */
export interface RefusedNumber {
  readonly subject: string;
  readonly refusal: OperatorError;
}

/** Finds what each entry names. An entry that could be two orders' number is refused, because money may depend on it. */
export async function resolveNumbers(
  db: Queryable,
  entries: readonly ListEntry[],
): Promise<(FoundNumber | RefusedNumber)[]> {
  const numbers = entries.map(({ number }) => number);
  const rows = await findNumbers(
    db,
    numbers,
    numbers.map((number) => parseOrderNo(number) ?? 0),
    numbers.map((number) => periodOf(number)?.orderNo ?? 0),
    numbers.map((number) => periodOf(number)?.cycleNo ?? 0),
  );
  const found = new Map<number, (typeof rows)[number][]>();
  for (const row of rows) found.set(row.place, [...(found.get(row.place) ?? []), row]);
  return entries.map(({ number, line }, index) => {
    const [match, ...others] = found.get(index + 1) ?? [];
    const masked = maskMobile(number);
    const subject = `#${line} ${masked}`;
    if (!match) {
      const why = refusal(
        'number-unknown',
      )`line ${line} of the list, ${quoted(masked)}, is no number of an order or a payment`;
      return { subject, refusal: why };
    }
    if (others.some(({ orderNo, cycleNo }) => orderNo !== match.orderNo || cycleNo !== match.cycleNo)) {
      const why = refusal(
        'number-ambiguous',
      )`line ${line} of the list, ${quoted(masked)}, is the number of several orders: name each by its order number`;
      return { subject, refusal: why };
    }
    return { orderNo: match.orderNo, latestCycleNo: match.latestCycleNo, cycleNo: match.cycleNo ?? undefined };
  });
}

const periodOf = (number: string): PaymentReference | undefined =>
  parsePaymentOrderNo(number) ?? parsePeriodSubject(number);
