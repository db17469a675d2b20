import type { Role } from './people/roles.js';

/** Masks personal data. To see it unmasked, an operator must give a reason, which is written to the audit log. */

/** Returns 138****5678 for 13812345678. All roles see only this form. */
export function maskMobile(mobile: string): string {
  return mobile.length < 8 ? '*'.repeat(mobile.length) : `${mobile.slice(0, 3)}****${mobile.slice(-4)}`;
}

/**
 * Names of fields that contain free text by operators or receivers, in any record. The text may contain a mobile
 * number.
 */
const WRITTEN = new Set([
  'answer',
  'comment',
  'decisionNote',
  'detail',
  'note',
  'reason',
  'result',
  'text',
  'unsubscribeReason',
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

/** Masks all mobile numbers in the free texts of an answer, for roles that may not see them. */
export function maskWrittenMobiles<T>(answer: T): T {
  return JSON.parse(
    JSON.stringify(answer, (name, value) =>
      typeof value === 'string' && WRITTEN.has(name) ? value.replaceAll(WRITTEN_MOBILE, '$1$2****$3') : value,
    ),
  );
}

/** Masks a user id for viewers: shows the first and last two characters, or only asterisks if the id is short. */
export function maskUserId(channelUserId: string, role: Role): string {
  if (role !== 'viewer') return channelUserId;
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
