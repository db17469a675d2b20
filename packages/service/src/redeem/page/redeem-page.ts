import { hasEnded } from '../../subscriptions/domain/orders/order-states.js';
import { countBytes, type Html, html, isolated, takeFitting } from '../html.js';
import type { SignedLink } from '../link.js';
import { createPageView, EVERYTHING, findLinkToKeep, type PageView } from '../page-view.js';
import { type Seller, sellerOf } from '../seller.js';
import type { JustClaimed } from '../store/benefits-sql.js';
import type { RedeemPage } from '../store/main-page-sql.js';
import type { Visit } from '../visit.js';
import { pageAddress } from './addresses.js';
import { type Frame, renderDocument } from './layout.js';
import { GIFT } from './parts/benefit-item.js';
import { renderClaimEverything, renderClaimForm, renderGroups } from './parts/claimable-groups.js';
import { type PictureRoom, renderCheckAgain, renderCodes } from './parts/codes.js';
import { renderFailure } from './parts/failure.js';
import { renderIllustration } from './parts/illustrations.js';
import { renderEverythingDone, renderJustDone } from './parts/just-done.js';
import { renderLinkExpiry } from './parts/link-expiry.js';
import { renderLinkToKeep } from './parts/link-to-keep.js';
import { renderNotice } from './parts/notice.js';
import { renderPayment } from './parts/payments.js';
import { renderSmallPrint, renderSubscriptionPanel } from './parts/subscription-panel.js';

export interface PageOptions {
  readonly now: number;
  readonly done: JustClaimed | undefined;
  /** A message about the user's last action. */
  readonly notice: string | undefined;
}

/** Byte limit of the page's content, without the surrounding HTML document. */
const MAX_BYTES = 45_500;
/** Byte limits of the claimable benefits and of the payments. */
const MAX_CLAIMABLE_BYTES = 13_000;
const MAX_PAYMENTS_BYTES = 4_500;

export function renderRedeemPage(frame: Frame, visit: Visit<RedeemPage>, options: PageOptions): string {
  const { now, done, notice } = options;
  const { link, channel } = visit;
  const seller = sellerOf(channel);
  const view = createPageView(visit, now, done, frame.texts.language);
  const { subscription, yourBenefits } = frame.texts;
  const title = `${view.productName} · ${view.hasBenefits ? yourBenefits : subscription} · ${seller.name}`;
  const keep = findLinkToKeep(visit, view.order, view);
  const hero = renderHero(frame, view);
  const [latest] = view.payments;
  const everything = done === EVERYTHING ? renderEverythingDone(frame, view) : undefined;
  const told = html`${renderNotice(notice)}${everything}${latest && renderFailure(frame, view, latest, seller)}`;
  const toClaim = html`${renderClaimableSection(frame, visit, view, now)}${keep && renderLinkToKeep(frame, keep)}`;
  const expiry = keep ? undefined : renderLinkExpiry(frame, visit, seller, view);
  const side = html`${renderPayments(frame, link, seller, view)}
${renderSubscriptionPanel(frame, link, view)}`;
  const smallPrint = renderSmallPrint(frame, view.order);
  const others = [hero, told, toClaim, expiry, side, smallPrint];
  const hasCodes = view.codesCount > 0;
  const room: PictureRoom = { bytes: hasCodes ? MAX_BYTES - countBytes(html`${title}${others}`) : 0, isOpen: true };
  const main = html`<main class="page">
${GIFT}
${hero}
<div class="columns">
<div class="main">
${told}${renderJustDone(frame, link, view.done, room)}${toClaim}
${renderCodesSection(frame, link, view, room)}${renderPastLink(frame, link, view)}${expiry}</div>
<div class="side">
${side}
</div>
</div>
</main>`;
  return renderDocument(frame, { title, seller, main, smallPrint });
}

