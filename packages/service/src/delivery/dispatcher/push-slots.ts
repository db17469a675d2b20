import { createExpiryQueue, type Expiring } from '../../platform/expiry-queue.js';

/** The maximum number of pushes in flight from this node. Pushes that have taken longer than SLOW_MS do not count. */
const MAX_PUSHES = 256;
const SLOW_MS = 1_000;
/**
 * The maximum number of pushes in flight, including slow pushes. It is limited because each push needs a connection.
 */
const MAX_CONNECTIONS = 2_048;

export interface PushSlot {
  isSlow: boolean;
  expiring: Expiring<PushSlot> | undefined;
}

/** Counts this node's pushes in flight. Slow pushes stop counting, so that pushes to quick receivers can begin. */
export class PushSlots {
  private taken = 0;
  private slow = 0;
  private readonly quick;

  /** `onFreed` is called when a push becomes slow and so makes room for another. */
  constructor(onFreed: () => void) {
    this.quick = createExpiryQueue<PushSlot>(SLOW_MS, (slot) => {
      slot.isSlow = true;
      this.slow += 1;
      onFreed();
    });
  }

  isFree(): boolean {
    return this.taken - this.slow < MAX_PUSHES && this.taken < MAX_CONNECTIONS;
  }

  areAllFree(): boolean {
    return this.taken === 0;
  }

  take(): PushSlot {
    this.taken += 1;
    return { isSlow: false, expiring: undefined };
  }

  /** Starts the time after which the push counts as slow. Must be called when the push was sent. */
  watch(slot: PushSlot): void {
    slot.expiring = this.quick.add(slot);
  }

  release({ isSlow, expiring }: PushSlot): void {
    this.taken -= 1;
    if (isSlow) this.slow -= 1;
    else if (expiring) this.quick.delete(expiring);
  }
}
