import type { Order } from '../../../subscriptions/domain/orders/order.js';
import { hasEnded } from '../../../subscriptions/domain/orders/order-states.js';
import { isWaitingForRetry } from '../../../subscriptions/domain/payments/payment-states.js';
import { type Html, html, isolated } from '../../html.js';
import type { SignedLink } from '../../link.js';
import type { PageView } from '../../page-view.js';
import { toShownText } from '../../shown-text.js';
import { pageAddress } from '../addresses.js';
import type { Frame } from '../layout.js';

/** Renders the next payment, the price, the card, what was paid and what remains, and the link to unsubscribe. */
export function renderSubscriptionPanel(frame: Frame, link: SignedLink, view: PageView): Html {
  const { texts } = frame;
  const { order, payWith, lastPaid } = view;
  const cadence = texts.cadence[order.periodType](order.period);
  const left = order.totalCycles - order.cycleNo;
  const rows: (readonly [string, string | Html])[] = [
    [texts.amount, texts.everyPeriod(frame.money(order.amountCent), cadence)],
    ...(payWith === null
      ? []
      : [[texts.payWith, texts.card(isolated(toShownText(payWith.name)), payWith.cardTail)] as const]),
    [hasBegun(order.status) ? texts.startedOn : texts.orderedOn, texts.date(order.createdAt)],
    ...(lastPaid === null
      ? []
      : [
          [
            texts.mode[order.settlementMode].lastPaid,
            html`${texts.date(lastPaid.at)} · <span class="amount">${frame.money(lastPaid.amountCent)}</span>`,
          ] as const,
        ]),
    ...(order.status === 'ACTIVE'
      ? [[texts.remaining, texts.remainingPeriods(left)] as const, [texts.runsUntil, texts.date(view.termEnd)] as const]
      : []),
    ...(order.unsubscribedAt === null ? [] : [[texts.endedOn, texts.date(order.unsubscribedAt)] as const]),
  ];
  return html`<section class="panel" aria-labelledby="subscription">
<h2 id="subscription">${texts.subscription}</h2>
${renderNext(frame, view)}
<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${order.status === 'ACTIVE' ? renderWayToEnd(frame, link, view) : undefined}</section>`;
}

/** Returns false while the first payment has no result, and if it failed. */
const hasBegun = (status: Order['status']) => status !== 'INITIALIZING' && status !== 'TERMINATED';

/** Renders the next payment. Returns undefined if the subscription has ended. */
function renderNext({ texts, money }: Frame, { order, nextPayAt }: PageView): Html | undefined {
  const mode = texts.mode[order.settlementMode];
  const retry = isWaitingForRetry(order.latestPaymentStatus);
  if (hasEnded(order.status)) return undefined;
  if (nextPayAt === null) {
    const says = order.status === 'INITIALIZING' ? texts.status.INITIALIZING : mode.noNext;
    return html`<p class="next"><span class="meta">${mode.next}</span> <strong>${says}</strong></p>`;
  }
  return html`<p class="next"><span class="meta">${retry ? mode.nextTry : mode.next}</span> <strong>${money(order.amountCent)}</strong> ${texts.date(nextPayAt)}</p>`;
}

function renderWayToEnd(frame: Frame, link: SignedLink, { order, nextPayAt }: PageView): Html {
  const { texts } = frame;
  const before =
    nextPayAt === null
      ? undefined
      : html`<p class="meta">${texts.mode[order.settlementMode].endBefore(texts.date(nextPayAt))}</p>\n`;
  return html`${before}<p class="end"><a class="link link-quiet" href="${pageAddress(frame, link, '/unsubscribe')}">${texts.end}</a></p>
`;
}

/** Renders the time zone, and the numbers that users quote when they ask for help. */
export function renderSmallPrint({ texts }: Frame, order: Order): Html {
  return html`<p class="small">${texts.timeZone}</p>
<p class="small">${texts.orderNumber} <span class="number">${String(order.orderNo)}</span></p>
<p class="small">${texts.channelOrderNumber} <span class="number">${isolated(toShownText(order.externalOrderNo))}</span></p>
`;
}
