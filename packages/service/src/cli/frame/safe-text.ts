import { escapeInvisible } from '../../platform/escape-invisible.js';

/**
 * Text of several lines for people, in which what came from outside is visible and on one line each. Commands make it with
 * `shown`, `table` and `record`. A plain text counts as one that came from outside.
 */
export class SafeText {
  constructor(readonly text: string) {}

  /** In a plain template its line breaks are then visible, and seen to be missing. */
  toString(): string {
    return this.text;
  }
}

/** shown`…`: line breaks of the template are line breaks, those of its values are not. */
export function safeText(template: TemplateStringsArray, ...values: readonly (string | number | SafeText)[]): SafeText {
  return new SafeText(String.raw({ raw: template }, ...values.map((value) => toTerminalText(value))));
}

/** One text on each line. */
export function safeLines(texts: readonly string[]): SafeText {
  return new SafeText(texts.map(escapeInvisible).join('\n'));
}

export function paragraphs(parts: readonly SafeText[]): SafeText {
  return new SafeText(parts.map(({ text }) => text).join('\n\n'));
}

/** Two spaces before each line. */
export function indent({ text }: SafeText): SafeText {
  return new SafeText(text.replace(/^(?=.)/gm, '  '));
}

/** As it is written to a terminal. */
export function toTerminalText(what: string | number | SafeText): string {
  return what instanceof SafeText ? what.text : escapeInvisible(String(what));
}
