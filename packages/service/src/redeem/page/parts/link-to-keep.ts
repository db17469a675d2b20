import { type Html, html } from '../../html.js';
import type { LinkToKeep } from '../../page-view.js';
import { pageAddress } from '../addresses.js';
import type { Frame } from '../layout.js';

/** Renders a link that works longer, and how to keep it. Copying and sharing it need a script; opening it does not. */
export function renderLinkToKeep(frame: Frame, { link, isPresent, isLast }: LinkToKeep): Html {
  const { texts } = frame;
  const time = texts.dateTime(link.exp * 1000);
  const address = pageAddress(frame, link);
  const send = html`<button class="button button-quiet" type="button" data-copy-link="${texts.copied}" hidden>${texts.copyLink}</button>
<button class="button button-quiet" type="button" data-share hidden>${texts.share}</button>`;
  // In a web view without an address bar, users can get the URL only by these buttons.
  if (isPresent)
    return html`<section class="panel keep-link"><p>${texts.kept(time)}</p>
<p class="actions"><a href="${address}" data-link hidden></a>${send}</p></section>
`;
  return html`<section class="panel keep-link" aria-labelledby="keep"><h2 id="keep">${texts.keepTitle}</h2>
<p>${texts.keepText(time, isLast)}</p>
<p class="actions"><a class="button" href="${address}" data-link>${texts.keepOpen}</a>
${send}</p>
<p class="meta">${texts.keepHow}</p></section>
`;
}
