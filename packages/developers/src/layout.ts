import { type Html, html, raw } from './html.js';

/** Placeholders, which the service replaces when it serves a page. */
export const ROOT = '__ROOT__';
export const ENVIRONMENT = '__ENVIRONMENT__';
export const CURRENCY = '__CURRENCY__';

export interface Page {
  /** The path below /developers, without a leading slash: `guides/webhooks`. Empty for the start page. */
  readonly path: string;
  readonly title: string;
  /** One sentence about the page, for search engines and this site's search. */
  readonly summary: string;
  /** Label in search results: Guide, Tool, Endpoint orders/create. */
  readonly kind: string;
  readonly body: Html;
  /** Shown beside the text on wide screens. */
  readonly aside?: Html;
  /** Additional search keywords. */
  readonly words?: string;
  readonly shape: 'guide' | 'reference' | 'wide';
  /** File names of scripts in addition to page.js. */
  readonly scripts?: readonly string[];
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly { readonly path: string; readonly title: string; readonly note?: string }[];
}

/** The hashed file names of assets, by their plain names. */
export type Assets = Readonly<Record<string, string>>;

/** Scripts that load the SDK when the reader signs in. */
const SDK_SCRIPTS: ReadonlySet<string> = new Set(['my-channel.js', 'try.js']);

export const hrefOf = (path: string): string => `${ROOT}/developers${path === '' ? '' : `/${path}`}`;

export function renderPage(page: Page, navigation: readonly NavigationGroup[], assets: Assets): string {
  const asset = (name: string) => `${ROOT}/developers/assets/${assets[name] ?? name}`;
  const scripts = ['page.js', ...(page.scripts ?? [])].map(
    (name) => html`<script src="${asset(name)}" defer></script>\n`,
  );
  const usesSdk = page.scripts?.some((name) => SDK_SCRIPTS.has(name));
  const title = page.path === '' ? page.title : `${page.title} · Perennial developers`;
  return html`<!doctype html>
<html lang="en" data-root="${ROOT}" data-environment="${ENVIRONMENT}"${usesSdk ? html` data-sdk="${assets['sdk.js']}"` : ''}>
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="description" content="${page.summary}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${asset('icon.svg')}">
<script src="${asset('theme.js')}"></script>
<link rel="stylesheet" href="${asset('style.css')}">
${scripts}</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
${renderHeader(page)}
<div class="frame">
${renderNavigation(page, navigation)}
<main id="content" class="content ${page.shape}" tabindex="-1">
<article class="text">
${page.body}
</article>
${page.aside ? html`<div class="aside">${page.aside}</div>` : ''}
</main>
</div>
</body>
</html>
`.text.replaceAll(NAMED, nameOnce());
}

const NAMED = /( role="(?:region|group)" aria-label=")([^"]+)(?=")/g;

/**
 * Returns a replacer that adds a number to each repeated label of a region or group, because screen readers list
 * regions and groups by label.
 */
function nameOnce(): (whole: string, before: string, name: string) => string {
  const seen = new Map<string, number>();
  return (_, before, name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return before + (count === 1 ? name : `${name}, ${count}`);
  };
}

function renderHeader(page: Page): Html {
  const link = (path: string, title: string) => {
    const isHere = page.path === path || page.path.startsWith(`${path}/`);
    return html`<a href="${hrefOf(path)}"${raw(isHere ? ' class="here"' : '')}>${title}</a>`;
  };
  return html`<header class="top">
<input type="checkbox" id="menu-switch" class="menu-switch" aria-label="Show all pages"><label for="menu-switch" class="menu-button" aria-hidden="true"><svg viewBox="0 0 20 20" width="20" height="20"><path d="M3 6h14M3 10h14M3 14h14" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></svg></label>
<a class="brand" href="${hrefOf('')}"><svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#5a55d2"/><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"><path d="M16 25V13"/><path d="M16 17c0-5 3-8 8-8 0 5-3 8-8 8Z"/><path d="M16 21c0-4-2.5-6.5-7-6.5 0 4 2.5 6.5 7 6.5Z"/></g></svg><span>Perennial <b>developers</b></span></a>
<span class="environment">${ENVIRONMENT}</span>
<nav class="sections" aria-label="Sections">${link('guides/three-ways', 'Guides')}${link('reference', 'Reference')}${link('signature', 'Signature')}<span class="only-sandbox">${link('console', 'Console')}</span></nav>
<form class="search" role="search" action="${hrefOf('search')}">
<input type="search" name="q" placeholder="Search" aria-label="Search these pages" autocomplete="off" spellcheck="false" enterkeyhint="search"><kbd aria-hidden="true">/</kbd>
</form>
<button type="button" class="theme-switch" hidden><svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M10 2.5v15a7.5 7.5 0 0 0 0-15Z" fill="currentColor"/><circle cx="10" cy="10" r="7.5" fill="none" stroke="currentColor" stroke-width="1.6"/></svg></button>
</header>`;
}

function renderNavigation(page: Page, groups: readonly NavigationGroup[]): Html {
  return html`<nav class="navigation" aria-label="All pages">${groups.map(
    ({ title, links }) => html`
<p class="navigation-title">${title}</p>
<ul>${links.map(
      (link) =>
        html`<li><a href="${hrefOf(link.path)}"${raw(link.path === page.path ? ' aria-current="page"' : '')}>${link.title}${link.note ? html` <span class="note">${link.note}</span>` : ''}</a></li>`,
    )}</ul>`,
  )}
</nav>`;
}

/**
 * Returns a text with links to its headings: beside it on wide screens, and folded above its first heading on others.
 * A text with fewer than two headings stays as it is.
 */
export function withContents(body: Html): Pick<Page, 'body' | 'aside'> {
  const headings = [...body.text.matchAll(/<h2 id="([^"]+)">(.{0,500}?)<a class="anchor"/g)];
  if (headings.length < 2) return { body };
  const links = headings.map(
    ([, id = '', inner = '']) => html`<li><a href="#${id}">${raw(inner.replaceAll(/<[^<>]*>/g, ''))}</a></li>`,
  );
  const folded = html`<details class="children contents-folded"><summary>On this page</summary><ul>${links}</ul></details>\n`;
  const at = headings[0]?.index ?? 0;
  return {
    body: raw(body.text.slice(0, at) + folded.text + body.text.slice(at)),
    aside: html`<nav class="contents" aria-label="On this page"><p class="navigation-title">On this page</p><ul>${links}</ul></nav>`,
  };
}
