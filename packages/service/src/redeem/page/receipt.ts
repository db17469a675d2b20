import { createHash } from 'node:crypto';
import type { Channel } from '../../catalog/channels/channel.js';
import { periodDueAt } from '../../subscriptions/domain/orders/calendar.js';
import { formatPaymentOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { Html, html, isolated } from '../html.js';
import { productNameOf } from '../page-view.js';
import { sellerOf } from '../seller.js';
import { toShownText } from '../shown-text.js';
import type { RedeemReceipt } from '../store/payments-sql.js';
import type { Frame } from './layout.js';

/** The style is part of the document, because the console sends receipts too and does not serve the page's files. */
const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:36rem;margin:0 auto;padding:1.5rem 1rem;overflow-wrap:anywhere}
nav{display:flex;justify-content:space-between;gap:1rem;margin-bottom:2rem}
h1{margin:0 0 1.5rem;font-size:1.5rem}
dl,dl div{margin:0;border-top:1px solid GrayText}
dl div{display:flex;justify-content:space-between;gap:1.5rem;padding:.5rem 0}
dl div:first-child{border:0}
dt{flex:none;max-width:45%}
dd{margin:0;text-align:end;font-variant-numeric:tabular-nums}
small{display:block;margin-top:1.5rem}
@media print{:root{color-scheme:light}nav{display:none}body{max-width:none}}`;

/** Allows the style in a Content-Security-Policy. */
export const RECEIPT_STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * Renders the receipt of a period, for users and for support. `ways` are the links of the user's page. Returns undefined
 * if the period is not paid.
 */
export function renderReceipt(
  { texts, money }: Pick<Frame, 'texts' | 'money'>,
  { channel, read }: { readonly channel: Channel; readonly read: RedeemReceipt },
  ways?: Html,
): string | undefined {
  const { order, payWith } = read;
  const [payment] = read.payments;
  if (!payment || payment.paidAt === null) return undefined;
  const { cycleNo, amountCent, paidAt } = payment;
  const seller = sellerOf(channel);
  const mode = texts.mode[order.settlementMode];
  const refunds = payment.refunds ?? [];
  const left = refunds.reduce((cents, refund) => cents - refund.amountCent, amountCent);
  const number = formatPaymentOrderNo(order.orderNo, cycleNo);
  const dates = texts.dates(
    periodDueAt(order.createdAt, order, cycleNo),
    periodDueAt(order.createdAt, order, cycleNo + 1),
  );
  const rows: (readonly [string, string | Html])[] = [
    [texts.receipt.seller, seller.nameHtml],
    [texts.receipt.product, isolated(productNameOf(read, texts.language))],
    [texts.period(cycleNo, order.totalCycles), dates],
    [texts.receipt.amount, money(amountCent)],
    [mode.outcome.SUCCESS, texts.dateTime(paidAt)],
    ...(payWith ? [[texts.payWith, texts.card(isolated(toShownText(payWith.name)), payWith.cardTail)] as const] : []),
    [texts.receipt.number, number],
    [texts.orderNumber, String(order.orderNo)],
    ...refunds
      .toReversed()
      .map(({ amountCent: back, at }) => [texts.receipt.refund, texts.refunded(money(back), texts.date(at))] as const),
    ...(refunds.length > 0 ? [[texts.receipt.left, money(left)] as const] : []),
  ];
  const note = mode.historyNote?.(seller.nameHtml);
  return html`<!doctype html>
<html lang="${texts.lang}">
<head>
<meta charset="utf-8">
<title>${texts.receipt.title} ${number} · ${seller.name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>${new Html(STYLE)}</style>
</head>
<body>
${ways && html`<nav>${ways}</nav>\n`}<main>
<h1>${texts.receipt.title}</h1>
<dl>
${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
<small>${note && html`${note}${texts.gap}`}${seller.support && html`${texts.support[seller.support.kind]} <bdi>${seller.support.text}</bdi>. `}${texts.timeZone}</small>
</main>
</body>
</html>
`.text;
}
