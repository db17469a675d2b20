/**
 * What a terminal obeys, turns around or does not show: control characters, escape sequences and line breaks of every
 * kind, marks of direction, zero-width and other invisible characters, halves of surrogate pairs. Two of the invisible ones
 * are parts of emoji, and stay there.
 */
const INVISIBLE =
  /(?!(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?)(?:\u200D|\uFE0F))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A space that is not the plain one, or comes after another: enough of them end a line, or make a column. */
const ODD_SPACE = /[^\P{Zs} ]|(?<= ) /gu;

/** A text from outside as people may be shown it: on one line, each of its characters to be seen. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, escapeCharacter).replace(ODD_SPACE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** The same document as JSON.stringify makes, with what it would leave to a terminal in JSON's own escapes. */
export function toVisibleJson(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, escapeCharacterForJson);
}

function escapeCharacterForJson(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
