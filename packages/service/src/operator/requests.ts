import { resultCodes, type Static } from '@perennial/wire';
import { countCodes, listRequests, type RequestKey, type RequestView } from '../catalog/channels/request-log-sql.js';
import { maskSentId } from '../platform/log/log.js';
import { requireChannelId } from './channel-id.js';
import type { Operator, OperatorWithClock } from './operator.js';
import { readPage } from './paging.js';
import { parseMoment } from './rules.js';
import type { requestsQuery } from './schemas/events.js';

/** The time limit for reading a page. A slower query is canceled, because it would occupy a connection. */
const MAX_READ_MS = 5_000;

/** Returns a page of a channel's requests, newest first. Requests are stored for some days. */
export async function pageRequests(
  { database }: Operator,
  { appId, from, to, cursor, limit, requestId, ...asked }: Static<typeof requestsQuery> & { readonly appId: string },
) {
  const channelId = await requireChannelId(database, appId);
  const filter = {
    ...asked,
    // Stored in this form.
    requestId: requestId === undefined ? undefined : maskSentId(requestId),
    from: parseMoment(from),
    to: parseMoment(to),
  };
  const page = await readPage<RequestView, RequestKey>(
    `channels/${channelId}/requests`,
    { cursor, limit },
    [0, ''],
    (after, rows) =>
      database.transaction((tx) => listRequests(tx, channelId, filter, after, rows), {
        statementMs: MAX_READ_MS,
        readOnly: true,
      }),
    (request) => [request.atMicros, request.requestId],
  );
  return { ...page, rows: page.rows.map(({ atMicros: _, ...request }) => request) };
}

const DAY_MS = 86_400_000;

/** Returns the result codes of a channel's requests in the last 24 hours, most frequent first. */
export async function summarizeRequests({ database, clock }: OperatorWithClock, { appId }: { readonly appId: string }) {
  const channelId = await requireChannelId(database, appId);
  const counted = await database.transaction((tx) => countCodes(tx, channelId, clock.now() - DAY_MS), {
    statementMs: MAX_READ_MS,
    readOnly: true,
  });
  return counted.map(({ code, count }) => ({ code, meaning: meaningOf(code), count }));
}

function meaningOf(code: string): string {
  if (code === '') return 'the caller hung up before the answer';
  return resultCodes.find((one) => one.code === code)?.message ?? code;
}
