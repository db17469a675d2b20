import { type Html, html } from '../html.js';
import { hrefOf } from '../layout.js';
import { renderInline } from '../markdown.js';
import type { Code, Field } from '../model.js';

/** Renders fields as a list, with nested fields indented below their parent. */
export function renderFields(fields: readonly Field[], direction: 'request' | 'answer'): Html {
  if (fields.length === 0) return html`<p class="quiet">No fields: send <code>{}</code>.</p>`;
  return html`<ul class="fields">${fields.map((field) => renderField(field, direction))}</ul>`;
}

function renderField(field: Field, direction: 'request' | 'answer'): Html {
  const { name, type, isRequired, text, values, fallback, range, children } = field;
  const needed = direction === 'request' && isRequired ? html` <span class="required">required</span>` : '';
  const often = direction === 'answer' && !isRequired ? html` <span class="quiet">may be absent</span>` : '';
  const facts = [
    ...(range === undefined ? [] : [range]),
    ...(fallback === undefined ? [] : [`default ${fallback.replaceAll('"', '')}`]),
  ];
  return html`<li><p class="field"><code class="field-name">${name}</code> <span class="field-type">${[type, ...facts].join(' · ')}</span>${needed}${often}</p>
<p>${renderInline(text)}</p>${renderValues(values)}${renderChildren(children, name, direction)}</li>`;
}

function renderValues(values: Field['values']): Html | undefined {
  if (values.length < 2) return undefined;
  return html`<dl class="values">${values.map(([value, meaning]) => html`<div><dt><code>${value}</code></dt><dd>${meaning}</dd></div>`)}</dl>`;
}

function renderChildren(children: readonly Field[], name: string, direction: 'request' | 'answer'): Html | undefined {
  if (children.length === 0) return undefined;
  const isShort = children.length <= 8;
  const list = renderFields(children, direction);
  return isShort
    ? html`<details class="children" open><summary>Fields of ${name}</summary>${list}</details>`
    : html`<details class="children"><summary>${children.length} fields of ${name}</summary>${list}</details>`;
}

/** Renders result codes. Set `hasAnchors` only on one page: the page to which all links to result codes lead. */
export function renderCodes(codes: readonly Code[], { hasAnchors = false } = {}): Html {
  return html`<ul class="codes">${codes.map(
    ({
      code,
      name,
      http,
      when,
      advice,
    }) => html`<li${hasAnchors ? html` id="code-${code}"` : ''}><p class="field"><code class="field-name">${code}</code> <span class="field-type">${name} · HTTP ${http}</span></p>
<p>${renderInline(upper(when))}.</p>
<p class="then">${renderInline(upper(advice))}.</p></li>`,
  )}</ul>`;
}

const upper = (text: string): string => (/^[a-z]/.test(text) ? `${text[0]?.toUpperCase()}${text.slice(1)}` : text);

export const link = (path: string, text: string): Html => html`<a href="${hrefOf(path)}">${text}</a>`;

export function renderCards(
  cards: readonly { readonly path: string; readonly title: string; readonly text: string }[],
): Html {
  return html`<ul class="cards">${cards.map(
    ({ path, title, text }) => html`<li><a href="${hrefOf(path)}"><b>${title}</b><span>${text}</span></a></li>`,
  )}</ul>`;
}
