import type { Clock } from '../../platform/clock.js';
import { addressGroup, createMinuteLimit, type MinuteLimit } from '../answers/minute-limit.js';

/**
 * How often the redemption page may be asked for in a minute. Per node, like the other limits of strangers: they protect
 * this node. An address may be that of many users, a link is one user's.
 */
export interface RedeemLimits {
  checkAddress(address: string, kind: 'open' | 'post'): void;
  checkLink(sig: string, kind: 'open' | 'post'): void;
}

const LINK_OPENS = 60;
const LINK_POSTS = 20;
/** Posts of an address: this part of its opens. */
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
