import { Marked, type Token, type Tokens } from 'marked';
import { renderCode, renderTabs, type Tab } from './code-blocks.js';
import { escapeHtml, type Html, raw } from './html.js';
import { ROOT } from './layout.js';

export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/<[^>]*>|[`*]/g, '')
    .replaceAll(/&[a-z#\d]+;/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');

export const renderHeading = (level: number, inner: string, id: string): string =>
  `<h${level} id="${id}">${inner}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${level}>\n`;

const marked = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const inner = this.parser.parseInline(tokens);
      return depth === 1 ? `<h1>${inner}</h1>\n` : renderHeading(depth, inner, slugOf(inner));
    },
    code: ({ text, lang = '' }) => renderCode(text, lang.split(' ')[0] ?? '').text,
    // Only what is long may break inside: a status that does so in a narrow column cannot be read.
    codespan: ({ text }) => `<code${text.length > 28 ? ' class="long"' : ''}>${escapeHtml(text)}</code>`,
    link({ href, tokens }) {
      const to = href.startsWith('/') ? ROOT + href : href;
      return `<a href="${to.replaceAll('"', '%22')}">${this.parser.parseInline(tokens)}</a>`;
    },
    table(token) {
      const cells = (row: readonly Tokens.TableCell[], tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
      const head = token.header.some(({ text }) => text !== '')
        ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
        : '';
      const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
    },
  },
});

/** Pieces that are made of data and stand in a line of their own, as `{{codes}}`. */
export type Pieces = Readonly<Record<string, () => Html>>;

export function renderMarkdown(text: string, pieces: Pieces = {}): Html {
  const parts = text.split(/^\{\{([\w-]+)\}\}$/m);
  return raw(parts.map((part, index) => (index % 2 === 0 ? renderBlocks(part) : renderPiece(part, pieces))).join('\n'));
}

function renderPiece(name: string, pieces: Pieces): string {
  const make = pieces[name];
  if (!make) throw new Error(`there is no piece ${name}`);
  return make().text;
}

/** Blocks of code with `tab=Name` that follow one another are one block with a choice. */
function renderBlocks(text: string): string {
  const groups: Token[][] = [];
  for (const token of marked.lexer(text)) {
    const group = groups.at(-1);
    if (tabNameOf(token) !== undefined && group?.[0] && tabNameOf(group[0]) !== undefined) group.push(token);
    else if (token.type !== 'space') groups.push([token]);
  }
  return groups
    .map((group) => (group[0] && tabNameOf(group[0]) !== undefined ? renderTabGroup(group) : marked.parser(group)))
    .join('');
}

function renderTabGroup(tokens: readonly Token[]): string {
  const tabs = tokens.map((token): Tab => {
    const { text, lang = '' } = token as Tokens.Code;
    const name = tabNameOf(token) ?? '';
    return { name, content: renderCode(text, lang.split(' ')[0] ?? '', name) };
  });
  return renderTabs(tabs, { label: 'Language', memory: 'language' }).text;
}

function tabNameOf(token: Token): string | undefined {
  return token.type === 'code' ? / tab=(\w+)/.exec((token as Tokens.Code).lang ?? '')?.[1] : undefined;
}

/** A line or a sentence, without a paragraph around it. */
export const renderInline = (text: string): Html => raw(marked.parseInline(text, { async: false }));
