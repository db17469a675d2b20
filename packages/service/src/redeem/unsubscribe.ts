import { timingSafeEqual } from 'node:crypto';
import type { Channel } from '../catalog/channels/channel.js';
import type { Clock } from '../platform/clock.js';
import type { Transactional } from '../platform/db/database.js';
import { endOrder } from '../subscriptions/steps/ending/end-orders.js';
import { unsealUserMobile } from '../subscriptions/steps/users/login-mobile.js';
import { lockOrderByNumber } from '../subscriptions/store/orders/orders-sql.js';
import { findUser } from '../subscriptions/store/users/users-sql.js';
import { countWrongDigits, forgetTries, lockTries } from './unsubscribe-tries-sql.js';

export type UnsubscribeOutcome =
  | { readonly kind: 'ended' }
  /** The order cannot be ended in its current status. */
  | { readonly kind: 'not-active' }
  | { readonly kind: 'no-mobile' }
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  | { readonly kind: 'locked'; readonly seconds: number };

export type Unsubscriber = (
  database: Transactional,
  channel: Channel,
  orderNo: number,
  digits: string,
) => Promise<UnsubscribeOutcome>;

const LOCKED_SECONDS = 3600;

/**
 * Ends an order if the user knows the last four digits of their login mobile. Failures are counted under a row lock, so
 * two nodes together never allow a sixth attempt before the user must wait.
 */
export function createUnsubscriber(clock: Clock): Unsubscriber {
  return (database, channel, orderNo, digits) =>
    database.transaction(async (tx) => {
      const order = await lockOrderByNumber(tx, orderNo);
      if (order?.status !== 'ACTIVE') return { kind: 'not-active' };
      const user = await findUser(tx, channel.channelId, order.channelUserId);
      const expected = user && lastDigits(unsealUserMobile(channel, user));
      if (expected === undefined) return { kind: 'no-mobile' };
      const whose = [channel.channelId, order.channelUserId] as const;
      const { lockedSeconds } = await lockTries(tx, ...whose);
      if (lockedSeconds !== null) return { kind: 'locked', seconds: lockedSeconds };
      if (!timingSafeEqual(Buffer.from(digits), Buffer.from(expected))) {
        const triesLeft = await countWrongDigits(tx, ...whose);
        return triesLeft === 0 ? { kind: 'locked', seconds: LOCKED_SECONDS } : { kind: 'wrong', triesLeft };
      }
      await forgetTries(tx, ...whose);
      await endOrder(tx, order, { source: 'USER', reason: null }, clock.now());
      return { kind: 'ended' };
    });
}

/**
 * Returns the four digits that a user typed, even full-width ones. Other texts give undefined and are not an attempt.
 */
export function parseTypedDigits(text: string): string | undefined {
  const digits = text.normalize('NFKC').replace(/\s/g, '');
  return /^\d{4}$/.test(digits) ? digits : undefined;
}

/** Returns the last four digits, or undefined for a number with fewer digits. */
function lastDigits(mobile: string): string | undefined {
  const digits = mobile.replace(/\D/g, '');
  return digits.length < 4 ? undefined : digits.slice(-4);
}
