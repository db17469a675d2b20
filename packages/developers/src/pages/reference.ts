import { type CodeName, HEADERS } from '@perennial/wire';
import { formatJson, renderCode, renderTabs } from '../code-blocks.js';
import { GROUPS } from '../content/endpoints.js';
import { ENVELOPE_FIELDS } from '../content/fields.js';
import type { EventExample } from '../content/story/events.js';
import { DEMONSTRATION, pushHeadersFor, RECEIVER_PATH } from '../demonstration.js';
import { showEncrypted } from '../encrypted-examples.js';
import { type Html, html, raw } from '../html.js';
import { hrefOf, type NavigationGroup, type Page, withContents } from '../layout.js';
import { renderHeading, renderInline, renderMarkdown } from '../markdown.js';
import { type Code, type Described, ENDPOINTS, EVENTS } from '../model.js';
import { exampleAnswer } from '../openapi.js';
import { snippetsFor } from '../snippets.js';
import { link, renderCodes, renderFields } from './parts.js';
import { renderSignIn } from './sign-in.js';

export const pathOf = (name: string): string => `reference/${name}`;
const WEBHOOKS_PATH = 'reference/webhooks';

const heading = (text: string, id: string): Html => raw(renderHeading(2, text, id));

export const referencePages = (overview: string): Page[] => [
  overviewPage(overview),
  ...ENDPOINTS.map(endpointPage),
  webhooksPage(),
];

export function referenceNavigation(): NavigationGroup[] {
  const groups = [...new Set<string>([...GROUPS, ...ENDPOINTS.map(({ text }) => text.group)])];
  return groups.map((title) => ({
    title,
    links: [
      ...ENDPOINTS.filter(({ text }) => text.group === title).map(({ endpoint, text }) => ({
        path: pathOf(endpoint.name),
        title: text.title,
      })),
      ...(title === 'Events' ? [{ path: WEBHOOKS_PATH, title: 'Events' }] : []),
    ],
  }));
}

function overviewPage(text: string): Page {
  const body = renderMarkdown(text, { endpoints: renderEndpointTable, envelope: renderEnvelope });
  return {
    path: 'reference',
    title: 'API reference',
    summary: 'Base URL, headers, the envelope, formats, paging and idempotency.',
    kind: 'Reference',
    words:
      'idempotency-key idempotent headers authentication pagination timezone currency money amount version versioning',
    ...withContents(body),
    shape: 'guide',
  };
}

function renderEndpointTable(): Html {
  return html`<ul class="endpoints">${ENDPOINTS.map(
    ({ endpoint }) =>
      html`<li><a href="${hrefOf(pathOf(endpoint.name))}"><code>${endpoint.name}</code></a><span>${endpoint.summary}${endpoint.sandboxOnly ? html` <span class="chip chip-sandbox">sandbox only</span>` : ''}</span></li>`,
  )}</ul>`;
}

function renderEnvelope(): Html {
  const types: Readonly<Record<string, string>> = { data: 'object or null', timestamp: 'time', success: 'boolean' };
  return html`<ul class="fields">${Object.entries(ENVELOPE_FIELDS).map(
    ([name, text]) =>
      html`<li><p class="field"><code class="field-name">${name}</code> <span class="field-type">${types[name] ?? 'string'}</span></p><p>${renderInline(text)}</p></li>`,
  )}</ul>`;
}

