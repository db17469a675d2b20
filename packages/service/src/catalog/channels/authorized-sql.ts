import { instantOfMicros, micros } from '../../platform/db/time-sql.js';
import type { ListPosition } from '../../platform/lists/list-page.js';

/** When it was authorized, in Unix microseconds, and its code. */
export type AuthorizationKey = readonly [authorizedMicros: number, code: string];

/** What a channel is authorized for, beside what is told about it. */
export interface Authorized {
  readonly authorizedMicros: number;
}

const BEGIN = `coalesce(${instantOfMicros('$4')}, 'infinity')`;

/** Of a table `cp` of authorizations, in which `code` names what is authorized: the newest first, of one moment by code. */
export const authorizedSql = (code: string) => ({
  column: `${micros('cp.authorized_at')} as "authorizedMicros"`,
  page: `where cp.channel_id = $1 and cp.authorized_at <= ${BEGIN} and (cp.authorized_at < ${BEGIN} or cp.${code} > $5)
         order by cp.authorized_at desc, cp.${code} limit $2 offset $3`,
});

export const AUTHORIZED_PARAMETERS = ['bigint', 'bigint', 'bigint', 'bigint', 'text'] as const;

export const authorizedValues = (channelId: number, limit: number, { after, offset }: ListPosition<AuthorizationKey>) =>
  [channelId, limit, offset, after?.[0] ?? null, after?.[1] ?? ''] as const;
