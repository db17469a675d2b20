import { textOf } from './html.js';
import type { Page } from './layout.js';

/** A section of a page in the search index. The field names are short, because browsers download the index. */
export interface SearchEntry {
  /** The path of the page, with the section's anchor. */
  readonly u: string;
  /** Title of the page. */
  readonly t: string;
  /** Heading of the section; empty for the beginning of a page. */
  readonly h: string;
  /** Kind of the page. */
  readonly k: string;
  /** Additional keywords, only for the beginning of a page. */
  readonly w?: string;
  readonly x: string;
}

/** Entries for downloads, which are not pages. */
const DOCUMENTS: readonly SearchEntry[] = [
  {
    u: 'openapi.json',
    t: 'OpenAPI 3.1',
    h: '',
    k: 'Document',
    w: 'swagger schema generator import',
    x: 'The API for code generators and for tools that import it, such as Postman. Requests must be signed: use the Postman collection.',
  },
  {
    u: 'clients/perennial.postman_collection.json',
    t: 'Postman collection',
    h: '',
    k: 'Document',
    w: 'postman insomnia bruno newman import collection',
    x: 'Every endpoint as a request that is signed and encrypted automatically, with the address of this installation.',
  },
  {
    u: 'vectors.json',
    t: 'Test vectors',
    h: '',
    k: 'Document',
    w: 'test vectors known answers',
    x: 'Expected results for signatures, ciphertext, redemption links and times, to test your own client.',
  },
];

export function buildSearchIndex(pages: readonly Page[]): SearchEntry[] {
  return [...pages.filter(({ kind }) => kind !== '' && kind !== 'Search').flatMap(sectionsOf), ...DOCUMENTS];
}

/** Matches parts of a page that do not belong to its text. */
const AROUND =
  /<p class="(?:eyebrow|call|chips|callout only-production)">.{0,9999}?<\/p>|<details class="children contents-folded">.{0,9999}?<\/details>|<(noscript|template)\b.{0,9999}?<\/\1>/gs;

/** Splits a page at its headings and result codes. */
function sectionsOf({ path, title, kind, summary, words, body }: Page): SearchEntry[] {
  const parts = body.text.split(/(?=<h[23] id="|<li id="code-)/);
  return parts.map((part, index) => {
    const [, id = ''] = /^<(?:h[23]|li) id="([^"]+)"/.exec(part) ?? [];
    const [, heading = ''] = /^<h[23] id="[^"]+">(.*?)<a class="anchor"/.exec(part) ?? [];
    const [, code = '', name = ''] =
      /^<li id="code-\d+">.*?<code[^>]*>(\d+)<\/code> <span[^>]*>(\w+)/s.exec(part) ?? [];
    const text = textOf(part.replace(/<h[1-3].{0,999}?<\/h[1-3]>/s, '').replaceAll(AROUND, ''));
    return {
      u: id === '' ? path : `${path}#${id}`,
      t: title,
      h: code === '' ? textOf(heading) : `${code} ${name}`,
      k: kind,
      ...(index === 0 && words !== undefined ? { w: words } : {}),
      x: index === 0 ? `${summary} ${text}` : text,
    };
  });
}
