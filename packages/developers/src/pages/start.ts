import { html } from '../html.js';
import type { Page } from '../layout.js';
import { renderMarkdown } from '../markdown.js';
import { GUIDES } from './guides.js';
import { renderCards } from './parts.js';

/** Returns the first page: the quick start, with links to guides and tools. */
export function startPage(text: string): Page {
  const body = renderMarkdown(text, {
    guides: () =>
      renderCards(GUIDES.map(({ name, title, summary }) => ({ path: `guides/${name}`, title, text: summary }))),
    tools: () =>
      renderCards([
        {
          path: 'reference',
          title: 'Reference',
          text: 'Every endpoint with its fields, codes and examples in six languages.',
        },
        {
          path: 'signature',
          title: 'Signature diagnosis',
          text: 'Paste a refused request to find the mistake.',
        },
        {
          path: 'console',
          title: 'Your console',
          text: 'Your requests, orders, events and settings in the sandbox.',
        },
        { path: 'openapi.json', title: 'OpenAPI 3.1', text: 'The API for code generators.' },
        {
          path: 'clients/perennial.postman_collection.json',
          title: 'Postman collection',
          text: 'Try every endpoint by hand. Requests are signed automatically.',
        },
        { path: 'vectors.json', title: 'Test vectors', text: 'Expected results for signatures, ciphertext and times.' },
      ]),
  });
  return {
    path: '',
    title: 'Perennial developers',
    summary: 'Sell subscriptions through a signed JSON API: quick start, guides, reference.',
    kind: 'Start',
    body: html`<div class="start">${body}</div>`,
    shape: 'wide',
  };
}

/** The links for readers whose search found nothing or whose URL does not exist. */
const WAYS_ON = [
  { path: '', title: 'Start', text: 'Quick start, all guides and tools.' },
  { path: 'reference', title: 'Reference', text: 'All endpoints.' },
  { path: 'guides/errors', title: 'Errors', text: 'All result codes.' },
];

export function searchPage(): Page {
  return {
    path: 'search',
    title: 'Search',
    summary: 'Search these pages.',
    kind: 'Search',
    body: html`<h1>Search</h1><p class="quiet" id="results-said" role="status">The search and the signature diagnosis need JavaScript. All other pages work without it.</p><ol class="results" id="results"></ol>
<section id="way-on" aria-label="Where else to look">${renderCards(WAYS_ON)}</section>`,
    shape: 'wide',
  };
}

export function notFoundPage(): Page {
  return {
    path: 'not-found',
    title: 'There is no such page',
    summary: 'There is no such page.',
    kind: '',
    body: html`<h1>There is no such page</h1><p>The address may be mistyped, or the page may have moved.</p>${renderCards(WAYS_ON)}`,
    shape: 'wide',
  };
}
