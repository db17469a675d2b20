const DIGIT = '[0-9０-９]';
/** At least 13 digits. A single space, dot or dash may separate any two of them. */
const RUN = new RegExp(`${DIGIT}(?:[\\s.·\\-‐-―－]?${DIGIT}){12,}`, 'g');
const MAX_DIGITS = 19;

/**
 * Cards begin with 3, 4, 5, 6, 9 or 22 to 27. Numbers of orders and payments begin with 1, and numbers that channels
 * assign often begin with a year, so neither is taken for a card.
 */
const ISSUER = /^(?:[34569]|2[2-7])\d{12,18}$/;

/**
 * Replaces card numbers by their first six and last four digits, the most that PCI DSS allows to display. A card number
 * has 13 to 19 digits, an issuer's prefix and a valid check digit. It may be divided into groups.
 */
export function maskCardNumbers(text: string): string {
  return text.replace(RUN, maskRun);
}

export function holdsCardNumber(text: string): boolean {
  return maskCardNumbers(text) !== text;
}

/** Masks the first card number of a run, and those after it. Only whole groups are a card number. */
function maskRun(run: string): string {
  const groups = [...run.matchAll(new RegExp(`${DIGIT}+`, 'g'))];
  for (const [first, { index }] of groups.entries()) {
    let digits = '';
    let card: { readonly digits: string; readonly end: number } | undefined;
    for (const group of groups.slice(first, first + MAX_DIGITS)) {
      digits += group[0].normalize('NFKC');
      if (isCardNumber(digits)) card = { digits, end: group.index + group[0].length };
    }
    if (card) {
      const masked = `${card.digits.slice(0, 6)}******${card.digits.slice(-4)}`;
      return `${run.slice(0, index)}${masked}${maskCardNumbers(run.slice(card.end))}`;
    }
  }
  return run;
}

const isCardNumber = (number: string): boolean =>
  ISSUER.test(number) &&
  [...number].reverse().reduce((sum, digit, place) => sum + luhnValue(Number(digit), place), 0) % 10 === 0;

const luhnValue = (digit: number, place: number): number => (place % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0));