function endpointPage(one: Described): Page {
  const { endpoint, text } = one;
  const chips = [
    ...(endpoint.token ? [] : [html`<span class="chip">no token</span>`]),
    ...(endpoint.write ? [html`<span class="chip">${HEADERS.idempotencyKey}</span>`] : []),
    ...(endpoint.sandboxOnly ? [html`<span class="chip chip-sandbox">sandbox only</span>`] : []),
  ];
  const body = html`<p class="eyebrow">${text.group}</p>
<h1>${text.title}</h1>
<p class="call"><span class="method">POST</span> <code>${endpoint.path}</code> <a class="to-example" href="#example">Example</a> <a class="to-try only-sandbox" href="#try-it">Try it</a></p>
${chips.length > 0 ? html`<p class="chips">${chips}</p>` : ''}
${endpoint.sandboxOnly ? html`<p class="callout only-production">This endpoint is available in the sandbox only. This installation is in production, where it is 404001.</p>` : ''}
${renderMarkdown(text.text, {}, text.title)}
${heading('Request', 'request')}
${one.hasEncrypted ? html`<p class="quiet">How to encrypt fields: ${link('guides/signing#encrypted-fields', 'signing and encryption')}.</p>` : ''}
${renderFields(one.request, 'request')}
${heading('Answer', 'answer')}
<p class="quiet">In <code>data</code> of ${link('reference#answers', 'the envelope')}.</p>
${renderFields(one.answer, 'answer')}
${heading('Codes', 'codes')}
${one.codes.length > 0 ? html`<p class="quiet">Codes of this endpoint, in order of precedence.</p>${renderCodes(one.codes)}` : html`<p class="quiet">This endpoint has no codes of its own.</p>`}
<details class="children"><summary>${one.commonCodes.length} common codes</summary>
<ul class="common-codes">${one.commonCodes.map(renderCommonCode)}</ul></details>`;
  return {
    path: pathOf(endpoint.name),
    title: text.title,
    summary: `${endpoint.name}: ${endpoint.summary}`,
    kind: `Endpoint ${endpoint.name}`,
    words: endpoint.path,
    body,
    aside: html`${renderExamples(one)}${renderTryIt(one)}`,
    shape: 'reference',
    scripts: ['try.js'],
  };
}

const renderCommonCode = ({ code, name, message }: Code & { readonly name: CodeName }): Html =>
  html`<li><a href="${hrefOf('guides/errors')}#code-${code}"><code>${code}</code></a> <span>${name}: ${message}</span></li>`;

function renderExamples({ endpoint, examples, hasEncrypted }: Described): Html {
  const tabs = examples.map((example) => {
    const languages = snippetsFor(example.endpoint, example.request).map(({ language, grammar, code }) => ({
      name: language,
      content: renderCode(code, grammar, `${language}: ${example.summary}`),
    }));
    const content = html`<p class="example-title">${example.summary}</p>
${renderTabs(languages, { label: `Language: ${example.summary}`, memory: 'language' })}
${hasEncrypted ? html`<p class="example-label">Body as it is sent</p>${renderCode(formatJson(showEncrypted(example.request)), 'json', `Body: ${example.summary}`)}` : ''}
<p class="example-label">Answer</p>
${renderCode(formatJson(exampleAnswer(example)), 'json', `Answer: ${example.summary}`)}`;
    return { name: tabName(example.name), content };
  });
  return html`<h2 class="only-read" id="example">Example: ${endpoint.name}</h2>${renderTabs(tabs, { label: 'Example', isOuter: true })}
<p class="quiet small">${link('', 'Set up a client')}. Examples are encrypted with the published demonstration key.</p>`;
}

/** Endpoints whose example can be sent only once: the page replaces its order number and its user. */
const CREATES: ReadonlySet<string> = new Set(['orders/create', 'agreements/bind-sms']);

