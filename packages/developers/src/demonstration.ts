import {
  fromBase64,
  HEADERS,
  type PushHeaders,
  type RequestSignParts,
  sha256Hex,
  signRequest,
  signWebhook,
} from '@perennial/wire';

/** The published secrets of the test vectors. No channel uses them. All examples are signed and encrypted with them. */
export const DEMONSTRATION = {
  appId: 'test_demo',
  appSecret: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  aesKey: 'gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp8=',
  callbackSecret: 'QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=',
} as const;

export const bytesOf = (secret: string): Uint8Array => fromBase64(secret) ?? new Uint8Array();

/** The header values of all examples. They are fixed, so that every build gives the same pages. */
export const EXAMPLE_HEADERS = {
  timestamp: '1768449600000',
  nonce: '00112233445566778899aabbccddeeff',
  requestId: '6f1c1e0e-5d0b-4a53-9f7e-2f8d9f0f7a11',
} as const;

export const RECEIVER_PATH = '/events';

/** Signs a request with `EXAMPLE_HEADERS`. The signature is valid only for exactly this body. */
export function signForShow(path: string, body: string): string {
  const parts: RequestSignParts = { path, query: '', bodySha256: sha256Hex(Buffer.from(body)), ...EXAMPLE_HEADERS };
  return signRequest(parts, bytesOf(DEMONSTRATION.appSecret));
}

/** Returns the headers of a push. The signature is valid only for exactly this body. */
export function pushHeadersFor(eventId: string, body: string): PushHeaders {
  const { timestamp, nonce } = EXAMPLE_HEADERS;
  const bodySha256 = sha256Hex(Buffer.from(body));
  return {
    [HEADERS.contentType]: 'application/json',
    [HEADERS.appId]: DEMONSTRATION.appId,
    [HEADERS.timestamp]: timestamp,
    [HEADERS.nonce]: nonce,
    [HEADERS.eventId]: eventId,
    [HEADERS.signature]: signWebhook(
      { path: RECEIVER_PATH, bodySha256, timestamp, nonce, eventId },
      bytesOf(DEMONSTRATION.callbackSecret),
    ),
  };
}
