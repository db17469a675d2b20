import type { Queryable } from '../../platform/db/database.js';
import {
  type PaymentReference,
  parseOrderNo,
  parsePaymentOrderNo,
} from '../../subscriptions/domain/orders/order-numbers.js';
import { type OperatorError, refusal } from '../operator.js';
import { parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { quoted } from '../rules.js';
import { findNumbers } from './find-items-sql.js';

/** The maximum length of an entry. A channel's own number has at most 64 characters. */
const MAX_LENGTH = 64;

/**
 * Reads a pasted or uploaded list with a number on each line. Ignores blank lines, quotes around a number, and repeated
 * numbers. Refuses a line with several columns, because a date or an amount beside a number could be another order's
 * number.
 */
export function readNumbers(text: string): string[] {
  const numbers = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .map((line, index) => {
      const number = line
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .trim();
      if (/[,;\t]/.test(number) || [...number].length > MAX_LENGTH) {
        throw refusal(
          'numbers-line',
        )`line ${index + 1} of the list must be one number of at most ${MAX_LENGTH} characters, without other columns`;
      }
      return number;
    });
  const unique = [...new Set(numbers)].filter((number) => number !== '');
  if (unique.length === 0) throw refusal('run-without-choice')`give either items, a list of numbers or a filter`;
  return unique;
}

/** The order, or the period of an order, that an entry of a list names. */
export interface FoundNumber {
  readonly number: string;
  readonly orderNo: number;
  readonly latestCycleNo: number;
  /** Set if the entry is the number of a payment. */
  readonly cycleNo: number | undefined;
}

/** An entry that names nothing, or several things. */
export interface RefusedNumber {
  readonly number: string;
  readonly refusal: OperatorError;
}

/** Finds what each entry names. An entry that could be two orders' number is refused, because money may depend on it. */
export async function resolveNumbers(
  db: Queryable,
  numbers: readonly string[],
): Promise<(FoundNumber | RefusedNumber)[]> {
  const rows = await findNumbers(
    db,
    numbers,
    numbers.map((number) => parseOrderNo(number) ?? 0),
    numbers.map((number) => periodOf(number)?.orderNo ?? 0),
    numbers.map((number) => periodOf(number)?.cycleNo ?? 0),
  );
  const found = new Map<number, (typeof rows)[number][]>();
  for (const row of rows) found.set(row.place, [...(found.get(row.place) ?? []), row]);
  return numbers.map((number, index) => {
    const [match, ...others] = found.get(index + 1) ?? [];
    if (!match)
      return { number, refusal: refusal('number-unknown')`${quoted(number)} is no number of an order or a payment` };
    if (others.some(({ orderNo, cycleNo }) => orderNo !== match.orderNo || cycleNo !== match.cycleNo)) {
      return {
        number,
        refusal: refusal(
          'number-ambiguous',
        )`${quoted(number)} is the number of several orders: name each by its order number`,
      };
    }
    return { number, orderNo: match.orderNo, latestCycleNo: match.latestCycleNo, cycleNo: match.cycleNo ?? undefined };
  });
}

const periodOf = (number: string): PaymentReference | undefined =>
  parsePaymentOrderNo(number) ?? parsePeriodSubject(number);
