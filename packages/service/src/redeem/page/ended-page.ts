import { html, isolated } from '../html.js';
import { findLinkToKeep, hasBenefits, productNameOf } from '../page-view.js';
import { sellerOf } from '../seller.js';
import type { RedeemEnding } from '../store/ending-sql.js';
import type { Visit } from '../visit.js';
import { pageAddress } from './addresses.js';
import { type Frame, renderDocument } from './layout.js';
import { renderIllustration } from './parts/illustrations.js';
import { renderLinkToKeep } from './parts/link-to-keep.js';
import { renderSmallPrint } from './parts/subscription-panel.js';

/**
 * Renders the confirmation: the end, the remaining benefits, and a number to quote. The page's URL contains the link to
 * keep, if there is one.
 */
export function renderEndedPage(frame: Frame, visit: Visit<RedeemEnding>): string {
  const { texts } = frame;
  const { link, read, channel } = visit;
  const { order, toClaim, lastDeadline } = read;
  const seller = sellerOf(channel);
  const product = productNameOf(read, texts.language);
  const keep = findLinkToKeep(visit, order, read);
  const promises = hasBenefits(read);
  const left =
    lastDeadline === null
      ? texts.endedNothingLeft(texts.dateTime(link.exp * 1000))
      : texts.endedLeft(toClaim, texts.dateTime(lastDeadline));
  const main = html`<main class="page page-narrow"><section class="panel message">
${renderIllustration('ended')}
<h1>${texts.endedTitle}</h1>
<p>${texts.endedText(isolated(product), texts.date(order.unsubscribedAt ?? order.createdAt))}${texts.gap}${texts.mode[order.settlementMode].endedNoMore(seller.nameHtml)}</p>
${promises ? html`<p>${left}</p>\n` : undefined}<p class="quote"><span class="meta">${texts.endedQuote}</span> <strong class="number">${String(order.orderNo)}</strong></p>
<p class="actions"><a class="button" href="${pageAddress(frame, link)}">${promises ? texts.endedToBenefits(toClaim) : texts.backToSubscription}</a></p>
</section>
${keep && renderLinkToKeep(frame, keep)}</main>`;
  const smallPrint = renderSmallPrint(frame, order);
  return renderDocument(frame, { title: `${texts.endedTitle} · ${seller.name}`, seller, main, smallPrint });
}
