import { Unavailable } from '../failures.js';

/** The client that waits for the answer of a request (docs/decisions/0025-under-pressure.md). */
export interface Caller {
  /**
   * False once it has hung up, or has waited so long that it will not wait for the rest: then nothing is begun for it.
   * Always true once something was begun.
   */
  isWaiting(): boolean;
  /** How long it will still wait. */
  waitLeftMs(): number;
  /** Whether many other callers wait at this node. */
  isNodeBusy(): boolean;
  /** Something was begun: from now on the request is finished, even if the caller hangs up. */
  markBegun(): void;
  /**
   * Runs work that needs nothing of this node, such as waiting for an institution: meanwhile the request does not count as
   * load.
   */
  waitOutside<T>(work: () => Promise<T>): Promise<T>;
}

/** The caller has gone or waited too long, and nothing was begun for it. */
export class NotBegun extends Unavailable {
  override message = 'nothing was begun in time';
}

/** For work that no client waits for: it may take any time. */
export const BACKGROUND_CALLER: Caller = {
  isWaiting: () => true,
  waitLeftMs: () => Number.POSITIVE_INFINITY,
  isNodeBusy: () => false,
  markBegun: () => undefined,
  waitOutside: (work) => work(),
};
