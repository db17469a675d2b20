import { escapeInvisible } from '../../platform/escape-invisible.js';

/**
 * Text of several lines for a terminal, in which texts from outside are escaped, each on one line. Commands make it with
 * `safeText`, `table` and `record`. A plain string counts as a text from outside.
 */
export class SafeText {
  constructor(readonly text: string) {}

  /** In a plain template string the line breaks are then escaped, which shows the mistake. */
  toString(): string {
    return this.text;
  }
}

/** safeText`…`: line breaks of the template are kept, those of its values are escaped. */
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

/** The text to write to a terminal: everything but a SafeText is escaped. */
export function toTerminalText(what: string | number | SafeText): string {
  return what instanceof SafeText ? what.text : escapeInvisible(String(what));
}
