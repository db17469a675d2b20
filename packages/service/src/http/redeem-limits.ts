import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { addressGroup, RateLimited } from './address-limit.js';

/**
 * How often the redemption page may be asked for in a minute. Per node, like the other limits of strangers: they protect
 * this node. An address may be that of many users, a link is one user's.
 */
export interface RedeemLimits {
  address(address: string, kind: 'open' | 'post'): Promise<void>;
  link(sig: string, kind: 'open' | 'post'): Promise<void>;
}

const LINK_OPENS = 60;
const LINK_POSTS = 20;
/** Posts of an address: this part of its opens. */
const POSTS_OF_OPENS = 5;

export function redeemLimits(opensPerMinute: number): RedeemLimits {
  const limiter = (points: number) => new RateLimiterMemory({ points, duration: 60 });
  const addresses = { open: limiter(opensPerMinute), post: limiter(Math.ceil(opensPerMinute / POSTS_OF_OPENS)) };
  const links = { open: limiter(LINK_OPENS), post: limiter(LINK_POSTS) };
  return {
    address: (address, kind) => consume(addresses[kind], addressGroup(address)),
    link: (sig, kind) => consume(links[kind], sig),
  };
}

async function consume(limiter: RateLimiterAbstract, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    throw new RateLimited(Math.max(1, Math.ceil(refused.msBeforeNext / 1000)));
  }
}
