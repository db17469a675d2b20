/** Escaped HTML. Only the template below makes it. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | undefined | readonly Value[];

/** A template whose values are escaped unless they are Html themselves. Attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = parts[0] ?? '';
  for (let index = 0; index < values.length; index += 1) text += toHtmlText(values[index]) + (parts[index + 1] ?? '');
  return new Html(text);
}

function toHtmlText(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return value.map(toHtmlText).join('');
  return escapeHtml(value);
}

export const countBytes = ({ text }: Html): number => Buffer.byteLength(text);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const SPECIAL = /[&<>"']/;
const SPECIALS = /[&<>"']/g;

/** Most texts have nothing to escape: looking first costs a third of replacing. */
export function escapeHtml(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIALS, (char) => ENTITIES[char] ?? char) : text;
}

/** A name that somebody else has chosen, so that its direction changes nothing around it. */
export const isolated = (name: string): Html => html`<bdi>${name}</bdi>`;

/** The first ones that fit into so many bytes; always at least one, if there is any. */
export function takeFitting<Item>(items: readonly Item[], mostBytes: number, render: (item: Item) => Html): Html[] {
  const taken: Html[] = [];
  let room = mostBytes;
  for (const item of items) {
    const rendered = render(item);
    room -= countBytes(rendered);
    if (room < 0 && taken.length > 0) break;
    taken.push(rendered);
  }
  return taken;
}
