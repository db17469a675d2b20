import type { Book } from '../book.js';
import type { Caller } from '../exchange/caller.js';
import type { Findings } from '../findings.js';
import type { Given } from '../given.js';
import type { RuleName } from '../rules.js';
import type { Teller } from '../teller.js';

/** What a trial works with. */
export interface Check {
  readonly given: Given;
  readonly findings: Findings;
  readonly caller: Caller;
  readonly teller: Teller;
  readonly book: Book;
  /** What a trial before has bound. */
  bound?: string;
  /** The bridge is of a version from before currencies were named. */
  isWithoutHandshake?: boolean;
}

/** One thing that is done to the bridge, and the rules that are judged by it. Throws NotTried when it cannot be done. */
export interface Trial {
  readonly rules: readonly RuleName[];
  run(check: Check): Promise<void>;
}
