/** Format characters and other characters that are not displayed. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns one spelling of a number: full-width characters as ASCII, without invisible characters and outer spaces. */
export const normalizeNumber = (text: string): string => text.normalize('NFKC').replaceAll(INVISIBLE, '').trim();
