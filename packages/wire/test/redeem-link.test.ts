import { describe, expect, it } from 'vitest';
import vectors from '../vectors/redeem-link.json' with { type: 'json' };
import { key, loaded } from './platforms.js';

const secret = key(vectors.callbackSecret);

describe.each(loaded)('redeem links on %s', (_name, _platform, wire) => {
  it.each(vectors.cases)('$name', (vector) => {
    expect(wire.redeemSignText(vector)).toBe(vector.signText);
    expect(wire.signRedeemLink(vector, secret)).toBe(vector.sig);
    expect(wire.redeemUrl(vector, secret)).toBe(vector.url);
    expect(wire.verifyRedeemLink(vector, vector.sig, secret)).toBe(true);
    // A URL parser reads from the link what was signed.
    const query = new URL(vector.url).searchParams;
    const parts = {
      orderNo: query.get('orderNo') ?? '',
      appId: query.get('appId') ?? '',
      channelUserId: query.get('channelUserId') ?? '',
      exp: Number(query.get('exp')),
    };
    expect(wire.verifyRedeemLink(parts, query.get('sig') ?? '', secret)).toBe(true);
  });

  it('refuses a signature of other values, another key or another form', () => {
    const [vector] = vectors.cases;
    if (vector === undefined) throw new Error('no vectors');
    const { sig } = vector;
    expect(wire.verifyRedeemLink({ ...vector, orderNo: '700000000000002' }, sig, secret)).toBe(false);
    expect(wire.verifyRedeemLink({ ...vector, appId: 'test_other' }, sig, secret)).toBe(false);
    expect(wire.verifyRedeemLink({ ...vector, channelUserId: 'user-2' }, sig, secret)).toBe(false);
    expect(wire.verifyRedeemLink({ ...vector, exp: vector.exp + 1 }, sig, secret)).toBe(false);
    expect(wire.verifyRedeemLink(vector, sig, new Uint8Array(32))).toBe(false);
    expect(wire.verifyRedeemLink(vector, `${sig}=`, secret)).toBe(false);
    expect(wire.verifyRedeemLink(vector, sig.slice(1), secret)).toBe(false);
    expect(wire.verifyRedeemLink(vector, '!'.repeat(43), secret)).toBe(false);
    expect(wire.verifyRedeemLink(vector, '', secret)).toBe(false);
  });
});
