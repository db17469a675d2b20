import { isIPv6 } from 'node:net';
import { Rejection } from '@perennial/wire';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/** Refused for now, with the seconds after which trying again makes sense. */
export class RateLimited extends Rejection {
  constructor(readonly retryAfterSeconds: number) {
    super('RATE_LIMITED');
  }
}

/**
 * An address that keeps failing authentication is refused before its next signature is computed. Only failures count,
 * so the traffic of a large channel behind one address never does. Per node: it protects this node's CPU.
 */
export interface AddressLimit {
  check(address: string): Promise<void>;
  failed(address: string): Promise<void>;
}

export function addressLimit(failuresPerMinute: number): AddressLimit {
  const failures = new RateLimiterMemory({ points: failuresPerMinute, duration: 60 });
  return {
    async check(address) {
      const state = await failures.get(addressGroup(address));
      if (state && state.consumedPoints >= failuresPerMinute) {
        throw new RateLimited(Math.max(1, Math.ceil(state.msBeforeNext / 1000)));
      }
    },
    async failed(address) {
      await failures.penalty(addressGroup(address));
    },
  };
}

/** One subscriber of IPv6 usually has a whole /64. */
export function addressGroup(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':');
}
