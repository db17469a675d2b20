/**
 * Limits the guesses of the last four digits of a mobile. A link may have been forwarded, so each visitor (an address)
 * is locked separately and for longer after each wrong guess, and cannot lock the user out. All visitors together have
 * few guesses of the 10,000 possible digits, however long they wait (0022-redemption.md).
 */

/** The wrong guesses of one visitor, and the end of their lock in Unix milliseconds. */
export interface VisitorGuesses {
  readonly wrong: number;
  readonly until: number;
}

export interface GuessCounts {
  /** The wrong guesses of all visitors. */
  readonly guesses: number;
  readonly visitors: Readonly<Record<string, VisitorGuesses>>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The lock after each wrong guess of a visitor. After the last one, the visitor cannot guess again. */
const LOCKS_MS = [0, 0, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 24 * HOUR];
/** The maximum number of wrong guesses of all visitors. */
export const MAX_GUESSES = 50;
export const MAX_GUESSES_OF_VISITOR = LOCKS_MS.length + 1;

const NONE: VisitorGuesses = { wrong: 0, until: 0 };

/** The lock of a visitor. `seconds` is null if the visitor may never guess again. */
export interface GuessLock {
  readonly seconds: number | null;
}

/** Returns the visitor's lock. Undefined if the visitor may guess. */
export function findGuessLock({ guesses, visitors }: GuessCounts, visitor: string, now: number): GuessLock | undefined {
  const { wrong, until } = visitors[visitor] ?? NONE;
  if (guesses >= MAX_GUESSES || wrong >= MAX_GUESSES_OF_VISITOR) return { seconds: null };
  // A lock that would last longer than it can dates from before the clock was set back. It counts as expired.
  const isLocked = until > now && until <= now + (LOCKS_MS[wrong - 1] ?? 0);
  return isLocked ? { seconds: Math.ceil((until - now) / 1000) } : undefined;
}

/** Returns the counts after a wrong guess. */
export function countWrongGuess({ guesses, visitors }: GuessCounts, visitor: string, now: number): GuessCounts {
  const wrong = (visitors[visitor] ?? NONE).wrong + 1;
  const own = { wrong, until: now + (LOCKS_MS[wrong - 1] ?? 0) };
  return { guesses: guesses + 1, visitors: { ...visitors, [visitor]: own } };
}

/** Returns how often the visitor may guess before the next lock. */
export function countGuessesLeft({ guesses, visitors }: GuessCounts, visitor: string): number {
  const { wrong } = visitors[visitor] ?? NONE;
  const free = LOCKS_MS.filter((lock) => lock === 0).length + 1;
  return Math.min(Math.max(1, free - wrong), MAX_GUESSES - guesses);
}
