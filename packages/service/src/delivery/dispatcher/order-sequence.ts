import type { DueEvent } from '../queue/due-sql.js';
import type { Message } from '../receivers/message.js';

/** With so many messages of one order in memory, what follows them stays unread. */
const MAX_WAITING_OF_ORDER = 32;
/** With so many deferred keys, nothing more is read for this address. More than two orders of the longest kind have. */
const MAX_DEFERRED = 20_000;

/**
 * Keeps the events of each order in sequence: the first push of an event begins when that of the event before it has ended.
 * Retries do not wait. What waits does so here, out of the way of the other orders.
 */
export class OrderSequence {
  /** Orders of which an event is being pushed for the first time. */
  private readonly firstPushInFlight = new Set<number>();
  /** The messages that wait for the end of that push, by order. */
  private readonly waitingByOrder = new Map<number, Message[]>();
  /** The keys that come after those messages, by order; not read in full yet. */
  private readonly deferredByOrder = new Map<number, DueEvent[]>();
  private deferredCount = 0;

  /** Marks the push of this message as begun. False: another one of its order is in flight, and the message waits here. */
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

  /** Returns what comes next of the order: a message, and after the last message the keys that are to be read now. */
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

  /** Keeps this key unread when enough of its order waits already. False: it is to be read now. */
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

  /** How many events wait here: for tests. */
  counts(): { readonly waiting: number; readonly deferred: number } {
    return { waiting: [...this.waitingByOrder.values()].flat().length, deferred: this.deferredCount };
  }

  /** Forgets everything that waits, and returns it. Orders with a push in flight are still known. */
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
