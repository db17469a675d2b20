import { countBytes, type Html, html, isolated } from '../../html.js';
import type { SignedLink } from '../../link.js';
import type { Claimed } from '../../page-view.js';
import { benefitText, pageAddress } from '../addresses.js';
import type { Frame } from '../layout.js';
import { benefitAnchor, nameAnchor, renderBenefitHead } from './benefit-item.js';
import { renderQrCode } from './qr.js';

/** Returns the URL of a page that begins with this code. On that page its QR code always fits. */
const codeAddress = (frame: Frame, link: SignedLink, one: Claimed): string =>
  `${pageAddress(frame, link, '/codes', { from: benefitText(one) })}#${benefitAnchor(one)}`;

/**
 * The remaining bytes for QR codes. A code whose QR code does not fit gets a link to a page that begins with this code.
 */
export interface PictureRoom {
  bytes: number;
  /** True if the next QR code is shown expanded. */
  isOpen: boolean;
}

/** Renders all codes as text, and QR codes as long as there is room. */
export function renderCodes(frame: Frame, link: SignedLink, codes: readonly Claimed[], room: PictureRoom): Html {
  const withLinks = codes.map((one) => renderCodeItem(frame, one, renderQrLink(frame, link, one)));
  room.bytes -= countBytes(html`${withLinks}`);
  return html`<ul class="list">
${withLinks.map((withLink, index) => {
  const one = codes[index];
  return one ? drawIfRoom(frame, one, withLink, room) : withLink;
})}</ul>`;
}

/** Renders a link to reload if a code is pending. A timer would change the page, which makes it hard to read. */
export function renderCheckAgain(frame: Frame, link: SignedLink, codes: readonly Claimed[]): Html | undefined {
  if (codes.every(({ code }) => code !== null)) return undefined;
  return html`<p class="more"><a class="link" href="${pageAddress(frame, link)}">${frame.texts.checkAgain}</a></p>
`;
}

/** Returns the size of a code in bytes, without its QR code. */
export const codeBytes = (frame: Frame, link: SignedLink, one: Claimed): number =>
  countBytes(renderCodeItem(frame, one, renderQrLink(frame, link, one)));

function drawIfRoom(frame: Frame, one: Claimed, withLink: Html, room: PictureRoom): Html {
  if (room.bytes <= 0 || one.code === null) return withLink;
  const withPicture = renderCodeItem(frame, one, renderQrBox(frame, one, one.code, room.isOpen));
  const more = countBytes(withPicture) - countBytes(withLink);
  if (more > room.bytes) return withLink;
  room.bytes -= more;
  room.isOpen = false;
  return withPicture;
}

const renderQrLink = (frame: Frame, link: SignedLink, one: Claimed): Html =>
  html`<a class="link" href="${codeAddress(frame, link, one)}">${frame.texts.qr}</a>`;

function renderCodeItem(frame: Frame, one: Claimed, picture: Html): Html {
  const { texts } = frame;
  const claimed = one.claimedAt === null ? undefined : html` · ${texts.claimedOn(texts.dateTime(one.claimedAt))}`;
  return html`<li class="benefit benefit-claimed" id="${benefitAnchor(one)}">
${renderBenefitHead(frame, one, html`${texts.periodShort(one.cycleNo)}${claimed}`, 'h3')}
${one.code === null ? renderWaiting(frame) : html`${renderCode(frame, one, one.code)}${picture}`}
</li>
`;
}

function renderCode({ texts }: Frame, { useUrl }: Claimed, code: string): Html {
  const use =
    useUrl &&
    html`<p class="use"><a class="link" href="${useUrl}" rel="noopener noreferrer"><span>${texts.useAt(isolated(new URL(useUrl).host))}</span><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M6 3h7v7M13 3 4 12"/></svg></a></p>`;
  return html`<p class="code"><code>${code}</code><button class="button button-quiet" type="button" data-copy="${texts.copied}" hidden>${texts.copy}</button></p>
${use}`;
}

function renderQrBox({ texts }: Frame, one: Claimed, code: string, open: boolean): Html {
  const label = `${benefitAnchor(one)}-qr`;
  return html`<details class="qr-box"${open ? html` open` : undefined}><summary id="${label}">${texts.qr}</summary>${renderQrCode(code, `${label} ${nameAnchor(one)}`)}</details>`;
}

export function renderWaiting({ texts }: Frame): Html {
  return html`<div class="waiting"><p><strong>${texts.pending}</strong></p><p>${texts.pendingDetail}</p></div>`;
}
