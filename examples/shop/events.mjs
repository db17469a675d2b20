// Receives events: POST /events. The SDK's receiver verifies the signature over the raw bytes, recognises known events,
// and answers as the service requires.
import { createNodeReceiver } from 'perennial-channel';

export function createEventReceiver({ channel, store, selling }) {
  /** The orders whose query is in flight; the value is true if another event arrived during the query. */
  const asking = new Map();

  return createNodeReceiver({
    callbackSecret: channel.callbackSecret,
    path: '/events',
    // These functions only change the ids in memory. onEvent saves the id together with the event's changes: both or
    // neither.
    store: {
      async remember(eventId) {
        if (store.eventIds.has(eventId)) return 'known';
        store.eventIds.set(eventId, Date.now());
        return 'new';
      },
      async forget(eventId) {
        store.eventIds.delete(eventId);
      },
    },
    async onEvent(event) {
      // Finds the order by the shop's own number. orderNo is unknown until orders/create is answered, and an event may
      // arrive before that answer.
      const order = store.orders.get(event.data.externalOrderNo);
      if (order) order.events.push(inShort(event));
      await store.save();
      // Not awaited, because the event must be answered within 5 s.
      if (order) void askFor(order);
    },
    onError(error, event) {
      process.stderr.write(`shop: event ${event?.eventId ?? 'refused'}: ${error.message}\n`);
    },
  });

  /**
   * Queries the order's current state, so that the sequence of events does not matter. All events that arrive during a
   * query cause only one more query.
   */
  async function askFor(order) {
    if (asking.has(order)) return asking.set(order, true);
    do {
      asking.set(order, false);
      await selling.refresh(order).catch(() => selling.noteChange(order));
    } while (asking.get(order));
    asking.delete(order);
  }
}

/**
 * Returns the part of an event that the timeline shows. For an unknown event type, this is only the id, the type and
 * the time.
 */
const inShort = ({ eventId, eventType, occurredAt, data }) => ({
  eventId,
  eventType,
  occurredAt,
  ...tell(eventType, data),
});

function tell(eventType, { orderStatus, paymentStatus, cycleNo, expectPayTime }) {
  if (eventType === 'order.status.changed') return { status: orderStatus };
  if (eventType === 'payment.status.changed') return { cycleNo, status: paymentStatus };
  // In production, notify the user, with data.redeemUrl as the link for unsubscribing before the debit.
  if (eventType === 'payment.upcoming') return { cycleNo, dueAt: expectPayTime };
  return {};
}
