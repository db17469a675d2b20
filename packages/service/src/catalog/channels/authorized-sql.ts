import { epochMicros, fromEpochMicros } from '../../platform/db/time-sql.js';
import type { ListPosition } from '../../platform/lists/list-page.js';

export type AuthorizationKey = readonly [authorizedMicros: number, code: string];

/** The position of an authorization in the list. */
export interface Authorized {
  readonly authorizedMicros: number;
}

const PAGE_BEGIN = `coalesce(${fromEpochMicros('$4')}, 'infinity')`;

/** SQL: a page of the authorizations `cp`, newest first, then by the column `code` of the authorized item. */
export const authorizedSql = (code: string) => ({
  column: `${epochMicros('cp.authorized_at')} as "authorizedMicros"`,
  page: `where cp.channel_id = $1 and cp.authorized_at <= ${PAGE_BEGIN} and (cp.authorized_at < ${PAGE_BEGIN} or cp.${code} > $5)
         order by cp.authorized_at desc, cp.${code} limit $2 offset $3`,
});

export const AUTHORIZED_PARAMETERS = ['bigint', 'bigint', 'bigint', 'bigint', 'text'] as const;

export const authorizedParameters = (
  channelId: number,
  limit: number,
  { after, offset }: ListPosition<AuthorizationKey>,
) => [channelId, limit, offset, after?.[0] ?? null, after?.[1] ?? ''] as const;
