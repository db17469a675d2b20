import { IDEMPOTENCY_WINDOW_MS, NONCE_WINDOW_MS } from '@perennial/wire';
import { columns, type Queryable, statement } from '../../platform/db/database.js';
import { IDEMPOTENCY_COLUMNS, type IdempotencyRow } from '../../platform/idempotency/idempotency-sql.js';

export interface AdmissionAsked {
  readonly channelId: number;
  /** Of the channel as this node holds it: nothing is recorded for a request that was checked against an older one. */
  readonly version: number;
  /** 32 hex characters in lower case. */
  readonly nonce: string;
  readonly slot: number;
  /** Whether it asks for one of the channel's rate: a request that is refused anyway does not. */
  readonly counted: boolean;
  readonly idempotencyKey: string | undefined;
}

export interface AdmissionAnswer {
  readonly current: boolean;
  readonly reused: boolean;
  /** The rate had room for it, and its nonce is used up. */
  readonly granted: boolean;
  readonly idempotency: IdempotencyRow | undefined;
}

/** Of a key that was not answered before, all fields of the answer are null. */
type Row = Judgement & { readonly [Field in keyof IdempotencyRow]: IdempotencyRow[Field] | null };

interface Judgement {
  readonly n: number;
  readonly reused: boolean;
  /** Null for a channel whose bucket is empty. */
  readonly chosen: boolean | null;
  readonly stored: boolean;
}

/** What is in a bucket by now: never more than the burst, and nothing for a clock that went back. */
const AVAILABLE = `least(w.burst, r.tokens +
    w.rate * extract(epoch from greatest(now(), r.refilled_at) - r.refilled_at))`;
const TAKEN = `least(cardinality(w.asking), floor(${AVAILABLE}))`;

/**
 * Everything a request needs from the database before its body is looked at, for many requests in one statement:
 * is this node's copy of the channel current, is the nonce new, does the rate allow it, was the key answered before.
 * There is no row for a request whose channel has changed.
 *
 * The rate comes before the nonce is written: a request that it leaves no room for writes nothing at all. A nonce that is
 * used up is seen before, and takes nothing. Only a request that races with its own copy takes one and then meets the
 * copy's row, under the primary key: the nonce's slot comes from the signed timestamp, so a copy has the same, whatever
 * the hour. The other slots are looked into for the same nonce under another timestamp.
 *
 * The key is looked up request by request (offset 0): as a plain join it was planned while the table was small and then
 * read the whole table for every statement. What was stored is asked for by a subquery, which is hashed: the join that
 * the planner would choose compares each nonce with each, a fifth of the cost of 64 requests.
 *
 * The arrays go through a subquery of their own, which hides their lengths from the planner. Where it sees them, a plan for
 * one request looks cheaper than one for any number, and PostgreSQL plans every statement anew: measured twice the cost of
 * carrying it out.
 */
