import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { PACKAGE_FOLDER } from '../../platform/package-folder.js';
import { VERSION } from '../../platform/version.js';
import { Html, html } from '../../redeem/html.js';
import { pageHeaders } from '../answers/static-files.js';
import { type Installation, rootOf } from './developers-files.js';

export interface StartPage extends Installation {
  readonly hasDevelopers: boolean;
  /** True if the console is on the same listener. */
  readonly hasConsole: boolean;
}

const STYLE = readFileSync(new URL('assets/start/page.css', PACKAGE_FOLDER), 'utf8');
/** The style is inline, which saves a request. The content security policy allows exactly this text. */
const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** Sends a page that says which service runs here, for visitors who have only the URL. */
export function sendStartPage(reply: FastifyReply, page: StartPage): FastifyReply {
  return reply
    .headers({ ...pageHeaders(STYLE_HASH), 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(renderStartPage(page));
}

function renderStartPage({ publicUrl, environment, hasDevelopers, hasConsole }: StartPage): string {
  const root = rootOf(publicUrl());
  const isSandbox = environment === 'sandbox';
  const link = (path: string, title: string, text: string) =>
    html`<li><a href="${root}${path}"><b>${title}</b><span>${text}</span></a></li>`;
  const links = [
    ...(hasDevelopers
      ? [
          link('/developers', 'Developers', 'The first order in a minute, guides, and every endpoint.'),
          link('/developers/signature', 'Signature diagnosis', 'Why was a request refused?'),
        ]
      : []),
    ...(hasConsole ? [link('/console', 'Console', 'For operators: orders, channels, payments.')] : []),
    link('/readyz', 'Health', 'Is this node ready for requests?'),
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Perennial</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<p class="brand"><svg viewBox="0 0 32 32" width="40" height="40" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#5a55d2"/><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"><path d="M16 25V13"/><path d="M16 17c0-5 3-8 8-8 0 5-3 8-8 8Z"/><path d="M16 21c0-4-2.5-6.5-7-6.5 0 4 2.5 6.5 7 6.5Z"/></g></svg><span class="environment ${environment}">${environment}</span></p>
<h1>Perennial</h1>
<p class="what">Recurring subscriptions for partner platforms, over one signed HTTP interface.</p>
<ul>${links}</ul>
<dl>
<div><dt>Interface</dt><dd><code>${publicUrl()}/openapi/v1/</code></dd></div>
${isSandbox ? html`<div><dt>Version</dt><dd><code>${VERSION}</code></dd></div>` : ''}
</dl>
${isSandbox ? html`<p class="note">This is a sandbox: nobody is charged, and nothing is texted.</p>` : ''}
</main>
</body>
</html>
`.text;
}
