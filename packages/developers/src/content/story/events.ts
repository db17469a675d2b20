import type { EventType } from '@perennial/wire';
import { pushHeadersFor, RECEIVER_PATH } from '../../demonstration.js';
import { A1, A2, type Example, type Order, PAGE, STORY_TIME } from './cast.js';
import { orderPayload, paymentPayload, upcomingPayload } from './orders-and-periods.js';

export interface EventExample {
  readonly eventId: string;
  readonly eventType: EventType;
  readonly occurredAt: string;
  readonly retryNo: number;
  readonly data: Readonly<Record<string, unknown>>;
}

const firstPush = { occurredAt: STORY_TIME, retryNo: 0 };
const orderEvent = (eventId: string, order: Order): EventExample => ({
  eventId,
  eventType: 'order.status.changed',
  ...firstPush,
  data: orderPayload(order),
});
const paymentEvent = (eventId: string, order: Order, sharedMobile: string | null): EventExample => ({
  eventId,
  eventType: 'payment.status.changed',
  ...firstPush,
  data: paymentPayload(order, sharedMobile),
});

const FIRST_EVENT = paymentEvent('1', A1, null);
const FIRST_BODY = JSON.stringify(FIRST_EVENT);
const ORDER_EVENT = orderEvent('2', A1);

/** The event that is sent five days before the second period. */
const UPCOMING_EVENT: EventExample = {
  eventId: '8',
  eventType: 'payment.upcoming',
  occurredAt: '2026-02-10 12:00:00',
  retryNo: 0,
  data: upcomingPayload(A1),
};

/** One event of each type, for the webhooks page. */
export const EVENT_EXAMPLES: readonly EventExample[] = [
  ORDER_EVENT,
  paymentEvent('3', A2, '13900000002'),
  UPCOMING_EVENT,
];

export const EVENTS_OF_THE_STORY: readonly Example[] = [
  {
    endpoint: 'events/list',
    name: 'of-an-order',
    summary: 'Events of one order',
    request: { externalOrderNo: A1.externalOrderNo, eventType: 'order.status.changed', size: 10 },
    answer: {
      events: [
        {
          eventId: ORDER_EVENT.eventId,
          lastEventId: null,
          eventType: 'order.status.changed',
          orderNo: A1.orderNo,
          occurredAt: STORY_TIME,
          deliveryStatus: 'PENDING',
          pushes: 0,
          lastPushTime: null,
          data: orderPayload(A1),
        },
      ],
      ...PAGE,
      size: 10,
    },
  },
  {
    endpoint: 'events/replay',
    name: 'by-ids',
    summary: 'One event, by its id',
    request: { eventIds: [ORDER_EVENT.eventId] },
    answer: { replayed: 1 },
  },
  {
    endpoint: 'events/replay',
    name: 'by-time',
    summary: 'All undelivered events since a time',
    request: { from: '2026-01-01 00:00:00' },
    answer: { replayed: 0 },
  },
  {
    endpoint: 'sandbox/events/pull',
    name: 'first',
    summary: 'The first event, signed for your receiver',
    request: { path: RECEIVER_PATH, size: 1 },
    answer: {
      pushes: [
        {
          eventId: FIRST_EVENT.eventId,
          eventType: 'payment.status.changed',
          occurredAt: STORY_TIME,
          writtenAt: STORY_TIME,
          headers: pushHeadersFor(FIRST_EVENT.eventId, FIRST_BODY),
          body: FIRST_BODY,
        },
      ],
      readAt: STORY_TIME,
      nextCursor: 'WyJzYW5kYm94L2V2ZW50cy9wdWxsIl0',
    },
  },
];
