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

/**
 * How often one client may do something: so many times at once, and from then on as many times a minute, evenly. Counted in
 * the memory of each node: it protects this node from unknown clients.
 */
export interface MinuteLimit {
  /** Whether any client was counted. */
  readonly isUsed: boolean;
  isReached(who: string): boolean;
  /** Throws RateLimited when it is reached. */
  check(who: string): void;
  count(who: string): void;
}

interface Allowance {
  readonly left: number;
  at: number;
}

const MINUTE_MS = 60_000;
/** An attacker with more addresses than this is not stopped by counting them. */
const MAX_REMEMBERED = 10_000;

export function createMinuteLimit(perMinute: number, clock: Clock): MinuteLimit {
  // In the order in which they were first counted.
  const allowances = new Map<string, Allowance>();

  function left(who: string): number {
    const known = allowances.get(who);
    if (!known) return perMinute;
    // After the clock was set back, no client has to wait until it has caught up.
    known.at = Math.min(known.at, clock.now());
    return Math.min(perMinute, known.left + ((clock.now() - known.at) * perMinute) / MINUTE_MS);
  }

  return {
    get isUsed() {
      return allowances.size > 0;
    },
    isReached: (who) => left(who) < 1,
    check(who) {
      const missing = 1 - left(who);
      if (missing > 0) throw new RateLimited(Math.max(1, Math.ceil((missing * MINUTE_MS) / perMinute / 1000)));
    },
    count(who) {
      const after = { left: Math.max(0, left(who) - 1), at: clock.now() };
      if (allowances.size >= MAX_REMEMBERED && !allowances.has(who)) forgetOldest();
      allowances.set(who, after);
    },
  };

  /** Many at once: to find the oldest, a map walks over all entries that were deleted before it (measured: 17 us). */
  function forgetOldest(): void {
    for (const who of [...allowances.keys()].slice(0, MAX_REMEMBERED / 10)) allowances.delete(who);
  }
}

/** One subscriber of IPv6 usually has a whole /64. */
export function addressGroup(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address.replace(/%.*$/, '')).parts;
  return `${a.toString(16)}:${b.toString(16)}:${c.toString(16)}:${d.toString(16)}`;
}
