import { element } from './dom.js';

/** An entry of the search index. search-index.ts explains the fields. */
interface Entry {
  readonly u: string;
  readonly t: string;
  readonly h: string;
  readonly k: string;
  readonly w?: string;
  readonly x: string;
}

export interface Found {
  readonly entry: Entry;
  readonly score: number;
}

const root = document.documentElement.dataset['root'] ?? '';
let index: Promise<readonly Entry[]> | undefined;

/** Loads the index at the first call, and again after a failure. */
export function loadIndex(): Promise<readonly Entry[]> {
  index ??= fetch(`${root}/developers/search-index.json`).then((answer) => answer.json() as Promise<readonly Entry[]>);
  index.catch(() => {
    index = undefined;
  });
  return index;
}

export const addressOf = ({ u }: Entry): string => `${root}/developers/${u}`.replace(/\/(#|$)/, '$1');

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_.]+/gu) ?? [];

/** Returns the sections that match every word of the query, best match first. */
export async function search(query: string): Promise<Found[]> {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const entries = await loadIndex();
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score);
}

function scoreOf(entry: Entry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = scoreOfWord(entry, word);
    if (found === 0) return 0;
    score += found;
  }
  // Adds a little for the beginning of a page, so that it comes before other sections with the same score.
  return score + (entry.h === '' ? 2 : 0);
}

/** The length from which a searched word may also match across word boundaries. Shorter words would match too often. */
const GLUED = 6;

const squashed = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Removes plural endings: retries becomes retry. */
const stemOf = (word: string): string => word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

function scoreOfWord({ t, h, w = '', x }: Entry, word: string): number {
  const stem = stemOf(word);
  const scoreIn = (text: string) => {
    const words = wordsOf(text);
    if (words.some((one) => one === word || stemOf(one) === stem)) return 3;
    if (words.some((one) => one.startsWith(word))) return 2;
    if (text.toLowerCase().includes(word)) return 1;
    return word.length >= GLUED && squashed(text).includes(word) ? 1 : 0;
  };
  const inHeading = Math.max(scoreIn(h), isBegunBy(word, h) && scoreIn(x) > 0 ? 1 : 0);
  return inHeading * 12 + scoreIn(t) * 8 + scoreIn(w) * 8 + scoreIn(x) * 2;
}

/** Returns true if the searched word begins with a word of the heading: `idempotencykey` matches Idempotency. */
const isBegunBy = (word: string, heading: string): boolean =>
  wordsOf(heading).some((one) => one.length >= GLUED && word.startsWith(one));

/** Returns title, kind and an excerpt with the matches marked. */
export function describeFound({ entry }: Found, query: string, title: (text: string) => Node): Node[] {
  const words = wordsOf(query);
  const heading = entry.h === '' ? entry.t : `${entry.t}: ${entry.h}`;
  return [
    element('span', { class: 'found-title' }, title(heading), element('span', { class: 'found-kind' }, entry.k)),
    element('span', { class: 'found-text' }, ...marked(excerptOf(entry.x, words), words)),
  ];
}

const EXCERPT = 220;

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((place) => place >= 0), text.length);
  const from = at === text.length || at < 80 ? 0 : text.indexOf(' ', at - 60) + 1;
  const isWhole = text.length - from <= EXCERPT;
  const to = isWhole ? text.length : text.lastIndexOf(' ', from + EXCERPT);
  return `${from === 0 ? '' : '… '}${text.slice(from, to)}${isWhole ? '' : ' …'}`;
}

function marked(text: string, words: readonly string[]): (Node | string)[] {
  const pattern = new RegExp(`(${words.map((word) => word.replaceAll('.', '\\.')).join('|')})`, 'i');
  return text.split(pattern).map((part, at) => (at % 2 === 1 ? element('mark', {}, part) : part));
}
