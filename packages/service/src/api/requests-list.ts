import { HEADER_FORMS, type RequestsListData, type RequestsListRequest } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { listRequests, type RequestKey, type RequestView } from '../catalog/channels/request-log-sql.js';
import { type ListDefinition, readListPage } from '../platform/lists/list-page.js';

const REQUEST_LIST: ListDefinition<RequestView, RequestKey> = {
  endpoint: 'sandbox/requests/list',
  isKey: (key): key is RequestKey =>
    key.length === 2 && Number.isSafeInteger(key[0]) && HEADER_FORMS.requestId.test(String(key[1])),
  keyOf: ({ atMicros, requestId }) => [atMicros, requestId],
};

/** sandbox/requests/list: the request log of the channel itself, as operators see it, newest first. */
export function createRequestsListAction(): Action<RequestsListRequest, RequestsListData> {
  return async ({ channel, database, answer }, request) => {
    const { channelId } = channel;
    const filter = { code: request.code, requestId: request.requestId };
    const { rows, paging } = await readListPage(
      REQUEST_LIST,
      { database, channelId },
      filter,
      request,
      (db, limit, { after }) => listRequests(db, channelId, filter, after, limit),
    );
    return answer({ requests: rows.map(toRequestRecord), nextCursor: paging.nextCursor });
  };
}

function toRequestRecord({ at, endpoint, atMicros: _, ...rest }: RequestView): RequestsListData['requests'][number] {
  return { ...rest, answeredAt: at, path: endpoint };
}
