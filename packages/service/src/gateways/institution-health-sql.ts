import { columns, declareList, type Queryable, statement } from '../platform/db/database.js';
import { shanghaiText } from '../platform/db/time-sql.js';
import type { CallsSeen } from './calls-seen.js';

/** SQL: sets the columns of the stored row `h` to its calls and the calls of the row `seen` together. */
export function mergedCalls(h: string, seen: string): string {
  const answeredAt = `greatest(${h}.answered_at, ${seen}.answered_at)`;
  const isFailing = (row: string) => `coalesce(${row}.failed_at > ${answeredAt}, ${row}.failed_at is not null)`;
  const since = (row: string) => `case when ${isFailing(row)} then greatest(${row}.failing_since, ${answeredAt}) end`;
  const failures = (row: string) => `case when ${isFailing(row)} then ${row}.failures else 0 end`;
  return `answered_at = ${answeredAt},
    failed_at = greatest(${h}.failed_at, ${seen}.failed_at),
    failing_since = least(${since(h)}, ${since(seen)}),
    failures = ${failures(h)} + ${failures(seen)}`;
}

/** SQL: the calls that a node has seen, with their times by the database's clock. Five parameters from `$1`. */
export const CALLS_SEEN = `(select key, now() - answered * interval '1 ms' as answered_at,
    now() - failing * interval '1 ms' as failing_since, now() - failed * interval '1 ms' as failed_at, failures
  from unnest($1::text[], $2::double precision[], $3::double precision[], $4::double precision[], $5::integer[])
    as given(key, answered, failing, failed, failures))`;
export const CALLS_SEEN_PARAMETERS = [
  'text[]',
  'double precision[]',
  'double precision[]',
  'double precision[]',
  'integer[]',
] as const;

export function toCallsSeenValues(seen: ReadonlyMap<string, CallsSeen>) {
  const now = performance.now();
  const ages = (pick: (calls: CallsSeen) => number | undefined) =>
    [...seen.values()].map((calls) => {
      const at = pick(calls);
      return at === undefined ? null : now - at;
    });
  return [
    [...seen.keys()],
    ages(({ answeredAt }) => answeredAt),
    ages(({ failingSince }) => failingSince),
    ages(({ failedAt }) => failedAt),
    [...seen.values()].map(({ failures }) => failures),
  ] as const;
}

/** Stores rows in the order of their codes, so that two nodes cannot deadlock. */
const STORE_CALLS = statement({
  text: `insert into institution_health as h (payment_channel_code, answered_at, failing_since, failed_at, failures)
     select * from ${CALLS_SEEN} seen order by key
     on conflict (payment_channel_code) do update set ${mergedCalls('h', 'excluded')}`,
  parameters: CALLS_SEEN_PARAMETERS,
});

/** Adds the calls of this node to the stored calls of all nodes. */
export async function storeCallsSeen(db: Queryable, seen: ReadonlyMap<string, CallsSeen>): Promise<void> {
  await db.query(STORE_CALLS, toCallsSeenValues(seen));
}

/**
 * SQL: seconds from the first to the last failed call since the last answer. 0 for fewer than three failed calls. The
 * time after the last call does not count, because without calls it is unknown whether the institution would answer.
 */
const SILENT_SECONDS = `case when h.failures >= 3 then extract(epoch from h.failed_at - h.failing_since) else 0 end`;

/**
 * Lists institutions that have not answered for two minutes. At least three calls must have failed in a row, the last
 * at least a minute after the first.
 */
export const findSilentInstitutions = declareList({
  text: `select h.payment_channel_code as "paymentChannelCode", ${shanghaiText('h.failing_since')} as since, h.failures
     from institution_health h
     where h.failing_since <= now() - interval '2 min' and ${SILENT_SECONDS} >= 60
     order by h.payment_channel_code`,
  parameters: [],
  columns: columns({ paymentChannelCode: 'text', since: 'text', failures: 'integer' }),
});

/**
 * Lists for how long each payment channel's institution has answered no call. 0 until three calls in a row have failed.
 */
export const readSilences = declareList({
  text: `select p.code, coalesce(${SILENT_SECONDS}, 0)::double precision as seconds
     from payment_channels p left join institution_health h on h.payment_channel_code = p.code order by p.code`,
  parameters: [],
  columns: columns({ code: 'text', seconds: 'double precision' }),
});
