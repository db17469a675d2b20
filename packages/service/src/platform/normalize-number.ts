/** Format characters and other characters that are not displayed. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Normalizes a number: full-width characters become ASCII, invisible characters and outer spaces are removed. */
export const normalizeNumber = (text: string): string => text.normalize('NFKC').replaceAll(INVISIBLE, '').trim();
