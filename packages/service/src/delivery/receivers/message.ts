import { hash, randomFillSync } from 'node:crypto';
import { encryptField, formatTime, type PaymentPayload, webhookSignText } from '@perennial/wire';
import { dueAt } from '../../subscriptions/domain/orders/calendar.js';
import { paymentOrderNo } from '../../subscriptions/domain/orders/numbers.js';
import type { DueEvent, StoredEvent } from '../queue/due-sql.js';
import { keyOf } from '../queue/due-sql.js';
import type { Receiver } from './receivers.js';

/** What is pushed to a channel, except for what each push has of its own. */
export interface Message {
  readonly due: DueEvent;
  /** Of the channel whose key was used for it. */
  readonly version: number;
  readonly eventId: string;
  /** The body before and after retryNo. */
  readonly head: string;
  readonly tail: string;
}

/** Of an order event the stored text is sent as it is. */
export function createMessage(receiver: Receiver, due: DueEvent, event: StoredEvent): Message {
  const eventId = String(keyOf(due));
  const data = due.isPayment ? JSON.stringify(paymentData(receiver, due, event)) : event.data;
  return {
    due,
    version: receiver.version,
    eventId,
    head: `{"eventId":"${eventId}","eventType":"${event.eventType}","occurredAt":"${formatTime(event.occurredAt)}","retryNo":`,
    tail: `,"data":${data}}`,
  };
}

/** What was stored about the period, and the user's mobile under the channel's key of now. */
function paymentData(receiver: Receiver, due: DueEvent, event: StoredEvent): PaymentPayload {
  const stored: StoredPayment = JSON.parse(event.data);
  const period = due.cycleNo === 0 ? stored : { ...stored, ...voidedPeriod(due, event) };
  const { orderNo, externalOrderNo, paymentOrderNo, channelUserId, ...rest } = period;
  if (rest.cycleNo === undefined) throw new Error(`event ${keyOf(due)} has no cycleNo`);
  const mobileEncrypted = encryptMobile(receiver, event);
  // In the order in which the interface names the fields.
  return { orderNo, externalOrderNo, paymentOrderNo, channelUserId, mobileEncrypted, ...rest };
}

type StoredPayment = Omit<PaymentPayload, 'mobileEncrypted'>;

/** Of periods that were voided together the first one is stored. What is different for this one: */
function voidedPeriod(
  due: DueEvent,
  { createdAt, periodType, period }: StoredEvent,
): Pick<StoredPayment, 'paymentOrderNo' | 'cycleNo' | 'expectPayTime'> {
  if (createdAt === null || periodType === null || period === null) {
    throw new Error(`event ${keyOf(due)} has no order`);
  }
  return {
    paymentOrderNo: paymentOrderNo(due.orderNo, due.cycleNo),
    cycleNo: due.cycleNo,
    expectPayTime: formatTime(dueAt(createdAt, { periodType, period }, due.cycleNo)),
  };
}

/** Only events of orders on a shared agreement carry it. */
function encryptMobile(receiver: Receiver, { mobile, channelUserId }: StoredEvent): string | null {
  if (mobile === null || channelUserId === null) return null;
  return encryptField(receiver.decryptMobile({ mobile, channelUserId }), receiver.aesKey, receiver.encryption);
}

export interface SignedPush {
  /** One line for each, as they are sent. */
  readonly headers: string;
  readonly body: string;
}

/** Called when the push is sent, so that the secret of that moment is used. */
export function signPush(
  receiver: Pick<Receiver, 'appId' | 'sign'>,
  path: string,
  { due, eventId, head, tail }: Message,
  now: number,
): SignedPush {
  const body = `${head}${due.retryNo}${tail}`;
  const timestamp = String(now);
  const nonce = nextNonce();
  const bodySha256 = hash('sha256', body);
  const signature = receiver.sign(webhookSignText({ path, bodySha256, timestamp, nonce, eventId }));
  return {
    headers: `Content-Type: application/json\r\nX-SVC-App-Id: ${receiver.appId}\r\nX-SVC-Timestamp: ${timestamp}\r\nX-SVC-Nonce: ${nonce}\r\nX-SVC-Event-Id: ${eventId}\r\nX-SVC-Signature: ${signature}\r\n`,
    body,
  };
}

const NONCE_BYTES = 16;
/** Random bytes for many nonces at once: a call for each took a quarter of the time that signing takes. */
const randomBytes = Buffer.alloc(NONCE_BYTES * 256);
let usedBytes = randomBytes.length;

function nextNonce(): string {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  usedBytes += NONCE_BYTES;
  return randomBytes.toString('hex', usedBytes - NONCE_BYTES, usedBytes);
}
