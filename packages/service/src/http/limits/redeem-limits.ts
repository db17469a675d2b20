import type { Clock } from '../../platform/clock.js';
import { addressGroup, createMinuteLimit, type MinuteLimit } from '../answers/minute-limit.js';

/**
 * How often the redemption page may be opened in a minute. Counted by each node, which the limits protect. Many users may
 * share an address; a link belongs to one user.
 */
export interface RedeemLimits {
  checkAddress(address: string, kind: 'open' | 'post'): void;
  checkLink(sig: string, kind: 'open' | 'post'): void;
}

const LINK_OPENS = 60;
const LINK_POSTS = 20;
/** An address may post once for so many opens. */
const POSTS_OF_OPENS = 5;

export function createRedeemLimits(opensPerMinute: number, clock: Clock): RedeemLimits {
  const limit = (perMinute: number) => createMinuteLimit(perMinute, clock);
  const addresses = { open: limit(opensPerMinute), post: limit(Math.ceil(opensPerMinute / POSTS_OF_OPENS)) };
  const links = { open: limit(LINK_OPENS), post: limit(LINK_POSTS) };
  return {
    checkAddress: (address, kind) => consume(addresses[kind], addressGroup(address)),
    checkLink: (sig, kind) => consume(links[kind], sig),
  };
}

function consume(limit: MinuteLimit, who: string): void {
  limit.check(who);
  limit.count(who);
}
