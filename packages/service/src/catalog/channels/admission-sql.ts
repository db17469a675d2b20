import { IDEMPOTENCY_WINDOW_MS, NONCE_WINDOW_MS } from '@perennial/wire';
import { toArrayText } from '../../platform/db/array-text.js';
import { columnsOf, type Queryable, statement } from '../../platform/db/database.js';
import type { ValuesOf, ValueType } from '../../platform/db/statement.js';
import { IDEMPOTENCY_COLUMNS, type IdempotencyRow } from '../../platform/idempotency/idempotency-sql.js';

export interface AdmissionQuery {
  readonly channelId: number;
  /** The channel's version in this node's memory. A request that was checked with an older version stores nothing. */
  readonly version: number;
  /** 32 hex characters in lower case. */
  readonly nonce: string;
  readonly slot: number;
  /**
   * True if the request takes a token from the channel's rate limit. A request from a refused address or of a suspended
   * channel takes no token.
   */
  readonly counted: boolean;
  readonly idempotencyKey: string | undefined;
}

export interface AdmissionAnswer {
  readonly current: boolean;
  readonly reused: boolean;
  /** True if the rate allows the request, and its nonce was new and is now stored. */
  readonly granted: boolean;
  readonly idempotency: IdempotencyRow | undefined;
}

/**
 * The fields of IdempotencyRow, except `leased`, are null if the request is not granted, or if no request with this
 * idempotency key is stored.
 */
export type AdmissionRow = Judgement & { readonly [Field in keyof IdempotencyRow]: IdempotencyRow[Field] | null };

interface Judgement {
  readonly n: number;
  readonly reused: boolean;
  /** True if the rate allows this request. Null if the statement granted no request of this channel. */
  readonly chosen: boolean | null;
  readonly stored: boolean;
}

/** SQL: tokens in a channel's bucket now, at most the burst. If the clock was set back, no tokens are added. */
const AVAILABLE_TOKENS = `least(w.burst, r.tokens +
    w.rate * extract(epoch from greatest(now(), r.refilled_at) - r.refilled_at))`;
const TAKEN_TOKENS = `least(cardinality(w.asking), floor(${AVAILABLE_TOKENS}))`;

/** Additional data to read for granted requests, in the statement that grants them. */
export interface ReadAlong {
  /** Additional columns of `c`: the column's name, and the SQL parameter, an array with one element per request. */
  readonly arrays: Readonly<Record<string, string>>;
  /** The selected fields, with a comma before each. */
  readonly fields: string;
  /** Returns the join for a granted request. `isGranted` is an SQL condition. */
  readonly join: (isGranted: string) => string;
}

const NOTHING_ALONG: ReadAlong = { arrays: {}, fields: '', join: () => '' };

/** The types of the statement's first parameters. The parameters of `ReadAlong` follow them. */
export const ADMISSION_PARAMETERS = [
  'integer[]',
  'bigint[]',
  'bigint[]',
  'bytea[]',
  'smallint[]',
  'boolean[]',
  'text[]',
  'integer',
  'integer',
] as const satisfies readonly ValueType[];

/**
 * SQL: everything a request needs from the database before its action runs, for many requests in one statement. Is this
 * node's copy of the channel current, is the nonce new, does the rate allow the request, was a request with this
 * idempotency key answered before? A request whose channel has changed gets no row.
 *
 * The rate is checked before the nonce is stored, so that a request over the rate stores nothing. A used nonce is found
 * before the rate is checked, so a copy of a request takes nothing from the rate. If a request and its copy arrive at
 * the same time, both take from the rate, and the primary key then stops one of them. The slot of a nonce comes from
 * the signed timestamp, so a copy always has the same slot. The other slots are read to find the same nonce with
 * another timestamp. In its own slot a nonce counts twice as long, because a copy may be admitted later than the ten
 * minutes for which its timestamp is accepted: its body may arrive late, and clocks differ.
 *
 * The idempotency key is looked up for each request (offset 0), because PostgreSQL planned a plain join while the table
 * was small, and later read the whole table with that plan. The stored nonces are compared by a hashed subquery,
 * because the planner's join would compare every nonce with every other nonce, which would be a fifth of the cost of 64
 * requests.
 *
 * A subquery hides the lengths of the arrays from the planner. If the planner sees the lengths, a plan for one request
 * looks cheaper than a plan for any number of requests. PostgreSQL then plans the statement again each time, which
 * costs twice as much as executing it (measured).
 */
