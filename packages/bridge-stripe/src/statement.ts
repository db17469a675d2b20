import type { Statement } from '@perennial/bridge-kit';
import type { Stripe } from 'stripe';
import { idOf } from './agreements.js';
import type { Marks } from './marks.js';
import { PAGE_SIZE } from './pages.js';

/**
 * The number of lines at which a statement page ends. The last Stripe page (100 bookings) can add more lines, but their
 * number stays below the protocol's limit of 1000.
 */
const LINES_ENOUGH = 500;

/**
 * The number of Stripe pages after which a statement page ends if it has at least one line. Most bookings of an account
 * may not belong to the bridge, so LINES_ENOUGH lines may take too many Stripe pages.
 */
const PAGES_ENOUGH = 10;

const DAY_MS = 86_400_000;

type Line = Statement['lines'][number];

/**
 * Returns a page of this bridge's balance bookings of the day: docs.stripe.com/api/balance_transactions/list. Their
 * amounts are in the payout currency, so the amount is taken from the charge or refund.
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

/**
 * Returns undefined for other kinds of bookings, such as payouts and fees
 * (docs.stripe.com/reports/reporting-categories), and for bookings that do not belong to this bridge.
 */
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
  // Stripe copies a payment's metadata to its charge: docs.stripe.com/metadata#copying-metadata-to-another-object
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

/**
 * Returns the status of a line, or undefined if the booking is not a line. A failed payment or refund has two bookings:
 * the original one and its reversal. Only the reversal becomes a line.
 */
function toLineStatus(status: string | null, isBack: boolean): Line['status'] | undefined {
  if (isBack) return 'FAIL';
  if (status === 'failed' || status === 'canceled') return undefined;
  return status === 'succeeded' ? 'SUCCESS' : 'PENDING';
}