/** Renders the product, its progress, and its dates. A subscription that has ended has no progress. */
function renderHero({ texts }: Frame, { productName, order, periodFrom, periodTo }: PageView): Html {
  const heading = html`<p class="chip chip-hero">${texts.status[order.status]}</p>
<h1 class="name">${isolated(productName)}</h1>`;
  if (hasEnded(order.status)) {
    const end = order.status === 'COMPLETED' ? periodTo : (order.unsubscribedAt ?? order.createdAt);
    const dates = order.status === 'TERMINATED' ? texts.date(order.createdAt) : texts.dates(order.createdAt, end);
    return html`<section class="hero hero-ended">
${heading}
<p class="period"><span>${dates}</span></p>
</section>`;
  }
  const period = texts.period(order.cycleNo, order.totalCycles);
  return html`<section class="hero">
${heading}
<p class="period"><strong>${period}</strong> <span>${texts.dates(periodFrom, periodTo)}</span></p>
<progress max="${order.totalCycles}" value="${order.cycleNo}" aria-label="${period}"></progress>
</section>`;
}

function renderClaimableSection(frame: Frame, visit: Visit, view: PageView, now: number): Html | undefined {
  const { texts } = frame;
  const { link } = visit;
  const { toClaim, toClaimCount } = view;
  const { groups, count } = renderGroups(frame, toClaim, { now, mostBytes: MAX_CLAIMABLE_BYTES });
  if (toClaimCount === 0) return view.hasBenefits ? renderNothingToClaim(frame, view) : undefined;
  const everything = view.isOfManyPeriods ? renderClaimEverything(frame, toClaimCount) : undefined;
  const all =
    toClaimCount > count &&
    html`<p class="more"><a class="link" href="${pageAddress(frame, link, '/benefits')}">${texts.allToClaim(toClaimCount)}</a></p>\n`;
  return html`<section class="panel" aria-labelledby="to-claim">
<h2 id="to-claim">${texts.toClaim} <span class="count">${toClaimCount}</span></h2>
${renderClaimForm(frame, visit)}
${everything}${groups}${all || undefined}</section>
`;
}

function renderNothingToClaim({ texts }: Frame, { order, nextPayAt }: PageView): Html {
  const next = nextPayAt === null ? undefined : texts.mode[order.settlementMode].nextWith(texts.date(nextPayAt));
  return html`<section class="panel nothing">
${renderIllustration('empty')}
<p class="empty">${hasEnded(order.status) ? texts.nothingLeft : texts.nothingToClaim}${texts.gap}${next}</p></section>
`;
}

function renderCodesSection(frame: Frame, link: SignedLink, view: PageView, room: PictureRoom): Html | undefined {
  const { texts } = frame;
  const { codes, codesCount, done } = view;
  const shown = codes.length + done.filter(({ state }) => state === 'CLAIMED').length;
  const all =
    codesCount > shown &&
    html`<p class="more"><a class="link" href="${pageAddress(frame, link, '/codes')}">${texts.allCodes(codesCount)}</a></p>\n`;
  if (codes.length === 0) return all || undefined;
  return html`<section class="panel" aria-labelledby="codes"><h2 id="codes">${texts.yourCodes}</h2>
${renderCodes(frame, link, codes, room)}${renderCheckAgain(frame, link, codes)}${all || undefined}</section>
`;
}

function renderPastLink(frame: Frame, link: SignedLink, { pastCount }: PageView): Html | undefined {
  if (pastCount === 0) return undefined;
  return html`<p class="more"><a class="link link-quiet" href="${pageAddress(frame, link, '/past')}">${frame.texts.pastCount(pastCount)}</a></p>
`;
}

function renderPayments(
  frame: Frame,
  link: SignedLink,
  seller: Seller,
  { order, payments, hasBenefits }: PageView,
): Html | undefined {
  if (payments.length === 0) return undefined;
  const { texts } = frame;
  const mode = texts.mode[order.settlementMode];
  const items = takeFitting(payments, MAX_PAYMENTS_BYTES, (payment) =>
    renderPayment(frame, link, { order, hasBenefits }, payment),
  );
  const all =
    order.cycleNo > items.length &&
    html`<p class="more"><a class="link" href="${pageAddress(frame, link, '/payments')}">${mode.allHistory(order.cycleNo)}</a></p>\n`;
  return html`<section class="panel" aria-labelledby="payments"><h2 id="payments">${mode.history}</h2>
${mode.historyNote && html`<p class="meta">${mode.historyNote(seller.nameHtml)}</p>\n`}<ul class="list">
${items}</ul>
${all || undefined}</section>`;
}
