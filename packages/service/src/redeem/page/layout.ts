import { type Html, html } from '../html.js';
import type { PageMessage, Texts } from '../texts/texts.js';
import { SCRIPT, STYLE } from './assets.js';

/** The language of a page, and the path that its addresses begin with, behind a proxy. */
export interface Frame {
  readonly texts: Texts;
  readonly root: string;
}

/** A whole document. Its Content-Security-Policy allows neither style nor script in the page itself. */
export function renderDocument({ texts, root }: Frame, title: string, body: Html): string {
  return html`<!doctype html>
<html lang="${texts.lang}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${root}/redeem/${STYLE.name}">
<script src="${root}/redeem/${SCRIPT.name}" defer></script>
</head>
<body>
${body}
</body>
</html>
`.text;
}

/** A page with one message. */
export function renderMessagePage(frame: Frame, { title, text }: PageMessage): string {
  const body = html`<main class="page page-narrow"><section class="panel message"><h1>${title}</h1><p>${text}</p></section></main>`;
  return renderDocument(frame, title, body);
}
