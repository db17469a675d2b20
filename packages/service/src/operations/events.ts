import { Type } from '@perennial/wire';
import type { EventRow, Push } from '../delivery/history/history-sql.js';
import { listBacklogs } from '../delivery/queue/backlog-sql.js';
import { pageEvents, sendTestEvent, showEventWithNextPush } from '../operator/events/channel-events.js';
import {
  listEventsOfChannel,
  pauseEvents,
  replayGivenUpEvents,
  replayNamedEvents,
  resumeEvents,
  showEvent,
} from '../operator/events/events.js';
import { maskUserIds } from '../operator/masking.js';
import { OperatorError } from '../operator/operator.js';
import { pageRequests, summarizeRequests } from '../operator/requests.js';
import * as schemas from '../operator/schemas/events.js';
import { command, operation } from './operation.js';
import { eventTable, eventText } from './texts/event-text.js';

const timeRange = { from: Type.Optional(Type.String()), to: Type.Optional(Type.String()) };

const toEventLine = ({ data: _, ...line }: EventRow) => line;
const toPush = ({ eventId: _, ...push }: Push) => push;

export const eventOperations = [
  operation({
    method: 'GET',
    path: '/events/channels',
    summary: 'The state of deliveries, by channel',
    query: schemas.eventChannelsQuery,
    answer: schemas.eventChannels,
    run: ({ database }, { appId }) => listBacklogs(database, appId),
    toAnswer: (channels) => ({ channels }),
  }),
  operation({
    method: 'GET',
    path: '/events',
    summary: 'Events of a channel, newest first',
    query: schemas.eventsQuery,
    answer: schemas.eventsAnswer,
    run: pageEvents,
    toAnswer: ({ rows, nextCursor }) => ({ events: rows.map(toEventLine), nextCursor }),
  }),
  command({
    usage: 'events list <app-id>',
    summary: 'events of a channel, newest first',
    examples: [
      'list test_demo',
      'list test_demo --status GIVE_UP --from 2026-01-31',
      'list test_demo --order 100000001000 --json',
    ],
    body: Type.Object({
      orderNo: Type.Optional(Type.String()),
      eventType: Type.Optional(Type.String()),
      status: Type.Optional(Type.String()),
      ...timeRange,
      limit: Type.Optional(Type.Integer()),
    }),
    fields: {
      orderNo: ['--order <order-no>', 'only this order'],
      eventType: ['--event <type>', 'order.status.changed or payment.status.changed'],
      status: ['--status <status>', 'PENDING, DELIVERED, GIVE_UP or NO_CALLBACK'],
      from: ['--from <time>', 'written at this time or later'],
      to: ['--to <time>', 'written before this time'],
      limit: ['--limit <n>', 'maximum number (default: 100)'],
    },
    run: listEventsOfChannel,
    text: eventTable,
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/events/{eventId}',
    summary: 'One event with all its pushes',
    answer: schemas.eventAnswer,
    run: showEventWithNextPush,
    toAnswer: ({ attempts, nextPushAt, ...event }, { person }) => ({
      event: toEventLine(event),
      data: maskUserIds(event.data, person.role),
      pushes: attempts.map(toPush),
      nextPushAt,
    }),
  }),
  command({
    usage: 'events show <app-id> <event-id>',
    summary: 'one event with all its pushes',
    examples: ['show test_demo 4711'],
    run: showEvent,
    text: eventText,
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/replay',
    role: 'support',
    summary: 'Replay events, all or none',
    body: schemas.replayRequest,
    answer: schemas.replayAnswer,
    run: replayNamedEvents,
  }),
  command({
    usage: 'events replay <app-id> [event-ids...]',
    summary: 'replay events, with the same eventId',
    examples: ['replay test_demo 4711 4712', 'replay test_demo --given-up --from 2026-01-31 --to 2026-02-01'],
    body: Type.Object({
      eventIds: Type.Array(Type.String()),
      givenUp: Type.Optional(Type.Boolean()),
      ...timeRange,
    }),
    fields: {
      givenUp: ['--given-up', 'all undelivered events: given up, or without a callback address'],
      from: ['--from <time>', 'with --given-up: written at this time or later'],
      to: ['--to <time>', 'with --given-up: written before this time'],
    },
    needsEngine: true,
    run: async (operator, { appId, eventIds, givenUp = false, ...range }) => {
      if (eventIds.length > 0 === givenUp) throw new OperatorError('give either event ids or --given-up');
      if (givenUp) return replayGivenUpEvents(operator, { appId, ...range });
      if (Object.keys(range).length > 0) throw new OperatorError('--from and --to go with --given-up');
      return replayNamedEvents(operator, { appId, eventIds });
    },
    text: ({ replayed }) => `events to be sent again: ${replayed}`,
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/pause',
    role: 'support',
    summary: 'Pause the deliveries to a channel',
    body: schemas.pauseRequest,
    answer: schemas.pauseAnswer,
    run: pauseEvents,
    toAnswer: ({ pausedEvents, changed }) => ({ pausedEvents, changed }),
    command: {
      usage: 'events pause <app-id>',
      summary: 'pause deliveries',
      examples: ['pause test_demo', 'pause test_demo --event order.status.changed'],
      fields: { eventType: ['--event <type>', 'only this type (default: *, all)'] },
      text: ({ appId, changed }, _money, { eventType = '*' }) =>
        `deliveries to ${appId} ${changed ? 'are paused' : 'were already paused'} (${eventType})`,
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/resume',
    role: 'support',
    summary: 'Resume paused deliveries',
    body: schemas.pauseRequest,
    answer: schemas.pauseAnswer,
    run: resumeEvents,
    toAnswer: ({ pausedEvents, changed }) => ({ pausedEvents, changed }),
    command: {
      usage: 'events resume <app-id>',
      summary: 'resume paused deliveries',
      examples: ['resume test_demo'],
      fields: { eventType: ['--event <type>', 'as it was paused (default: *, all)'] },
      text: ({ appId, changed }, _money, { eventType = '*' }) =>
        `deliveries to ${appId} ${changed ? 'are resumed' : 'were not paused'} (${eventType})`,
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/events/test',
    role: 'support',
    summary: 'Send a signed test push without an order',
    body: schemas.testEventRequest,
    answer: schemas.testEventAnswer,
    run: (operator, input, tools) => sendTestEvent(operator, tools, input),
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/requests',
    summary: 'Requests of a channel in the last days, newest first',
    query: schemas.requestsQuery,
    answer: schemas.requestsAnswer,
    run: pageRequests,
    toAnswer: ({ rows: requests, nextCursor }) => ({ requests, nextCursor }),
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/requests/summary',
    summary: 'Result codes of a channel in the last 24 hours',
    answer: schemas.requestsSummary,
    run: summarizeRequests,
    toAnswer: (codes) => ({ codes }),
  }),
];
