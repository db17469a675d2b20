import type { Role } from './people/roles.js';

/** Personal data as it is shown. Who may see it in clear says why, and leaves an entry in the audit log. */

/** 138****5678, for everybody. */
export function maskMobile(mobile: string): string {
  return mobile.length < 8 ? '*'.repeat(mobile.length) : `${mobile.slice(0, 3)}****${mobile.slice(-4)}`;
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
