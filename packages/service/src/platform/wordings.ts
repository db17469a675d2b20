/** What is said, for those who read another language: which sentence it is, and what fills its blanks, in their order. */
export interface Said {
  readonly code: string;
  readonly values: readonly string[];
}

/** Sentences by their codes. Blanks are {1}, {2}, …, in this order. */
type Sentences = Readonly<Record<string, string>>;

/**
 * Sentences that are stored as people read them, and whose code and values are found again from what is stored. So nothing that
 * writes or reads the text has to know of codes, and what was written by an earlier release has them too.
 */
export interface Wordings<Code extends string> {
  say(code: Code, ...values: readonly (string | number)[]): string;
  /** Null when the text is none of these: the words of somebody else. `isAsked` leaves out sentences that it cannot be. */
  read(text: string, isAsked?: (code: string) => boolean): Said | null;
}

const BLANK = /\{\d\}/g;

export function createWordings<const S extends Sentences>(sentences: S): Wordings<keyof S & string> {
  const patterns = Object.entries(sentences)
    .map(([code, sentence]) => ({ code, pattern: patternOf(sentence), letters: sentence.replace(BLANK, '').length }))
    // A blank may hold what is a sentence of its own: the one that says most of the text itself is meant.
    .toSorted((a, b) => b.letters - a.letters);
  return {
    say: (code, ...values) =>
      (sentences[code] ?? '').replace(BLANK, (blank) => String(values[Number(blank[1]) - 1] ?? '')),
    read(text, isAsked = () => true) {
      for (const { code, pattern } of patterns) {
        const found = isAsked(code) ? pattern.exec(text) : null;
        if (found) return { code, values: found.slice(1) };
      }
      return null;
    },
  };
}

const patternOf = (sentence: string): RegExp =>
  new RegExp(`^${sentence.split(BLANK).map(escapePattern).join('(.+?)')}$`, 's');

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
