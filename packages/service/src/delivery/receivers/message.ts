import { hash, randomFillSync } from 'node:crypto';
import { encryptField, formatTime, webhookSignText } from '@perennial/wire';
import { dueAt } from '../../subscriptions/domain/orders/calendar.js';
import { paymentOrderNo } from '../../subscriptions/domain/orders/numbers.js';
import type { DueEvent, StoredEvent } from '../queue/due-sql.js';
import { keyOf } from '../queue/due-sql.js';
import type { Receiver } from './receivers.js';

/** What is sent to a channel, but for what each push has of its own. */
export interface Message {
  readonly due: DueEvent;
  /** Of the channel, whose key is used in it. */
  readonly version: number;
  readonly eventId: string;
  /** The envelope before and after retryNo. */
  readonly head: string;
  readonly tail: string;
}

/** The event's stored text stays as it is: only what each push adds is put around it. */
export function messageOf(receiver: Receiver, due: DueEvent, event: StoredEvent): Message {
  const eventId = String(keyOf(due));
  const data = due.isPayment ? paymentData(receiver, due, event) : event.data;
  return {
    due,
    version: receiver.version,
    eventId,
    head: `{"eventId":"${eventId}","eventType":"${event.eventType}","occurredAt":"${formatTime(event.occurredAt)}","retryNo":`,
    tail: `,"data":${data}}`,
  };
}

/** A quote inside a JSON text is escaped, so this can be nothing but the field itself. */
const BEFORE_CYCLE = ',"cycleNo":';

function paymentData(receiver: Receiver, due: DueEvent, event: StoredEvent): string {
  const text = due.cycleNo === 0 ? event.data : voidedPeriod(due, event);
  const at = text.indexOf(BEFORE_CYCLE);
  if (at < 0) throw new Error(`event ${keyOf(due)} has no cycleNo`);
  const { mobile, channelUserId } = event;
  const encrypted =
    mobile === null || channelUserId === null
      ? 'null'
      : `"${encryptField(receiver.mobileOf({ mobile, channelUserId }), receiver.aesKey, receiver.encryption)}"`;
  return `${text.slice(0, at)},"mobileEncrypted":${encrypted}${text.slice(at)}`;
}

/** One of several periods that were voided together: as the first of them, with its own number and time. */
function voidedPeriod(due: DueEvent, { data, createdAt, periodType, period }: StoredEvent): string {
  if (createdAt === null || periodType === null || period === null) {
    throw new Error(`event ${keyOf(due)} has no order`);
  }
  return JSON.stringify({
    ...JSON.parse(data),
    paymentOrderNo: paymentOrderNo(due.orderNo, due.cycleNo),
    cycleNo: due.cycleNo,
    expectPayTime: formatTime(dueAt(createdAt, { periodType, period }, due.cycleNo)),
  });
}

export interface SignedPush {
  /** As they are sent: a line each. */
  readonly headers: string;
  readonly body: string;
}

/** Signed when it is sent, with the secret of that moment. */
export function signPush(
  receiver: Receiver,
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
/** For many nonces at once: a call for each took a quarter of the time that signing takes. */
const random = Buffer.alloc(NONCE_BYTES * 256);
let used = random.length;

function nextNonce(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += NONCE_BYTES;
  return random.toString('hex', used - NONCE_BYTES, used);
}
