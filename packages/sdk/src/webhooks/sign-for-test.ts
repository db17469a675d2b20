import {
  type AnySchema,
  type EventType,
  encryptField,
  HEADERS,
  type PushHeaders,
  randomBytes,
  sha256Hex,
  signWebhook,
  toHex,
  WEBHOOK_CONTENT_TYPE,
  WEBHOOK_EVENTS,
} from '@perennial/wire';
import { systemNow } from '../clock.js';
import { encryptFields, type Fields } from '../fields.js';
import { readSecret } from '../secrets.js';
import type { EncryptedWebhookEvent, WebhookEvent } from './verify.js';

export interface SignWebhookOptions {
  readonly callbackSecret: string;
  readonly path: string;
  /** The event to send. If `aesKey` is given, the fields that the service encrypts are encrypted. */
  readonly event: WebhookEvent | EncryptedWebhookEvent;
  readonly aesKey?: string | undefined;
  readonly appId?: string | undefined;
  readonly now?: (() => number) | undefined;
}

export interface SignedWebhook {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Returns a push as the service would send it, for testing a receiver. */
export function signWebhookForTest(options: SignWebhookOptions): SignedWebhook {
  const { event, path, aesKey, appId = 'test_channel', now = systemNow } = options;
  const body = JSON.stringify(aesKey === undefined ? event : encryptEvent(event, readSecret('aesKey', aesKey)));
  const callbackSecret = readSecret('callbackSecret', options.callbackSecret);
  return { headers: signPush({ path, body, appId, eventId: event.eventId, timestamp: now() }, callbackSecret), body };
}

interface Signable {
  readonly path: string;
  readonly body: string;
  readonly appId: string;
  readonly eventId: string;
  /** Unix milliseconds. */
  readonly timestamp: number;
}

/** Returns the headers of a push. The signature is valid only for exactly this body. */
export function signPush({ path, body, appId, eventId, timestamp }: Signable, callbackSecret: Uint8Array): PushHeaders {
  const nonce = toHex(randomBytes(16));
  const bodySha256 = sha256Hex(new TextEncoder().encode(body));
  return {
    [HEADERS.contentType]: WEBHOOK_CONTENT_TYPE,
    [HEADERS.appId]: appId,
    [HEADERS.timestamp]: String(timestamp),
    [HEADERS.nonce]: nonce,
    [HEADERS.eventId]: eventId,
    [HEADERS.signature]: signWebhook(
      { path, bodySha256, timestamp: String(timestamp), nonce, eventId },
      callbackSecret,
    ),
  };
}

const encryptEvent = (event: WebhookEvent | EncryptedWebhookEvent, aesKey: Uint8Array): Fields =>
  encryptFields(schemaOf(event.eventType), { ...event }, (text) => encryptField(text, aesKey, 'v2'));

/** Returns {} for an unknown event type, which tests can send too: without a schema nothing is encrypted. */
const schemaOf = (eventType: EventType): AnySchema =>
  Object.hasOwn(WEBHOOK_EVENTS, eventType) ? WEBHOOK_EVENTS[eventType] : {};
