import type { Static } from '@perennial/wire';
import { deliveryStatuses, eventTypes } from '@perennial/wire/enums';
import { parseEventId, parseEventIds } from '../../delivery/event-id.js';
import type { EventFilter } from '../../delivery/history/candidates-sql.js';
import { type EventRow, findEvent, listPushes, type Push } from '../../delivery/history/history-sql.js';
import { type ListedEvent, listEvents } from '../../delivery/history/list-sql.js';
import type { InstantRange } from '../../delivery/history/time-range.js';
import { pauseDeliveries, resumeDeliveries } from '../../delivery/queue/pauses-sql.js';
import { type ReplayPosition, replayEvents, replayUndelivered } from '../../delivery/queue/replay-sql.js';
import { recordAudit } from '../audit/audit.js';
import { requireChannelId } from '../channel-id.js';
import { inTransaction, NotFoundError, type Operator, refusal } from '../operator.js';
import { changeChannel } from '../provisioning/channel-change.js';
import { CALLBACK_EVENT_TYPES } from '../provisioning/channel-settings.js';
import { parseMoment, quoted, requireInteger, requireOneOf } from '../rules.js';
import type { eventFilter, pauseRequest } from '../schemas/events.js';
import type { Asked } from '../schemas/parts.js';

export type ListEventsInput = Asked<Static<typeof eventFilter>> & { readonly limit?: number };
/** Limits events by the time when they were recorded: `from` inclusive, `to` exclusive. */
type TimeRange = Pick<ListEventsInput, 'from' | 'to'>;

export async function listEventsOfChannel(operator: Operator, input: ListEventsInput): Promise<EventRow[]> {
  const limit = requireInteger('the number of events', input.limit ?? 100, 1, 10_000);
  const events = await findNewestEvents(operator, input, limit);
  return events.map(({ recordedMicros: _1, eventNo: _2, ...event }) => event);
}

/** Returns the newest matching events with their event numbers. */
export async function findNewestEvents(
  operator: Operator,
  input: Omit<ListEventsInput, 'limit'>,
  limit: number,
): Promise<ListedEvent[]> {
  const channelId = await requireChannelId(operator.database, input.appId);
  return listEvents(operator.database, channelId, readEventFilter(input), limit, { after: undefined, offset: 0 });
}

export function readEventFilter(input: Omit<ListEventsInput, 'appId' | 'limit'>): EventFilter {
  const { orderNo, eventType, status } = input;
  return {
    orderNo: orderNo === undefined ? undefined : requireOrderNo(orderNo),
    eventType: eventType === undefined ? undefined : requireOneOf('the event type', eventType, eventTypes),
    status: status === undefined ? undefined : requireOneOf('the status', status, deliveryStatuses),
    ...parseTimeRange(input),
  };
}

export interface EventWithPushes extends EventRow {
  readonly attempts: readonly Push[];
}

export async function showEvent(
  operator: Operator,
  { appId, eventId }: { readonly appId: string; readonly eventId: string },
): Promise<EventWithPushes> {
  const channelId = await requireChannelId(operator.database, appId);
  const reference = parseEventId(eventId);
  const event = reference && (await findEvent(operator.database, channelId, reference));
  if (!event) throw createEventNotFound(appId, eventId);
  return { ...event, attempts: await listPushes(operator.database, channelId, reference) };
}

/**
 * Sends these events again with the same eventId, from the first step of the retry schedule. If one of the events
 * cannot be replayed, throws and sends no event.
 */
export async function replayNamedEvents(
  operator: Operator,
  { appId, eventIds }: { readonly appId: string; readonly eventIds: readonly string[] },
) {
  const channelId = await requireChannelId(operator.database, appId);
  const references = parseEventIds(eventIds);
  if (!references) throw createEventNotFound(appId, eventIds.join(', '));
  return inTransaction(operator, async (tx) => {
    const { found, replayed } = await replayEvents(tx, channelId, references);
    if (found < references.length) throw createEventNotFound(appId, eventIds.join(', '));
    await recordAudit(tx, { actor: operator.actor, action: 'events.replay', subject: appId, detail: { eventIds } });
    return { replayed };
  });
}

const EVENTS_PER_STEP = 5_000;

/**
 * Replays all events of a time range that are no longer sent: given up, or without a callback URL. Works in batches,
 * each with its own audit entry.
 */
export async function replayGivenUpEvents(operator: Operator, input: TimeRange & { readonly appId: string }) {
  const { appId } = input;
  const channelId = await requireChannelId(operator.database, appId);
  const range = parseTimeRange(input);
  let replayed = 0;
  let after: ReplayPosition | undefined = { eventNo: 0, cycleNo: 0 };
  while (after) {
    const from: ReplayPosition = after;
    const step = await inTransaction(operator, async (tx) => {
      const done = await replayUndelivered(tx, channelId, range, EVENTS_PER_STEP, from);
      const detail = { from: input.from ?? null, to: input.to ?? null, replayed: done.replayed };
      if (done.replayed > 0) {
        await recordAudit(tx, { actor: operator.actor, action: 'events.replay-given-up', subject: appId, detail });
      }
      return done;
    });
    replayed += step.replayed;
    after = step.next;
  }
  return { replayed };
}

type PauseInput = Asked<Static<typeof pauseRequest>> & { readonly appId: string };

/** Pauses the pushes of one event type, or of all types. No event is lost, and a pause uses up no retries. */
export async function pauseEvents(operator: Operator, { appId, eventType: asked = '*' }: PauseInput) {
  const eventType = requireOneOf('an event type', asked, CALLBACK_EVENT_TYPES);
  return changeChannel(operator, appId, 'events.pause', async (tx, { channelId }) =>
    (await pauseDeliveries(tx, channelId, eventType, operator.actor)) ? { eventType } : undefined,
  );
}

export async function resumeEvents(operator: Operator, { appId, eventType: asked = '*' }: PauseInput) {
  const eventType = requireOneOf('an event type', asked, CALLBACK_EVENT_TYPES);
  return changeChannel(operator, appId, 'events.resume', async (tx, { channelId }) =>
    (await resumeDeliveries(tx, channelId, eventType)) ? { eventType } : undefined,
  );
}

function requireOrderNo(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw refusal('order-no-malformed')`${quoted(text)} is not an order number`;
  return Number(text);
}

/** Parses the time range. A date without a time means its midnight in UTC+8. */
function parseTimeRange({ from, to }: TimeRange): InstantRange {
  return { from: parseMoment(from), to: parseMoment(to) };
}

function createEventNotFound(appId: string, eventId: string): NotFoundError {
  return refusal('no-such-event', NotFoundError)`channel ${appId} has no event ${quoted(eventId)}`;
}
