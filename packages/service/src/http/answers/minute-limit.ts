import { isIPv6 } from 'node:net';
import { Rejection } from '@perennial/wire';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../../platform/clock.js';

/** Refused for now, with the seconds after which trying again makes sense. */
export class RateLimited extends Rejection {
  constructor(readonly retryAfterSeconds: number) {
    super('RATE_LIMITED');
  }
}

interface Allowance {
  readonly left: number;
  at: number;
}

const MINUTE_MS = 60_000;
/** An attacker with more addresses than this is not stopped by counting them. */
const MAX_REMEMBERED = 10_000;

/**
 * How often one client may do something: so many times at once, and from then on as many times a minute, evenly. Counted in
 * the memory of each node: it protects this node from unknown clients.
 */
export function createMinuteLimit(perMinute: number, clock: Clock) {
  // In the order in which they were first counted.
  const allowances = new Map<string, Allowance>();

  function left(who: string): number {
    const known = allowances.get(who);
    if (!known) return perMinute;
    // After the clock was set back, no client has to wait until it has caught up.
    known.at = Math.min(known.at, clock.now());
    return Math.min(perMinute, known.left + ((clock.now() - known.at) * perMinute) / MINUTE_MS);
  }

  function check(who: string): void {
    const missing = 1 - left(who);
    if (missing > 0) throw new RateLimited(Math.max(1, Math.ceil((missing * MINUTE_MS) / perMinute / 1000)));
  }

  function count(who: string): void {
    const after = { left: Math.max(0, left(who) - 1), at: clock.now() };
    if (allowances.size >= MAX_REMEMBERED && !allowances.has(who)) forgetOldest();
    allowances.set(who, after);
  }

  return {
    /** Whether any client was counted. */
    isUsed: () => allowances.size > 0,
    isReached: (who: string) => left(who) < 1,
    /** Throws RateLimited when it is reached. */
    check,
    count,
    checkAndCount(who: string): void {
      check(who);
      count(who);
    },
  };

  /** Many at once: to find the oldest, a map walks over all entries that were deleted before it (measured: 17 us). */
  function forgetOldest(): void {
    for (const who of [...allowances.keys()].slice(0, MAX_REMEMBERED / 10)) allowances.delete(who);
  }
}

export type MinuteLimit = ReturnType<typeof createMinuteLimit>;

/** One subscriber of IPv6 usually has a whole /64. */
export function addressGroup(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address.replace(/%.*$/, '')).parts;
  return `${a.toString(16)}:${b.toString(16)}:${c.toString(16)}:${d.toString(16)}`;
}
