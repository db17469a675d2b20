import type { DueEvent } from '../queue/due-sql.js';
import type { Message } from '../receivers/message.js';

/** The number of waiting messages of one order at which the order's further events are not read yet. */
const MAX_WAITING_OF_ORDER = 32;
/** The number of deferred keys at which the lane stops reading. It is enough for two of the longest orders. */
const MAX_DEFERRED = 20_000;

/**
 * Keeps the events of each order in sequence: the first push of an event begins only when the first push of the
 * previous event has ended. Retries do not wait. Waiting events are kept here, so that they do not delay other orders.
 */
export class OrderSequence {
  /** Orders for which the first push of some event is in flight. */
  private readonly firstPushInFlight = new Set<number>();
  /** The messages that wait because a first push of their order is in flight, by order. */
  private readonly waitingByOrder = new Map<number, Message[]>();
  /** The keys that come after the waiting messages, by order. Their events are not yet read in full. */
  private readonly deferredByOrder = new Map<number, DueEvent[]>();
  private deferredCount = 0;

  /** Marks a first push as begun. Returns false and keeps the message if its order has a first push in flight. */
  tryBegin(message: Message): boolean {
    const { step, orderNo } = message.due;
    if (step > 0) return true;
    if (this.firstPushInFlight.has(orderNo)) {
      appendTo(this.waitingByOrder, orderNo, message);
      return false;
    }
    this.firstPushInFlight.add(orderNo);
    return true;
  }

  /**
   * Ends a push. Returns the order's next waiting message. If no other message of the order is waiting, also returns
   * the order's deferred keys, which must be read now.
   */
  finish({ step, orderNo }: DueEvent): { readonly message?: Message; readonly keys?: readonly DueEvent[] } {
    if (step > 0) return {};
    this.firstPushInFlight.delete(orderNo);
    const waiting = this.waitingByOrder.get(orderNo);
    const message = waiting?.shift();
    if (!message) return {};
    return waiting?.length === 0 ? { message, keys: this.takeDeferred(orderNo) } : { message };
  }

  private takeDeferred(orderNo: number): readonly DueEvent[] {
    this.waitingByOrder.delete(orderNo);
    const keys = this.deferredByOrder.get(orderNo) ?? [];
    this.deferredByOrder.delete(orderNo);
    this.deferredCount -= keys.length;
    return keys;
  }

  /** Defers the key if enough messages of its order are waiting. Returns false if the key must be read now. */
  tryDefer(due: DueEvent): boolean {
    const { step, orderNo } = due;
    if (step > 0 || this.waitingByOrder.size === 0) return false;
    const isEnough = (this.waitingByOrder.get(orderNo)?.length ?? 0) >= MAX_WAITING_OF_ORDER;
    if (!isEnough && !this.deferredByOrder.has(orderNo)) return false;
    appendTo(this.deferredByOrder, orderNo, due);
    this.deferredCount += 1;
    return true;
  }

  hasRoom(): boolean {
    return this.deferredCount < MAX_DEFERRED;
  }

  /** Returns the number of waiting events, for tests. */
  counts(): { readonly waiting: number; readonly deferred: number } {
    return { waiting: [...this.waitingByOrder.values()].flat().length, deferred: this.deferredCount };
  }

  /** Drops and returns everything that waits. Still remembers which orders have a push in flight. */
  clear(): DueEvent[] {
    const messages = [...this.waitingByOrder.values()].flat();
    const keys = [...this.deferredByOrder.values()].flat();
    this.waitingByOrder.clear();
    this.deferredByOrder.clear();
    this.deferredCount = 0;
    return [...messages.map(({ due }) => due), ...keys];
  }
}

function appendTo<Item>(lists: Map<number, Item[]>, key: number, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
