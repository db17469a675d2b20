import type { EventRow, Push } from '../../delivery/history/history-sql.js';
import { listEventChannels, pageEvents, sendTestEvent, showEventWithNextPush } from '../../operator/channel-events.js';
import { pauseEvents, replayNamedEvents, resumeEvents } from '../../operator/events.js';
import { maskUserIds } from '../../operator/masking.js';
import { pageRequests, summarizeRequests } from '../../operator/requests.js';
import { type Operation, operation } from '../operation.js';
import { readPageQuery } from '../page-query.js';
import * as schemas from '../schemas/events.js';

const toEventLine = ({ data: _, ...line }: EventRow) => line;
const toPush = ({ eventId: _, ...push }: Push) => push;

export const eventsOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/events/channels',
    role: 'viewer',
    summary: 'How the deliveries to each channel are',
    answer: schemas.eventChannels,
    run: async ({ operator }) => ({ channels: await listEventChannels(operator) }),
  }),
  operation({
    method: 'GET',
    path: '/events',
    role: 'viewer',
    summary: 'Events of a channel, the newest first',
    query: schemas.eventsQuery,
    answer: schemas.eventsAnswer,
    async run({ operator }, { query: { cursor: _1, limit: _2, ...filter }, query }) {
      const { rows, nextCursor } = await pageEvents(operator, { ...filter, ...readPageQuery(query) });
      return { events: rows.map(toEventLine), nextCursor };
    },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/events/{eventId}',
    role: 'viewer',
    summary: 'One event with every push of it',
    answer: schemas.eventAnswer,
    async run({ operator, person }, { path: { appId = '', eventId = '' } }) {
      const { attempts, nextPushAt, ...event } = await showEventWithNextPush(operator, { appId, eventId });
      return {
        event: toEventLine(event),
        data: maskUserIds(event.data, person.role),
        pushes: attempts.map(toPush),
        nextPushAt,
      };
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/replay',
    role: 'support',
    summary: 'Send events again, all of them or none',
    body: schemas.replayRequest,
    answer: schemas.replayAnswer,
    run: ({ operator }, { path: { appId = '' }, body: { eventIds } }) =>
      replayNamedEvents(operator, { appId, eventIds }),
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/pause',
    role: 'support',
    summary: 'Hold the deliveries to a channel back',
    body: schemas.pauseRequest,
    answer: schemas.pauseAnswer,
    async run({ operator }, { path: { appId = '' }, body }) {
      const { pausedEvents, changed } = await pauseEvents(operator, { appId, ...body });
      return { pausedEvents, changed };
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/resume',
    role: 'support',
    summary: 'Deliver again what was held back',
    body: schemas.pauseRequest,
    answer: schemas.pauseAnswer,
    async run({ operator }, { path: { appId = '' }, body }) {
      const { pausedEvents, changed } = await resumeEvents(operator, { appId, ...body });
      return { pausedEvents, changed };
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/test',
    role: 'support',
    summary: 'Send a signed push that is about no order',
    body: schemas.testEventRequest,
    answer: schemas.testEventAnswer,
    run: ({ operator, channels, pushClient }, { path: { appId = '' }, body }) =>
      sendTestEvent(operator, { channels, pushClient }, { appId, ...body }),
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/requests',
    role: 'viewer',
    summary: 'What a channel has called in the last days, the newest first',
    query: schemas.requestsQuery,
    answer: schemas.requestsAnswer,
    async run({ operator }, { path: { appId = '' }, query: { cursor: _1, limit: _2, ...filter }, query }) {
      const { rows, nextCursor } = await pageRequests(operator, { appId, ...filter, ...readPageQuery(query) });
      return { requests: rows, nextCursor };
    },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/requests/summary',
    role: 'viewer',
    summary: 'The result codes that a channel got in the last 24 hours',
    answer: schemas.requestsSummary,
    run: async ({ operator }, { path: { appId = '' } }) => ({ codes: await summarizeRequests(operator, { appId }) }),
  }),
];
