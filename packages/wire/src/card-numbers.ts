/**
 * A time, which is no card number, or at least 13 digits of any script. Up to two characters that are neither letters
 * nor digits, such as invisible ones, may separate any two digits.
 */
const TIME_OR_RUN = /\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?|\p{Nd}(?:[^\p{L}\p{N}]{0,2}\p{Nd}){12,}/gu;
const MAX_DIGITS = 19;
/** The first 16 or 15 of 19 digits may be a card number that a security code of 3 or 4 digits follows directly. */
const LENGTHS_BEFORE_SECURITY_CODE = [16, 15];

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
  return text.replace(TIME_OR_RUN, maskRun);
}

export function holdsCardNumber(text: string): boolean {
  return maskCardNumbers(text) !== text;
}

interface Group {
  readonly digits: string;
  readonly start: number;
  readonly end: number;
}

/** Masks each card number of a run. Only whole groups are a card number, or a card number and its security code. */
function maskRun(run: string): string {
  const groups = [...run.matchAll(/\p{Nd}+/gu)].map(
    ({ 0: written, index }): Group => ({ digits: toAscii(written), start: index, end: index + written.length }),
  );
  let masked = '';
  let end = 0;
  for (const [first, { start }] of groups.entries()) {
    const card = start < end ? undefined : findCard(groups.slice(first, first + MAX_DIGITS));
    if (!card) continue;
    masked += `${run.slice(end, start)}${card.number.slice(0, 6)}******${card.number.slice(-4)}`;
    end = card.end;
  }
  return masked + run.slice(end);
}

/** Returns the longest card number with which the groups begin, and its end in the run. */
function findCard(groups: readonly Group[]): { readonly number: string; readonly end: number } | undefined {
  let digits = '';
  let card: { readonly number: string; readonly end: number } | undefined;
  for (const group of groups) {
    digits += group.digits;
    if (digits.length > MAX_DIGITS) break;
    const lengths = digits.length === MAX_DIGITS ? [MAX_DIGITS, ...LENGTHS_BEFORE_SECURITY_CODE] : [digits.length];
    // A cut between two groups has been tried already.
    const least = digits.length - group.digits.length;
    const length = lengths.find((one) => one > least && isCardNumber(digits.slice(0, one)));
    if (length !== undefined) card = { number: digits.slice(0, length), end: group.end };
  }
  return card;
}

/** Replaces digits of other scripts by ASCII digits. Unicode encodes the ten digits of a script one after another. */
function toAscii(digits: string): string {
  return digits.replaceAll(/[^0-9]/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let before = 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++;
    return String(before % 10);
  });
}

const isCardNumber = (number: string): boolean =>
  ISSUER.test(number) &&
  [...number].reverse().reduce((sum, digit, place) => sum + luhnValue(Number(digit), place), 0) % 10 === 0;

const luhnValue = (digit: number, place: number): number => (place % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0));
