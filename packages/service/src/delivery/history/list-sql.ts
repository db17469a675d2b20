import { columns, joinColumns, type Queryable, type RowOf } from '../../platform/db/database.js';
import { epochMicros } from '../../platform/db/time-sql.js';
import type { ListPosition } from '../../platform/lists/list-page.js';
import { type EventFilter, type EventKey, newestEvents } from './candidates-sql.js';
import { COLUMNS, EVENT_ROW, FAILURES, progress, WHOLE } from './history-sql.js';

export type ListedEvent = RowOf<typeof LISTED_EVENT_ROW>;

export const LISTED_EVENT_ROW = joinColumns(EVENT_ROW, columns({ recordedMicros: 'bigint', eventNo: 'bigint' }));

/** Lists events, newest first. Of the events before the page, reads only the key and the columns of the filter. */
export async function listEvents(
  db: Queryable,
  channelId: number,
  filter: EventFilter,
  limit: number,
  place: ListPosition<EventKey>,
): Promise<ListedEvent[]> {
  const { text, values } = eventList(channelId, filter, limit, place);
  return db.query<ListedEvent>(text, values);
}

/** Builds the SQL without unused filters, so that each combination of filters can use its index. */
export function eventList(
  channelId: number,
  filter: EventFilter,
  limit: number,
  { after, offset }: ListPosition<EventKey>,
): { readonly text: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [channelId];
  const value = (given: unknown) => `$${values.push(given)}`;
  const keys = newestEvents(filter, after, `${value(offset + limit)}::bigint`, value);
  const inOrder = 'order by k.recorded_at desc, k.event_no desc';
  const text = `select ${epochMicros('k.recorded_at')} as "recordedMicros", k.event_no as "eventNo", shown.*
     from (select * from (${keys}) k ${inOrder} offset ${value(offset)}) k, lateral (
       select ${COLUMNS} from events e, ${progress(WHOLE)}, ${FAILURES}
       where e.channel_id = $1 and e.event_no = k.event_no and e.recorded_at = k.recorded_at offset 0) shown ${inOrder}`;
  return { text, values };
}
