// Takes events: POST /events. The receiver of the SDK checks the signature over the bytes that came, knows events that came before,
// and answers as the service wants it.
import { createNodeReceiver } from 'perennial-channel';

export function createEventReceiver({ channel, store, selling }) {
  /** Orders that are being asked for, and whether another event has come meanwhile. */
  const asking = new Map();

  return createNodeReceiver({
    callbackSecret: channel.callbackSecret,
    path: '/events',
    // The id is written to the file together with what the event changes, by onEvent: both or neither.
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
      // By the shop's own number: an event may be here before orders/create is answered, and only then is orderNo known.
      const order = store.orders.get(event.data.externalOrderNo);
      if (order) order.events.push(inShort(event));
      await store.save();
      // After the answer: that has to be there within 5 s.
      if (order) void askFor(order);
    },
    onError(error, event) {
      process.stderr.write(`shop: event ${event?.eventId ?? 'refused'}: ${error.message}\n`);
    },
  });

  /**
   * An event says that something has happened; the order says how it is now. So it does not matter in which order events arrive,
   * and for many that come together it is asked for once or twice.
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

/** What the timeline shows, and no more. Of a type that is not known here that it came, and nothing else. */
const inShort = ({ eventId, eventType, occurredAt, data }) => ({
  eventId,
  eventType,
  occurredAt,
  ...tell(eventType, data),
});

function tell(eventType, { orderStatus, paymentStatus, cycleNo, expectPayTime }) {
  if (eventType === 'order.status.changed') return { status: orderStatus };
  if (eventType === 'payment.status.changed') return { cycleNo, status: paymentStatus };
  // In earnest the user is written to, with data.redeemUrl, where the subscription can be ended before.
  if (eventType === 'payment.upcoming') return { cycleNo, dueAt: expectPayTime };
  return {};
}
