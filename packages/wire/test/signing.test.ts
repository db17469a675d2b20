import { describe, expect, it } from 'vitest';
import requests from '../vectors/request-signature.json' with { type: 'json' };
import webhooks from '../vectors/webhook-signature.json' with { type: 'json' };
import { hex, key, loaded } from './platforms.js';

describe.each(loaded)('signatures on %s', (_name, platform, wire) => {
  it.each(requests.cases)('request: $name', (vector) => {
    const bodySha256 = platform.sha256Hex(hex(vector.bodyHex));
    expect(bodySha256).toBe(vector.bodySha256);
    expect(wire.requestSignText({ ...vector, bodySha256 })).toBe(vector.signText);
    expect(wire.signRequest({ ...vector, bodySha256 }, key(requests.appSecret))).toBe(vector.signature);
  });

  it.each(webhooks.cases)('webhook: $name', (vector) => {
    const bodySha256 = platform.sha256Hex(hex(vector.bodyHex));
    expect(bodySha256).toBe(vector.bodySha256);
    expect(wire.webhookSignText({ ...vector, bodySha256 })).toBe(vector.signText);
    expect(wire.signWebhook({ ...vector, bodySha256 }, key(webhooks.callbackSecret))).toBe(vector.signature);
  });

  it('has the hash of an empty body', () => {
    expect(wire.EMPTY_SHA256).toBe(platform.sha256Hex(new Uint8Array()));
  });

  it('changes with every signed part', () => {
    const parts = { path: '/p', query: 'q', bodySha256: 'b', timestamp: '1', nonce: 'n', requestId: 'r' };
    const secret = key(requests.appSecret);
    const original = wire.signRequest(parts, secret);
    for (const field of Object.keys(parts)) {
      expect(wire.signRequest({ ...parts, [field]: 'changed' }, secret), field).not.toBe(original);
    }
  });

  describe('verifySignature', () => {
    const mac = hex('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
    const signature = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

    it('accepts the signature against its text and against the MAC', () => {
      expect(wire.verifySignature(signature, signature)).toBe(true);
      expect(wire.verifySignature(signature, mac)).toBe(true);
    });

    it.each([
      ['first letter changed', `B${signature.slice(1)}`],
      ['last letter changed', `${signature.slice(0, -2)}4=`],
      ['stray bits, the same bytes to a lax decoder', `${signature.slice(0, -2)}9=`],
      ['padding left out', signature.slice(0, -1)],
      ['padding in excess', `${signature}=`],
      ['base64 of 33 bytes', 'A'.repeat(44)],
      ['base64 of 31 bytes', `${'A'.repeat(42)}==`],
      ['44 characters of junk', '!'.repeat(44)],
    ])('refuses one that is %s', (_why, given) => {
      expect(wire.verifySignature(given, signature)).toBe(false);
      expect(wire.verifySignature(given, mac)).toBe(false);
    });

    it('refuses everything but 32 bytes, even where both sides agree', () => {
      expect(wire.verifySignature('!'.repeat(44), '!'.repeat(44))).toBe(false);
      expect(wire.verifySignature(signature, new Uint8Array())).toBe(false);
      expect(wire.verifySignature('', '')).toBe(false);
      expect(wire.verifySignature('', new Uint8Array())).toBe(false);
      expect(wire.verifySignature('A'.repeat(44), new Uint8Array(33))).toBe(false);
      expect(wire.verifySignature(`${'A'.repeat(42)}==`, new Uint8Array(31))).toBe(false);
      expect(wire.verifySignature('AA==', 'AA==')).toBe(false);
    });
  });
});
