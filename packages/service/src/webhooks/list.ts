import {
  type EventRecord,
  type EventsListData,
  type EventsListRequest,
  pageOf,
  parseTime,
  Rejection,
} from '@perennial/wire';
import type { Action } from '../action.js';
import type { Database } from '../db/database.js';
import { orderReference } from '../orders/reference.js';
import { findOrderNo } from '../orders/sql.js';
import { type EventRow, listEvents } from './history-sql.js';

export function listChannelEvents(database: Database): Action<EventsListRequest, EventsListData> {
  return async ({ channel, answer }, request) => {
    const { page, size } = pageOf(request);
    const named = request.orderNo !== undefined || request.externalOrderNo !== undefined;
    const orderNo = named ? await findOrderNo(database, channel.channelId, orderReference(request)) : undefined;
    if (named && orderNo === undefined) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    const filter = { orderNo, eventType: request.eventType, status: request.deliveryStatus, ...timeRange(request) };
    const rows = await listEvents(database, channel.channelId, filter, size + 1, (page - 1) * size);
    return answer({ events: rows.slice(0, size).map(eventRecord), page, size, hasMore: rows.length > size });
  };
}

/** Times in the interface's forms, as PostgreSQL takes them. */
export function timeRange({ from, to }: { from?: string; to?: string }): { from?: string; to?: string } {
  const read = (field: string, text: string): string => {
    const at = parseTime(text);
    if (at === undefined) throw new Rejection('PARAM_INVALID', `${field} is not a time`);
    return new Date(at).toISOString();
  };
  return {
    ...(from === undefined ? {} : { from: read('from', from) }),
    ...(to === undefined ? {} : { to: read('to', to) }),
  };
}

export function eventRecord(row: EventRow): EventRecord {
  const period = (cycleNo: number | null) => (row.cycleTo === null ? '' : `-${cycleNo}`);
  return {
    eventId: `${row.eventNo}${period(row.cycleNo)}`,
    lastEventId: row.cycleTo === null ? null : `${row.eventNo}${period(row.cycleTo)}`,
    eventType: row.eventType,
    orderNo: String(row.orderNo),
    occurredAt: row.occurredAt,
    deliveryStatus: row.deliveryStatus,
    pushes: row.pushes,
    lastPushTime: row.lastPushAt,
    data: JSON.parse(row.data),
  };
}
