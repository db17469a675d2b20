/** Creates an element. Texts are inserted as text and never parsed as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** Creates an element with a time, which is not broken across lines. */
export const moment = (time: string): HTMLElement => element('span', { class: 'moment' }, time);

export const find = <Found extends Element>(selector: string): Found | null => document.querySelector<Found>(selector);
