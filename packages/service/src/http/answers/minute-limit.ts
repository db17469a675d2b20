import { isIPv6 } from 'node:net';
import { Rejection } from '@perennial/wire';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../../platform/clock.js';

/** A refusal with the number of seconds after which the client can retry. */
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
/** The maximum number of clients that are counted. An attacker with more addresses than this is not stopped. */
const MAX_REMEMBERED = 10_000;

/**
 * A token bucket for each client: a burst of `perMinute`, refilled evenly over a minute. Each node counts in its own
 * memory, because the limit protects this node from unknown clients.
 */
export function createMinuteLimit(perMinute: number, clock: Clock) {
  // Ordered by first use.
  const allowances = new Map<string, Allowance>();

  function left(who: string): number {
    const known = allowances.get(who);
    if (!known) return perMinute;
    // After the clock was set back, clients must not wait until it catches up.
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
    isUsed: () => allowances.size > 0,
    isReached: (who: string) => left(who) < 1,
    check,
    count,
    checkAndCount(who: string): void {
      check(who);
      count(who);
    },
  };

  /**
   * Forgets a tenth of the clients at once, because a Map finds its oldest key slowly after deletions (measured: 17
   * us).
   */
  function forgetOldest(): void {
    for (const who of [...allowances.keys()].slice(0, MAX_REMEMBERED / 10)) allowances.delete(who);
  }
}

export type MinuteLimit = ReturnType<typeof createMinuteLimit>;

/** Returns an IPv4 address unchanged and an IPv6 address as its /64, because a subscriber usually has a whole /64. */
export function addressGroup(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address.split('%')[0] ?? '').parts;
  return `${a.toString(16)}:${b.toString(16)}:${c.toString(16)}:${d.toString(16)}`;
}
