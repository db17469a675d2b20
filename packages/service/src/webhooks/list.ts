import { type EventRecord, type EventsListData, type EventsListRequest, pageOf, Rejection } from '@perennial/wire';
import type { Action } from '../action.js';
import { orderReference } from '../orders/reference.js';
import { findOrderNo } from '../orders/sql.js';
import { type EventRow, listEvents } from './history-sql.js';
import { timeRange } from './time-range.js';

export function listChannelEvents(): Action<EventsListRequest, EventsListData> {
  return async ({ channel, database, answer }, request) => {
    const { page, size } = pageOf(request);
    const range = timeRange(request);
    const named = request.orderNo !== undefined || request.externalOrderNo !== undefined;
    const orderNo = named ? await findOrderNo(database, channel.channelId, orderReference(request)) : undefined;
    if (named && orderNo === undefined) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    const filter = { orderNo, eventType: request.eventType, status: request.deliveryStatus, ...range };
    const rows = await listEvents(database, channel.channelId, filter, size + 1, (page - 1) * size);
    return answer({ events: rows.slice(0, size).map(eventRecord), page, size, hasMore: rows.length > size });
  };
}

function eventRecord({ recordedAt: _, ...row }: EventRow): EventRecord {
  return row;
}
