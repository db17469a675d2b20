import type { EndpointName } from '@perennial/wire';
import { Marked, type Token, type Tokens } from 'marked';
import { renderCode, renderTabs, type Tab } from './code-blocks.js';
import { escapeHtml, type Html, raw, textOf } from './html.js';
import { ROOT } from './layout.js';
import { snippetsFor } from './snippets.js';

export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/<[^<>]*>|[`*]/g, '')
    .replaceAll(/&[a-z#\d]+;/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');

export const renderHeading = (level: number, inner: string, id: string): string =>
  `<h${level} id="${id}">${inner}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${level}>\n`;

/** The current heading during rendering. It becomes part of the labels of tables and code blocks. */
let section = '';

/** Wraps a table in a region that scrolls sideways on narrow screens. */
export const renderTable = (label: string, table: string): string =>
  `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table>${table}</table></div>\n`;

const marked = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const inner = this.parser.parseInline(tokens);
      section = textOf(inner);
      return depth === 1 ? `<h1>${inner}</h1>\n` : renderHeading(depth, inner, slugOf(inner));
    },
    code: ({ text, lang = '' }) => renderCode(text, lang.split(' ')[0] ?? '', `Code: ${section}`).text,
    // Only long inline code is allowed to break across lines: in a narrow column a broken status is unreadable.
    codespan: ({ text }) => `<code${text.length > 28 ? ' class="long"' : ''}>${escapeHtml(text)}</code>`,
    link({ href, tokens }) {
      const to = href.startsWith('/') ? ROOT + href : href;
      return `<a href="${to.replaceAll('"', '%22')}">${this.parser.parseInline(tokens)}</a>`;
    },
    listitem(item) {
      const inner = this.parser.parse(item.tokens);
      const box = `<input type="checkbox"${item.checked ? ' checked' : ''}>`;
      return item.task ? `<li class="task"><label>${box}<span>${inner}</span></label></li>\n` : `<li>${inner}</li>\n`;
    },
    // `listitem` renders the checkbox.
    checkbox: () => '',
    table(token) {
      // If the first column has no heading, its cells are row headings.
      const namesRows = token.header[0]?.text === '';
      const cell = ({ tokens, text }: Tokens.TableCell, scope: string | undefined) => {
        const tag = scope === undefined || text === '' ? 'td' : 'th';
        const inner = this.parser.parseInline(tokens);
        return tag === 'td' ? `<td>${inner}</td>` : `<th scope="${scope}">${inner}</th>`;
      };
      const head = token.header.some(({ text }) => text !== '')
        ? `<thead><tr>${token.header.map((one) => cell(one, 'col')).join('')}</tr></thead>`
        : '';
      const rows = token.rows.map((row) => row.map((one, at) => cell(one, namesRows && at === 0 ? 'row' : undefined)));
      const body = rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n');
      return renderTable(`Table: ${section}`, `${head}<tbody>${body}</tbody>`);
    },
  },
});

/** Generated parts of a page, by name. A line such as `{{codes}}` inserts the part `codes`. */
export type Pieces = Readonly<Record<string, () => Html>>;

/** Renders a page. `title` is the label of tables and code blocks above the first heading. */
export function renderMarkdown(text: string, pieces: Pieces = {}, title = ''): Html {
  section = title;
  const parts = text.split(/^\{\{([\w-]+)\}\}$/m);
  return raw(parts.map((part, index) => (index % 2 === 0 ? renderBlocks(part) : renderPiece(part, pieces))).join('\n'));
}

function renderPiece(name: string, pieces: Pieces): string {
  const make = pieces[name];
  if (!make) throw new Error(`there is no piece ${name}`);
  return make().text;
}

/** Renders Markdown, and merges adjacent code blocks with `tab=Name` into tabs. */
function renderBlocks(text: string): string {
  const groups: Token[][] = [];
  for (const token of marked.lexer(text)) {
    const group = groups.at(-1);
    if (tabNameOf(token) !== undefined && group?.[0] && tabNameOf(group[0]) !== undefined) group.push(token);
    else if (token.type !== 'space') groups.push([token]);
  }
  return groups
    .map((group) => {
      const tabs = group.flatMap(tabsOf);
      return tabs.length > 0
        ? renderTabs(tabs, { label: `Language: ${section}`, memory: 'language' }).text
        : marked.parser(group);
    })
    .join('');
}

/** Returns one tab for a code block with `tab=Name`, or one tab per language for `call ENDPOINT`. */
function tabsOf(token: Token): Tab[] {
  if (token.type !== 'code') return [];
  const { text, lang = '' } = token as Tokens.Code;
  const toTab = (name: string, grammar: string, code: string): Tab => ({
    name,
    content: renderCode(code, grammar, `${name}: ${section}`),
  });
  const [grammar = '', endpoint = ''] = lang.split(' ');
  if (grammar === 'call')
    return snippetsFor(endpoint as EndpointName, JSON.parse(text)).map((one) =>
      toTab(one.language, one.grammar, one.code),
    );
  const name = tabNameOf(token);
  return name === undefined ? [] : [toTab(name, grammar, text)];
}

function tabNameOf(token: Token): string | undefined {
  return token.type === 'code' ? / tab=(\w+)/.exec((token as Tokens.Code).lang ?? '')?.[1] : undefined;
}

/** Renders Markdown without a paragraph around it. */
export const renderInline = (text: string): Html => raw(marked.parseInline(text, { async: false }));
