import { gzipSync } from 'node:zlib';
import { MAX_BODY_BYTES, MAX_BODY_VALUES, PATH_PREFIX } from '@perennial/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonObject } from '../../src/http/requests/json-body.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import type { CallOptions } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, rawExchange, rawExchangeUnread, requestBytes } from '../support/raw-http.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

const NAME = 'test/taking';
/** The body that the endpoint's action received. */
let taken: unknown;
const taking = testRoute(NAME, async ({ answer }, request) => {
  taken = request;
  return answer(DONE);
});
const { service, channel } = serviceOfFile({
  moreRoutes: [taking],
  testLimits: { largeBodies: { bytesPerOwner: 33_554_432 }, httpLimits: { halfCloseTimeout: 1_000 } },
});

const take = (raw: string | Buffer, options: CallOptions = {}) => channel.call(NAME, {}, { raw, ...options });

async function expectRefused(raw: string | Buffer, message: RegExp, options: CallOptions = {}): Promise<void> {
  const reply = await take(raw, options);
  expect(reply.status).toBe(200);
  expectEnvelope(reply.envelope, '400001');
  expect(reply.envelope.message).toMatch(message);
}

describe('what a body is', () => {
  it.each([
    ['empty', ''],
    ['white space', ' \n'],
    ['an array', '[{"orderNo":"1"}]'],
    ['null', 'null'],
    ['true', 'true'],
    ['a number', '12'],
    ['a string', '"orderNo"'],
    ['broken JSON', '{"orderNo":"1"'],
    ['two objects', '{"orderNo":"1"}{}'],
    ['a comma too many', '{"orderNo":"1",}'],
    ['single quotes', "{'orderNo':'1'}"],
    ['a comment', '{"orderNo":"1"} // now'],
    ['NaN', '{"orderNo":NaN}'],
    ['a form', 'orderNo=1'],
    ['a byte order mark', '\uFEFF{"orderNo":"1"}'],
    ['UTF-16', Buffer.from('{"orderNo":"1"}', 'utf16le')],
    ['a control character', '{"orderNo":"\u0001"}'],
  ])('400001: not %s', async (_what, raw) => {
    await expectRefused(raw, /^body /);
  });

  it('0: an object, with white space around it and any field unknown', async () => {
    const reply = await take(' {"orderNo":"1","invented":{"deep":[1,null,true]},"":""}\r\n');
    expect(reply.code).toBe('0');
    expect(taken).toMatchObject({ orderNo: '1' });
  });

  it('0: the last value of a repeated field counts', async () => {
    expect((await take('{"orderNo":"1","orderNo":"2"}')).code).toBe('0');
    expect(taken).toEqual({ orderNo: '2' });
  });

  it('400001: gzip, declared or not', async () => {
    const zipped = gzipSync('{"orderNo":"1"}');
    await expectRefused(zipped, /Content-Encoding/, { headers: { 'Content-Encoding': 'gzip' } });
    await expectRefused('{"orderNo":"1"}', /Content-Encoding/, { headers: { 'Content-Encoding': 'br' } });
    await expectRefused(zipped, /^body is not JSON/);
    expect((await take('{"orderNo":"1"}', { headers: { 'Content-Encoding': 'identity' } })).code).toBe('0');
  });
});

