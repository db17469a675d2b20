import { textOf } from './html.js';
import type { Page } from './layout.js';

/** What the search looks through: a section of a page. Short names, since it is sent to the browser. */
export interface SearchEntry {
  /** Path of the page, with the section. */
  readonly u: string;
  /** Title of the page. */
  readonly t: string;
  /** Heading of the section; empty for the beginning of a page. */
  readonly h: string;
  /** What kind of page it is. */
  readonly k: string;
  /** The text. */
  readonly x: string;
}

export function buildSearchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.filter(({ kind }) => kind !== '' && kind !== 'Search').flatMap(sectionsOf);
}

/** Headings begin sections, and so does each result code. */
function sectionsOf({ path, title, kind, summary, body }: Page): SearchEntry[] {
  const parts = body.text.split(/(?=<h[23] id="|<li id="code-)/);
  return parts.map((part, index) => {
    const [, id = ''] = /^<(?:h[23]|li) id="([^"]+)"/.exec(part) ?? [];
    const [, heading = ''] = /^<h[23] id="[^"]+">(.*?)<a class="anchor"/.exec(part) ?? [];
    const [, code = '', name = ''] =
      /^<li id="code-\d+">.*?<code[^>]*>(\d+)<\/code> <span[^>]*>(\w+)/s.exec(part) ?? [];
    const text = textOf(part.replace(/<h[1-3].*?<\/h[1-3]>/s, '').replace(/<p class="eyebrow">.*?<\/p>/, ''));
    return {
      u: id === '' ? path : `${path}#${id}`,
      t: title,
      h: code === '' ? textOf(heading) : `${code} ${name}`,
      k: kind,
      x: index === 0 ? `${summary} ${text}` : text,
    };
  });
}
