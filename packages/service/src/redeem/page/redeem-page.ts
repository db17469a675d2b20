import { isWaitingForRetry } from '../../subscriptions/domain/payments/payment-states.js';
import { createFormToken } from '../form-token.js';
import { countBytes, type Html, html } from '../html.js';
import { type SignedLink, toFormLinkFields, toLinkQuery } from '../link.js';
import type { BenefitPosition, RedeemPage } from '../page-sql.js';
import { type BenefitsElsewhere, createPageView, type PageView } from '../page-view.js';
import type { Texts } from '../texts/texts.js';
import type { Visit } from '../visit.js';
import { benefitAnchor, renderClaimable, renderClaimed, renderGone } from './benefit-list.js';
import { type Frame, renderDocument } from './layout.js';
import { renderSubscriptionPanel } from './subscription-panel.js';

/** The action that a token for claiming is valid for. */
export const claimAction = ({ cycleNo, position }: BenefitPosition): string => `claim ${cycleNo} ${position}`;

export interface PageOptions {
  readonly now: number;
  /** The benefit that the page was asked to begin with. */
  readonly from: BenefitPosition | undefined;
  /** A message about the user's last step. */
  readonly notice: string | undefined;
}

/** Of the page without the document around it. */
const MAX_BYTES = 48_500;

export function renderRedeemPage(frame: Frame, visit: Visit<RedeemPage>, { now, from, notice }: PageOptions): string {
  const { link } = visit;
  const view = createPageView(visit, now);
  const title = `${view.productName} · ${frame.texts.yourBenefits}`;
  const top = renderHeader(frame, view);
  const told = html`${notice === undefined ? undefined : renderNotice(notice)}${renderStandingNotices(frame.texts, link, view)}`;
  const toClaim = renderClaimableSection(frame, visit, view, from);
  const after = renderAfterCodes(frame, link, view, from);
  const side = renderSubscriptionPanel(frame, link, view);
  const others = countBytes(html`${title}${[top, told, toClaim, after, side]}`);
  const body = html`<main class="page">
${top}
<div class="columns">
<div class="main">
${told}${toClaim}
${renderCodesSection(frame, link, view, from, MAX_BYTES - others)}
${after}
</div>
${side}
</div>
</main>`;
  return renderDocument(frame, title, body);
}

export const renderNotice = (text: string): Html => html`<p class="notice" role="alert">${text}</p>
`;

/** Notices that do not depend on the user's last step: a failed payment, and until when the page can be opened. */
function renderStandingNotices(texts: Texts, link: SignedLink, { order, nextPayAt, claimable }: PageView): Html[] {
  const { status, latestPaymentStatus, cycleNo } = order;
  const told: string[] = [];
  if (isWaitingForRetry(latestPaymentStatus) && nextPayAt !== null) {
    told.push(texts.paymentTriedAgain(cycleNo, texts.date.format(nextPayAt)));
  } else if (latestPaymentStatus === 'FAIL' && status !== 'TERMINATED') told.push(texts.paymentFailed(cycleNo));
  // The channel gets no further link for an order that has ended, even if benefits are left.
  if (status === 'UNSUBSCRIBED' && claimable !== '0') told.push(texts.endedOpenUntil(linkEndText(texts, link)));
  return told.map(
    (text) => html`<p class="notice">${text}</p>
`,
  );
}

/** Up to when this link opens the page. */
export const linkEndText = (texts: Texts, { exp }: SignedLink): string => texts.dateTime.format(exp * 1000);

export function pageAddress({ root }: Frame, link: SignedLink, from?: BenefitPosition): string {
  const more = from ? { from: fromText(from) } : {};
  return `${root}/redeem?${toLinkQuery(link, more)}`;
}

const fromText = ({ cycleNo, position }: BenefitPosition) => `${cycleNo}-${position}`;

/** Hidden inputs of a form with the values of the link. */
export function renderLinkInputs(link: SignedLink): Html {
  const inputs = Object.entries(toFormLinkFields(link)).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}

function renderHeader({ texts }: Frame, { productName, order, periodFrom, periodTo }: PageView): Html {
  const period = texts.period(order.cycleNo, order.totalCycles);
  return html`<header class="hero">
<p class="eyebrow"><span>${texts.yourBenefits}</span><span class="chip">${texts.status[order.status]}</span></p>
<h1>${productName}</h1>
<p class="period"><strong>${period}</strong> <span>${texts.dates(periodFrom, periodTo)}</span></p>
<progress max="${order.totalCycles}" value="${order.cycleNo}" aria-label="${period}"></progress>
</header>`;
}

