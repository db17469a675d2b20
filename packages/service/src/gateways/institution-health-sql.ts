import { columns, declareList, type Queryable, statement } from '../platform/db/database.js';
import { shanghaiText } from '../platform/db/time-sql.js';
import type { CallsSeen } from './institution-health.js';

/** SQL: the time of the latest answer, either stored or seen by this node. */
const ANSWERED_AT = 'greatest(h.answered_at, excluded.answered_at)';
/** SQL: whether a row's last failed call is later than the latest answer. */
const isFailing = (row: string) => `coalesce(${row}.failed_at > ${ANSWERED_AT}, ${row}.failed_at is not null)`;

/** Stores rows in the order of their codes, so that two nodes cannot deadlock. */
const STORE_CALLS = statement({
  text: `insert into institution_health as h (payment_channel_code, answered_at, failing_since, failed_at, failures)
     select code, now() - answered * interval '1 ms', now() - failing * interval '1 ms', now() - failed * interval '1 ms', failures
     from unnest($1::text[], $2::double precision[], $3::double precision[], $4::double precision[], $5::integer[])
       as seen(code, answered, failing, failed, failures)
     order by code
     on conflict (payment_channel_code) do update set
       answered_at = ${ANSWERED_AT},
       failed_at = greatest(h.failed_at, excluded.failed_at),
       failing_since = least(case when ${isFailing('h')} then greatest(h.failing_since, ${ANSWERED_AT}) end,
         case when ${isFailing('excluded')} then greatest(excluded.failing_since, ${ANSWERED_AT}) end),
       failures = case when ${isFailing('h')} then h.failures else 0 end
         + case when ${isFailing('excluded')} then excluded.failures else 0 end`,
  parameters: ['text[]', 'double precision[]', 'double precision[]', 'double precision[]', 'integer[]'],
});

/** Adds the calls of this node to the stored calls of all nodes. */
export async function storeCallsSeen(db: Queryable, seen: ReadonlyMap<string, CallsSeen>): Promise<void> {
  const now = performance.now();
  const age = (at: number | undefined) => (at === undefined ? null : now - at);
  const calls = [...seen];
  await db.query(STORE_CALLS, [
    calls.map(([code]) => code),
    calls.map(([, { answeredAt }]) => age(answeredAt)),
    calls.map(([, { failingSince }]) => age(failingSince)),
    calls.map(([, { failedAt }]) => age(failedAt)),
    calls.map(([, { failures }]) => failures),
  ]);
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
