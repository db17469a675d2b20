import { type Html, html } from '../html.js';
import type { LinkToKeep } from '../page-view.js';
import type { Frame } from './layout.js';

/** A link that lasts, and how to keep it. Copying and sharing need a script; opening it and a bookmark do not. */
export function renderLinkToKeep({ texts }: Frame, { address, until, isLast }: LinkToKeep): Html {
  const time = texts.dateTime(until);
  if (address === undefined) return html`<section class="panel keep-link"><p>${texts.kept(time)}</p></section>\n`;
  return html`<section class="panel keep-link" aria-labelledby="keep"><h2 id="keep">${texts.keepTitle}</h2>
<p>${texts.keepText(time, isLast)}</p>
<p class="actions"><a class="button" href="${address}" data-link>${texts.keepOpen}</a>
<button class="button button-quiet" type="button" data-copy-link="${texts.copied}" hidden>${texts.copyLink}</button>
<button class="button button-quiet" type="button" data-share hidden>${texts.share}</button></p>
<p class="meta">${texts.keepHow}</p></section>
`;
}
