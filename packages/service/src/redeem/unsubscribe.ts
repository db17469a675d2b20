import { randomInt, timingSafeEqual } from 'node:crypto';
import { Rejection } from '@perennial/wire';
import type { Channel } from '../catalog/channels/channel.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable, Transactional } from '../platform/db/database.js';
import type { Order } from '../subscriptions/domain/orders/order.js';
import { reserveSmsSend } from '../subscriptions/steps/agreements/sms-limit.js';
import { endOrder } from '../subscriptions/steps/ending/end-orders.js';
import { unsealUserMobile } from '../subscriptions/steps/users/login-mobile.js';
import { lockOrderByNumber } from '../subscriptions/store/orders/orders-sql.js';
import { findUser } from '../subscriptions/store/users/users-sql.js';
import { countGuessesLeft, countWrongGuess, findGuessLock, type GuessLock } from './guesses.js';
import {
  countWrongCode,
  findTries,
  forgetTries,
  lockTries,
  storeCode,
  storeGuesses,
} from './store/unsubscribe-tries-sql.js';

export type UnsubscribeOutcome =
  | { readonly kind: 'ended' }
  /** The order cannot be ended in its current status. */
  | { readonly kind: 'not-active' }
  | { readonly kind: 'no-mobile' }
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  | ({ readonly kind: 'locked' } & GuessLock)
  | { readonly kind: 'wrong-code'; readonly triesLeft: number }
  /** No code was sent, or it is no longer valid. */
  | { readonly kind: 'no-code' };

/** The user's input: the last four digits of the login mobile, or the code that was sent to it. */
export type Proof =
  /** `address` identifies the visitor. */
  { readonly digits: string; readonly address: string } | { readonly code: string };

export type Unsubscriber = (
  database: Transactional,
  channel: Channel,
  orderNo: number,
  proof: Proof,
) => Promise<UnsubscribeOutcome>;

export const CODE_MINUTES = 10;
const CODE_DIGITS = 6;
/** The maximum number of wrong codes. Then the user needs another code, and a mobile gets ten a day. */
const MAX_WRONG_CODES = 3;

/**
 * Ends an order if the user proves that the login mobile is theirs. Failures are counted under a row lock, so two nodes
 * together never allow more guesses than one.
 */
export function createUnsubscriber(clock: Clock): Unsubscriber {
  return (database, channel, orderNo, proof) =>
    database.transaction(async (tx) => {
      const order = await lockOrderByNumber(tx, orderNo);
      if (order?.status !== 'ACTIVE') return { kind: 'not-active' };
      const refused =
        'code' in proof
          ? await checkCode(tx, channel, order, proof.code)
          : await checkDigits(tx, channel, order, proof);
      if (refused) return refused;
      await forgetTries(tx, channel.channelId, order.channelUserId);
      await endOrder(tx, order, { source: 'USER', reason: null }, clock.now());
      return { kind: 'ended' };
    });
}

async function checkDigits(
  tx: Queryable,
  channel: Channel,
  { channelUserId }: Order,
  { digits, address }: { readonly digits: string; readonly address: string },
): Promise<UnsubscribeOutcome | undefined> {
  const user = await findUser(tx, channel.channelId, channelUserId);
  const expected = user && lastDigits(unsealUserMobile(channel, user));
  if (expected === undefined) return { kind: 'no-mobile' };
  const visitor = visitorKey(channel, address);
  const tries = await lockTries(tx, channel.channelId, channelUserId);
  const lock = findGuessLock(tries, visitor, tries.now);
  if (lock) return { kind: 'locked', ...lock };
  if (timingSafeEqual(Buffer.from(digits), Buffer.from(expected))) return undefined;
  const counted = countWrongGuess(tries, visitor, tries.now);
  await storeGuesses(tx, channel.channelId, channelUserId, counted);
  const locked = findGuessLock(counted, visitor, tries.now);
  return locked ? { kind: 'locked', ...locked } : { kind: 'wrong', triesLeft: countGuessesLeft(counted, visitor) };
}

