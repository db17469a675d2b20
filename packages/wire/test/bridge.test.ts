import { describe, expect, it } from 'vitest';
import { hex, loaded } from './platforms.js';

const key = new Uint8Array(32).fill(7);
const path = '/bank/debit';
const now = 1_767_225_600_000;
const body = new TextEncoder().encode('{"attemptNo":"A1"}');

describe.each(loaded)('messages over a bridge on %s', (_name, platform, wire) => {
  it('are accepted by the other end only as they were signed', () => {
    const headers = wire.signedHeaders({ path, body, now, requestId: 'request-1' }, key);
    const nonce = headers[wire.BRIDGE_HEADERS.nonce];
    expect(nonce).toMatch(/^[0-9a-f]{32}$/);
    const received = { path, query: '', headers, body, now };
    expect(wire.checkSignature(received, key)).toEqual({ trusted: true, nonce, requestId: 'request-1' });
    for (const changed of [{ path: '/bank/refund' }, { query: 'a=1' }, { body: new Uint8Array() }]) {
      expect(wire.checkSignature({ ...received, ...changed }, key).trusted).toBe(false);
    }
    expect(wire.checkSignature(received, new Uint8Array(32)).trusted).toBe(false);
    expect(wire.checkSignature({ ...received, now: now + 300_001 }, key).trusted).toBe(false);
  });

  it('are answered with a signature over path, nonce and body', () => {
    const nonce = '00112233445566778899aabbccddeeff';
    const text = `RESPONSE\n${path}\n${nonce}\n${platform.sha256Hex(body)}`;
    expect(wire.responseSignText(path, nonce, body)).toBe(text);
    const signature = wire.signResponse(path, nonce, body, key);
    expect(signature).toBe(platform.toBase64(platform.hmacSha256(key, text)));
    expect(wire.isSignedResponse(signature, path, nonce, body, key)).toBe(true);
    expect(wire.isSignedResponse(signature, path, platform.toHex(hex('00')), body, key)).toBe(false);
  });
});
