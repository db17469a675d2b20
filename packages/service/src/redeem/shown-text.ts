/** Control characters, and invisible characters that change the text direction or break lines. */
const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gu;
const MAY_BE_UNSEEN = /[^\x20-\x7e\u3000-\u9fff\uff00-\uffee]/;

/** Replaces invisible characters by spaces, in a name or a description that others have written. */
export function toShownText(text: string): string {
  return MAY_BE_UNSEEN.test(text) ? text.replace(UNSEEN, ' ').replace(/ {2,}/g, ' ').trim() : text;
}

/** Shortens a name. A page may show it many times, and a long name would make the page large. */
export function cutText(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const characters = [...text];
  return characters.length <= mostCharacters
    ? text
    : `${characters
        .slice(0, mostCharacters - 1)
        .join('')
        .trimEnd()}…`;
}
