import { html } from '../html.js';
import type { Page } from '../layout.js';
import { renderMarkdown } from '../markdown.js';
import { GUIDES } from './guides.js';
import { renderCards } from './parts.js';

/** The first page: an order in a minute, then where to go. */
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
          text: 'Paste a request that was refused, and see what is wrong with it.',
        },
        { path: 'openapi.json', title: 'OpenAPI 3.1', text: 'The interface as a document, for your generator.' },
        {
          path: 'clients/perennial.postman_collection.json',
          title: 'Postman collection',
          text: 'Every endpoint with its signature, to try by hand.',
        },
        { path: 'vectors.json', title: 'Vectors', text: 'Known answers for signatures, ciphertext and times.' },
      ]),
  });
  return {
    path: '',
    title: 'Perennial developers',
    summary: 'Sell subscriptions over one signed interface: the first order in a minute, guides, reference.',
    kind: 'Start',
    body: html`<div class="start">${body}</div>`,
    shape: 'wide',
  };
}

/** For who has not found what they looked for. */
const WAYS_ON = [
  { path: '', title: 'Start', text: 'The first order, all guides and tools.' },
  { path: 'reference', title: 'Reference', text: 'All endpoints.' },
  { path: 'guides/errors', title: 'Errors', text: 'All result codes.' },
];

export function searchPage(): Page {
  return {
    path: 'search',
    title: 'Search',
    summary: 'Search these pages.',
    kind: 'Search',
    body: html`<h1>Search</h1><p class="quiet" id="results-said" role="status">Searching and the signature diagnosis need JavaScript; everything else here works without.</p><ol class="results" id="results"></ol>
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
    body: html`<h1>There is no such page</h1><p>The address may be mistyped, or the page has another name by now.</p>${renderCards(WAYS_ON)}`,
    shape: 'wide',
  };
}
