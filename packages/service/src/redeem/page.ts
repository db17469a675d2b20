import { anchorOf, claimableList, claimedList, goneList } from './benefit-list.js';
import { formToken } from './form-token.js';
import { type Html, html } from './html.js';
import { documentOf, type Frame } from './layout.js';
import { formLinkFields, linkQuery, type SignedLink } from './link.js';
import type { BenefitReference, PageRead } from './page-sql.js';
import { money } from './texts.js';
import { type PageView, viewOf } from './view.js';
import type { Visit } from './visit.js';

/** What a token for claiming is about. */
export const claimAction = ({ cycleNo, position }: BenefitReference): string => `claim ${cycleNo} ${position}`;

export interface PageOptions {
  readonly now: number;
  /** The benefit that the page was asked to begin with. */
  readonly from: BenefitReference | undefined;
  /** What has to be said about the user's last step. */
  readonly notice: string | undefined;
}

export function redeemPage(frame: Frame, visit: Visit<PageRead>, { now, from, notice }: PageOptions): string {
  const { texts } = frame;
  const view = viewOf(visit, now);
  const body = html`<main class="page">
${hero(frame, view)}
<div class="columns">
<div class="main">
${notice === undefined ? undefined : noticeBox(notice)}${claimableSection(frame, visit, view, from)}
${restOfBenefits(frame, visit.link, view, from)}
</div>
${subscription(frame, visit.link, view)}
</div>
</main>`;
  return documentOf(frame, `${view.productName} · ${texts.yourBenefits}`, body);
}

export const noticeBox = (text: string): Html => html`<p class="notice" role="alert">${text}</p>
`;

/** Also for the addresses that a browser is sent back to. */
export function pageAddress({ root }: Frame, link: SignedLink, from?: BenefitReference): string {
  const more = from ? { from: fromText(from) } : {};
  return `${root}/redeem?${linkQuery(link, more)}`;
}

const fromText = ({ cycleNo, position }: BenefitReference) => `${cycleNo}-${position}`;

/** A form's values that say whose page it is on. */
export function linkInputs(link: SignedLink): Html {
  const inputs = Object.entries(formLinkFields(link)).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}

function hero({ texts }: Frame, { productName, order, periodFrom, periodTo }: PageView): Html {
  const period = texts.period(order.cycleNo, order.totalCycles);
  return html`<header class="hero">
<p class="eyebrow"><span>${texts.yourBenefits}</span><span class="chip">${texts.status[order.status]}</span></p>
<h1>${productName}</h1>
<p class="period"><strong>${period}</strong> <span>${texts.dates(periodFrom, periodTo)}</span></p>
<progress max="${order.totalCycles}" value="${order.cycleNo}" aria-label="${period}"></progress>
</header>`;
}

function claimableSection(frame: Frame, { channel, link }: Visit, view: PageView, from?: BenefitReference): Html {
  const { texts } = frame;
  const benefits = view.benefits.filter((one) => one.state === 'CLAIMABLE');
  const elsewhere = view.claimableElsewhere;
  const tokenOf = (one: BenefitReference) => formToken(channel.callbackSecret, link, claimAction(one));
  const none = html`<p class="empty">${texts.nothingToClaim}${view.nextPayAt === null ? '' : ` ${texts.nextWith(texts.date.format(view.nextPayAt))}`}</p>`;
  const more =
    elsewhere &&
    html`<p><a class="link" href="${pageAddress(frame, link, elsewhere)}#${anchorOf(elsewhere)}">${texts.moreToClaim(view.claimable)}</a></p>`;
  return html`<section class="panel" aria-labelledby="to-claim">
<h2 id="to-claim">${texts.toClaim}${view.claimable === '0' ? undefined : html` <span class="count">${view.claimable}</span>`}</h2>
<form id="claim" method="post" action="${frame.root}/redeem/claim">${linkInputs(link)}${from && html`<input type="hidden" name="from" value="${fromText(from)}">`}</form>
${benefits.length > 0 ? claimableList(frame, benefits, tokenOf) : elsewhere ? undefined : none}
${more}</section>`;
}

function restOfBenefits(frame: Frame, link: SignedLink, { benefits, older }: PageView, from?: BenefitReference): Html {
  const { texts } = frame;
  const claimed = benefits.filter((one) => one.state === 'CLAIMED');
  // The last one claimed is what its user looks for, unless they asked for another.
  if (!from) claimed.sort((one, other) => (other.claimedAt ?? 0) - (one.claimedAt ?? 0));
  const gone = benefits.filter((one) => one.state === 'EXPIRED' || one.state === 'REVOKED');
  const pageFrom = (one: BenefitReference) => `${pageAddress(frame, link, one)}#${anchorOf(one)}`;
  // A link and not a timer: a page that changes by itself is hard to read.
  const again =
    claimed.some(({ code }) => code === null) &&
    html`<p><a class="link" href="${pageAddress(frame, link, from)}">${texts.checkAgain}</a></p>`;
  const codes = html`<section class="panel" aria-labelledby="codes"><h2 id="codes">${texts.yourCodes}</h2>
${claimedList(frame, claimed, pageFrom)}${again || undefined}</section>`;
  const earlier =
    older && html`<p class="more"><a class="link" href="${pageAddress(frame, link, older)}">${texts.earlier}</a></p>`;
  const newest =
    from && html`<p class="more"><a class="link" href="${pageAddress(frame, link)}">${texts.newest}</a></p>`;
  return html`${claimed.length > 0 ? codes : undefined}
${gone.length > 0 ? goneList(frame, gone) : undefined}
${earlier}${newest}`;
}

function subscription({ texts, root }: Frame, link: SignedLink, { order, nextPayAt, hasMobile }: PageView): Html {
  const cadence = texts.cadence[order.periodType](order.period);
  const isRetry = order.latestPaymentStatus === 'FAIL_RETRY';
  const rows: [string, string][] = [
    [texts.amount, texts.everyPeriod(money(order.amountCent), cadence)],
    [
      isRetry ? texts.retryPayment : texts.nextPayment,
      nextPayAt === null ? texts.noNextPayment : texts.date.format(nextPayAt),
    ],
    ...(order.unsubscribedAt === null
      ? []
      : [[texts.endedOn, texts.date.format(order.unsubscribedAt)] as [string, string]]),
    [texts.orderNumber, String(order.orderNo)],
    [texts.channelOrderNumber, order.externalOrderNo],
  ];
  const end = html`<p class="end"><a class="link link-quiet" href="${root}/redeem/unsubscribe?${linkQuery(link)}">${texts.end}</a></p>`;
  const cannotEnd = html`<p class="meta">${texts.noMobile}</p>`;
  return html`<aside class="panel" aria-labelledby="subscription">
<h2 id="subscription">${texts.subscription}</h2>
<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="meta">${texts.timeZone}</p>
${order.status === 'ACTIVE' ? (hasMobile ? end : cannotEnd) : undefined}
</aside>`;
}
