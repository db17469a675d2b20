import type { Role } from './people/roles.js';

/** Personal data as it is shown. Who may see it in clear says why, and leaves an entry in the audit log. */

/** 138****5678, for everybody. */
export function maskMobile(mobile: string): string {
  return mobile.length < 8 ? '*'.repeat(mobile.length) : `${mobile.slice(0, 3)}****${mobile.slice(-4)}`;
}

/** What people and receivers have written, in whatever record it stands. */
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
 * As people write one: with a country code, spaces or dashes, in digits of either width. Not a part of a longer number, unless the
 * rest is the country code.
 */
const DIGIT = '[0-9０-９]';
const BETWEEN = '[\\s.·\\-‐-―－]?';
const WRITTEN_MOBILE = new RegExp(
  `(?<!${DIGIT})((?:[0０]{2})?[8８][6６]${BETWEEN})?([1１][3-9３-９]${DIGIT})${BETWEEN}${DIGIT}{4}${BETWEEN}(${DIGIT}{4})(?!${DIGIT})`,
  'g',
);

/** An answer in which nobody's mobile stands in what was written; for those who may not see it. */
export function maskWrittenMobiles<T>(answer: T): T {
  return JSON.parse(
    JSON.stringify(answer, (name, value) =>
      typeof value === 'string' && WRITTEN.has(name) ? value.replaceAll(WRITTEN_MOBILE, '$1$2****$3') : value,
    ),
  );
}

/** The first two characters and the last two, or none of a short one; viewers see no more of a channel's user. */
export function maskUserId(channelUserId: string, role: Role): string {
  if (role !== 'viewer') return channelUserId;
  const characters = [...channelUserId];
  if (characters.length <= 4) return '****';
  return `${characters.slice(0, 2).join('')}****${characters.slice(-2).join('')}`;
}

/** The same, wherever such an id stands in a record. */
export function maskUserIds<T>(data: T, role: Role): T {
  return JSON.parse(
    JSON.stringify(data, (name, value) =>
      name === 'channelUserId' && typeof value === 'string' ? maskUserId(value, role) : value,
    ),
  );
}
