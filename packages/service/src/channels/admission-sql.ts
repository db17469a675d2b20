import { IDEMPOTENCY_WINDOW_MS, NONCE_WINDOW_MS } from '@perennial/wire';
import type { Queryable } from '../db/database.js';
import { IDEMPOTENCY_COLUMNS, type IdempotencyRow } from '../idempotency/sql.js';

export interface AdmissionAsked {
  readonly channelId: number;
  /** Of the channel as this node holds it: nothing is recorded for a request that was checked against an older one. */
  readonly version: number;
  readonly nonce: Buffer;
  readonly slot: number;
  /** Whether it takes from the channel's rate: a request that is refused anyway does not. */
  readonly counted: boolean;
  readonly idempotencyKey: string | undefined;
}

export interface AdmissionAnswer {
  readonly current: boolean;
  readonly fresh: boolean;
  readonly granted: boolean;
  /** Tokens left in the channel's bucket; below 1 when the request was not granted. */
  readonly tokens: number;
  readonly idempotency: IdempotencyRow | undefined;
}

interface Row {
  readonly n: number;
  readonly current: boolean;
  readonly fresh: boolean;
  readonly granted: number | null;
  readonly tokens: number | null;
  readonly state: string | null;
}

/**
 * Everything a request needs from the database before its body is looked at, for many requests in one statement:
 * is this node's copy of the channel current, is the nonce new, does the rate allow it, was the key answered before.
 *
 * The nonce's slot comes from the signed timestamp, so a replayed request meets its own row whatever the hour; the
 * other slots are asked for the same nonce under another timestamp. The key is looked up request by request (offset 0):
 * as a plain join it was planned while the table was small and then read the whole table for every statement.
 *
 * The arrays go through a subquery of their own, which hides their lengths from the planner. Where it sees them, a plan for
 * one request looks cheaper than one for any number, and PostgreSQL plans every statement anew: measured twice the cost of
 * carrying it out.
 */
const ADMIT = {
  name: 'admit',
  text: `
with asked as (
  select a.* from (
    select $1::integer[] as n, $2::bigint[] as channel_id, $3::bigint[] as version, $4::bytea[] as nonce,
      $5::smallint[] as slot, $6::boolean[] as counted, $7::text[] as key offset 0) all_of,
    unnest(all_of.n, all_of.channel_id, all_of.version, all_of.nonce, all_of.slot, all_of.counted, all_of.key)
      as a(n, channel_id, version, nonce, slot, counted, key)
), current as (
  select a.*, c.rate_per_second, c.rate_burst from asked a join channels c using (channel_id, version)
), firsts as (
  select distinct on (channel_id, nonce) * from current order by channel_id, nonce, n
), fresh as (
  insert into nonces as seen (slot, channel_id, nonce, seen_at)
  select slot, channel_id, nonce, now() from firsts f
  where not exists (
    select from nonces o where o.slot <> f.slot and o.channel_id = f.channel_id and o.nonce = f.nonce
      and o.seen_at > now() - $8::integer * interval '1 ms')
  on conflict (slot, channel_id, nonce) do update set seen_at = excluded.seen_at
    where seen.seen_at <= now() - $8::integer * interval '1 ms'
  returning channel_id, nonce
), admitted as (
  select n, channel_id, counted, rate_per_second, rate_burst from firsts join fresh using (channel_id, nonce)
), wanted as (
  select channel_id, count(*)::integer as wanted, min(rate_per_second) as rate, min(rate_burst) as burst
  from admitted where counted group by channel_id
), granted as (
  update rate_limits r set
    tokens = least(w.burst, r.tokens + w.rate * extract(epoch from greatest(now(), r.refilled_at) - r.refilled_at))
      - least(w.wanted, floor(least(w.burst,
          r.tokens + w.rate * extract(epoch from greatest(now(), r.refilled_at) - r.refilled_at)))),
    granted = least(w.wanted, floor(least(w.burst,
      r.tokens + w.rate * extract(epoch from greatest(now(), r.refilled_at) - r.refilled_at)))),
    refilled_at = greatest(now(), r.refilled_at)
  from wanted w where w.channel_id = r.channel_id
  returning r.channel_id, r.granted, r.tokens
)
select a.n, cur.n is not null as current, adm.n is not null as fresh, g.granted, g.tokens, ${IDEMPOTENCY_COLUMNS}
from asked a
  left join current cur on cur.n = a.n
  left join admitted adm on adm.n = a.n
  left join granted g on g.channel_id = a.channel_id
  left join lateral (
    select * from idempotency i where i.channel_id = a.channel_id and i.key = a.key
      and i.created_at > now() - $9::integer * interval '1 s' offset 0) i on true
order by a.n`,
};

export async function admit(db: Queryable, asked: readonly AdmissionAsked[]): Promise<AdmissionAnswer[]> {
  const rows = await db.query<Row & IdempotencyRow>(ADMIT, [
    asked.map((_, position) => position),
    asked.map((one) => one.channelId),
    asked.map((one) => one.version),
    asked.map((one) => one.nonce),
    asked.map((one) => one.slot),
    asked.map((one) => one.counted),
    asked.map((one) => one.idempotencyKey ?? null),
    NONCE_WINDOW_MS,
    IDEMPOTENCY_WINDOW_MS / 1000,
  ]);
  const left = new Map<number, number>();
  return rows.map((row, position) => {
    const one = asked[position];
    if (!one || row.n !== position) throw new Error('admission rows are out of order');
    let granted = false;
    if (row.fresh && one.counted) {
      // The bucket gave a number; the first ones in the order of arrival have it.
      const remaining = left.get(one.channelId) ?? row.granted ?? 0;
      granted = remaining > 0;
      left.set(one.channelId, remaining - 1);
    }
    return {
      current: row.current,
      fresh: row.fresh,
      granted,
      tokens: row.tokens ?? 0,
      idempotency: row.state === null ? undefined : row,
    };
  });
}
