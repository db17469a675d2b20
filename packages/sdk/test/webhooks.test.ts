import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  signWebhookForTest,
  type VerifyWebhookOptions,
  verifyWebhook,
  WebhookVerificationError,
} from '../src/index.js';
import { deepEvent, NOW, paymentEvent, SECRETS, signText } from './support.js';

interface Vectors {
  readonly callbackSecret: string;
  readonly cases: readonly {
    readonly name: string;
    readonly path: string;
    readonly bodyHex: string;
    readonly timestamp: string;
    readonly nonce: string;
    readonly eventId: string;
    readonly signature: string;
  }[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../wire/vectors/webhook-signature.json', import.meta.url), 'utf8'),
);

const PATH = '/events';
const event = paymentEvent('evt_1');

function signed(more: Partial<Parameters<typeof signWebhookForTest>[0]> = {}): VerifyWebhookOptions {
  const { callbackSecret, aesKey } = SECRETS;
  const now = () => NOW;
  const { headers, body } = signWebhookForTest({ callbackSecret, aesKey, path: PATH, event, now, ...more });
  return { callbackSecret, path: PATH, headers, rawBody: body, now };
}

/** Returns `good`, or the reason for which the event is refused. */
const verdict = (options: VerifyWebhookOptions): string => {
  try {
    verifyWebhook(options);
    return 'good';
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    expect(error.message).not.toMatch(/QEFCQ0RF|gIGCg4SF/);
    return error.reason;
  }
};

describe('the known answers', () => {
  // No vector is a complete event, so even a vector with a valid signature is refused, but for another reason.
  it.each(vectors.cases)('$name', ({ path, bodyHex, timestamp, nonce, eventId, signature }) => {
    const rawBody = Buffer.from(bodyHex, 'hex');
    const headers = {
      'x-svc-timestamp': timestamp,
      'x-svc-nonce': nonce,
      'x-svc-event-id': eventId,
      'x-svc-signature': signature,
    };
    const options = { callbackSecret: vectors.callbackSecret, path, headers, rawBody, now: () => Number(timestamp) };
    const isJson = /^7b.*7d$/.test(bodyHex);
    const hasItsId = rawBody.includes(`"eventId":"${eventId}"`);
    expect(verdict(options)).toBe(hasItsId ? 'not-an-event' : isJson ? 'event-id-mismatch' : 'not-json');
    expect(verdict({ ...options, rawBody: Buffer.concat([rawBody, Buffer.from(' ')]) })).toBe('signature-mismatch');
    for (const name of ['x-svc-timestamp', 'x-svc-nonce', 'x-svc-event-id'] as const) {
      const changed = { ...headers, [name]: headers[name].replace(/.$/, (last) => (last === '1' ? '2' : '1')) };
      expect(verdict({ ...options, headers: changed })).toBe('signature-mismatch');
    }
  });
});

describe('an event', () => {
  it('has plain fields with a key, and is unchanged without one', () => {
    const options = signed();
    expect(verifyWebhook({ ...options, aesKey: SECRETS.aesKey })).toEqual(event);
    const sealed = verifyWebhook(options);
    expect(sealed.data).toMatchObject({ mobileEncrypted: expect.stringMatching(/^svc_aes_v2:/) });
    expect(
      verifyWebhook({ ...signed({ event: paymentEvent('evt_2', null) }), aesKey: SECRETS.aesKey }).data,
    ).toMatchObject({
      mobile: null,
    });
  });

  it('of an unknown type is signed, and passed on', () => {
    for (const eventType of ['benefit.status.changed', 'constructor']) {
      const unknown = { ...event, eventType, data: { orderNo: '1' } } as never;
      expect(verifyWebhook({ ...signed({ event: unknown }), aesKey: SECRETS.aesKey })).toEqual(unknown);
    }
  });

  it('is read from bytes, text and headers of every kind', () => {
    const options = signed();
    const bytes = Buffer.from(options.rawBody as string);
    const lower = Object.fromEntries(
      Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value as string]]));
    for (const rawBody of [bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer, options.rawBody]) {
      const fetched = new Headers(lower as Record<string, string>);
      const map = new Map(Object.entries(lower as Record<string, string>)) as unknown as Headers;
      for (const headers of [options.headers, lower, lists, fetched, map]) {
        expect(verdict({ ...options, headers, rawBody })).toBe('good');
      }
    }
  });

  it('is valid with the old secret and the new one during a reset', () => {
    const other = Buffer.alloc(32, 1).toString('base64');
    expect(verdict({ ...signed(), callbackSecret: [other, SECRETS.callbackSecret] })).toBe('good');
    expect(verdict({ ...signed(), callbackSecret: [SECRETS.callbackSecret, other] })).toBe('good');
    expect(verdict({ ...signed(), callbackSecret: [other] })).toBe('signature-mismatch');
  });
});