export function admissionSql(along: ReadAlong = NOTHING_ALONG): string {
  const arrays = Object.entries(along.arrays);
  const asArrays = arrays.map(([name, parameter]) => `, ${parameter} as ${name}`).join('');
  const ofArrays = arrays.map(([name]) => `, all_of.${name}`).join('');
  const names = arrays.map(([name]) => `, ${name}`).join('');
  return `
with current as (
  select a.*, c.rate_per_second, c.rate_burst, exists (
      select from nonces o where o.channel_id = a.channel_id and o.nonce = a.nonce
        and o.seen_at > now() - case when o.slot = a.slot then 2 else 1 end * $8::integer * interval '1 ms') as reused
  from (
    select $1::integer[] as n, $2::bigint[] as channel_id, $3::bigint[] as version, $4::bytea[] as nonce,
      $5::smallint[] as slot, $6::boolean[] as counted, $7::text[] as key${asArrays} offset 0) all_of,
    unnest(all_of.n, all_of.channel_id, all_of.version, all_of.nonce, all_of.slot, all_of.counted, all_of.key${ofArrays})
      as a(n, channel_id, version, nonce, slot, counted, key${names})
    join channels c using (channel_id, version)
), wanted as (
  select channel_id, array_agg(n order by n) as asking, min(rate_per_second) as rate, min(rate_burst) as burst
  from current where counted and not reused group by channel_id
), granted as (
  update rate_limits r set
    tokens = ${AVAILABLE_TOKENS} - ${TAKEN_TOKENS},
    granted = ${TAKEN_TOKENS},
    refilled_at = greatest(now(), r.refilled_at)
  from wanted w where w.channel_id = r.channel_id and ${AVAILABLE_TOKENS} >= 1
  returning r.channel_id, w.asking[1 : r.granted] as chosen
), stored as (
  insert into nonces as seen (slot, channel_id, nonce, seen_at)
  select c.slot, c.channel_id, c.nonce, now()
  from current c join granted g on g.channel_id = c.channel_id and c.n = any(g.chosen)
  on conflict (slot, channel_id, nonce) do update set seen_at = excluded.seen_at
    where seen.seen_at <= now() - 2 * $8::integer * interval '1 ms'
  returning channel_id, nonce
)
select c.n, c.reused, c.n = any(g.chosen) as chosen,
  (c.channel_id, c.nonce) in (select s.channel_id, s.nonce from stored s) as stored, ${IDEMPOTENCY_COLUMNS}${along.fields}
from current c
  left join granted g on g.channel_id = c.channel_id
  left join lateral (
    select * from idempotency i where c.n = any(g.chosen) and i.channel_id = c.channel_id and i.key = c.key
      and i.created_at > now() - $9::integer * interval '1 s' offset 0) i on true
  ${along.join('c.n = any(g.chosen)')}`;
}

export const ADMISSION_COLUMNS = columnsOf<AdmissionRow>({
  n: 'integer',
  reused: 'boolean',
  chosen: 'boolean?',
  stored: 'boolean',
  path: 'text?',
  bodySha256: 'bytea?',
  meaning: 'bytea?',
  state: 'text?',
  leased: 'boolean?',
  subject: 'text?',
  code: 'text?',
  message: 'text?',
  data: 'text?',
});

const ADMIT_REQUESTS = statement({
  name: 'admit',
  text: admissionSql(),
  parameters: ADMISSION_PARAMETERS,
  columns: ADMISSION_COLUMNS,
});

const CHANNEL_CHANGED: AdmissionAnswer = { current: false, reused: false, granted: false, idempotency: undefined };

export function admitRequests(db: Queryable, asked: readonly AdmissionQuery[]): Promise<AdmissionAnswer[]> {
  return admitWith(asked, (values) => db.query(ADMIT_REQUESTS, values), toAdmissionAnswer);
}

type AdmissionValues = ValuesOf<typeof ADMISSION_PARAMETERS>;

/**
 * Like `admitRequests`, but `run` may execute a statement that reads more. `run` gets each request once, without its
 * copies.
 */
export async function admitWith<Query extends AdmissionQuery, Row extends Judgement, Answer extends AdmissionAnswer>(
  asked: readonly Query[],
  run: (values: AdmissionValues, firsts: readonly Query[]) => Promise<readonly Row[]>,
  toAnswer: (row: Row) => Answer,
): Promise<(Answer | AdmissionAnswer)[]> {
  const { firsts, firstOf } = separateCopies(asked);
  const values: AdmissionValues = [
    toArrayText([...firsts.keys()], (position) => position),
    toArrayText(firsts, ({ channelId }) => channelId),
    toArrayText(firsts, ({ version }) => version),
    toArrayText(firsts, ({ nonce }) => `"\\\\x${nonce}"`),
    toArrayText(firsts, ({ slot }) => slot),
    toArrayText(firsts, ({ counted }) => (counted ? 't' : 'f')),
    firsts.map(({ idempotencyKey }) => idempotencyKey ?? null),
    NONCE_WINDOW_MS,
    IDEMPOTENCY_WINDOW_MS / 1000,
  ];
  const answers: (Answer | AdmissionAnswer)[] = firsts.map(() => CHANNEL_CHANGED);
  for (const row of await run(values, firsts)) answers[row.n] = toAnswer(row);
  return asked.map((one, position) => {
    const first = firstOf[position] ?? 0;
    const answer = answers[first] ?? CHANNEL_CHANGED;
    return answer.granted && firsts[first] !== one ? { ...answer, reused: true, granted: false } : answer;
  });
}

export function toAdmissionAnswer(row: AdmissionRow): AdmissionAnswer {
  const chosen = row.chosen === true;
  return {
    current: true,
    // The second condition: the rate allowed the request, but another statement has already stored the same nonce for a
    // copy of the request.
    reused: row.reused || (chosen && !row.stored),
    granted: chosen && row.stored,
    idempotency: row.state === null ? undefined : (row as IdempotencyRow),
  };
}

/** Keeps only the first of several copies of a request in a batch, because only the first can be granted. */
function separateCopies<Query extends AdmissionQuery>(asked: readonly Query[]) {
  const positions = new Map<string, number>();
  const firsts: Query[] = [];
  const firstOf = asked.map((one) => {
    const same = `${one.channelId} ${one.version} ${one.counted} ${one.nonce}`;
    const known = positions.get(same);
    if (known !== undefined) return known;
    positions.set(same, firsts.length);
    return firsts.push(one) - 1;
  });
  return { firsts, firstOf };
}
