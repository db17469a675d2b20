import { formatTime, type PulledPush, type PushHeaders } from '@perennial/wire';
import type { Logger } from 'pino';
import type { Channel } from '../../catalog/channels/channel.js';
import type { Queryable } from '../../platform/db/database.js';
import type { RedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import type { PushRow } from '../history/pull-sql.js';
import { type DueEvent, keyOf, readEvents, type StoredEvent } from '../queue/due-sql.js';
import { createMessage, signPush } from './message.js';
import { createPushKeys, type PushKeys } from './receivers.js';

export interface PullDeps {
  readonly db: Queryable;
  readonly log: Logger;
  readonly channel: Channel;
  readonly links: RedeemLinks;
  /** The path of the callback address for which the pushes are signed. */
  readonly path: string;
  readonly now: number;
}

/**
 * Returns the pushes of these events, as a first attempt would send them now. Omits events past their retention, and
 * events that cannot be composed.
 */
export async function createPulledPushes(deps: PullDeps, rows: readonly PushRow[]): Promise<PulledPush[]> {
  const { db, channel } = deps;
  const due = rows.map((row) => toDueEvent(channel.channelId, row));
  const events = await readEvents(db, channel.channelId, due);
  const keys = createPushKeys(channel);
  return rows.flatMap((row, place) => {
    const [one, event] = [due[place], events[place]];
    return one && event ? createPulledPush(deps, keys, one, event, row) : [];
  });
}

function createPulledPush(
  { log, links, path, now }: PullDeps,
  keys: PushKeys,
  due: DueEvent,
  event: StoredEvent,
  { writtenAt }: PushRow,
): PulledPush[] {
  try {
    const message = createMessage(keys, links, due, event);
    const { headers, body } = signPush(keys, path, message, now);
    const occurredAt = formatTime(event.occurredAt);
    const { eventType } = event;
    return [{ eventId: message.eventId, eventType, occurredAt, writtenAt, headers: readHeaders(headers), body }];
  } catch (err) {
    log.error({ err, eventId: String(keyOf(due)) }, 'event could not be composed; check its stored data');
    return [];
  }
}

/** Leaves the fields of the schedule empty, because a pull does not affect the pushes to the channel's address. */
function toDueEvent(channelId: number, { eventNo, cycleNo, orderNo, typeNo, recordedAt }: PushRow): DueEvent {
  return {
    eventNo,
    cycleNo,
    channelId,
    orderNo,
    typeNo,
    nextAt: recordedAt,
    recordedAt: null,
    cycleTo: null,
    shard: 0,
    step: 0,
    retryNo: 0,
  };
}

function readHeaders(lines: string): PushHeaders {
  const fields = lines.trimEnd().split('\r\n');
  return Object.fromEntries(fields.map((line) => line.split(': '))) as PushHeaders;
}