describe('a refusal', () => {
  it('names the reason', () => {
    const options = signed();
    const headers = options.headers as Record<string, string>;
    const without = (name: string) => ({ ...options, headers: { ...headers, [name]: undefined } });
    for (const name of ['X-SVC-Timestamp', 'X-SVC-Nonce', 'X-SVC-Event-Id', 'X-SVC-Signature']) {
      expect(verdict(without(name))).toBe('missing-header');
    }
    expect(verdict({ ...options, headers: { ...headers, 'X-SVC-Nonce': 'xyz' } })).toBe('malformed-header');
    expect(verdict({ ...options, headers: { ...headers, 'X-SVC-Nonce': ['a', 'b'] } })).toBe('malformed-header');
    expect(verdict({ ...options, headers: { ...headers, 'X-SVC-Signature': 'short' } })).toBe('signature-mismatch');
    expect(verdict({ ...options, path: '/other' })).toBe('signature-mismatch');
    const joined = `${headers['X-SVC-Signature']}, ${headers['X-SVC-Signature']}`;
    expect(verdict({ ...options, headers: { ...headers, 'X-SVC-Signature': joined } })).toBe('malformed-header');
    const parsed = JSON.parse(options.rawBody as string);
    expect(verdict({ ...options, rawBody: parsed })).toBe('body-was-parsed');
    expect(verdict({ ...options, rawBody: JSON.stringify(parsed, null, 1) })).toBe('signature-mismatch');
    const otherKey = Buffer.alloc(32, 1).toString('base64');
    expect(verdict({ ...options, aesKey: otherKey })).toBe('cannot-decrypt');
  });

  it('of a repeated header, in any case, even with equal values', () => {
    const options = signed();
    const headers = options.headers as Record<string, string>;
    for (const name of ['X-SVC-Timestamp', 'X-SVC-Nonce', 'X-SVC-Event-Id', 'X-SVC-Signature']) {
      const value = headers[name] as string;
      for (const twice of [{ [name.toLowerCase()]: value }, { [name]: [value, value] }]) {
        const given = { ...options, headers: { ...headers, ...twice } };
        expect(verdict(given)).toBe('malformed-header');
        expect(() => verifyWebhook(given)).toThrow(`${name} came more than once`);
      }
      expect(verdict({ ...options, headers: { ...headers, [name.toLowerCase()]: undefined } })).toBe('good');
    }
    expect(verdict({ ...options, headers: { ...headers, accept: ['a', 'b'], Accept: 'c' } })).toBe('good');
  });

  it('of a missing part names that part', () => {
    for (const none of [undefined, null]) {
      const without = (name: string) => ({ ...signed(), [name]: none }) as VerifyWebhookOptions;
      expect(verdict(without('headers'))).toBe('missing-header');
      expect(() => verifyWebhook(without('headers'))).toThrow('headers are missing');
      expect(verdict(without('rawBody'))).toBe('missing-body');
      expect(() => verifyWebhook(without('rawBody'))).toThrow('rawBody is missing');
      expect(() => verifyWebhook(without('path'))).toThrow(/^path must be the path of the callback address/);
      expect(() => verifyWebhook(without('callbackSecret'))).toThrow(/^callbackSecret must be a string/);
      expect(() => verifyWebhook(none as unknown as VerifyWebhookOptions)).toThrow('options must be an object');
    }
  });

  it('of a body nested deeper than any event, with and without a key', () => {
    for (const [levels, expected] of [
      [60, 'good'],
      [64, 'too-deep'],
      [100_000, 'too-deep'],
    ] as const) {
      const rawBody = deepEvent('evt_1', levels);
      const options = { ...signed(), headers: signText(rawBody, PATH, 'evt_1', NOW), rawBody };
      expect(verdict(options)).toBe(expected);
      expect(verdict({ ...options, aesKey: SECRETS.aesKey })).toBe(expected);
    }
  });

  it('of a timestamp too far in the past or future', () => {
    for (const [away, expected] of [
      [300_000, 'good'],
      [300_001, 'stale-timestamp'],
      [-300_000, 'good'],
      [-300_001, 'stale-timestamp'],
    ] as const) {
      expect(verdict({ ...signed(), now: () => NOW + away })).toBe(expected);
    }
    expect(verdict({ ...signed(), now: () => NOW + 1001, toleranceMs: 1000 })).toBe('stale-timestamp');
  });

  it('of an invalid secret or path is a TypeError', () => {
    for (const wrong of [
      { callbackSecret: 'no' },
      { callbackSecret: [] },
      { aesKey: 'no' },
      { path: 'https://x.example/events' },
      { toleranceMs: Number.NaN },
      { toleranceMs: -1 },
      { now: () => Number.NaN },
    ]) {
      expect(() => verifyWebhook({ ...signed(), ...wrong })).toThrow(TypeError);
    }
  });
});
