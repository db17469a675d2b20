/** Longer texts are not compared, because comparing takes the product of the lengths. */
const MAX_LENGTH = 64;

/**
 * Returns the candidate that the text probably means. Ignores case and punctuation, completes a text that is the
 * beginning of a candidate, and allows two changed characters, or fewer in a short text. Undefined if two candidates are
 * equally near.
 */
export function findNearMiss(text: string, candidates: Iterable<string>): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const plain = simplify(text);
  const ranked = [...candidates].map((one) => ({ one, rank: rankOf(plain, simplify(one)) }));
  const [best, second] = ranked.sort((a, b) => a.rank - b.rank);
  const most = Math.min(2, Math.floor(plain.length / 3), (second?.rank ?? Number.POSITIVE_INFINITY) - 1);
  return best && best.rank <= most ? best.one : undefined;
}

const simplify = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

const MIN_BEGINNING = 5;

function rankOf(text: string, candidate: string): number {
  const isBeginning = text.length >= MIN_BEGINNING && candidate.startsWith(text);
  return isBeginning ? Math.min(1, candidate.length - text.length) : countChanges(text, candidate);
}

/** Returns the number of characters to insert, delete or replace (Levenshtein). */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let place = 1; place <= to.length; place += 1) {
      const replaced = (row[place - 1] ?? 0) + (letter === to[place - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
