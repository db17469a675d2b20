import { isWaitingForRetry } from '../../subscriptions/domain/payments/payment-states.js';
import { type Html, html } from '../html.js';
import { type SignedLink, toLinkQuery } from '../link.js';
import type { PageView } from '../page-view.js';
import { formatYuan, type Texts } from '../texts/texts.js';
import type { Frame } from './layout.js';

/** The terms of the subscription, the next payment, and the link to end it. */
export function renderSubscriptionPanel({ texts, root }: Frame, link: SignedLink, view: PageView): Html {
  const { order, hasMobile } = view;
  const cadence = texts.cadence[order.periodType](order.period);
  const rows: (readonly [string, string])[] = [
    [texts.amount, texts.everyPeriod(formatYuan(order.amountCent), cadence)],
    nextPayment(texts, view),
    ...(order.unsubscribedAt === null ? [] : [[texts.endedOn, texts.date.format(order.unsubscribedAt)] as const]),
    [texts.orderNumber, String(order.orderNo)],
    [texts.channelOrderNumber, order.externalOrderNo],
  ];
  const end = html`<p class="end"><a class="link link-quiet" href="${root}/redeem/unsubscribe?${toLinkQuery(link)}">${texts.end}</a></p>`;
  const cannotEnd = html`<p class="meta">${texts.noMobile}</p>`;
  return html`<aside class="panel" aria-labelledby="subscription">
<h2 id="subscription">${texts.subscription}</h2>
<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="meta">${texts.timeZone}</p>
${order.status === 'ACTIVE' ? (hasMobile ? end : cannotEnd) : undefined}
</aside>`;
}

function nextPayment(texts: Texts, { order, nextPayAt }: PageView): readonly [string, string] {
  if (order.status === 'INITIALIZING') return [texts.nextPayment, texts.status.INITIALIZING];
  if (nextPayAt === null) return [texts.nextPayment, texts.noNextPayment];
  const isRetry = isWaitingForRetry(order.latestPaymentStatus);
  return [isRetry ? texts.nextTry : texts.nextPayment, texts.date.format(nextPayAt)];
}
