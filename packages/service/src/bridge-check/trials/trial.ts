import type { Book } from '../book.js';
import type { Caller } from '../exchange/caller.js';
import type { Findings } from '../findings.js';
import type { Given } from '../given.js';
import type { OutcomeLog } from '../outcome-log.js';
import type { RuleName } from '../rules.js';

export interface Check {
  readonly given: Given;
  readonly findings: Findings;
  readonly caller: Caller;
  readonly outcomes: OutcomeLog;
  readonly book: Book;
  /** The institutionNo bound by an earlier trial. */
  bound?: string;
  /** True if the bridge is older than the operation /handshake, which names its currency. */
  isWithoutHandshake?: boolean;
}

/** One test of the bridge, and the rules that it checks. Throws NotTried if it cannot be run. */
export interface Trial {
  readonly rules: readonly RuleName[];
  run(check: Check): Promise<void>;
}
