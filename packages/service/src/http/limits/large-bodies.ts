import { addressGroup, RateLimited } from '../answers/minute-limit.js';

/**
 * Bodies above 16 KB are rare: even the longest order creation is shorter. Larger bodies get a limited share of the
 * node's memory and time, so that they delay only their senders.
 */
export const LARGE_BODY_BYTES = 16_384;

export interface LargeBodyLimits {
  /**
   * The maximum number of bytes that large bodies take in memory. A body counts from the start of reading until the
   * answer.
   */
  readonly bytes: number;
  /** The maximum number of bytes for one address. */
  readonly bytesPerAddress: number;
  /** Time for which a body waits for room before it is refused. The body is not read while it waits. */
  readonly waitMs: number;
}

const DEFAULT_LIMITS: LargeBodyLimits = { bytes: 33_554_432, bytesPerAddress: 8_388_608, waitMs: 10_000 };
/** Gives large bodies a quarter of the CPU time: each piece of work is followed by a pause three times as long. */
const PAUSE_FACTOR = 3;

interface Share {
  readonly address: string;
  readonly bytes: number;
}

interface Waiting extends Share {
  readonly admit: () => void;
}

export function createLargeBodies(given: Partial<LargeBodyLimits> = {}) {
  const { bytes: total, bytesPerAddress, waitMs } = { ...DEFAULT_LIMITS, ...given };
  const used = new Map<string, number>();
  let usedInAll = 0;
  const shares = new WeakMap<ArrayBufferLike, Share>();
  const waiting = new Set<Waiting>();
  let turn: Promise<unknown> = Promise.resolve();

  const usedBy = (address: string) => used.get(address) ?? 0;
  const hasRoom = ({ address, bytes }: Share) =>
    usedInAll + bytes <= total && usedBy(address) + bytes <= bytesPerAddress;

  function changeUsage({ address, bytes }: Share, sign: 1 | -1): void {
    usedInAll += sign * bytes;
    const left = usedBy(address) + sign * bytes;
    if (left === 0) used.delete(address);
    else used.set(address, left);
  }

  function waitForRoom(share: Share): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(one);
        reject(new RateLimited(1));
      }, waitMs);
      const one: Waiting = {
        ...share,
        admit() {
          clearTimeout(timer);
          resolve();
        },
      };
      waiting.add(one);
    });
  }

  return {
    /** Returns memory for a body as soon as there is room. Throws RateLimited if there is no room in time. */
    async allocate(address: string, bytes: number): Promise<Buffer> {
      const share = { address: addressGroup(address), bytes };
      if (hasRoom(share)) changeUsage(share, 1);
      else await waitForRoom(share);
      const body = Buffer.allocUnsafeSlow(bytes);
      shares.set(body.buffer, share);
      return body;
    },

    /** Does nothing if the body was not allocated here. */
    release(body: Buffer): void {
      const share = shares.get(body.buffer);
      if (!share) return;
      shares.delete(body.buffer);
      changeUsage(share, -1);
      for (const one of waiting) {
        if (!hasRoom(one)) continue;
        waiting.delete(one);
        changeUsage(one, 1);
        one.admit();
      }
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