/** Renders a form that sends a request with the reader's own credentials. Its script shows it in the sandbox only. */
function renderTryIt({ endpoint, examples }: Described): Html {
  const bodies = examples.map(({ summary, request }) => ({
    summary,
    text: JSON.stringify(usePlainNames(request), null, 2),
  }));
  const options = bodies.map(({ summary, text }) => html`<option value="${text}">${summary}</option>`);
  const choice = html`<div><label for="try-example">Example</label><select id="try-example" name="example">${options}</select></div>`;
  return html`<section class="try only-sandbox" id="try" aria-labelledby="try-it">
<h2 id="try-it">Try it</h2>
<noscript><p class="quiet">This needs JavaScript.</p></noscript>
${renderSignIn('try-sign-in')}
<form class="form" id="try-form" data-endpoint="${endpoint.name}" data-fresh="${CREATES.has(endpoint.name) ? 'true' : 'false'}" hidden>
<p class="quiet small">Signed in as <code id="try-who">test_demo</code>. Encrypted fields have their plain names here: the SDK encrypts them.</p>
${bodies.length > 1 ? choice : ''}
<div><label for="try-body">Body</label>
<textarea id="try-body" name="body" rows="${Math.min(14, (bodies[0]?.text.split('\n').length ?? 1) + 1)}" spellcheck="false" autocomplete="off">${bodies[0]?.text ?? '{}'}</textarea></div>
<div class="buttons"><button type="submit" class="button">Send to the sandbox</button></div>
<div class="said" role="status"></div>
</form>
<div class="outcome" id="try-outcome"></div>
</section>`;
}

/** Returns the body as the SDK takes it: field names without the suffix Encrypted. */
function usePlainNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(usePlainNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name.replace(/(.)Encrypted$/, '$1'), usePlainNames(inner)]),
  );
}

const SHORT_NAMES: Readonly<Record<string, string>> = { a1: 'A.1', a2: 'A.2', b: 'B' };
const tabName = (name: string): string => SHORT_NAMES[name] ?? name.replaceAll('-', ' ');

function webhooksPage(): Page {
  const body = html`<p class="eyebrow">Events</p>
<h1>Events</h1>
<p class="call"><span class="method">POST</span> <code>your callback address</code></p>
<p>The service sends every change of an order or a period as a signed request to the callback address of your channel. Verify the
signature over the raw bytes, answer HTTP 200 with <code>{"code":"0"}</code> within 5 seconds, and process the event afterwards. See
${link('guides/webhooks', 'webhooks')}.</p>
${EVENTS.map(({ eventType, fields }) => html`${heading(eventType, eventType.replaceAll('.', '-'))}${renderFields(fields, 'answer')}`)}
${heading('Your answer', 'your-answer')}
<p>HTTP 200 and a JSON object whose <code>code</code> is the string <code>"0"</code>. The service ignores everything else in the answer.
Another status, a redirect, another body, or the number <code>0</code> is a refusal, and the service retries.</p>`;
  const aside = html`<h2 class="only-read" id="example">Examples</h2>${renderTabs(
    EVENTS.map(({ eventType, example }) => ({
      name: eventType.replace('.status.changed', ''),
      content: renderPush(example),
    })),
    { label: 'Event', isOuter: true },
  )}
<p class="quiet small">Each example is signed as shown, with the published callbackSecret
<code class="long">${DEMONSTRATION.callbackSecret}</code>, so that you can test your verification. Real bodies have no spaces.</p>`;
  return {
    path: WEBHOOKS_PATH,
    title: 'Events',
    summary: 'The body and the headers of order.status.changed, payment.status.changed and payment.upcoming.',
    kind: 'Reference',
    words: 'webhook webhooks callback notification push payload event events',
    body,
    aside,
    shape: 'reference',
  };
}

function renderPush(event: EventExample): Html {
  const body = formatJson(showEncrypted(event));
  const headers = Object.entries(pushHeadersFor(event.eventId, body)).map(([name, value]) => `${name}: ${value}`);
  return html`<p class="example-title">${event.eventType}</p>
<p class="example-label">Request to you</p>
${renderCode([`POST ${RECEIVER_PATH} HTTP/1.1`, ...headers].join('\n'), 'http', `Headers of ${event.eventType}`)}
${renderCode(body, 'json', `Body of ${event.eventType}`)}
<p class="example-label">Your answer</p>
${renderCode('{ "code": "0" }', 'json', `Answer to ${event.eventType}`)}`;
}
