import { escapeHtml } from './html.js';

/** What a piece of code is made of, in the order in which it is looked for. */
type Kind = 'comment' | 'string' | 'key' | 'number' | 'word' | 'name';

type Grammar = readonly (readonly [Kind, RegExp])[];

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;
const NUMBER = /-?\b\d[\d_]*(?:\.\d+)?\b/y;
const HASH_COMMENT = /#[^\n]*/y;
const SLASH_COMMENT = /\/\/[^\n]*/y;
const CALL = /[A-Za-z_]\w*(?=\()/y;
const words = (list: string): RegExp => new RegExp(`\\b(?:${list.replaceAll(' ', '|')})\\b`, 'y');

const JS = words(
  'import from export const let await async new return if else for of while function throw try catch null true false',
);

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  json: [
    ['key', /"(?:[^"\\]|\\.)*"(?=\s*:)/y],
    ['string', STRING],
    ['number', NUMBER],
    ['word', words('true false null')],
  ],
  js: [
    ['comment', SLASH_COMMENT],
    ['string', /`(?:[^`\\]|\\.)*`/y],
    ['string', STRING],
    ['key', /[A-Za-z_]\w*(?=:)/y],
    ['word', JS],
    ['number', NUMBER],
    ['name', CALL],
  ],
  python: [
    ['comment', HASH_COMMENT],
    ['key', /"(?:[^"\\\n]|\\.)*"(?=:)/y],
    ['string', STRING],
    [
      'word',
      words(
        'import from def return if elif else for while in not and or with as try except raise None True False class',
      ),
    ],
    ['number', NUMBER],
    ['name', CALL],
  ],
  java: [
    ['comment', SLASH_COMMENT],
    ['string', STRING],
    [
      'word',
      words(
        'import var new return if else for while try catch throw class static final public private void throws null true false',
      ),
    ],
    ['number', NUMBER],
    ['name', CALL],
  ],
  go: [
    ['comment', SLASH_COMMENT],
    ['string', STRING],
    [
      'word',
      words(
        'import func return if else for range var const type struct defer map any string error nil true false package',
      ),
    ],
    ['number', NUMBER],
    ['name', CALL],
  ],
  php: [
    ['comment', SLASH_COMMENT],
    ['comment', /<\?php/y],
    ['key', /'(?:[^'\\\n]|\\.)*'(?=\s*=>)/y],
    ['string', STRING],
    [
      'word',
      words(
        'require require_once use declare new return if else foreach while as fn function static try catch throw echo exit null true false',
      ),
    ],
    ['number', NUMBER],
    ['name', CALL],
  ],
  sh: [
    ['comment', /(?<=^|\s)#[^\n]*/my],
    ['string', /"(?:[^"\\]|\\.)*"|'[^']*'/y],
    ['key', /(?<=\s)--?[A-Za-z][\w-]*/y],
    ['word', /(?<=^|[|(]\s*|\n)(?:curl|openssl|printf|npx|npm|node|git|cd|\.\/perennial\.sh)\b/y],
    ['number', NUMBER],
  ],
  http: [
    ['word', /^(?:POST|GET|HTTP\/1\.1)\b/my],
    ['key', /^[A-Za-z-]+(?=:)/my],
    ['string', STRING],
  ],
};

/** Code as HTML, with its parts marked. A language that is not known stays as it is. */
export function highlight(code: string, language: string): string {
  const grammar = GRAMMARS[language];
  if (!grammar) return escapeHtml(code);
  let result = '';
  let plain = '';
  for (let at = 0; at < code.length; ) {
    const found = findPart(code, at, grammar);
    if (!found) {
      plain += code[at];
      at += 1;
      continue;
    }
    result += `${escapeHtml(plain)}<span class="hl-${found.kind}">${escapeHtml(found.text)}</span>`;
    plain = '';
    at += found.text.length;
  }
  return result + escapeHtml(plain);
}

function findPart(code: string, at: number, grammar: Grammar): { kind: Kind; text: string } | undefined {
  // In the middle of a word nothing begins.
  if (/\w/.test(code[at] ?? '') && /\w/.test(code[at - 1] ?? '')) return undefined;
  for (const [kind, pattern] of grammar) {
    pattern.lastIndex = at;
    const text = pattern.exec(code)?.[0];
    if (text) return { kind, text };
  }
  return undefined;
}
