import { EVENT_CONTRACT, type SettlementMode, WEBHOOK_RETRY_DELAYS_MS } from '@perennial/wire';
import { type Html, html } from '../html.js';
import { type Page, renderContents } from '../layout.js';
import { type Pieces, renderInline, renderMarkdown } from '../markdown.js';
import { ALL_CODES } from '../model.js';
import { VECTOR_TEXTS } from '../vectors.js';
import { renderCodes } from './parts.js';

/** In the order of the navigation, with what each is about in one sentence. */
export const GUIDES: readonly { readonly name: string; readonly title: string; readonly summary: string }[] = [
  { name: 'three-ways', title: 'Three ways to sell', summary: 'Who takes the money, and which calls that needs.' },
  {
    name: 'signing',
    title: 'Signing and encryption',
    summary: 'Seven lines, one signature, and fields that only you and the service can read.',
  },
  {
    name: 'webhooks',
    title: 'Receiving events',
    summary: 'Check, acknowledge, deal with it afterwards; what comes when.',
  },
  { name: 'redemption', title: 'Redemption', summary: 'The link that leads users to what they have paid for.' },
  { name: 'errors', title: 'Errors', summary: 'Every result code, when it is answered and what to do then.' },
  { name: 'limits', title: 'Limits', summary: 'How much, how often, how long.' },
  {
    name: 'sandbox',
    title: 'Rehearsing',
    summary: 'A year in a second, a card without money, a first debit that hangs.',
  },
  { name: 'going-live', title: 'Going live', summary: 'What differs in production, and a list to go through before.' },
];

const PIECES: Pieces = {
  codes: () =>
    renderCodes(
      ALL_CODES.toSorted((one, other) => Number(one.code) - Number(other.code)),
      { hasAnchors: true },
    ),
  'events-a': () => renderContract('SVC_DEDUCT'),
  'events-b': () => renderContract('CHANNEL_COLLECT'),
  retries: renderRetries,
  vectors: () =>
    html`<ul>${Object.entries(VECTOR_TEXTS).map(([name, text]) => html`<li><code>${name}</code>: ${text}</li>`)}</ul>`,
};

export const guidePages = (texts: Readonly<Record<string, string>>): Page[] =>
  GUIDES.map(({ name, title, summary }) => {
    const body = html`<p class="eyebrow">Guide</p>${renderMarkdown(texts[name] ?? '', PIECES)}`;
    const contents = renderContents(body);
    return {
      path: `guides/${name}`,
      title,
      summary,
      kind: 'Guide',
      body,
      ...(contents ? { aside: contents } : {}),
      shape: 'guide',
    };
  });

const shortName = (eventType: string): string => eventType.replace('.status.changed', '');

function renderContract(mode: SettlementMode): Html {
  const rows = EVENT_CONTRACT.filter(({ settlementMode }) => settlementMode === mode).map((row) => {
    const events = row.events.map(({ eventType, status }) => `${shortName(eventType)} \`${status}\``);
    const voided = 'perVoidedPeriod' in row ? [`payment \`${row.perVoidedPeriod.status}\` for each voided period`] : [];
    const told = [...events, ...voided].join(', ');
    return html`<tr><td>${row.when}</td><td>${renderInline(told === '' ? 'none' : told)}</td></tr>`;
  });
  return html`<div class="table" tabindex="0" role="region" aria-label="Events"><table><thead><tr><th>what happens</th><th>events, in this order</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function renderRetries(): Html {
  const waits = [0, ...WEBHOOK_RETRY_DELAYS_MS];
  const rows = waits.map(
    (ms, index) =>
      html`<tr><td>${index + 1}</td><td>${index}</td><td>${index === 0 ? 'at once' : `${ms / 1000} s`}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Retries"><table><thead><tr><th>push</th><th><code>retryNo</code></th><th>after the push before it was over</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
