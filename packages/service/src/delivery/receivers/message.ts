import { hash } from 'node:crypto';
import {
  encryptField,
  formatTime,
  randomBytes,
  type StoredUpcomingPayload,
  signWebhook,
  toHex,
  type UpcomingPayload,
} from '@perennial/wire';
import { periodDueAt } from '../../subscriptions/domain/orders/calendar.js';
import { formatPaymentOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import type { RedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import type { DueEvent, StoredEvent } from '../queue/due-sql.js';
import { keyOf } from '../queue/due-sql.js';
import type { PushKeys } from './receivers.js';

/** A push that is ready to be signed and sent. */
export interface Message {
  readonly due: DueEvent;
  /** The version of the channel whose key encrypted the message. */
  readonly version: number;
  readonly eventId: string;
  /** The parts of the body before and after the value of retryNo. */
  readonly head: string;
  readonly tail: string;
}

/**
 * Builds the body of a push from the stored event. A `payment.status.changed` event gets `mobileEncrypted`, and a
 * `payment.upcoming` event gets `redeemUrl`, where the user can cancel.
 */
export function createMessage(keys: PushKeys, links: RedeemLinks, due: DueEvent, event: StoredEvent): Message {
  const eventId = String(keyOf(due));
  const data = dataOf(keys, links, due, event);
  return {
    due,
    version: keys.version,
    eventId,
    head: `{"eventId":"${eventId}","eventType":"${event.eventType}","occurredAt":"${formatTime(event.occurredAt)}","retryNo":`,
    tail: `,"data":${data}}`,
  };
}

function dataOf(keys: PushKeys, links: RedeemLinks, due: DueEvent, event: StoredEvent): string {
  switch (event.eventType) {
    case 'order.status.changed':
      return event.data;
    case 'payment.status.changed':
      return paymentData(keys, due, event);
    case 'payment.upcoming':
      return upcomingData(keys, links, event);
  }
}

function upcomingData(keys: PushKeys, links: RedeemLinks, { data }: StoredEvent): string {
  const stored: StoredUpcomingPayload = JSON.parse(data);
  const url = links.sign(keys, stored.orderNo, links.newTerms(stored.channelUserId));
  return JSON.stringify({ ...stored, redeemUrl: url } satisfies UpcomingPayload);
}

/**
 * Appends the user's mobile, encrypted with the channel's current key, to the stored text without parsing it, because
 * parsing took 17 of the 150 µs of a delivery.
 */
function paymentData(keys: PushKeys, due: DueEvent, event: StoredEvent): string {
  const stored = due.cycleNo === 0 ? event.data : voidedPeriod(due, event);
  if (!stored.startsWith('{"') || !stored.endsWith('}')) throw new Error(`event ${keyOf(due)} has no fields`);
  return `${stored.slice(0, -1)},"mobileEncrypted":${JSON.stringify(encryptMobile(keys, event))}}`;
}

/**
 * Returns the data of a period that was voided together with others: the first period's data with this period's number
 * and time.
 */
function voidedPeriod(due: DueEvent, { data, createdAt, periodType, period }: StoredEvent): string {
  if (createdAt === null || periodType === null || period === null) {
    throw new Error(`event ${keyOf(due)} has no order`);
  }
  return JSON.stringify({
    ...JSON.parse(data),
    paymentOrderNo: formatPaymentOrderNo(due.orderNo, due.cycleNo),
    cycleNo: due.cycleNo,
    expectPayTime: formatTime(periodDueAt(createdAt, { periodType, period }, due.cycleNo)),
  });
}

/** Returns the encrypted mobile, or null if the order has no shared agreement or its user was erased. */
function encryptMobile(keys: PushKeys, { mobile, channelUserId }: StoredEvent): string | null {
  if (mobile === null || channelUserId === null) return null;
  return encryptField(keys.decryptMobile({ mobile, channelUserId }), keys.aesKey, keys.encryption);
}

/** The parts of a message that are signed and sent. */
export interface PushedText extends Pick<Message, 'eventId' | 'head' | 'tail'> {
  readonly due: Pick<DueEvent, 'retryNo'>;
}

/** Creates a push about no event, to test a receiver. */
export function createTestMessage(eventType: string, eventId: string, now: number): PushedText {
  return {
    due: { retryNo: 0 },
    eventId,
    head: `{"eventId":"${eventId}","eventType":"${eventType}","occurredAt":"${formatTime(now)}","retryNo":`,
    tail: ',"data":{"test":true}}',
  };
}

const NONCE_BYTES = 16;

export interface SignedPush {
  /** The header lines exactly as they are sent. */
  readonly headers: string;
  readonly body: string;
}

/** Signs a push. Must be called when the push is sent, because the time is signed. */
export function signPush(
  keys: Pick<PushKeys, 'appId' | 'callbackSecret'>,
  path: string,
  { due, eventId, head, tail }: PushedText,
  now: number,
): SignedPush {
  const body = `${head}${due.retryNo}${tail}`;
  const timestamp = String(now);
  const nonce = toHex(randomBytes(NONCE_BYTES));
  const bodySha256 = hash('sha256', body);
  const signature = signWebhook({ path, bodySha256, timestamp, nonce, eventId }, keys.callbackSecret);
  return {
    headers: `Content-Type: application/json\r\nX-SVC-App-Id: ${keys.appId}\r\nX-SVC-Timestamp: ${timestamp}\r\nX-SVC-Nonce: ${nonce}\r\nX-SVC-Event-Id: ${eventId}\r\nX-SVC-Signature: ${signature}\r\n`,
    body,
  };
}
