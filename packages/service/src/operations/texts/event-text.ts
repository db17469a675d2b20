import type { EventRow } from '../../delivery/history/history-sql.js';
import type { EventWithPushes } from '../../operator/events/events.js';
import { paragraphs, type SafeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';

export function eventTable(rows: readonly EventRow[]): SafeText {
  return table(
    ['EVENT', 'TYPE', 'ORDER', 'WRITTEN', 'STATUS', 'PUSHES', 'LAST PUSH'],
    rows.map((row) => [
      idText(row),
      row.eventType,
      row.orderNo,
      row.recordedAt,
      row.deliveryStatus,
      `${row.pushes}`,
      row.lastPushTime ?? '',
    ]),
  );
}

export function eventText(event: EventWithPushes): SafeText {
  const facts = record([
    ['Event', idText(event)],
    ['Type', event.eventType],
    ['Order', event.orderNo],
    ['Happened', event.occurredAt],
    ['Written', event.recordedAt],
    ['Status', event.deliveryStatus],
    ['Data', JSON.stringify(event.data)],
  ]);
  const pushes = table(
    ['EVENT', 'RETRY', 'TIME', 'OUTCOME', 'HTTP', 'MS', 'ANSWER'],
    event.attempts.map((push) => [
      push.eventId,
      `${push.retryNo}`,
      push.at,
      push.outcome,
      push.httpStatus === null ? '' : `${push.httpStatus}`,
      `${push.latencyMs}`,
      push.answer ?? '',
    ]),
  );
  return paragraphs([facts, pushes]);
}

function idText({ eventId, lastEventId }: EventRow): string {
  return lastEventId === null ? eventId : `${eventId} to ${lastEventId}`;
}