const ADMIT = statement({
  name: 'admit',
  text: `
with current as (
  select a.*, c.rate_per_second, c.rate_burst, exists (
      select from nonces o where o.channel_id = a.channel_id and o.nonce = a.nonce
        and o.seen_at > now() - $8::integer * interval '1 ms') as reused
  from (
    select $1::integer[] as n, $2::bigint[] as channel_id, $3::bigint[] as version, $4::bytea[] as nonce,
      $5::smallint[] as slot, $6::boolean[] as counted, $7::text[] as key offset 0) all_of,
    unnest(all_of.n, all_of.channel_id, all_of.version, all_of.nonce, all_of.slot, all_of.counted, all_of.key)
      as a(n, channel_id, version, nonce, slot, counted, key)
    join channels c using (channel_id, version)
), wanted as (
  select channel_id, array_agg(n order by n) as asking, min(rate_per_second) as rate, min(rate_burst) as burst
  from current where counted and not reused group by channel_id
), granted as (
  update rate_limits r set
    tokens = ${AVAILABLE} - ${TAKEN},
    granted = ${TAKEN},
    refilled_at = greatest(now(), r.refilled_at)
  from wanted w where w.channel_id = r.channel_id and ${AVAILABLE} >= 1
  returning r.channel_id, w.asking[1 : r.granted] as chosen
), stored as (
  insert into nonces as seen (slot, channel_id, nonce, seen_at)
  select c.slot, c.channel_id, c.nonce, now()
  from current c join granted g on g.channel_id = c.channel_id and c.n = any(g.chosen)
  on conflict (slot, channel_id, nonce) do update set seen_at = excluded.seen_at
    where seen.seen_at <= now() - $8::integer * interval '1 ms'
  returning channel_id, nonce
)
select c.n, c.reused, c.n = any(g.chosen) as chosen,
  (c.channel_id, c.nonce) in (select s.channel_id, s.nonce from stored s) as stored, ${IDEMPOTENCY_COLUMNS}
from current c
  left join granted g on g.channel_id = c.channel_id
  left join lateral (
    select * from idempotency i where c.n = any(g.chosen) and i.channel_id = c.channel_id and i.key = c.key
      and i.created_at > now() - $9::integer * interval '1 s' offset 0) i on true`,
  parameters: [
    'integer[]',
    'bigint[]',
    'bigint[]',
    'bytea[]',
    'smallint[]',
    'boolean[]',
    'text[]',
    'integer',
    'integer',
  ],
  columns: columns<Row>({
    n: 'integer',
    reused: 'boolean',
    chosen: 'boolean?',
    stored: 'boolean',
    path: 'text?',
    bodySha256: 'bytea?',
    state: 'text?',
    leased: 'boolean?',
    subject: 'text?',
    code: 'text?',
    message: 'text?',
    data: 'text?',
  }),
});

const CHANGED: AdmissionAnswer = { current: false, reused: false, granted: false, idempotency: undefined };

export async function admit(db: Queryable, asked: readonly AdmissionAsked[]): Promise<AdmissionAnswer[]> {
  const { firsts, firstOf } = withoutCopies(asked);
  const rows = await db.query(ADMIT, [
    firsts.map((_, position) => position),
    firsts.map((one) => one.channelId),
    firsts.map((one) => one.version),
    firsts.map((one) => Buffer.from(one.nonce, 'hex')),
    firsts.map((one) => one.slot),
    firsts.map((one) => one.counted),
    firsts.map((one) => one.idempotencyKey ?? null),
    NONCE_WINDOW_MS,
    IDEMPOTENCY_WINDOW_MS / 1000,
  ]);
  const answers = firsts.map(() => CHANGED);
  for (const row of rows) answers[row.n] = answerOf(row);
  return asked.map((one, position) => {
    const first = firstOf[position] ?? 0;
    const answer = answers[first] ?? CHANGED;
    return answer.granted && firsts[first] !== one ? { ...answer, reused: true, granted: false } : answer;
  });
}

function answerOf(row: Row): AdmissionAnswer {
  const chosen = row.chosen === true;
  return {
    current: true,
    // Chosen and yet not stored: a copy of it was quicker, in another statement.
    reused: row.reused || (chosen && !row.stored),
    granted: chosen && row.stored,
    idempotency: row.state === null ? undefined : (row as IdempotencyRow),
  };
}

/** A request and its copies in one statement are asked for once: the first to come may be granted, the others not. */
function withoutCopies(asked: readonly AdmissionAsked[]) {
  const positions = new Map<string, number>();
  const firsts: AdmissionAsked[] = [];
  const firstOf = asked.map((one) => {
    const same = `${one.channelId} ${one.version} ${one.counted} ${one.nonce}`;
    const known = positions.get(same);
    if (known !== undefined) return known;
    positions.set(same, firsts.length);
    return firsts.push(one) - 1;
  });
  return { firsts, firstOf };
}
