import { type Html, html } from '../html.js';
import { type Seller, sellerOf } from '../seller.js';
import type { PageMessage, SentLink } from '../texts/en.js';
import type { LateVisit, Visit } from '../visit.js';
import { pageAddress } from './addresses.js';
import { type Frame, renderDocument } from './layout.js';
import { type Illustration, renderIllustration } from './parts/illustrations.js';
import { renderSendLink } from './parts/link-expiry.js';

export interface MessagePage {
  readonly drawing: Illustration;
  readonly message: PageMessage;
  /** The URL of the retry link. Empty: the link leads to the page itself. Undefined: there is no link. */
  readonly again?: string | undefined;
}

/** Renders a page with one message. It does not reveal whose order it is. */
export function renderMessagePage(frame: Frame, { drawing, message, again }: MessagePage): string {
  const { texts } = frame;
  const way =
    again === undefined
      ? undefined
      : html`<p class="actions"><a class="button" href="${again}">${texts.tryAgain}</a></p>`;
  const main = renderMessage(drawing, message.title, html`<p>${message.text}</p>${way}`);
  return renderDocument(frame, { title: message.title, seller: undefined, main });
}

/** Renders the page for a link that does not work. It offers what is right for every link, and reveals nothing. */
export function renderRefusedPage(frame: Frame): string {
  const { title, text, steps } = frame.texts.refused;
  const list = html`<ul class="means">${steps.map((step) => html`<li>${step}</li>`)}</ul>`;
  const main = renderMessage('broken', title, html`<p>${text}</p>${list}`);
  return renderDocument(frame, { title, seller: undefined, main });
}

/** Renders the page for a link that was valid and has expired. */
export function renderExpiredPage(frame: Frame, { channel, link }: LateVisit): string {
  const seller = sellerOf(channel);
  const { title, text } = frame.texts.expired;
  const content = html`<p>${text(seller.nameHtml)}</p>
${renderSendLink(frame, { channel, link }, '')}${renderWaysOn(frame, seller)}`;
  const main = renderMessage('late', title, content);
  return renderDocument(frame, { title: `${title} · ${seller.name}`, seller, main, hasSellerLinks: true });
}

/** Renders the result of asking for a new link. */
export function renderSentPage(frame: Frame, { kind, channel, link }: LateVisit | Visit, result: SentLink): string {
  const { texts } = frame;
  const seller = sellerOf(channel);
  const title = result === 'sent' ? texts.sentTitle : texts.notSentTitle;
  const back =
    kind === 'open' &&
    html`<p class="actions"><a class="button" href="${pageAddress(frame, link)}">${texts.backToSubscription}</a></p>`;
  const content = html`<p role="alert">${texts.sent[result]}</p>
${back || renderWaysOn(frame, seller)}`;
  const main = renderMessage(result === 'sent' ? 'message' : 'busy', title, content);
  return renderDocument(frame, { title: `${title} · ${seller.name}`, seller, main, hasSellerLinks: !back });
}

/** Renders the ways on from a page that shows nothing else: back to the shop, and to the seller's support. */
function renderWaysOn({ texts, canSend }: Frame, { shopUrl, support, nameHtml }: Seller): Html | undefined {
  const look = canSend ? 'button button-quiet' : 'button';
  const ways = [
    shopUrl &&
      html`<a class="${look}" href="${shopUrl}" rel="noopener noreferrer"><span>${texts.backTo(nameHtml)}</span></a>`,
    support &&
      html`<a class="button button-quiet" href="${support.href}" rel="noopener noreferrer"><span>${texts.support[support.kind]} <bdi>${support.text}</bdi></span></a>`,
  ].flatMap((way) => (way ? [way] : []));
  return ways.length > 0 ? html`<p class="actions">${ways}</p>` : undefined;
}

/** Renders the layout of pages with one message. */
export const renderMessage = (drawing: Illustration, title: string | Html, content: Html): Html =>
  html`<main class="page page-narrow"><section class="panel message">
${renderIllustration(drawing)}
<h1>${title}</h1>
${content}
</section></main>`;
