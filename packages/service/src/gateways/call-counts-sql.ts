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

/** The last minutes, hours or days of Asia/Shanghai, oldest first. The last one is not over. */
const SPANS = `with spans as (
       select ${inShanghaiZone('s')} as at, ${inShanghaiZone('(s + u.unit)')} as until
       from (select ('1 ' || $2::text)::interval as unit) u,
         generate_series(date_trunc($2::text, ${inShanghaiZone('now()')}) - ($3::integer - 1) * u.unit, ${inShanghaiZone('now()')}, u.unit) s
     )`;

const SPAN_PARAMETERS = {
  grain: column<'MINUTE' | 'HOUR'>('text'),
  unit: column<'minute' | 'hour' | 'day'>('text'),
  spans: 'integer',
} as const;

const SUMMED = `${listSums((column, name) => `coalesce(sum(p.${column}), 0)::bigint as "${name}"`)}, max(p.max_ms) as "maxMs"`;

const SUMMED_COLUMNS = {
  calls: 'bigint',
  succeeded: 'bigint',
  declined: 'bigint',
  unknown: 'bigint',
  debitsPaid: 'bigint',
  debitsDeclined: 'bigint',
  firstDebits: 'bigint',
  totalMs: 'bigint',
  maxMs: 'integer?',
} as const;

/**
 * Lists the sums of each institution, of each supplier and of all channels together (code '') for each span. A span
 * without calls is a row without a peer.
 */
export const sumCalls = declareList({
  text: `${SPANS}
     select ${shanghaiText('s.at')} as at, p.peer, case when p.peer = 'CHANNEL' then '' else p.code end as code, ${SUMMED}
     from spans s left join peer_calls p on p.grain = $1 and p.at >= s.at and p.at < s.until
     group by 1, 2, 3 order by 1, 2, 3`,
  parameters: SPAN_PARAMETERS,
  columns: columns({ at: 'text', peer: column<Peer | null>('text?'), code: 'text?', ...SUMMED_COLUMNS }),
});

/** Lists the sums of the channels that got most pushes without accepting them. */
export const sumPushesByChannel = declareList({
  text: `${SPANS}
     select c.app_id as "appId", c.name, ${SUMMED}
     from spans s join peer_calls p on p.grain = $1 and p.at >= s.at and p.at < s.until and p.peer = 'CHANNEL'
       join channels c on c.app_id = p.code
     group by c.app_id, c.name order by sum(p.calls - p.succeeded) desc, sum(p.calls) desc, c.app_id limit $4`,
  parameters: { ...SPAN_PARAMETERS, limit: 'bigint' },
  columns: columns({ appId: 'text', name: 'text', ...SUMMED_COLUMNS }),
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
