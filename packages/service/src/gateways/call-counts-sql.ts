import { column, columns, declareList, declareRequire, type Queryable, statement } from '../platform/db/database.js';
import { inShanghaiZone, shanghaiText } from '../platform/db/time-sql.js';
import type { CallCounts, Peer } from './call-counts.js';

/** The sums, with their columns. */
const SUM_COLUMNS = {
  calls: 'calls',
  succeeded: 'succeeded',
  declined: 'declined',
  unknown: 'unknown',
  debitsPaid: 'debits_paid',
  debitsDeclined: 'debits_declined',
  firstDebits: 'first_debits',
  totalMs: 'total_ms',
} as const satisfies Readonly<Partial<Record<keyof CallCounts, string>>>;
const SUMS = Object.entries(SUM_COLUMNS);
const listSums = (toSql: (column: string, name: string) => string) =>
  SUMS.map(([name, column]) => toSql(column, name)).join(', ');

/**
 * Adds to the row of the current minute and of the current hour, by the database's clock. Rows are in the order of the
 * key, so that two nodes cannot deadlock.
 */
const STORE_CALLS = statement({
  text: `insert into peer_calls as p (grain, at, peer, code, ${listSums((column) => column)}, max_ms)
     select g.grain, date_bin(g.width, now(), timestamptz 'epoch'), c.peer, c.code, ${listSums((_, name) => `c."${name}"`)}, c."maxMs"
     from (values ('HOUR', interval '1 hour'), ('MINUTE', interval '1 min')) as g(grain, width),
       json_to_recordset($1::json) as c(peer text, code text, ${listSums((_, name) => `"${name}" bigint`)}, "maxMs" integer)
     order by g.grain, c.peer, c.code
     on conflict (grain, at, peer, code) do update set ${listSums((column) => `${column} = p.${column} + excluded.${column}`)},
       max_ms = greatest(p.max_ms, excluded.max_ms)`,
  parameters: ['json'],
});

/** Adds the calls of this node to those of all nodes. */
export async function storeCalls(db: Queryable, counts: readonly CallCounts[]): Promise<void> {
  await db.query(STORE_CALLS, [JSON.stringify(counts)]);
}

/**
 * Lists the sums of each institution and supplier for each of the last minutes, hours or days of Asia/Shanghai, oldest
 * first. A span without calls is a row without an institution or supplier.
 */
export const sumCalls = declareList({
  text: `with spans as (
       select ${inShanghaiZone('s')} as at, ${inShanghaiZone('(s + u.unit)')} as until
       from (select ('1 ' || $2::text)::interval as unit) u,
         generate_series(date_trunc($2::text, ${inShanghaiZone('now()')}) - ($3::integer - 1) * u.unit, ${inShanghaiZone('now()')}, u.unit) s
     )
     select ${shanghaiText('s.at')} as at, p.peer, p.code,
       ${listSums((column, name) => `coalesce(sum(p.${column}), 0)::bigint as "${name}"`)}, max(p.max_ms) as "maxMs"
     from spans s left join peer_calls p on p.grain = $1 and p.at >= s.at and p.at < s.until
     group by s.at, p.peer, p.code order by s.at, p.peer, p.code`,
  parameters: {
    grain: column<'MINUTE' | 'HOUR'>('text'),
    unit: column<'minute' | 'hour' | 'day'>('text'),
    spans: 'integer',
  },
  columns: columns({
    at: 'text',
    peer: column<Peer | null>('text?'),
    code: 'text?',
    calls: 'bigint',
    succeeded: 'bigint',
    declined: 'bigint',
    unknown: 'bigint',
    debitsPaid: 'bigint',
    debitsDeclined: 'bigint',
    firstDebits: 'bigint',
    totalMs: 'bigint',
    maxMs: 'integer?',
  }),
});

/** The number of first debits that were sent through a payment channel in the last 24 hours. */
export const countFirstDebits = declareRequire({
  text: `select coalesce(sum(first_debits), 0)::bigint as count from peer_calls
     where grain = 'HOUR' and at > now() - interval '24 hours' and peer = 'INSTITUTION' and code = $1`,
  parameters: ['text'],
  columns: columns({ count: 'bigint' }),
  value: ({ count }) => count,
});

/** Below this number of declined debits the users may all have had reasons of their own. */
const MIN_DECLINED = 20;

/** Lists institutions that declined every debit with a result in the last ten minutes, at least 20. */
export const findDecliningInstitutions = declareList({
  text: `select code as "paymentChannelCode", ${shanghaiText('min(at) filter (where debits_declined > 0)')} as since,
       sum(debits_declined)::bigint as declined
     from peer_calls where grain = 'MINUTE' and at > now() - interval '10 min' and peer = 'INSTITUTION'
     group by code having sum(debits_paid) = 0 and sum(debits_declined) >= ${MIN_DECLINED} order by code`,
  parameters: [],
  columns: columns({ paymentChannelCode: 'text', since: 'text', declined: 'bigint' }),
});
