import { type Html, html } from '../html.js';
import type { Seller } from '../seller.js';
import type { PageMessage } from '../texts/en.js';
import { type Frame, renderDocument } from './layout.js';
import { type Illustration, renderIllustration } from './parts/illustrations.js';

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

/** Renders the page for a link that was valid and has expired. */
export function renderExpiredPage(frame: Frame, seller: Seller): string {
  const { title, text } = frame.texts.expired;
  const way =
    seller.shopUrl &&
    html`<p class="actions"><a class="button" href="${seller.shopUrl}" rel="noopener noreferrer"><span>${frame.texts.backTo(seller.nameHtml)}</span></a></p>`;
  const main = renderMessage('late', title, html`<p>${text(seller.nameHtml)}</p>${way}`);
  return renderDocument(frame, { title: `${title} · ${seller.name}`, seller, main });
}

/** Renders the layout of pages with one message. */
export const renderMessage = (drawing: Illustration, title: string | Html, content: Html): Html =>
  html`<main class="page page-narrow"><section class="panel message">
${renderIllustration(drawing)}
<h1>${title}</h1>
${content}
</section></main>`;