function renderClaimableSection(frame: Frame, { channel, link }: Visit, view: PageView, from?: BenefitPosition): Html {
  const { texts } = frame;
  const benefits = view.benefits.filter((one) => one.state === 'CLAIMABLE');
  const tokenOf = (one: BenefitPosition) => createFormToken(channel.callbackSecret, link, claimAction(one));
  const more = ({ first, count }: BenefitsElsewhere, says: (count: string) => string) =>
    html`<p class="more"><a class="link" href="${addressFrom(frame, link, first)}">${says(count)}</a></p>
`;
  return html`<section class="panel" aria-labelledby="to-claim">
<h2 id="to-claim">${texts.toClaim}${view.claimable === '0' ? undefined : html` <span class="count">${view.claimable}</span>`}</h2>
<form id="claim" method="post" action="${frame.root}/redeem/claim">${renderLinkInputs(link)}${from && html`<input type="hidden" name="from" value="${fromText(from)}">`}</form>
${view.newerToClaim && more(view.newerToClaim, texts.newerToClaim)}${benefits.length > 0 ? renderClaimable(frame, benefits, tokenOf) : undefined}
${view.olderToClaim && more(view.olderToClaim, texts.olderToClaim)}${view.claimable === '0' ? renderNothingToClaim(texts, link, view) : undefined}</section>`;
}

/** While nothing can be claimed the channel gets no new link, so the page can be opened until this link ends. */
function renderNothingToClaim(texts: Texts, link: SignedLink, { nextPayAt, benefits }: PageView): Html {
  const sentences = [
    texts.nothingToClaim,
    ...(nextPayAt === null ? [] : [texts.nextWith(texts.date.format(nextPayAt))]),
    ...(benefits.some(({ state }) => state === 'CLAIMED') ? [texts.openUntil(linkEndText(texts, link))] : []),
  ];
  return html`<p class="empty">${sentences.join(texts.gap)}</p>`;
}

/** The address of a page that begins with a benefit. */
const addressFrom = (frame: Frame, link: SignedLink, one: BenefitPosition): string =>
  `${pageAddress(frame, link, one)}#${benefitAnchor(one)}`;

function renderCodesSection(
  frame: Frame,
  link: SignedLink,
  { benefits }: PageView,
  from: BenefitPosition | undefined,
  mostBytes: number,
): Html | undefined {
  const { texts } = frame;
  const claimed = benefits.filter((one) => one.state === 'CLAIMED');
  // Users look for what they claimed last, unless they asked for another benefit.
  if (!from) claimed.sort((one, other) => (other.claimedAt ?? 0) - (one.claimedAt ?? 0));
  if (claimed.length === 0) return undefined;
  // A link and not a timer: a page that changes by itself is hard to read.
  const again =
    claimed.some(({ code }) => code === null) &&
    html`<p><a class="link" href="${pageAddress(frame, link, from)}">${texts.checkAgain}</a></p>`;
  return html`<section class="panel" aria-labelledby="codes"><h2 id="codes">${texts.yourCodes}</h2>
${renderClaimed(frame, claimed, (one) => addressFrom(frame, link, one), mostBytes)}${again || undefined}</section>`;
}

/** Expired and revoked benefits, and links to the other pages. */
function renderAfterCodes(frame: Frame, link: SignedLink, view: PageView, from?: BenefitPosition): Html {
  const { texts } = frame;
  const { older, olderToClaim } = view;
  const gone = view.benefits.filter((one) => one.state === 'EXPIRED' || one.state === 'REVOKED');
  // Left out if the link to older claimable benefits leads to the same page.
  const isLinked = olderToClaim?.first.cycleNo === older?.cycleNo && olderToClaim?.first.position === older?.position;
  const earlier =
    older &&
    !isLinked &&
    html`<p class="more"><a class="link" href="${pageAddress(frame, link, older)}">${texts.earlier}</a></p>`;
  const newest =
    from && html`<p class="more"><a class="link" href="${pageAddress(frame, link)}">${texts.newest}</a></p>`;
  return html`${gone.length > 0 ? renderGone(frame, gone) : undefined}
${earlier || undefined}${newest}`;
}
