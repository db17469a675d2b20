import { RateLimited } from '../answers/minute-limit.js';

/**
 * Bodies above 16 KB are rare: even the longest order creation is shorter. Larger bodies get a limited share of the
 * node's memory and time, so that they delay only their senders.
 */
export const LARGE_BODY_BYTES = 16_384;

/** No room for a large body. Callers of the API see it as RateLimited. */
export class LargeBodiesFull extends RateLimited {}

export interface LargeBodyLimits {
  /**
   * The maximum number of bytes that large bodies take in memory. A body counts from the arrival of its bytes until the
   * answer.
   */
  readonly bytes: number;
  /** The maximum number of bytes of one owner, such as a channel. */
  readonly bytesPerOwner: number;
  /** A large body must bring at least `bytesPerWindow` bytes in each time of `windowMs`, or end. */
  readonly windowMs: number;
  readonly bytesPerWindow: number;
}

const DEFAULT_LIMITS: LargeBodyLimits = {
  bytes: 33_554_432,
  bytesPerOwner: 8_388_608,
  windowMs: 5_000,
  bytesPerWindow: 327_680,
};
/** Gives large bodies a quarter of the CPU time: each piece of work is followed by a pause three times as long. */
const PAUSE_FACTOR = 3;

interface Share {
  readonly owner: string;
  readonly bytes: number;
}

export function createLargeBodies(given: Partial<LargeBodyLimits> = {}) {
  const { bytes: total, bytesPerOwner, windowMs, bytesPerWindow } = { ...DEFAULT_LIMITS, ...given };
  const used = new Map<string, number>();
  let usedInAll = 0;
  const shares = new WeakMap<ArrayBufferLike, Share>();
  let turn: Promise<unknown> = Promise.resolve();

  const usedBy = (owner: string) => used.get(owner) ?? 0;

  function changeUsage(owner: string, bytes: number): void {
    usedInAll += bytes;
    const left = usedBy(owner) + bytes;
    if (left === 0) used.delete(owner);
    else used.set(owner, left);
  }

  return {
    windowMs,
    bytesPerWindow,

    /**
     * Moves a body into a larger buffer. Throws LargeBodiesFull if the node or the owner has no room. A body always has the
     * same owner.
     */
    grow(body: Buffer, owner: string, bytes: number): Buffer {
      const more = bytes - (shares.get(body.buffer)?.bytes ?? 0);
      if (usedInAll + more > total || usedBy(owner) + more > bytesPerOwner) throw new LargeBodiesFull(1);
      changeUsage(owner, more);
      const larger = Buffer.allocUnsafeSlow(bytes);
      body.copy(larger);
      shares.delete(body.buffer);
      shares.set(larger.buffer, { owner, bytes });
      return larger;
    },

    /** Does nothing if the body was not allocated here. */
    release(body: Buffer): void {
      const share = shares.get(body.buffer);
      if (!share) return;
      shares.delete(body.buffer);
      changeUsage(share.owner, -share.bytes);
    },

    /** Runs work on a large body, such as hashing it. Runs one piece of work at a time, with pauses in between. */
    runInTurn<T>(work: () => T): Promise<T> {
      let tookMs = 0;
      const done = turn.then(() => {
        const before = process.cpuUsage();
        try {
          return work();
        } finally {
          tookMs = process.cpuUsage(before).user / 1000;
        }
      });
      // Pauses even after very short work, so that waiting requests come first.
      const pause = () => new Promise((resolve) => setTimeout(() => setImmediate(resolve), tookMs * PAUSE_FACTOR));
      turn = done.then(pause, pause);
      return done;
    },
  };
}

export type LargeBodies = ReturnType<typeof createLargeBodies>;
