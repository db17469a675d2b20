import { Unavailable } from '../failures.js';

/** Whoever waits for the answer of a request (docs/decisions/0025-under-pressure.md). */
export interface Caller {
  /**
   * False once it has hung up, or has waited for so long that it will not wait for the rest: then nothing is begun for it.
   * Always true for what is carried through.
   */
  isWaiting(): boolean;
  /** Milliseconds until it has waited too long. */
  waitLeftMs(): number;
  /** Whether many others wait at this node too. */
  isNodeBusy(): boolean;
  /** Something was begun: from now on it is finished, whatever becomes of the caller. */
  markBegun(): void;
  /** For as long as this takes, the request needs nothing of this node: it waits for somebody else. */
  waitOutside<T>(work: () => Promise<T>): Promise<T>;
}

/** The caller has gone or waited too long, and nothing was begun for it. */
export class NotBegun extends Unavailable {
  constructor() {
    super('nothing was begun in time');
  }
}

/** Where nobody's patience is at stake. */
export const BACKGROUND_CALLER: Caller = {
  isWaiting: () => true,
  waitLeftMs: () => Number.POSITIVE_INFINITY,
  isNodeBusy: () => false,
  markBegun: () => undefined,
  waitOutside: (work) => work(),
};