async function checkCode(
  tx: Queryable,
  channel: Channel,
  { channelUserId }: Order,
  code: string,
): Promise<UnsubscribeOutcome | undefined> {
  const user = await findUser(tx, channel.channelId, channelUserId);
  if (!user) return { kind: 'no-mobile' };
  const { codeHash, isCodeValid, codeWrong } = await lockTries(tx, channel.channelId, channelUserId);
  const triesLeft = MAX_WRONG_CODES - codeWrong;
  if (codeHash === null || !isCodeValid || triesLeft <= 0) return { kind: 'no-code' };
  const to = { channelUserId, mobile: unsealUserMobile(channel, user) };
  if (timingSafeEqual(hashCode(channel, to, code), codeHash)) return undefined;
  await countWrongCode(tx, channel.channelId, channelUserId);
  return triesLeft === 1 ? { kind: 'no-code' } : { kind: 'wrong-code', triesLeft: triesLeft - 1 };
}

/** Returns the lock of a visitor, or undefined if the visitor may type the digits. */
export async function findLock(
  db: Queryable,
  channel: Channel,
  channelUserId: string,
  address: string,
): Promise<GuessLock | undefined> {
  const tries = await findTries(db, channel.channelId, channelUserId);
  return tries && findGuessLock(tries, visitorKey(channel, address), tries.now);
}

/** The address is stored as a hash, shortened because a user has few visitors. */
const visitorKey = ({ sealing }: Channel, address: string): string =>
  sealing.hash(address, 'address').toString('base64url').slice(0, 16);

/** The hash covers the mobile, so a code ends when the user gets another mobile. */
const hashCode = (
  { sealing }: Channel,
  { channelUserId, mobile }: { readonly channelUserId: string; readonly mobile: string },
  code: string,
): Buffer => sealing.hash(`${channelUserId}\n${mobile}\n${code}`, 'confirmation code');

/** A message for a user, which must be sent after the transaction. */
export interface MessageTo {
  readonly mobile: string;
}

/** The visitor of the page who asks for a message, and the time. */
interface MessageRequest {
  readonly address: string;
  readonly now: number;
}

/**
 * Returns the user's mobile, and counts a message to it. Returns `too-often` if the mobile may not get another message
 * yet: the limits of codes for bindings apply, one a minute and ten a day, and each visitor can cause three a day.
 */
export async function reserveMessage(
  tx: Queryable,
  channel: Channel,
  channelUserId: string,
  { address, now }: MessageRequest,
): Promise<MessageTo | 'too-often' | 'no-mobile'> {
  const user = await findUser(tx, channel.channelId, channelUserId);
  if (!user) return 'no-mobile';
  try {
    const visitorHash = channel.sealing.hash(`message\n${channelUserId}\n${address}`, 'address');
    await reserveSmsSend(tx, user.mobileHash, now, { visitorHash });
  } catch (error) {
    if (error instanceof Rejection) return 'too-often';
    throw error;
  }
  return { mobile: unsealUserMobile(channel, user) };
}

/** Creates a code for an ACTIVE order and stores its hash. */
export function createCode(
  database: Transactional,
  channel: Channel,
  orderNo: number,
  request: MessageRequest,
): Promise<(MessageTo & { readonly code: string }) | 'too-often' | 'no-mobile' | 'not-active'> {
  return database.transaction(async (tx) => {
    const order = await lockOrderByNumber(tx, orderNo);
    if (order?.status !== 'ACTIVE') return 'not-active';
    const to = await reserveMessage(tx, channel, order.channelUserId, request);
    if (typeof to === 'string') return to;
    const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
    const codeHash = hashCode(channel, { ...to, channelUserId: order.channelUserId }, code);
    await storeCode(tx, {
      channelId: channel.channelId,
      channelUserId: order.channelUserId,
      codeHash,
      minutes: CODE_MINUTES,
    });
    return { ...to, code };
  });
}

/**
 * Returns the four digits that a user typed, even full-width ones. Other texts give undefined and are not an attempt.
 */
export const parseTypedDigits = (text: string): string | undefined => parseDigits(text, 4);

export const parseTypedCode = (text: string): string | undefined => parseDigits(text, CODE_DIGITS);

function parseDigits(text: string, count: number): string | undefined {
  const digits = text.normalize('NFKC').replace(/\s/g, '');
  return /^\d+$/.test(digits) && digits.length === count ? digits : undefined;
}

/** Returns the last four digits, or undefined for a number with fewer digits. */
function lastDigits(mobile: string): string | undefined {
  const digits = mobile.replace(/\D/g, '');
  return digits.length < 4 ? undefined : digits.slice(-4);
}
