// Receives events: POST /events. The SDK's receiver verifies the signature over the raw bytes, recognises known events,
// and answers as the service requires.
import { createNodeReceiver } from 'perennial-channel';

export function createEventReceiver({ channel, store, selling }) {
  /** Orders being queried, and whether another event has arrived meanwhile. */
  const asking = new Map();

  return createNodeReceiver({
    callbackSecret: channel.callbackSecret,
    path: '/events',
    // onEvent stores the id together with the event's changes: both or neither.
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
      // By the shop's own number, because an event may arrive before orders/create is answered, and only then is
      // orderNo known.
      const order = store.orders.get(event.data.externalOrderNo);
      if (order) order.events.push(inShort(event));
      await store.save();
      // After the answer, which must be sent within 5 s.
      if (order) void askFor(order);
    },
    onError(error, event) {
      process.stderr.write(`shop: event ${event?.eventId ?? 'refused'}: ${error.message}\n`);
    },
  });

  /**
   * Queries the order. An event only reports that something happened, so the order of events does not matter, and many
   * events cause only one or two queries.
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

/** Returns the part of an event that the timeline shows; for an unknown type only that it arrived. */
const inShort = ({ eventId, eventType, occurredAt, data }) => ({
  eventId,
  eventType,
  occurredAt,
  ...tell(eventType, data),
});

function tell(eventType, { orderStatus, paymentStatus, cycleNo, expectPayTime }) {
  if (eventType === 'order.status.changed') return { status: orderStatus };
  if (eventType === 'payment.status.changed') return { cycleNo, status: paymentStatus };
  // In production, write to the user, with data.redeemUrl for unsubscribing before the debit.
  if (eventType === 'payment.upcoming') return { cycleNo, dueAt: expectPayTime };
  return {};
}
