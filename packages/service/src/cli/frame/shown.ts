import { visible } from '../../platform/visible.js';

/**
 * Text of several lines for people, in which what came from outside is visible and on one line each. Commands make it with
 * `shown`, `table` and `record`. A plain text counts as one that came from outside.
 */
export class Shown {
  constructor(readonly text: string) {}

  /** In a plain template its line breaks are then visible, and seen to be missing. */
  toString(): string {
    return this.text;
  }
}

/** shown`…`: line breaks of the template are line breaks, those of its values are not. */
export function shown(template: TemplateStringsArray, ...values: readonly (string | number | Shown)[]): Shown {
  return new Shown(String.raw({ raw: template }, ...values.map((value) => terminalText(value))));
}

/** One text on each line. */
export function lines(texts: readonly string[]): Shown {
  return new Shown(texts.map(visible).join('\n'));
}

export function paragraphs(parts: readonly Shown[]): Shown {
  return new Shown(parts.map(({ text }) => text).join('\n\n'));
}

/** Two spaces before each line. */
export function indented({ text }: Shown): Shown {
  return new Shown(text.replace(/^(?=.)/gm, '  '));
}

/** As it is written to a terminal. */
export function terminalText(what: string | number | Shown): string {
  return what instanceof Shown ? what.text : visible(String(what));
}
