import type { DueEvent } from '../queue/due-sql.js';
import type { Message } from '../receivers/message.js';

/** Messages of one order in memory. The order's later events stay unread. */
const MAX_WAITING_OF_ORDER = 32;
/** Deferred keys of a lane, more than two orders of the longest kind have. Beyond it, the lane reads nothing. */
const MAX_DEFERRED = 20_000;

/**
 * Keeps the events of each order in sequence: the first push of an event begins after that of the event before it has
 * ended. Retries do not wait. Waiting events are kept here, so that they do not delay other orders.
 */
export class OrderSequence {
  /** Orders that have the first push of an event in flight. */
  private readonly firstPushInFlight = new Set<number>();
  /** The messages that wait for that push to end, by order. */
  private readonly waitingByOrder = new Map<number, Message[]>();
  /** The keys that come after those messages, by order. They are not yet read in full. */
  private readonly deferredByOrder = new Map<number, DueEvent[]>();
  private deferredCount = 0;

  /** Marks the push as begun. Returns false and keeps the message if its order has a first push in flight. */
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

  /** Returns the order's next message, and with its last message the deferred keys to read now. */
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

  /** Defers this key if enough messages of its order wait already. Returns false if the key is to be read now. */
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

  /** Drops and returns everything that waits. Orders with a push in flight are still known. */
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
