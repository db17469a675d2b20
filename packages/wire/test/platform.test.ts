import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hex, platforms } from './platforms.js';

describe.each(platforms)('platform %s', (_name, platform) => {
  it.each([1, 31, 32, 63, 64, 65, 200])(
    'computes the HMAC under a key of %i bytes, one text after another',
    (length) => {
      const key = new Uint8Array(length).fill(length);
      for (const text of ['', 'POST\n/events\n\nabc\n1767225600000\nnonce\n4711', '路径 ü', 'x'.repeat(5_000)]) {
        const mac = createHmac('sha256', key).update(text).digest();
        expect(platform.hmacSha256(key, text)).toEqual(new Uint8Array(mac));
        expect(platform.hmacSha256Base64(key, text)).toBe(mac.toString('base64'));
      }
    },
  );

  it('a result does not change when another is computed', () => {
    const key = new Uint8Array(32);
    const first = platform.hmacSha256(key, 'one');
    const copy = first.slice();
    platform.hmacSha256(key, 'another');
    expect(first).toEqual(copy);
  });

  it('leaves neither a key nor a text in the memory that Buffers share', () => {
    const key = new Uint8Array(32).fill(0xa5);
    const text = 'a text that nobody else may come upon';
    const shared = Buffer.from(Buffer.allocUnsafe(1).buffer);
    platform.hmacSha256(key, text);
    expect(shared.indexOf(Buffer.alloc(32, 0xa5 ^ 0x36))).toBe(-1);
    expect(shared.indexOf(Buffer.alloc(32, 0xa5 ^ 0x5c))).toBe(-1);
    expect(shared.indexOf(text)).toBe(-1);
  });

  it('encrypts and decrypts the AES-256-CBC block of SP 800-38A', () => {
    const key = hex('603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4');
    const iv = hex('000102030405060708090a0b0c0d0e0f');
    const text = hex('6bc1bee22e409f96e93d7e117393172a');
    const sealed = platform.aes256CbcEncrypt(key, iv, text);
    expect(sealed.subarray(0, 16)).toEqual(hex('f58c4c04d6e5f1ba779eabfb5f7bfbd6'));
    expect(sealed).toHaveLength(32);
    expect(platform.aes256CbcDecrypt(key, iv, sealed)).toEqual(text);
  });

  it('encrypts and decrypts test case 14 of the paper on GCM', () => {
    const [key, iv, text] = [new Uint8Array(32), new Uint8Array(12), new Uint8Array(16)];
    const sealed = platform.aes256GcmEncrypt(key, iv, text);
    expect(sealed).toEqual(hex('cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919'));
    expect(platform.aes256GcmDecrypt(key, iv, sealed)).toEqual(text);
  });

  it('gives plain byte arrays, so that slice copies', () => {
    const results = [
      platform.randomBytes(16),
      platform.hmacSha256(new Uint8Array(32), ''),
      platform.fromBase64('AAAA'),
    ];
    for (const bytes of results) expect(bytes?.constructor).toBe(Uint8Array);
  });

  it.each([
    ['', ''],
    ['66', 'Zg=='],
    ['666f', 'Zm8='],
    ['666f6f', 'Zm9v'],
    ['fbff', '+/8='],
    ['ffffff', '////'],
  ])('reads and writes %s as base64 %s', (bytes, text) => {
    expect(platform.toBase64(hex(bytes))).toBe(text);
    expect(platform.fromBase64(text)).toEqual(hex(bytes));
    const url = text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    expect(platform.toBase64Url(hex(bytes))).toBe(url);
    expect(platform.fromBase64Url(url)).toEqual(hex(bytes));
  });

  it.each([
    ['no padding', 'Zg'],
    ['half the padding', 'Zg='],
    ['too much padding', 'Zg==='],
    ['padding after a whole group', 'Zm9v===='],
    ['padding alone', '===='],
    ['text after the padding', 'Zg==Zg=='],
    ['stray bits before ==', 'Zh=='],
    ['stray bits before =', 'Zm9='],
    ['one character over', 'Zm9vZ'],
    ['a space inside', 'Zm 9v'],
    ['a line break at the end', 'Zm9v\n'],
    ['URL alphabet', '-_8='],
    ['junk that a lax decoder skips', 'Zm9v!'],
    ['a NUL', 'Zm9v\u0000'],
    ['beyond ASCII', 'Zm9é'],
    ['full-width letters', 'Ｚｍ９ｖ'],
  ])('refuses base64 with %s', (_why, text) => {
    expect(platform.fromBase64(text)).toBeUndefined();
  });

  it.each([
    ['padding', 'Zg=='],
    ['the standard alphabet', '+/8'],
    ['stray bits', 'Zh'],
    ['one character over', 'Zm9vZ'],
    ['a space', 'Zm9v '],
    ['junk', 'Zm9v!'],
  ])('refuses base64url with %s', (_why, text) => {
    expect(platform.fromBase64Url(text)).toBeUndefined();
  });

  it('reads a view into a larger buffer as that view only', () => {
    const view = Uint8Array.from([1, 2, 3, 4, 5]).subarray(1, 4);
    expect(platform.toBase64(view)).toBe('AgME');
    expect(platform.toBase64Url(view)).toBe('AgME');
  });

  it('compares bytes and never throws', () => {
    expect(platform.equalBytes(hex('0102'), hex('0102'))).toBe(true);
    expect(platform.equalBytes(hex('0102'), hex('0103'))).toBe(false);
    expect(platform.equalBytes(hex('0102'), hex('01'))).toBe(false);
    expect(platform.equalBytes(hex(''), hex('01'))).toBe(false);
    expect(platform.equalBytes(hex(''), hex(''))).toBe(true);
  });
});

describe('both platforms', () => {
  it('give the same answer for anything', () => {
    const [[, one] = [], [, other] = []] = platforms;
    if (one === undefined || other === undefined) throw new Error('two platforms are expected');
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    fc.assert(
      fc.property(bytes(32), bytes(16), fc.uint8Array(), fc.string({ unit: 'binary' }), (key, iv, body, text) => {
        expect(one.sha256Hex(body)).toBe(other.sha256Hex(body));
        expect(one.hmacSha256(key, text)).toEqual(other.hmacSha256(key, text));
        expect(one.aes256CbcEncrypt(key, iv, body)).toEqual(other.aes256CbcEncrypt(key, iv, body));
        const gcmIv = iv.subarray(0, 12);
        expect(one.aes256GcmEncrypt(key, gcmIv, body)).toEqual(other.aes256GcmEncrypt(key, gcmIv, body));
        expect(one.toBase64(body)).toBe(other.toBase64(body));
        expect(one.fromBase64(text)).toEqual(other.fromBase64(text));
        expect(one.fromBase64Url(one.toBase64Url(body))).toEqual(other.fromBase64Url(other.toBase64Url(body)));
      }),
    );
  });
});
