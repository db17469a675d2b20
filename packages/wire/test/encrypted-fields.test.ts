import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encryptionVersions } from '../src/enums.js';
import v1 from '../vectors/encrypted-fields.json' with { type: 'json' };
import v2 from '../vectors/encrypted-fields-v2.json' with { type: 'json' };
import { hex, key, loaded } from './platforms.js';

const vectors = { v1, v2 };
const aesKey = key(v1.aesKey);
const runs = loaded.flatMap(([name, platform, wire]) =>
  encryptionVersions.map((version) => ({ name, platform, wire, version, ...vectors[version] })),
);

describe.each(runs)('encrypted fields, $version on $name', ({ platform, wire, version, good, bad }) => {
  const decryptFailed = expect.objectContaining({
    message: 'an encrypted field cannot be decrypted',
    result: expect.objectContaining({ name: 'DECRYPT_FAILED', code: '400002' }),
  });

  it.each(good)('$name', (vector) => {
    expect(wire.encryptField(vector.text, aesKey, version, hex(vector.ivHex))).toBe(vector.value);
    expect(wire.decryptField(vector.value, aesKey)).toBe(vector.text);
    expect(wire.encryptionVersionOf(vector.value)).toBe(version);
  });

  it.each(bad)('refuses: $name ($why)', (vector) => {
    expect(() => wire.decryptField(vector.value, aesKey)).toThrow(decryptFailed);
  });

  it('still reads a good one after a bad one', () => {
    for (const { value } of bad) expect(() => wire.decryptField(value, aesKey)).toThrow();
    for (const { value, text } of good) expect(wire.decryptField(value, aesKey)).toBe(text);
  });

  it('takes a fresh IV each time', () => {
    const once = () => wire.encryptField('13800000001', aesKey, version);
    expect(once()).not.toBe(once());
  });

  it('throws a RangeError for a key of the wrong length', () => {
    for (const wrong of [0, 16, 24, 31, 33].map((length) => new Uint8Array(length))) {
      for (const { value } of [...good, ...bad]) expect(() => wire.decryptField(value, wrong)).toThrow(RangeError);
      expect(() => wire.encryptField('13800000001', wrong, version)).toThrow(RangeError);
    }
  });

  it('refuses an IV of the wrong length', () => {
    for (const length of [0, 8, 11, 13, 17, version === 'v1' ? 12 : 16]) {
      expect(() => wire.encryptField('13800000001', aesKey, version, new Uint8Array(length))).toThrow();
    }
  });

  it('reads back whatever it wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        expect(wire.decryptField(wire.encryptField(text, aesKey, version), aesKey)).toBe(text);
      }),
    );
  });

  it('reads a damaged value as text or throws DECRYPT_FAILED, never another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 80 }), (bytes) => {
        try {
          const value = wire.ENCRYPTED_PREFIXES[version] + platform.toBase64(bytes);
          expect(typeof wire.decryptField(value, aesKey)).toBe('string');
        } catch (error) {
          expect(error).toEqual(decryptFailed);
        }
      }),
    );
  });
});

describe.each(loaded)('the forms of an encrypted field on %s', (_name, platform, wire) => {
  it('v1 unless another is named', () => {
    expect(wire.encryptionVersionOf(wire.encryptField('x', aesKey))).toBe('v1');
    for (const value of ['', 'x', 'svc_aes_v3:AAAA', 'SVC_AES_V2:AAAA', ' svc_aes_v1:AAAA']) {
      expect(wire.encryptionVersionOf(value)).toBeUndefined();
    }
  });

  it('v2: no value with a changed bit is read', () => {
    const [, body = ''] = wire.encryptField('13800000001', aesKey, 'v2').split(':');
    const bytes = platform.fromBase64(body) ?? new Uint8Array();
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const value = wire.ENCRYPTED_PREFIXES.v2 + platform.toBase64(changed);
      expect(() => wire.decryptField(value, aesKey)).toThrow('an encrypted field cannot be decrypted');
    }
  });

  it('v2: its key is HMAC-SHA256 of the prefix without its colon, under the aesKey', () => {
    expect(platform.hmacSha256(aesKey, 'svc_aes_v2')).toEqual(hex(v2.derivedKeyHex));
  });
});
