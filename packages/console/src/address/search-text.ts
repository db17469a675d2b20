/**
 * The part of the address after the question mark, as plain text in both directions. The router's own way reads JSON, and an
 * order number of twenty digits does not survive that.
 */
export const parseSearch = (search: string): Record<string, string> => Object.fromEntries(new URLSearchParams(search));

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
