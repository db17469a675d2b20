import { highlight } from './highlight.js';
import { type Html, html, raw } from './html.js';

/**
 * Renders a code block. It can get the focus, because it may scroll. Its role is group: a page has too many code blocks
 * to make each a landmark.
 */
export function renderCode(code: string, grammar: string, label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${raw(highlight(code, grammar))}</code></pre></div>`;
}

export interface Tab {
  readonly name: string;
  readonly content: Html;
}

let serial = 0;

/** Resets the counter of tab names, so that every build generates the same names. */
export function resetTabs(): void {
  serial = 0;
}

interface TabsOptions {
  readonly label: string;
  /** The key under which the browser remembers which tab the reader chose. */
  readonly memory?: string;
  /** True if the tabs contain whole examples, rather than one block of code each. */
  readonly isOuter?: boolean;
}

/** Renders tabs as radio buttons, which work without a script. */
export function renderTabs(tabs: readonly Tab[], { label, memory, isOuter = false }: TabsOptions): Html {
  const [only] = tabs;
  if (only && tabs.length === 1) return only.content;
  serial += 1;
  const group = `tabs-${serial}`;
  const choices = tabs.map(
    ({ name }, index) =>
      html`<input type="radio" name="${group}" id="${group}-${index}" value="${name}"${raw(index === 0 ? ' checked' : '')}><label for="${group}-${index}">${name}</label>`,
  );
  const panels = tabs.map(({ content }) => html`<div class="panel">${content}</div>`);
  const remembered = memory === undefined ? raw('') : html` data-memory="${memory}"`;
  return html`<div class="tabs${isOuter ? ' outer' : ''}" role="group" aria-label="${label}"${remembered}>${choices}<div class="panels">${panels}</div></div>`;
}

/** Formats JSON. Shows only two objects of a list that has more than three. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, shorten, 2).replaceAll(/"… (\d+) more"/g, '… $1 more');
}

function shorten(_key: string, value: unknown): unknown {
  if (!Array.isArray(value) || value.length <= 3 || typeof value[0] !== 'object') return value;
  return [...value.slice(0, 2), `… ${value.length - 2} more`];
}
