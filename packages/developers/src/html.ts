/** Safe HTML: created by the template tag `html`, which escapes values, or by `raw` from trusted HTML. */
export class Html {
  constructor(readonly text: string) {}
}

export type Value = Html | string | number | undefined | readonly Value[];

/** Template tag that escapes its values unless they are `Html`. Attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.map((part, index) => part + toHtmlText(values[index])).join(''));
}

export const raw = (text: string): Html => new Html(text);

function toHtmlText(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(toHtmlText).join('');
  return escapeHtml(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

/** Returns the plain text of HTML, for the search index. */
export const textOf = (text: string): string =>
  text
    .replace(/<\/?(?:a|b|code|em|span|strong)\b[^<>]*>/g, '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
