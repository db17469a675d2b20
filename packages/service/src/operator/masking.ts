import { holdsCardNumber, maskCardNumbers } from '@perennial/wire';
import { refusal } from './operator.js';
import type { Role } from './people/roles.js';

/**
 * Masks personal data. To see a mobile number unmasked, an operator must give a reason, which is written to the audit
 * log.
 */

/** Returns 138****5678 for 13812345678. All roles see this form. */
export function maskMobile(mobile: string): string {
  return mobile.length < 8 ? '*'.repeat(mobile.length) : `${mobile.slice(0, 3)}****${mobile.slice(-4)}`;
}

/**
 * Names of fields that contain free text by operators or receivers, in any record. The text may contain a mobile
 * number.
 */
const WRITTEN = new Set([
  'answer',
  'closingNote',
  'comment',
  'decisionNote',
  'detail',
  'note',
  'reason',
  'result',
  'text',
  'unsubscribeReason',
  'withoutApproval',
]);

/**
 * Matches mobile numbers as people type them: with a country code, spaces or dashes, in ASCII or full-width digits.
 * Does not match digits inside a longer number, except after the country code.
 */
const DIGIT = '[0-9０-９]';
const BETWEEN = '[\\s.·\\-‐-―－]?';
const WRITTEN_MOBILE = new RegExp(
  `(?<!${DIGIT})((?:[0０]{2})?[8８][6６]${BETWEEN})?([1１][3-9３-９]${DIGIT})${BETWEEN}${DIGIT}{4}${BETWEEN}(${DIGIT}{4})(?!${DIGIT})`,
  'g',
);

/** Chinese ID numbers: in one piece, or in the groups in which they are printed. */
const WRITTEN_ID = new RegExp(
  `(?<!${DIGIT})${DIGIT}{6}${BETWEEN}${DIGIT}{8}${BETWEEN}${DIGIT}{3}(?:${DIGIT}|[xXｘＸ])(?!${DIGIT})`,
  'g',
);

/** Names of fields with texts that everybody may read. */
const NAMES = new Set(['displayName', 'name']);

/**
 * Throws if a free text or a name of an input contains a card number or an ID number, because texts are stored
 * unencrypted and other operators read them. Prevents mistakes, but does not stop an operator who wants to store such a number.
 */
export function refuseWrittenNumbers(input: object): void {
  for (const [name, value] of Object.entries(input)) {
    if (typeof value === 'object' && value !== null) refuseWrittenNumbers(value);
    if (typeof value === 'string' && (WRITTEN.has(name) || NAMES.has(name)) && holdsNumber(value)) {
      const what = name === 'text' ? 'the note' : `the ${name}`;
      throw refusal(
        'holds-card-or-id-number',
      )`${what} must not contain a card number or an ID number; write only the last four digits`;
    }
  }
}

const holdsNumber = (text: string): boolean =>
  holdsCardNumber(text) ||
  (text.match(WRITTEN_ID) ?? []).some((written) => isIdNumber(written.normalize('NFKC').replaceAll(/[^\dxX]/g, '')));

/** Checks the birthday and the check digit (GB 11643). */
function isIdNumber(number: string): boolean {
  if (!/^[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dxX]$/.test(number)) return false;
  const sum = [...number]
    .slice(0, 17)
    .reduce((before, digit, place) => before + Number(digit) * (2 ** (17 - place) % 11), 0);
  return '10X98765432'[sum % 11] === number.at(-1)?.toUpperCase();
}

/** Names of fields that contain texts by channels, besides the user id. */
const OF_CHANNEL = new Set(['channelAgreementRef', 'externalOrderNo']);

/** Masks card numbers in the free texts of an answer, and mobile numbers for roles that may not see them. */
export function maskTexts<T>(answer: T, role: Role): T {
  const mask = (text: string) => {
    const masked = maskCardNumbers(text);
    return role === 'viewer' ? masked.replaceAll(WRITTEN_MOBILE, '$1$2****$3') : masked;
  };
  return JSON.parse(
    JSON.stringify(answer, (name, value) => {
      // The values of a text that a page translates. They repeat parts of the text.
      if (name === 'values' && Array.isArray(value))
        return value.map((one) => (typeof one === 'string' ? mask(one) : one));
      if (typeof value !== 'string') return value;
      if (OF_CHANNEL.has(name)) return maskCardNumbers(value);
      return WRITTEN.has(name) ? mask(value) : value;
    }),
  );
}

/**
 * Masks a user id for viewers: shows the first two and the last two characters, or only asterisks if the id is short.
 * For other roles masks an id that is a card number.
 */
export function maskUserId(channelUserId: string, role: Role): string {
  if (role !== 'viewer') return maskCardNumbers(channelUserId);
  const characters = [...channelUserId];
  if (characters.length <= 4) return '****';
  return `${characters.slice(0, 2).join('')}****${characters.slice(-2).join('')}`;
}

/** Masks user ids anywhere in a record. */
export function maskUserIds<T>(data: T, role: Role): T {
  return JSON.parse(
    JSON.stringify(data, (name, value) =>
      name === 'channelUserId' && typeof value === 'string' ? maskUserId(value, role) : value,
    ),
  );
}
