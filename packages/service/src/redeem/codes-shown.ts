import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import { createBatcher } from '../platform/db/sharing/batcher.js';
import { storeShownCodes } from '../subscriptions/store/benefits/claims-sql.js';

/** A code on a page. */
interface ShownCode {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly position: number;
  /** The number of earlier codes of the claim. */
  readonly replaced: number;
  /** When a page has last shown the code before. Null if none has. */
  readonly shownAt: number | null;
}

/** Notes for operators when pages have shown codes. Stores no address and nothing else about the visitor. */
export interface CodesShown {
  add(code: ShownCode): void;
  stop(): Promise<void>;
}

/** A code that is shown again within this time is not stored again, so that most pages write nothing. */
const SAME_VIEW_MS = 3_600_000;

/**
 * Stores the times without delaying the page. Codes that are shown while a statement runs share the next statement. If
 * the statement fails, the times are lost and the page is not affected.
 */
export function createCodesShown({
  database,
  clock,
  log,
}: {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Logger;
}): CodesShown {
  const inFlight = new Set<Promise<void>>();
  const store = createBatcher<ShownCode & { readonly at: number }, undefined>({
    maxBatch: 500,
    slots: 1,
    async run(codes) {
      // The same order on all nodes, so that two statements do not deadlock.
      const sorted = codes.toSorted(
        (a, b) => a.orderNo - b.orderNo || a.cycleNo - b.cycleNo || a.position - b.position,
      );
      await storeShownCodes(
        database,
        sorted.map(({ orderNo }) => orderNo),
        sorted.map(({ cycleNo }) => cycleNo),
        sorted.map(({ position }) => position),
        sorted.map(({ at }) => at),
        sorted.map(({ replaced }) => replaced),
      );
      return codes.map(() => undefined);
    },
  });
  return {
    add(code) {
      const at = clock.now();
      if (code.shownAt !== null && at - code.shownAt < SAME_VIEW_MS) return;
      const stored = store({ ...code, at })
        .catch((err: unknown) => log.warn({ err }, 'the time at which a code was shown could not be stored'))
        .then(() => void inFlight.delete(stored));
      inFlight.add(stored);
    },
    async stop() {
      await Promise.all(inFlight);
    },
  };
}
