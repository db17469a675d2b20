import { EVENT_CONTRACT, type SettlementMode, WEBHOOK_RETRY_DELAYS_MS } from '@perennial/wire';
import { type Html, html, raw } from '../html.js';
import { type Page, renderContents } from '../layout.js';
import { type Pieces, renderInline, renderMarkdown, renderTable } from '../markdown.js';
import { ALL_CODES } from '../model.js';
import { VECTOR_TEXTS } from '../vectors.js';
import { renderCodes } from './parts.js';

/** In the order of the navigation, with what each is about in one sentence. */
export const GUIDES: readonly {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** Other words that readers look for it by. */
  readonly words?: string;
}[] = [
  { name: 'three-ways', title: 'Three ways to sell', summary: 'Who takes the money, and which calls that needs.' },
  {
    name: 'signing',
    title: 'Signing and encryption',
    summary: 'Seven lines, one signature, and fields that only you and the service can read.',
    words: 'authentication hmac aes encrypt decrypt credentials secret key',
  },
  {
    name: 'webhooks',
    title: 'Receiving events',
    summary: 'Check, acknowledge, deal with it afterwards; what comes when.',
    words: 'webhook webhooks callback receiver notification retry retries resend redelivery',
  },
  {
    name: 'redemption',
    title: 'Redemption',
    summary: 'The link that leads users to what they have paid for.',
    words: 'redeemUrl redeem link claim benefit voucher coupon',
  },
  {
    name: 'errors',
    title: 'Errors',
    summary: 'Every result code, when it is answered and what to do then.',
    words: 'error code failure retry retries',
  },
  {
    name: 'limits',
    title: 'Limits',
    summary: 'How much, how often, how long.',
    words: 'rate limit throttling timeout',
  },
  {
    name: 'sandbox',
    title: 'Rehearsing',
    summary: 'A year in a second, a card without money, a first debit that hangs.',
    words: 'sandbox test testing mock simulate',
  },
  { name: 'going-live', title: 'Going live', summary: 'What differs in production, and a list to go through before.' },
];

const PIECES: Pieces = {
  codes: () =>
    renderCodes(
      ALL_CODES.toSorted((one, other) => Number(one.code) - Number(other.code)),
      { hasAnchors: true },
    ),
  'events-a': () => renderContract('SVC_DEDUCT', 'Events when the service debits'),
  'events-b': () => renderContract('CHANNEL_COLLECT', 'Events when you collect'),
  retries: renderRetries,
  vectors: () =>
    html`<ul>${Object.entries(VECTOR_TEXTS).map(([name, text]) => html`<li><code>${name}</code>: ${text}</li>`)}</ul>`,
};

export const guidePages = (texts: Readonly<Record<string, string>>): Page[] =>
  GUIDES.map(({ name, title, summary, words }) => {
    const body = html`<p class="eyebrow">Guide</p>${renderMarkdown(texts[name] ?? '', PIECES)}`;
    const contents = renderContents(body);
    return {
      path: `guides/${name}`,
      title,
      summary,
      kind: 'Guide',
      ...(words === undefined ? {} : { words }),
      body,
      ...(contents ? { aside: contents } : {}),
      shape: 'guide',
    };
  });

const shortName = (eventType: string): string => eventType.replace('.status.changed', '');

function renderContract(mode: SettlementMode, label: string): Html {
  const rows = EVENT_CONTRACT.filter(({ settlementMode }) => settlementMode === mode).map((row) => {
    const events = row.events.map(({ eventType, status }) => `${shortName(eventType)} \`${status}\``);
    const voided = row.perVoidedPeriod ? [`payment \`${row.perVoidedPeriod.status}\` for each voided period`] : [];
    const told = [...events, ...voided].join(', ');
    return html`<tr><td>${row.when}</td><td>${renderInline(told === '' ? 'none' : told)}</td></tr>`;
  });
  const table = html`<thead><tr><th scope="col">what happens</th><th scope="col">events, in this order</th></tr></thead><tbody>${rows}</tbody>`;
  return raw(renderTable(label, table.text));
}

function renderRetries(): Html {
  const waits = [0, ...WEBHOOK_RETRY_DELAYS_MS];
  const rows = waits.map(
    (ms, index) =>
      html`<tr><td>${index + 1}</td><td>${index}</td><td>${index === 0 ? 'at once' : `${ms / 1000} s`}</td></tr>`,
  );
  const heads = html`<th scope="col">push</th><th scope="col"><code>retryNo</code></th><th scope="col">after the push before it was over</th>`;
  return raw(renderTable('Retries', html`<thead><tr>${heads}</tr></thead><tbody>${rows}</tbody>`.text));
}