describe('text', () => {
  const bytes = (...values: number[]) =>
    Buffer.concat([Buffer.from('{"orderNo":"'), Buffer.of(...values), Buffer.from('"}')]);
  it.each([
    ['a stray byte', bytes(0xff)],
    ['a character cut short', bytes(0xe4, 0xbd)],
    ['an overlong NUL', bytes(0xc0, 0x80)],
    ['an encoded surrogate', bytes(0xed, 0xa0, 0x80)],
    ['beyond U+10FFFF', bytes(0xf4, 0x90, 0x80, 0x80)],
    ['latin1', Buffer.from('{"orderNo":"é"}', 'latin1')],
  ])('400001: invalid UTF-8 (%s)', async (_what, raw) => {
    await expectRefused(raw, /UTF-8/);
  });

  it.each([
    ['a number where an identifier belongs', '{"orderNo":12345678901234567890}', /^orderNo must be string/],
    ['an empty string where an identifier belongs', '{"orderNo":""}', /^orderNo/],
    ['a field missing', '{}', /orderNo or externalOrderNo/],
    ['a field only in the prototype', '{"constructor":{"prototype":{"orderNo":"1"}}}', /orderNo/],
    ['\\u0000', '{"orderNo":"a\\u0000b"}', /^orderNo/],
    ['a lone surrogate', '{"orderNo":"\\ud800"}', /^orderNo/],
    ['surrogates the wrong way round', '{"orderNo":"\\udc00\\ud800"}', /^orderNo/],
    ['a lone surrogate in an unknown field', '{"orderNo":"1","x":{"y":["\\udfff"]}}', /^x\.y\[0\]/],
    ['\\u0000 in an unknown field', '{"orderNo":"1","x":"\\u0000"}', /^x /],
    ['\\u0000 in the name of a field', '{"orderNo":"1","\\u0000":1}', /field name/],
    ['a lone surrogate in the name of a field', '{"orderNo":"1","x":{"\\ud800":1}}', /field name in x/],
    [
      'a lone surrogate in a field of that name',
      '{"orderNo":"1","body":{"x":[1,["\\udfff"]]}}',
      /^body\.x\[1\]\[0\] contains/,
    ],
  ])('400001: %s', async (_what, raw, message) => {
    await expectRefused(raw, message);
  });

  it.each(['"\\u0000"', '{"\\u0000":1}', '{"__proto__":1}'])(
    '400001: a long name is not repeated in full, %s',
    async (value) => {
      const reply = await take(`{"${'n'.repeat(100_000)}":${value}}`);
      expectEnvelope(reply.envelope, '400001');
      expect(reply.text.length).toBeLessThan(1000);
    },
  );

  it.each(['é', '订单', '😀', '\\ud83d\\ude00', 'a\\"\\\\b', '\\u2028'])('0: %s', async (text) => {
    expect((await take(`{"orderNo":"${text}"}`)).code).toBe('0');
    expect(taken).toEqual({ orderNo: JSON.parse(`"${text}"`) });
  });
});

