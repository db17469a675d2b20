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
  /** Other words that it is looked for by; of the beginning of a page alone. */
  readonly w?: string;
  /** The text. */
  readonly x: string;
}

/** Documents that are no pages. */
const DOCUMENTS: readonly SearchEntry[] = [
  {
    u: 'openapi.json',
    t: 'OpenAPI 3.1',
    h: '',
    k: 'Document',
    w: 'swagger schema generator import',
    x: 'The interface as a document, for generators of clients and for tools that import it, such as Postman. Requests must be signed: the collection does that.',
  },
  {
    u: 'clients/perennial.postman_collection.json',
    t: 'Postman collection',
    h: '',
    k: 'Document',
    w: 'postman insomnia bruno newman import collection',
    x: 'Every endpoint as a request that signs and encrypts by itself, with the address of this installation.',
  },
  {
    u: 'vectors.json',
    t: 'Vectors',
    h: '',
    k: 'Document',
    w: 'test vectors known answers',
    x: 'Known answers for signatures, ciphertext, redemption links and times, to test a client of your own.',
  },
];

export function buildSearchIndex(pages: readonly Page[]): SearchEntry[] {
  return [...pages.filter(({ kind }) => kind !== '' && kind !== 'Search').flatMap(sectionsOf), ...DOCUMENTS];
}

/** What stands around a text rather than in it. */
const AROUND = /<p class="(?:eyebrow|call|chips|callout only-production)">.*?<\/p>/gs;

/** Headings begin sections, and so does each result code. */
function sectionsOf({ path, title, kind, summary, words, body }: Page): SearchEntry[] {
  const parts = body.text.split(/(?=<h[23] id="|<li id="code-)/);
  return parts.map((part, index) => {
    const [, id = ''] = /^<(?:h[23]|li) id="([^"]+)"/.exec(part) ?? [];
    const [, heading = ''] = /^<h[23] id="[^"]+">(.*?)<a class="anchor"/.exec(part) ?? [];
    const [, code = '', name = ''] =
      /^<li id="code-\d+">.*?<code[^>]*>(\d+)<\/code> <span[^>]*>(\w+)/s.exec(part) ?? [];
    const text = textOf(part.replace(/<h[1-3].*?<\/h[1-3]>/s, '').replaceAll(AROUND, ''));
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
