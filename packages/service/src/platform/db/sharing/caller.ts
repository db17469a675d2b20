import { Unavailable } from '../failures.js';

/** The client that waits for the answer of a request (docs/decisions/0025-under-pressure.md). */
export interface Caller {
  /**
   * Returns false if the client has hung up or waited too long: then nothing is begun for it. Always true once
   * something was begun.
   */
  isWaiting(): boolean;
  waitLeftMs(): number;
  /** Returns true if many other callers wait at this node. */
  isNodeBusy(): boolean;
  /** Marks the request as begun: it is finished even if the caller hangs up. */
  markBegun(): void;
  /**
   * Runs work that needs no capacity of this node, such as waiting for an institution. The request does not count as
   * load meanwhile.
   */
  waitOutside<T>(work: () => Promise<T>): Promise<T>;
}

/** The caller has gone or waited too long, and nothing was begun for it. */
export class NotBegun extends Unavailable {
  override message = 'nothing was begun in time';
}

/** For work that no client waits for, which may take any time. */
export const BACKGROUND_CALLER: Caller = {
  isWaiting: () => true,
  waitLeftMs: () => Number.POSITIVE_INFINITY,
  isNodeBusy: () => false,
  markBegun: () => undefined,
  waitOutside: (work) => work(),
};
