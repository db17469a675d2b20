import { Unavailable } from '../failures.js';

/** The client that waits for the answer of a request (docs/decisions/0025-under-pressure.md). */
export interface Caller {
  /**
   * Returns false if the client has hung up or waited too long. Then nothing is begun for it. Always returns true after
   * `markBegun`.
   */
  isWaiting(): boolean;
  waitLeftMs(): number;
  /** Returns true if many callers wait at this node. */
  isNodeBusy(): boolean;
  /** Marks the request as begun. From then on it is finished even if the caller hangs up. */
  markBegun(): void;
  /**
   * Runs work that needs no capacity of this node, such as waiting for an institution. During this work the request
   * does not count as load.
   */
  waitOutside<T>(work: () => Promise<T>): Promise<T>;
}

/** Thrown if the caller has hung up or waited too long. Nothing was begun for it. */
export class NotBegun extends Unavailable {
  override message = 'nothing was begun in time';
}

/** The caller of background work, for which no client waits and which may take any time. */
export const BACKGROUND_CALLER: Caller = {
  isWaiting: () => true,
  waitLeftMs: () => Number.POSITIVE_INFINITY,
  isNodeBusy: () => false,
  markBegun: () => undefined,
  waitOutside: (work) => work(),
};
