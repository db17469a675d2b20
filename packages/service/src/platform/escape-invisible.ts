/**
 * Characters that a terminal would execute, reverse or hide: control characters, escape sequences, line breaks,
 * direction marks, zero-width and other invisible characters, unpaired surrogates. U+200D and U+FE0F are allowed within
 * an emoji.
 */
const INVISIBLE =
  /(?!(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?)(?:\u200D|\uFE0F))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A space other than U+0020, or a repeated space. Many spaces could imitate the end of a line, or a column. */
const ODD_SPACE = /[^\P{Zs} ]|(?<= ) /gu;

/** Escapes a text from outside for display, so that it is one line in which every character is visible. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, escapeCharacter).replace(ODD_SPACE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** Works like JSON.stringify, but writes invisible characters as JSON escapes. */
export function toVisibleJson(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, escapeCharacterForJson);
}

function escapeCharacterForJson(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
