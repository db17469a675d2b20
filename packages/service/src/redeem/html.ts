/** Escaped HTML. Only the template below makes it. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | undefined | readonly Value[];

/** A template whose values are escaped unless they are Html themselves. Attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.map((part, index) => part + toHtmlText(values[index])).join(''));
}

function toHtmlText(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(toHtmlText).join('');
  return escapeHtml(String(value));
}

export const countBytes = ({ text }: Html): number => Buffer.byteLength(text);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
