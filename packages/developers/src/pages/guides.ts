import { EVENT_CONTRACT, type SettlementMode, WEBHOOK_RETRY_DELAYS_MS } from '@perennial/wire';
import { type Html, html, raw } from '../html.js';
import { type Page, withContents } from '../layout.js';
import { type Pieces, renderInline, renderMarkdown, renderTable } from '../markdown.js';
import { ALL_CODES } from '../model.js';
import { VECTOR_TEXTS } from '../vectors.js';
import { renderCodes } from './parts.js';
import { ORDER_DIAGRAM, PERIOD_DIAGRAM, renderDiagram } from './state-diagrams.js';

/** The guides, in the order in which the navigation lists them. */
export const GUIDES: readonly {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** Additional search keywords. */
  readonly words?: string;
}[] = [
  { name: 'three-ways', title: 'Three ways to sell', summary: 'Who charges the user, and the calls for each way.' },
  {
    name: 'signing',
    title: 'Signing and encryption',
    summary: 'Sign requests, and encrypt personal data.',
    words: 'authentication hmac aes encrypt decrypt credentials secret key rotate rotation roll reset',
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    summary: 'Receive events: verify, store and acknowledge them.',
    words: 'webhook webhooks ngrok tunnel callback receiver notification retry retries resend redelivery',
  },
  {
    name: 'redemption',
    title: 'Redemption',
    summary: 'The page where users claim the benefits that they paid for.',
    words: 'redeemUrl redeem link claim benefit voucher coupon',
  },
  {
    name: 'errors',
    title: 'Errors',
    summary: 'Every result code: what it means and what to do.',
    words: 'error code failure retry retries',
  },
  {
    name: 'limits',
    title: 'Limits',
    summary: 'Rates, sizes and timeouts.',
    words: 'rate limit throttling timeout',
  },
  {
    name: 'sandbox',
    title: 'Sandbox',
    summary: 'Test a year in a second, a card without funds, a first debit without a result.',
    words: 'rehearse test testing mock simulate docker container compose local',
  },
  { name: 'going-live', title: 'Going live', summary: 'Differences in production, and a checklist.' },
  {
    name: 'versions',
    title: 'Versions and changes',
    summary: 'What stays within a version, and what has changed.',
    words: 'changelog versioning compatibility deprecation release upgrade',
  },
];

const PIECES: Pieces = {
  codes: () =>
    renderCodes(
      ALL_CODES.toSorted((one, other) => Number(one.code) - Number(other.code)),
      { hasAnchors: true },
    ),
  'events-a': () => renderContract('SVC_DEDUCT', 'Events when the service debits'),
  'events-b': () => renderContract('CHANNEL_COLLECT', 'Events when you collect'),
  'order-states': () => renderDiagram(ORDER_DIAGRAM),
  'period-states': () => renderDiagram(PERIOD_DIAGRAM),
  retries: renderRetries,
  vectors: () =>
    html`<ul>${Object.entries(VECTOR_TEXTS).map(([name, text]) => html`<li><code>${name}</code>: ${text}</li>`)}</ul>`,
};

export const guidePages = (texts: Readonly<Record<string, string>>): Page[] =>
  GUIDES.map(({ name, title, summary, words }) => {
    const body = html`<p class="eyebrow">Guide</p>${renderMarkdown(texts[name] ?? '', PIECES)}`;
    return {
      path: `guides/${name}`,
      title,
      summary,
      kind: 'Guide',
      ...(words === undefined ? {} : { words }),
      ...withContents(body),
      shape: 'guide',
    };
  });

const shortName = (eventType: string): string => eventType.replace('.status.changed', '');

function renderContract(mode: SettlementMode, label: string): Html {
  const rows = EVENT_CONTRACT.filter(({ settlementMode }) => settlementMode === mode).map((row) => {
    const events = row.events.map(({ eventType, status }) => `${shortName(eventType)} \`${status}\``);
    const voided = row.perVoidedPeriod ? [`payment \`${row.perVoidedPeriod.status}\` for each voided period`] : [];
    const sent = [...events, ...voided].join(', ');
    return html`<tr><td>${row.when}</td><td>${renderInline(sent === '' ? 'none' : sent)}</td></tr>`;
  });
  const table = html`<thead><tr><th scope="col">what happens</th><th scope="col">events, in this order</th></tr></thead><tbody>${rows}</tbody>`;
  return raw(renderTable(label, table.text));
}

function renderRetries(): Html {
  const waits = [0, ...WEBHOOK_RETRY_DELAYS_MS];
  const rows = waits.map(
    (ms, index) =>
      html`<tr><td>${index + 1}</td><td>${index}</td><td>${index === 0 ? 'immediately' : `${ms / 1000} s`}</td></tr>`,
  );
  const heads = html`<th scope="col">push</th><th scope="col"><code>retryNo</code></th><th scope="col">delay after the previous push</th>`;
  return raw(renderTable('Retries', html`<thead><tr>${heads}</tr></thead><tbody>${rows}</tbody>`.text));
}
