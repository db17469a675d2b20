import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import vectors from '../vectors/encrypted-fields.json' with { type: 'json' };
import { hex, key, loadOn, platforms } from './platforms.js';

const aesKey = key(vectors.aesKey);

describe.each(platforms)('encrypted fields on %s', (_name, platform) => {
  let wire: Awaited<ReturnType<typeof loadOn>>;
  beforeAll(async () => {
    wire = await loadOn(platform);
  });

  const decryptFailed = expect.objectContaining({
    message: 'an encrypted field cannot be read',
    result: expect.objectContaining({ name: 'DECRYPT_FAILED', code: '400002' }),
  });

  it.each(vectors.good)('$name', (vector) => {
    expect(wire.encryptField(vector.text, aesKey, hex(vector.ivHex))).toBe(vector.value);
    expect(wire.decryptField(vector.value, aesKey)).toBe(vector.text);
  });

  it.each(vectors.bad)('refuses: $name ($why)', (vector) => {
    expect(() => wire.decryptField(vector.value, aesKey)).toThrow(decryptFailed);
  });

  it('still reads a good one after a bad one', () => {
    for (const { value } of vectors.bad) expect(() => wire.decryptField(value, aesKey)).toThrow();
    for (const { value, text } of vectors.good) expect(wire.decryptField(value, aesKey)).toBe(text);
  });

  it('takes a fresh IV each time', () => {
    expect(wire.encryptField('13800000001', aesKey)).not.toBe(wire.encryptField('13800000001', aesKey));
  });

  it('blames a key of the wrong length on this side, not on the channel', () => {
    for (const { value } of [...vectors.good, ...vectors.bad]) {
      expect(() => wire.decryptField(value, new Uint8Array(16))).toThrow(RangeError);
    }
  });

  it('reads back whatever it wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        expect(wire.decryptField(wire.encryptField(text, aesKey), aesKey)).toBe(text);
      }),
    );
  });

  it('answers a damaged value with a text or with DECRYPT_FAILED, never with another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 80 }), (bytes) => {
        try {
          expect(typeof wire.decryptField(wire.ENCRYPTED_PREFIX + platform.toBase64(bytes), aesKey)).toBe('string');
        } catch (error) {
          expect(error).toEqual(decryptFailed);
        }
      }),
    );
  });
});
