import { escapeInvisible } from '../../platform/escape-invisible.js';

/**
 * Text for a terminal, in which texts from outside are escaped, so that each stays on one line. Commands create it with
 * `safeText`, `table` and `record`. Plain strings count as texts from outside.
 */
export class SafeText {
  constructor(readonly text: string) {}

  /**
   * Called if a SafeText is used by mistake in a plain template string. The string is then escaped a second time, and
   * its line breaks are printed as escapes, which reveals the mistake.
   */
  toString(): string {
    return this.text;
  }
}

/** Keeps the line breaks of the template, and escapes line breaks in its values. */
export function safeText(template: TemplateStringsArray, ...values: readonly (string | number | SafeText)[]): SafeText {
  return new SafeText(String.raw({ raw: template }, ...values.map((value) => toTerminalText(value))));
}

/** Joins texts, one per line. */
export function safeLines(texts: readonly string[]): SafeText {
  return new SafeText(texts.map(escapeInvisible).join('\n'));
}

export function paragraphs(parts: readonly SafeText[]): SafeText {
  return new SafeText(parts.map(({ text }) => text).join('\n\n'));
}

export function indent({ text }: SafeText): SafeText {
  return new SafeText(text.replace(/^(?=.)/gm, '  '));
}

/** Returns the text for a terminal. Escapes strings and numbers, but keeps a SafeText as it is. */
export function toTerminalText(what: string | number | SafeText): string {
  return what instanceof SafeText ? what.text : escapeInvisible(String(what));
}
