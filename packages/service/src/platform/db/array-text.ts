/**
 * As PostgreSQL reads an array of numbers, times or words, in which nothing has to be escaped. For long ones: the driver
 * looks at each element for what has to be.
 */
export function toArrayText<Item>(
  items: readonly Item[],
  value: (item: Item) => number | string | null | undefined,
): string {
  let text = '{';
  let separator = '';
  for (const item of items) {
    text += `${separator}${value(item) ?? 'NULL'}`;
    separator = ',';
  }
  return `${text}}`;
}
