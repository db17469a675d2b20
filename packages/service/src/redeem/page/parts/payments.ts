import { nextPayAt } from '../../../subscriptions/domain/orders/order.js';
import { type Html, html } from '../../html.js';
import type { SignedLink } from '../../link.js';
import type { PaymentRow } from '../../store/payments-sql.js';
import { pageAddress } from '../addresses.js';
import type { Frame } from '../layout.js';
import { type ShownOrder, whyFailed } from './failure.js';

/** The style class of each payment status. */
const LOOKS: Readonly<Record<PaymentRow['status'], string>> = {
  WAIT: 'chip-plain',
  PROCESSING: 'chip-plain',
  SUCCESS: 'chip-good',
  BILLED: 'chip-good',
  FAIL_RETRY: 'chip-warn',
  FAIL: 'chip-bad',
  CANCELED: 'chip-plain',
  REFUND_PART: 'chip-plain',
  REFUND_FULL: 'chip-plain',
};

/** The maximum number of refunds that are listed per period. A period can have 99 refunds. */
const MAX_REFUNDS = 5;

/** Renders one period: its day, amount, outcome, refunds, and the link to its receipt. */
export function renderPayment(frame: Frame, link: SignedLink, shown: ShownOrder, payment: PaymentRow): Html {
  const { order } = shown;
  const { texts } = frame;
  const { cycleNo, status, amountCent, paidAt, expectAt, refunds } = payment;
  const listed = (refunds ?? []).slice(0, MAX_REFUNDS);
  const rest = (refunds ?? []).length - listed.length;
  const lines = [
    ...listed.map(({ amountCent: back, at }) => texts.refunded(frame.money(back), texts.date(at))),
    ...(rest > 0 ? [texts.earlierRefunds(rest)] : []),
    ...failureLines(frame, shown, payment),
    ...(paidAt === null
      ? []
      : [
          html`<a class="link link-quiet" href="${pageAddress(frame, link, '/receipt', { from: String(cycleNo) })}">${texts.receipt.title}</a>`,
        ]),
  ];
  return html`<li class="payment">
<p class="when"><strong>${texts.date(paidAt ?? expectAt)}</strong> <span class="meta">${texts.periodShort(cycleNo)}</span></p>
<p class="sum"><span class="amount">${frame.money(amountCent)}</span> <span class="chip ${LOOKS[status]}">${texts.mode[order.settlementMode].outcome[status]}</span></p>
${lines.length > 0 ? html`<p class="meta after">${lines.map((line) => html`<span>${line}</span> `)}</p>\n` : undefined}</li>
`;
}

/** Returns why a period was not paid, and the consequences. */
function failureLines(frame: Frame, shown: ShownOrder, payment: PaymentRow): (string | Html)[] {
  const why = whyFailed(frame, payment);
  return [...(why === undefined ? [] : [why]), ...consequences(frame, shown, payment)];
}

function consequences(
  { texts }: Frame,
  { order, hasBenefits }: ShownOrder,
  { cycleNo, status }: PaymentRow,
): (string | Html)[] {
  const mode = texts.mode[order.settlementMode];
  const next = cycleNo === order.cycleNo ? nextPayAt(order) : null;
  if (status === 'FAIL_RETRY') return next === null ? [] : [mode.triedAgain(texts.date(next), hasBenefits)];
  if (status === 'CANCELED') return [mode.notTaken];
  if (status !== 'FAIL') return [];
  if (order.status === 'TERMINATED') return [mode.neverBegan];
  return [mode.noBenefits(hasBenefits), ...(next === null ? [] : [mode.nextPeriod(texts.date(next))])];
}