describe('the prototype', () => {
  it.each([
    '{"orderNo":"1","__proto__":{"polluted":true}}',
    '{"orderNo":"1","__pr\\u006fto__":{"polluted":true}}',
    '{"orderNo":"1","x":[{"__proto__":null}]}',
  ])('400001: %s', async (raw) => {
    await expectRefused(raw, /not allowed/);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('0: constructor, prototype and toString are fields like any other', async () => {
    expect((await take('{"orderNo":"1","constructor":1,"prototype":2,"toString":3,"hasOwnProperty":4}')).code).toBe(
      '0',
    );
  });
});

describe('depth', () => {
  const nested = (levels: number, [open, close] = ['[', ']']) =>
    `{"orderNo":"1","x":${open.repeat(levels)}1${close.repeat(levels)}}`;

  it('0: 32 levels', async () => {
    expect((await take(nested(31))).code).toBe('0');
    expect((await take(nested(31, ['{"y":', '}']))).code).toBe('0');
  });

  it.each([
    ['33 levels', nested(32)],
    ['33 levels of objects', nested(32, ['{"y":', '}'])],
    ['100,000 levels', nested(100_000)],
    ['100,000 levels that are never closed', '['.repeat(100_000)],
    ['100,000 levels of objects', nested(100_000, ['{"y":', '}'])],
  ])('400001: %s', async (_what, raw) => {
    await expectRefused(raw, /levels deep/);
  });

  it('0: brackets inside strings do not count, whatever is escaped around them', async () => {
    expect((await take(`{"orderNo":"1","x":"\\"${'[{'.repeat(100)}\\\\"}`)).code).toBe('0');
  });
});

describe('the number of values', () => {
  /** Returns a body with a known field and an array. The array, the field and the object count as three more values. */
  const holding = (items: readonly string[]) => `{"orderNo":"1","x":[${items.join(',')}]}`;
  const times = (count: number, item: string) => Array.from({ length: count }, () => item);
  const REST = MAX_BODY_VALUES - 3;

  it.each<[string, string, number]>([
    ['numbers', '0', 1],
    ['words', 'null', 1],
    ['strings', '""', 1],
    ['strings with separators and brackets', '",{[]}\\",\\\\"', 1],
    ['longer ones', `"${'x'.repeat(40)}\\"${'[,]'.repeat(10)}\\\\"`, 1],
    ['empty objects', '{}', 1],
    ['empty arrays with white space', '[ \n\t\r]', 1],
    ['objects of one field', '{"y":0}', 2],
    ['objects of two fields', '{"y":0,"z":[]}', 3],
    ['arrays in arrays', '[[[0]]]', 4],
  ])('0: 12,000 and 400001: one more, %s', async (_what, item, values) => {
    const most = Math.floor(REST / values);
    const full = [...times(most, item), ...times(REST - most * values, '0')];
    expect((await take(holding(full))).code).toBe('0');
    await expectRefused(holding([...full, '0']), /^body has more than 12000 values$/);
  });

  it('400001: a megabyte of tiny values, repeatedly, while others are served', async () => {
    const other = await service.channel();
    const bomb = `{"a":[${times(349_000, '{}').join(',')}]}`;
    const replies = await Promise.all([...times(20, bomb).map((raw) => take(raw)), other.call('products/list', {})]);
    expect(replies.map((reply) => reply.code)).toEqual([...times(20, '400001'), '0']);
  });

  it('equals the number of values that JSON.parse creates, for any document', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, item) => sum + count(item), 1)
        : 1;
    // Leaves out __proto__, because a field of this name is refused, whatever the number of values.
    const allowed = fc.jsonValue({ maxDepth: 5 }).filter((value) => !JSON.stringify(value).includes('"__proto__":'));
    fc.assert(
      fc.property(allowed, fc.nat(3), (value, spaces) => {
        const more = Array<number>(MAX_BODY_VALUES - 2 - count(value)).fill(0);
        const read = (items: readonly number[]) =>
          readJsonObject(Buffer.from(JSON.stringify({ value, items }, undefined, spaces)), undefined);
        expect(count(read(more))).toBe(MAX_BODY_VALUES);
        expect(() => read([...more, 0])).toThrow('values');
      }),
      { numRuns: 50 },
    );
  });
});

/** Returns the bytes of a correctly signed request. `sent` has the headers that declare the length of the body. */
async function signed(body: string, sent: Record<string, string>, options: CallOptions = {}): Promise<Buffer> {
  const token = await channel.getToken();
  const headers = channel.signedHeaders(NAME, Buffer.from(options.signRaw ?? body), { token, ...options });
  return requestBytes(`${PATH_PREFIX}${NAME}`, { ...headers, ...sent }, body);
}

