import { type EventRecord, type EventsListData, type EventsListRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { EventKey } from '../delivery/history/candidates-sql.js';
import { type ListedEvent, listEvents } from '../delivery/history/list-sql.js';
import { timeRange } from '../delivery/history/time-range.js';
import { isNumberKey, type ListDefinition, readListPage } from '../platform/lists/list-page.js';
import { readOrderReference } from '../subscriptions/steps/orders/order-reference.js';
import { findOrderNo } from '../subscriptions/store/orders/orders-sql.js';

const EVENT_LIST: ListDefinition<ListedEvent, EventKey> = {
  endpoint: 'events/list',
  isKey: isNumberKey(2),
  keyOf: ({ recordedMicros, eventNo }) => [recordedMicros, eventNo],
};

export function createEventsListAction(): Action<EventsListRequest, EventsListData> {
  return async ({ channel, database, answer }, request) => {
    const { channelId } = channel;
    const range = timeRange(request);
    const named = request.orderNo !== undefined || request.externalOrderNo !== undefined;
    const orderNo = named ? await findOrderNo(database, channelId, readOrderReference(request)) : undefined;
    if (named && orderNo === undefined) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    const filter = { orderNo, eventType: request.eventType, status: request.deliveryStatus, ...range };
    const { rows, paging } = await readListPage(
      EVENT_LIST,
      { database, channelId },
      filter,
      request,
      (db, limit, place) => listEvents(db, channelId, filter, limit, place),
    );
    return answer({ events: rows.map(toEventRecord), ...paging });
  };
}

function toEventRecord({ recordedAt: _1, recordedMicros: _2, eventNo: _3, ...row }: ListedEvent): EventRecord {
  return row;
}
