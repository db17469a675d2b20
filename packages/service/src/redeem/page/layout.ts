import { accentPath } from '../brand/tones.js';
import { type Html, html } from '../html.js';
import type { Seller } from '../seller.js';
import type { Texts } from '../texts/en.js';
import { ICON, SCRIPT, STYLE } from './assets.js';

/** What all pages need: texts in the user's language, the format of amounts, and the path prefix behind a proxy. */
export interface Frame {
  readonly texts: Texts;
  readonly money: (cents: number) => string;
  readonly root: string;
  /** The language that the user has chosen on the page. Undefined: the browser's language. */
  readonly lang: 'zh' | 'en' | undefined;
  /** Returns the URL of this page in the other language. */
  readonly switchAddress: () => string;
  /** True if the installation can send messages to users. */
  readonly canSend: boolean;
}

export interface Document {
  readonly title: string;
  /** Undefined if the page must not reveal who sells the subscription. */
  readonly seller: Seller | undefined;
  readonly main: Html;
  /**
   * True if the page has a link back to another page of the same subscription. Then the link to the seller is only at
   * the bottom.
   */
  readonly hasWayBack?: boolean;
  /** True if the page itself links to the seller and the seller's support. Then nothing around it does. */
  readonly hasSellerLinks?: boolean;
  /** Order numbers and notes at the bottom of the page. */
  readonly smallPrint?: Html | undefined;
}

/** The page's background in both themes. The browser's toolbar has the same colour. */
const GROUND = { light: '#f3f5f4', dark: '#0e1311' };

/** Renders a whole document. Its Content-Security-Policy forbids inline styles and scripts. */
export function renderDocument(
  frame: Frame,
  { title, seller, main, hasWayBack = false, hasSellerLinks = false, smallPrint }: Document,
): string {
  const { texts, root } = frame;
  const accent = seller?.accent ?? null;
  const icon = seller?.logo ? `images/${seller.logo}` : ICON.name;
  return html`<!doctype html>
<html lang="${texts.lang}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${GROUND.light}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${GROUND.dark}">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<link rel="icon" href="${root}/redeem/${icon}">
<link rel="stylesheet" href="${root}/redeem/${STYLE.name}">
${accent === null ? undefined : html`<link rel="stylesheet" href="${root}${accentPath(accent)}">\n`}<script src="${root}/redeem/${SCRIPT.name}" data-offline="${texts.offline}" defer></script>
</head>
<body>
${seller ? renderSellerHeader(frame, seller, hasWayBack || hasSellerLinks) : html`<header class="ways">${renderSwitch(frame)}</header>\n`}${main}
${seller && renderFooter(frame, hasSellerLinks ? { ...seller, shopUrl: undefined, support: undefined } : seller, smallPrint)}</body>
</html>
`.text;
}

/** Renders the link to the page in the other language. */
export const renderSwitch = ({ texts, switchAddress }: Frame): Html =>
  html`<a class="switch" href="${switchAddress()}" lang="${texts.other.lang}" hreflang="${texts.other.lang}" rel="nofollow">${texts.other.name}</a>`;

/** Renders the seller's name and logo, the link back to the seller, and the language switch. */
function renderSellerHeader(frame: Frame, seller: Seller, hasWayBack: boolean): Html {
  const { texts, root } = frame;
  const mark = seller.logo
    ? html`<img class="logo" src="${root}/redeem/images/${seller.logo}" alt="">`
    : html`<span class="logo monogram" aria-hidden="true">${seller.monogram}</span>`;
  const back =
    seller.shopUrl &&
    !hasWayBack &&
    html`<a class="back" href="${seller.shopUrl}" rel="noopener noreferrer"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M10 3 5 8l5 5"/></svg><span>${texts.backTo(seller.nameHtml)}</span></a>`;
  return html`<header class="seller">
<p class="who">${mark}<bdi class="name">${seller.name}</bdi></p>
<p class="ways">${back || undefined}${renderSwitch(frame)}</p></header>
`;
}

function renderFooter({ texts }: Frame, seller: Seller, smallPrint: Html | undefined): Html {
  const { support, termsUrl, shopUrl } = seller;
  const links = [
    shopUrl && html`<a href="${shopUrl}" rel="noopener noreferrer">${texts.backTo(seller.nameHtml)}</a>`,
    support &&
      html`<a href="${support.href}" rel="noopener noreferrer">${texts.support[support.kind]} <bdi>${support.text}</bdi></a>`,
    termsUrl && html`<a href="${termsUrl}" rel="noopener noreferrer">${texts.terms}</a>`,
  ].flatMap((link) => (link ? [html`<li>${link}</li>`] : []));
  return html`<footer class="footer">
<p>${texts.soldBy(seller.nameHtml)}</p>
${links.length > 0 ? html`<ul class="footer-links">${links}</ul>\n` : undefined}${smallPrint}</footer>
`;
}
