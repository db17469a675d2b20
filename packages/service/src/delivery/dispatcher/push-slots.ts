import { createExpiryQueue } from '../../platform/expiry-queue.js';
import type { Message } from '../receivers/message.js';

/** Pushes under way from this node, over all addresses; those that have taken longer than SLOW_MS are not counted. */
const MAX_UNDER_WAY = 256;
const SLOW_MS = 1_000;
/** All pushes under way, the slow ones too: each has a connection. */
const MAX_CONNECTIONS = 2_048;

/** How many pushes this node has under way. Slow receivers do not take the places of quick ones. */
export class PushSlots {
  private taken = 0;
  private readonly slow = new Set<Message>();
  private readonly quick;

  /** `onFreed` is called when a slow push stops being counted. */
  constructor(onFreed: () => void) {
    this.quick = createExpiryQueue<Message>(SLOW_MS, (message) => {
      this.slow.add(message);
      onFreed();
    });
  }

  isFree(): boolean {
    return this.taken - this.slow.size < MAX_UNDER_WAY && this.taken < MAX_CONNECTIONS;
  }

  areAllFree(): boolean {
    return this.taken === 0;
  }

  take(): void {
    this.taken += 1;
  }

  /** The push was sent: from now on it may become slow. */
  watch(message: Message): void {
    this.quick.add(message);
  }

  release(message: Message): void {
    this.taken -= 1;
    this.quick.delete(message);
    this.slow.delete(message);
  }
}