describe('size', () => {
  /**
   * Returns valid JSON of exactly `bytes` bytes. The limit on strings applies only to fields that an endpoint knows.
   */
  const sized = (bytes: number) => {
    const [before, after] = ['{"orderNo":"1","x":"', '"}'];
    return before + 'x'.repeat(bytes - before.length - after.length) + after;
  };
  const MiB = sized(MAX_BODY_BYTES);
  const tooLarge = sized(MAX_BODY_BYTES + 1);
  const large = sized(5 * 1024 * 1024);
  const chunked = { headers: { 'Transfer-Encoding': 'chunked' } };

  it('0: 1 MB, with Content-Length and in chunks', async () => {
    expect(MiB.length).toBe(1_048_576);
    expect((await take(MiB)).code).toBe('0');
    expect((await take(MiB, chunked)).code).toBe('0');
  });

  // The service must read the whole body: if it closed the connection with unread input, the connection would be reset
  // and the answer lost.
  it.each<[string, CallOptions]>([
    ['with Content-Length', {}],
    ['in chunks', chunked],
  ])('400003: 1 MB and a byte, or 5 MB, %s: the answer is read, and the connection closed', async (_what, options) => {
    for (const body of [tooLarge, ...Array<string>(10).fill(large)]) {
      const reply = await take(body, { ...options, requestId: 'large-1' });
      expect(reply.status).toBe(200);
      expectEnvelope(reply.envelope, '400003');
      expect(reply.envelope.requestId).toBe('large-1');
      expect(reply.headers.connection).toBe('close');
    }
  });

  it('400003: by its Content-Length, before a byte of the body', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(await signed('', { 'Content-Length': '1048577' }));
    const [reply] = await raw.replies(1);
    expectEnvelope(reply?.envelope, '400003');
    expect(reply?.headers['connection']).toBe('close');
    raw.close();
  });

  it('400003: the connection is also closed for a client that never stops sending', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(await signed('', { 'Content-Length': '1000000000000' }));
    const sending = setInterval(() => raw.write('x'.repeat(1000)), 10);
    // Ignores a reset, because bytes may be in flight. Only the close matters here.
    const replies = await raw.untilClosed().catch(() => raw.replies(1));
    clearInterval(sending);
    expect(replies.map((reply) => reply.code)).toEqual(['400003']);
  });

  it('400003: is the last answer on the connection', async () => {
    const first = await signed(tooLarge, { 'Content-Length': '1048577' });
    const second = await signed('{"orderNo":"after"}', { 'Content-Length': '19' });
    const replies = await rawExchange(service.baseUrl, Buffer.concat([first, second]));
    expect(replies.map((reply) => reply.code)).toEqual(['400003']);
  });

  it('400003: a client that sends all of 5 MB before it reads gets the answer', async () => {
    for (let n = 0; n < 5; n += 1) {
      const bytes = await signed(large, { 'Content-Length': String(large.length) });
      const replies = await rawExchangeUnread(service.baseUrl, bytes);
      expect(replies.map((reply) => reply.code)).toEqual(['400003']);
    }
  });
});

describe('Expect: 100-continue', () => {
  const body = '{"orderNo":"1"}';
  const expecting = (length: number) => ({ Expect: '100-continue', 'Content-Length': String(length) });

  it('0: the body is asked for, then answered', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(await signed('', expecting(body.length), { signRaw: body }));
    expect((await raw.replies(1)).map((reply) => reply.status)).toEqual([100]);
    raw.write(body);
    expect((await raw.replies(2)).map((reply) => reply.status)).toEqual([100, 200]);
    expect((await raw.replies(2))[1]?.code).toBe('0');
    raw.close();
  });

  it('400003: a body that is too large is not even asked for', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(await signed('', expecting(MAX_BODY_BYTES + 1), { signRaw: body }));
    expect((await raw.replies(1)).map((reply) => reply.code)).toEqual(['400003']);
    raw.close();
  });
});

describe('a Content-Length that lies', () => {
  const body = '{"orderNo":"lied"}';

  it('401002: it is shorter than the signed body, and the rest is not a request', async () => {
    const replies = await rawExchange(service.baseUrl, await signed(body, { 'Content-Length': '2' }));
    expect(replies.map((reply) => [reply.status, reply.code])).toEqual([
      [401, '401002'],
      [400, '400001'],
    ]);
    expect(taken).not.toEqual({ orderNo: 'lied' });
  });

  it('0: the part that it covers is a valid request, and the rest is not', async () => {
    const replies = await rawExchange(
      service.baseUrl,
      await signed(`${body}rest`, { 'Content-Length': String(body.length) }, { signRaw: body }),
    );
    expect(replies.map((reply) => reply.code)).toEqual(['0', '400001']);
    for (const reply of replies) expectEnvelope(reply.envelope, reply.code ?? '');
  });

  it('400001: it is longer than the body, and the client stops sending', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(await signed(body, { 'Content-Length': '100' }, { requestId: 'too-short' }));
    raw.socket.end();
    const replies = await raw.untilClosed();
    expect(replies.map((reply) => [reply.status, reply.code])).toEqual([[400, '400001']]);
    expectEnvelope(replies[0]?.envelope, '400001');
    expect(replies[0]?.envelope.requestId).toBe('too-short');
  });

  it('400001: malformed chunks', async () => {
    const bytes = await signed('zz\r\n{}\r\n', { 'Transfer-Encoding': 'chunked' });
    const replies = await rawExchange(service.baseUrl, bytes);
    expect(replies.map((reply) => [reply.status, reply.code])).toEqual([[400, '400001']]);
  });
});
