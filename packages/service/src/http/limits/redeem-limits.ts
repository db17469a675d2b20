import type { Clock } from '../../platform/clock.js';
import { addressGroup, createMinuteLimit } from '../answers/minute-limit.js';

const LINK_OPENS = 60;
const LINK_POSTS = 20;
/** The limit of an address for posting forms is its limit for opening pages, divided by this number. */
const POSTS_OF_OPENS = 5;

/**
 * Limits how often the redemption page is opened and posted per minute, counted by each node. Addresses and links have
 * separate limits: many users may share an address, but a link belongs to one user.
 */
export function createRedeemLimits(opensPerMinute: number, clock: Clock) {
  const limit = (perMinute: number) => createMinuteLimit(perMinute, clock);
  const addresses = { open: limit(opensPerMinute), post: limit(Math.ceil(opensPerMinute / POSTS_OF_OPENS)) };
  const links = { open: limit(LINK_OPENS), post: limit(LINK_POSTS) };
  return {
    checkAddress: (address: string, kind: 'open' | 'post') => addresses[kind].checkAndCount(addressGroup(address)),
    checkLink: (sig: string, kind: 'open' | 'post') => links[kind].checkAndCount(sig),
  };
}

export type RedeemLimits = ReturnType<typeof createRedeemLimits>;
