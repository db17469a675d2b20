import { escapeInvisible } from '../../platform/escape-invisible.js';

/**
 * Text of several lines for a terminal. External texts in it are escaped and kept on one line. Commands create it with
 * `safeText`, `table` and `record`. A plain string counts as external.
 */
export class SafeText {
  constructor(readonly text: string) {}

  /** In a plain template string the line breaks are escaped, which reveals the mistake. */
  toString(): string {
    return this.text;
  }
}

/** Keeps the line breaks of the template and escapes those of its values. */
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

/** Returns the text for a terminal. Escapes everything but a SafeText. */
export function toTerminalText(what: string | number | SafeText): string {
  return what instanceof SafeText ? what.text : escapeInvisible(String(what));
}
