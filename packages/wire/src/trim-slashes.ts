/** Removes slashes at the end. The look-behind keeps the search linear in texts with many slashes elsewhere. */
export const trimSlashes = (text: string): string => text.replace(/(?<!\/)\/+$/, '');
