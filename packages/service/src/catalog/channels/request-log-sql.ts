import { toArrayText } from '../../platform/db/array-text.js';
import { columns, declareList, type Queryable, statement } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';

/** One request to the API with its result, without its body. */
export interface LoggedRequest {
  /** The time of the answer, in Unix milliseconds. */
  readonly at: number;
  /** As claimed by the caller. */
  readonly appId: string;
  readonly endpoint: string;
  /** Empty if the caller had disconnected before the answer. */
  readonly code: string;
  readonly httpStatus: number;
  readonly durationMs: number;
  readonly requestId: string;
  /** The message of a refusal. */
  readonly reason: string | null;
  readonly address: string;
}

const STORE_REQUESTS = statement({
  name: 'store-requests',
  text: `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, reason, address)
     select ${fromEpochMs('r.at')}, c.channel_id, r.endpoint, r.code, r.http_status, r.duration_ms, r.request_id, r.reason,
       r.address
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::integer[], $7::text[], $8::text[],
         $9::text[]) as r(at, app_id, endpoint, code, http_status, duration_ms, request_id, reason, address)
       join channels c using (app_id)`,
  parameters: ['bigint[]', 'text[]', 'text[]', 'text[]', 'smallint[]', 'integer[]', 'text[]', 'text[]', 'text[]'],
});

/** Stores the requests of existing channels only, because anybody can invent app ids. */
export async function storeRequests(db: Queryable, requests: readonly LoggedRequest[]): Promise<void> {
  await db.query(STORE_REQUESTS, [
    toArrayText(requests, ({ at }) => at),
    toArrayText(requests, ({ appId }) => appId),
    toArrayText(requests, ({ endpoint }) => endpoint),
    toArrayText(requests, ({ code }) => code || '""'),
    toArrayText(requests, ({ httpStatus }) => httpStatus),
    toArrayText(requests, ({ durationMs }) => durationMs),
    // Passed as arrays, so that the driver escapes the values. They come from callers or contain a field's name.
    requests.map(({ requestId }) => requestId),
    requests.map(({ reason }) => reason),
    requests.map(({ address }) => address),
  ]);
}

export interface RequestFilter {
  /** A result code, or `failed` for all codes except success. */
  readonly code?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly requestId?: string | undefined;
  /** Unix milliseconds. `from` is inclusive, `to` is exclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The time of the answer in Unix microseconds, and the request id. */
export type RequestKey = readonly [atMicros: number, requestId: string];

export interface RequestView extends Omit<LoggedRequest, 'at' | 'appId'> {
  readonly at: string;
  readonly atMicros: number;
}

const SUCCESS = '0';

/**
 * Builds the list, newest first. The SQL contains only the given filters, so that failures, which are few, and single
 * requests are found by their own indexes. Exported for tests of its rows and its query plan.
 */
export function requestList(
  channelId: number,
  { code, endpoint, requestId, from, to }: RequestFilter,
  after: RequestKey | undefined,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[]; readonly byIndex: boolean } {
  const values: unknown[] = [channelId];
  const value = (given: unknown) => `$${values.push(given)}`;
  const isFailure = code !== undefined && code !== SUCCESS;
  const where = [
    // `+ 0` keeps the planner from finding a single request by the channel's index, which would read all requests of
    // the channel.
    requestId === undefined ? 'channel_id = $1' : 'channel_id + 0 = $1',
    ...(isFailure ? [`code <> '${SUCCESS}'`] : []),
    ...(code === undefined || code === 'failed' ? [] : [`code = ${value(code)}`]),
    ...(endpoint === undefined ? [] : [`endpoint = ${value(endpoint)}`]),
    ...(requestId === undefined ? [] : [`request_id = ${value(requestId)}`]),
    ...(from === undefined ? [] : [`at >= ${fromEpochMs(value(from))}`]),
    ...(to === undefined ? [] : [`at < ${fromEpochMs(value(to))}`]),
    ...(after === undefined
      ? []
      : [
          `at <= ${fromEpochMicros(value(after[0]))}`,
          `(at, request_id) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`,
        ]),
  ];
  // Sorts by the column: without the table's name, `at` would be the selected text.
  const text = `select ${shanghaiText('at')} as at, ${epochMicros('at')} as "atMicros", endpoint, code,
      http_status::integer as "httpStatus", duration_ms as "durationMs", request_id as "requestId", reason, address
    from request_log where ${where.join(' and ')} order by request_log.at desc, request_log.request_id desc limit ${value(limit)}`;
  return { text, values, byIndex: true };
}

export async function listRequests(
  db: Queryable,
  channelId: number,
  filter: RequestFilter,
  after: RequestKey | undefined,
  limit: number,
): Promise<RequestView[]> {
  const { values, ...query } = requestList(channelId, filter, after, limit);
  return db.query<RequestView>(query, values);
}

/** Counts requests by result code, the most frequent first. */
export const countCodes = declareList({
  text: `select code, count(*) as count from request_log where channel_id = $1 and at >= ${fromEpochMs('$2')}
     group by code order by count desc, code`,
  parameters: ['bigint', 'double precision'],
  columns: columns({ code: 'text', count: 'bigint' }),
});
