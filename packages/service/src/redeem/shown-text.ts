/** What changes the direction of the text around it, controls, and line breaks of their own. */
const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gu;
const MAY_BE_UNSEEN = /[^\x20-\x7e\u3000-\u9fff\uff00-\uffee]/;

/** A name or a description that somebody else has written, as it is shown. */
export function toShownText(text: string): string {
  return MAY_BE_UNSEEN.test(text) ? text.replace(UNSEEN, ' ').replace(/ {2,}/g, ' ').trim() : text;
}

/** For a name that stands on a page many times. */
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
