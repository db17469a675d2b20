import {
  type AnySchema,
  type EventType,
  encryptField,
  HEADERS,
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
  /** What is to be told; with `aesKey` in plain fields, which are then encrypted. */
  readonly event: WebhookEvent | EncryptedWebhookEvent;
  readonly aesKey?: string | undefined;
  readonly appId?: string | undefined;
  readonly now?: (() => number) | undefined;
}

export interface SignedWebhook {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** An event as the service would send it, for the tests of a receiver. */
export function signWebhookForTest(options: SignWebhookOptions): SignedWebhook {
  const { event, path, aesKey, now = systemNow } = options;
  const body = JSON.stringify(aesKey === undefined ? event : encryptEvent(event, readSecret('aesKey', aesKey)));
  const timestamp = String(now());
  const nonce = toHex(randomBytes(16));
  const { eventId } = event;
  const parts = { path, bodySha256: sha256Hex(new TextEncoder().encode(body)), timestamp, nonce, eventId };
  return {
    headers: {
      [HEADERS.contentType]: WEBHOOK_CONTENT_TYPE,
      [HEADERS.appId]: options.appId ?? 'test_channel',
      [HEADERS.timestamp]: timestamp,
      [HEADERS.nonce]: nonce,
      [HEADERS.eventId]: eventId,
      [HEADERS.signature]: signWebhook(parts, readSecret('callbackSecret', options.callbackSecret)),
    },
    body,
  };
}

const encryptEvent = (event: WebhookEvent | EncryptedWebhookEvent, aesKey: Uint8Array): Fields =>
  encryptFields(schemaOf(event.eventType), { ...event }, (text) => encryptField(text, aesKey, 'v2'));

/** Of a type that is not known here, nothing is known to be encrypted: a test may want to see it arrive all the same. */
const schemaOf = (eventType: EventType): AnySchema =>
  Object.hasOwn(WEBHOOK_EVENTS, eventType) ? WEBHOOK_EVENTS[eventType] : {};
