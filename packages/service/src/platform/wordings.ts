/** A sentence in a form that can be translated: its code, and the values of its placeholders in order. */
export interface Said {
  readonly code: string;
  readonly values: readonly string[];
}

/**
 * Sentences by code. Placeholders are {1}, {2}, …, in this order. If a code has a list, the service writes the first
 * sentence. It still recognizes the others, which earlier releases wrote.
 */
type Sentences = Readonly<Record<string, string | readonly [current: string, ...earlier: string[]]>>;

/**
 * Sentences that are stored as plain text. Their codes and values are parsed from the stored text when it is shown. The
 * stored rows therefore need no codes, and texts that earlier releases stored can be translated too.
 */
export interface Wordings<Code extends string> {
  say(code: Code, ...values: readonly (string | number)[]): string;
  /** Returns null if the text matches none of the sentences. `isAsked` selects the sentences to compare. */
  read(text: string, isAsked?: (code: string) => boolean): Said | null;
}

const BLANK = /\{\d\}/g;

export function createWordings<const S extends Sentences>(sentences: S): Wordings<keyof S & string> {
  const patterns = Object.entries(sentences)
    .flatMap(([code, spelled]) => [spelled].flat().map((sentence) => ({ code, sentence })))
    .map(({ code, sentence }) => ({ code, pattern: patternOf(sentence), letters: sentence.replace(BLANK, '').length }))
    // Tries the sentences with most fixed text first, because the value of a placeholder may contain another sentence.
    .toSorted((a, b) => b.letters - a.letters);
  return {
    say: (code, ...values) =>
      ([sentences[code] ?? ''].flat()[0] ?? '').replace(BLANK, (blank) => String(values[Number(blank[1]) - 1] ?? '')),
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
