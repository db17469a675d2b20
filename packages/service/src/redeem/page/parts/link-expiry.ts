import { createFormToken } from '../../form-token.js';
import { type Html, html } from '../../html.js';
import type { PageView } from '../../page-view.js';
import type { Seller } from '../../seller.js';
import type { Visit } from '../../visit.js';
import { postAddress, renderLinkInputs } from '../addresses.js';
import type { Frame } from '../layout.js';

/** The action for which the token of the button is issued. */
export const SEND_LINK_ACTION = 'send-link';

/** Renders when the link expires, once on the page, and how to get a new link. */
export function renderLinkExpiry(
  frame: Frame,
  visit: Visit,
  seller: Seller,
  { toClaimCount, codesCount }: Pick<PageView, 'toClaimCount' | 'codesCount'>,
): Html {
  const { texts } = frame;
  const until = texts.dateTime(visit.link.exp * 1000);
  // The service gives the seller no new link while nothing is claimable.
  const canRenew = toClaimCount > 0;
  const says = !canRenew && codesCount > 0 ? texts.openUntil(until) : texts.linkUntil(until);
  const shop =
    seller.shopUrl !== undefined && canRenew
      ? html`<a class="link-in" href="${seller.shopUrl}" rel="noopener noreferrer">${texts.newLinkFrom(seller.nameHtml)}</a>`
      : undefined;
  const plain = shop || !canRenew || frame.canSend ? undefined : texts.openAgain(seller.nameHtml);
  return html`<div class="expiry meta"><p>${says}${texts.gap}${shop ?? plain}</p>
${renderSendLink(frame, visit)}</div>
`;
}

/** Renders the button that sends a new link to the login mobile, if the installation can send messages. */
export function renderSendLink(
  frame: Frame,
  { channel, link }: Pick<Visit, 'channel' | 'link'>,
  look = 'button-quiet',
) {
  if (!frame.canSend) return undefined;
  const token = createFormToken(channel.callbackSecret, link, SEND_LINK_ACTION);
  return html`<form class="actions" method="post" action="${postAddress(frame, '/send-link')}">${renderLinkInputs(link)}
<input type="hidden" name="token" value="${token}"><button class="button ${look}">${frame.texts.sendLink}</button></form>
`;
}
