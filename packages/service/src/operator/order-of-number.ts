import type { AlertKind } from '../alerts/alerts-sql.js';
import { columns, type Queryable, statement } from '../platform/db/database.js';
import { parseAttemptNo, parseOrderNo } from '../subscriptions/domain/orders/order-numbers.js';
import { parseRefundNo } from '../subscriptions/domain/orders/refund-numbers.js';

/** How to read the order's number from an alert's subject, for the kinds of alerts that concern an order. */
const SUBJECTS: Partial<Readonly<Record<AlertKind, (subject: string) => number | undefined>>> = {
  'debit-unknown-for-a-day': orderOfAttempt,
  'debit-wrong-amount': orderOfAttempt,
  'debit-late-success': orderOfAttempt,
  'debit-contradiction': orderOfAttempt,
  'debit-after-unsubscribe': orderOfAttempt,
  'refund-unknown-for-a-day': orderOfRefund,
  'refund-wrong-amount': orderOfRefund,
  'refund-refused': orderOfRefund,
  'refund-contradiction': orderOfRefund,
  'billing-failed': parseOrderNo,
  'upcoming-notice-failed': parseOrderNo,
  'claim-refused': orderOfClaim,
  'claim-unknown-for-a-day': orderOfClaim,
};

export function orderOfAlert(kind: string, subject: string): number | undefined {
  return SUBJECTS[kind as AlertKind]?.(subject);
}

/** Returns the order number that an attempt number or a refund number of a statement contains. */
export function orderOfLine(number: string): number | undefined {
  return number.startsWith('R') ? orderOfRefund(number) : orderOfAttempt(number);
}

function orderOfAttempt(number: string): number | undefined {
  return parseAttemptNo(number)?.orderNo;
}

function orderOfRefund(number: string): number | undefined {
  return parseRefundNo(number)?.orderNo;
}

/** Returns the order number in a claim number, which is the letter C followed by an attempt number. */
function orderOfClaim(number: string): number | undefined {
  return number.startsWith('C') ? orderOfAttempt(number.slice(1)) : undefined;
}

const FIND_ORDERS = statement({
  text: 'select order_no as "orderNo" from orders where order_no = any($1::bigint[])',
  parameters: ['bigint[]'],
  columns: columns({ orderNo: 'bigint' }),
});

/** Adds the order's number to each row, or null if the order is unknown: an institution may report any number. */
export async function withOrders<Row>(
  db: Queryable,
  rows: readonly Row[],
  orderOf: (row: Row) => number | undefined,
): Promise<(Row & { readonly orderNo: string | null })[]> {
  const numbers = rows.map(orderOf);
  const asked = numbers.filter((number) => number !== undefined);
  const found = asked.length === 0 ? [] : await db.query(FIND_ORDERS, [asked]);
  const known = new Set(found.map(({ orderNo }) => orderNo));
  return rows.map((row, place) => {
    const number = numbers[place];
    return { ...row, orderNo: number !== undefined && known.has(number) ? String(number) : null };
  });
}
