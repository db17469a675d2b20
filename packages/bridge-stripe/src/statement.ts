import type { Statement } from '@perennial/bridge-kit';
import type { Stripe } from 'stripe';
import { idOf } from './agreements.js';
import type { Marks } from './marks.js';
import { PAGE_SIZE } from './pages.js';

/** Lines after which a page of ours is full enough; one more of Stripe's stays below the 1000 of the protocol. */
const LINES_ENOUGH = 500;

/** Pages of Stripe for one of ours, once it has a line: an account may book much else. */
const PAGES_ENOUGH = 10;

const DAY_MS = 86_400_000;

type Line = Statement['lines'][number];

/**
 * The day's bookings of the balance: docs.stripe.com/api/balance_transactions/list. Its own amounts are in the currency that Stripe pays out,
 * so what was debited or given back is taken from the charge or the refund that it came from.
 */
export async function readStatement(
  stripe: Stripe,
  marks: Marks,
  day: string,
  cursor: string | undefined,
): Promise<Statement> {
  const from = Date.parse(`${day}T00:00:00+08:00`);
  const created = { gte: from / 1000, lt: (from + DAY_MS) / 1000 };
  const lines: Line[] = [];
  let after = cursor;
  for (let pages = 1; ; pages += 1) {
    const page = await stripe.balanceTransactions.list({
      created,
      limit: PAGE_SIZE,
      expand: ['data.source'],
      ...(after === undefined ? {} : { starting_after: after }),
    });
    lines.push(...page.data.flatMap((booking) => toLine(marks, booking) ?? []));
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return { lines, nextCursor: undefined };
    if (lines.length >= LINES_ENOUGH || (pages >= PAGES_ENOUGH && lines.length > 0))
      return { lines, nextCursor: after };
  }
}

/** What else is booked (payouts, fees, disputes) is not ours to list: docs.stripe.com/reports/reporting-categories */
function toLine(marks: Marks, booking: Stripe.BalanceTransaction): Line | undefined {
  const { source } = booking;
  if (source === null || typeof source === 'string') return undefined;
  switch (booking.reporting_category) {
    case 'charge':
    case 'charge_failure':
      return source.object === 'charge' ? toDebitLine(marks, booking, source) : undefined;
    case 'refund':
    case 'refund_failure':
      return source.object === 'refund' ? toRefundLine(marks, booking, source) : undefined;
    default:
      return undefined;
  }
}

function toDebitLine(marks: Marks, booking: Stripe.BalanceTransaction, charge: Stripe.Charge): Line | undefined {
  // The metadata of a payment is copied to its charge: docs.stripe.com/metadata#copying-metadata-to-another-object
  const number = marks.attemptNoOf(charge);
  const status = toLineStatus(charge.status, booking.reporting_category === 'charge_failure');
  if (number === undefined || status === undefined) return undefined;
  const institutionRef = idOf(charge.payment_intent) ?? charge.id;
  return { kind: 'DEBIT', number, amountCent: charge.amount, status, bookedAt: booking.created * 1000, institutionRef };
}

function toRefundLine(marks: Marks, booking: Stripe.BalanceTransaction, refund: Stripe.Refund): Line | undefined {
  const number = marks.refundNoOf(refund);
  const status = toLineStatus(refund.status, booking.reporting_category === 'refund_failure');
  if (number === undefined || status === undefined) return undefined;
  return {
    kind: 'REFUND',
    number,
    amountCent: refund.amount,
    status,
    bookedAt: booking.created * 1000,
    institutionRef: refund.id,
  };
}

/** What failed is booked twice, there and back; it is one line, on the day when it came back. */
function toLineStatus(status: string | null, isBack: boolean): Line['status'] | undefined {
  if (isBack) return 'FAIL';
  if (status === 'failed' || status === 'canceled') return undefined;
  return status === 'succeeded' ? 'SUCCESS' : 'PENDING';
}
