import { afterEach, describe, expect, it, vi } from 'vitest';
import { isAccepted } from '../../src/delivery/transport/push-result.js';
import { type Answer, createAnswerReader } from '../../src/platform/http-client/answer.js';
import { BadAnswer } from '../../src/platform/http-client/incoming-bytes.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const KB64 = 64 * 1024;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/**
 * Returns the answer that the reader gets from `text`, in packets of `packet` bytes, with or without the end of the
 * connection.
 */
function read(text: string | Buffer, { closed = false, packet = Number.POSITIVE_INFINITY } = {}): Answer | undefined {
  const reader = createAnswerReader({ maxBytes: 64 * 1024, encoding: 'utf8' });
  const bytes = Buffer.from(text as string, 'latin1');
  const size = Math.min(packet, bytes.length);
  for (let at = 0; at < bytes.length; at += size) {
    const answer = reader.add(bytes.subarray(at, at + size));
    if (answer) return answer;
  }
  return closed ? reader.endAtClose() : undefined;
}

const PACKETS = [Number.POSITIVE_INFINITY, 1, 2, 7];

type Good = readonly [what: string, text: string, expected: Partial<Answer>];
const GOOD: readonly Good[] = [
  ['a length', `${OK}Content-Length: 5\r\n\r\nhello`, { body: 'hello', keepAlive: true }],
  ['an empty body', `${OK}content-length:0\r\n\r\n`, { body: '', keepAlive: true }],
  ['white space around the length', `${OK}Content-Length: \t 5 \r\n\r\nhello`, { body: 'hello' }],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', { status: 200 }],
  ['a strange reason phrase', 'HTTP/1.1 200 \xff: x\r\nContent-Length: 0\r\n\r\n', { status: 200 }],
  ['many headers', `${OK}${'X-A: b\r\n'.repeat(1000)}Content-Length: 2\r\n\r\nok`, { body: 'ok', keepAlive: true }],
  ['an empty header', `${OK}X-Empty:\r\nContent-Length: 2\r\n\r\nok`, { body: 'ok' }],
  ['the wish to close', `${OK}Connection: x, Close\r\nContent-Length: 2\r\n\r\nok`, { body: 'ok', keepAlive: false }],
  ['another wish', `${OK}Connection: keep-alive\r\nContent-Length: 2\r\n\r\nok`, { keepAlive: true }],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', { body: 'ok', keepAlive: false }],
  [
    'chunks',
    `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('he')}${chunk('llo')}0\r\n\r\n`,
    { body: 'hello', keepAlive: true },
  ],
  ['no chunk but the last', `${OK}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`, { body: '' }],
  [
    'chunks that hold line ends',
    `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('\r\n0\r\n\r\n')}0\r\n\r\n`,
    { body: '\r\n0\r\n\r\n' },
  ],
  ['a chunk extension', `${OK}Transfer-Encoding: chunked\r\n\r\n2 ;a="b"\r\nok\r\n000\r\n\r\n`, { body: 'ok' }],
  [
    'trailers',
    `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('ok')}0\r\nX-A: b\r\nX-C: d\r\n\r\n`,
    { body: 'ok', keepAlive: true },
  ],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', keepAlive: true }],
  ['304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n', { status: 304, body: '' }],
  ['an interim answer', `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`, { status: 200, body: 'ok' }],
  [
    'several interim answers with headers',
    `HTTP/1.1 103 Early Hints\r\nLink: x\r\nContent-Length: 9\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
    { status: 200, body: 'ok', keepAlive: true },
  ],
  ['64 KB', `${OK}Content-Length: ${KB64}\r\n\r\n${'x'.repeat(KB64)}`, { isCut: false, keepAlive: true }],
];

/** Answers that are not HTTP/1, that two readers could understand differently, or whose headers are too long. */
const BAD: readonly [what: string, text: string][] = [
  ['nothing like HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['HTTP/0.9', '{"code":"0"}\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
  ['a lower-case protocol', 'http/1.1 200 OK\r\n\r\n'],
  ['a line before the status', `\r\n${OK}Content-Length: 0\r\n\r\n`],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['a status of 999', 'HTTP/1.1 999 OK\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
  ['bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
  ['one bare line feed', `${OK}X-A: b\nContent-Length: 0\r\n\r\n`],
  ['a carriage return inside a line', `${OK}X-A: b\rContent-Length: 0\r\n\r\n`],
  ['a zero byte', `${OK}X-A: \0\r\nContent-Length: 0\r\n\r\n`],
  ['a folded line', `${OK}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`],
  ['a folded length', `${OK}Content-Length:\r\n 2\r\n\r\nok`],
  ['a header without a colon', `${OK}X-A\r\nContent-Length: 0\r\n\r\n`],
  ['a header without a name', `${OK}: b\r\nContent-Length: 0\r\n\r\n`],
  ['a space before the colon', `${OK}Content-Length : 0\r\n\r\n`],
  ['a name that is none', `${OK}X(A): b\r\nContent-Length: 0\r\n\r\n`],
  ['a length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`],
  ['two lengths', `${OK}Content-Length: 2\r\ncontent-length: 3\r\n\r\nok`],
  ['two lengths in one', `${OK}Content-Length: 2, 2\r\n\r\nok`],
  ['a negative length', `${OK}Content-Length: -2\r\n\r\nok`],
  ['a length with a plus', `${OK}Content-Length: +2\r\n\r\nok`],
  ['a length with a space inside', `${OK}Content-Length: 1 2\r\n\r\nok`],
  ['a hexadecimal length', `${OK}Content-Length: 0x2\r\n\r\nok`],
  ['a fraction of a length', `${OK}Content-Length: 2.0\r\n\r\nok`],
  ['an empty length', `${OK}Content-Length:\r\n\r\n`],
  ['a length behind a no-break space', `${OK}Content-Length: \xa02\r\n\r\nok`],
  ['a length beyond all numbers', `${OK}Content-Length: ${'9'.repeat(16)}\r\n\r\nok`],
  ['a length and chunks', `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('ok')}0\r\n\r\n`],
  ['chunks and a length', `${OK}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n${chunk('ok')}0\r\n\r\n`],
  ['chunks twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['another encoding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', `${OK}Transfer-Encoding: chunked\r\n\r\n\r\nok\r\n0\r\n\r\n`],
  ['a negative chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n`],
  ['a chunk beyond all sizes', `${OK}Transfer-Encoding: chunked\r\n\r\n123456789\r\nok\r\n0\r\n\r\n`],
  ['a chunk longer than its size', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nok\r\n0\r\n\r\n`],
  ['a chunk that ends with a bare line feed', `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\n0\r\n\r\n`],
  ['headers without end', `${OK}X-A: ${'a'.repeat(17_000)}`],
  ['headers of 17 KB', `${OK}${'X-A: b\r\n'.repeat(2_200)}Content-Length: 0\r\n\r\n`],
  ['a status line without end', `HTTP/1.1 200 ${'a'.repeat(17_000)}`],
  ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)],
];

/** Incomplete answers. */
const SHORT: readonly [what: string, text: string][] = [
  ['half a status line', 'HTTP/1.1 20'],
  ['half of the headers', `${OK}Content-Length: 2\r\n`],
  ['half of a body', `${OK}Content-Length: 5\r\n\r\nhel`],
  ['half of a chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`],
  ['all chunks but the last', `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('hello')}`],
  ['trailers without their end', `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('hello')}0\r\n`],
  ['an interim answer alone', 'HTTP/1.1 100 Continue\r\n\r\n'],
];

describe('an answer', () => {
  it.each(GOOD)('with %s is read, however it is split into packets', (_what, text, expected) => {
    for (const packet of PACKETS)
      expect(read(text, { packet })).toMatchObject({ status: 200, isCut: false, ...expected });
  });

  it.each(BAD)('with %s is bad, however it is split into packets', (_what, text) => {
    for (const packet of PACKETS) expect(() => read(text, { packet })).toThrow(BadAnswer);
  });

  it.each(SHORT)('with only %s so far is waited for, and bad when the connection ends', (_what, text) => {
    for (const packet of PACKETS) {
      expect(read(text, { packet })).toBeUndefined();
      expect(() => read(text, { packet, closed: true })).toThrow(BadAnswer);
    }
  });

  it('without a length lasts until the connection is closed', () => {
    for (const packet of PACKETS) {
      expect(read(`${OK}\r\nhello`, { packet })).toBeUndefined();
      expect(read(`${OK}\r\nhello`, { packet, closed: true })).toMatchObject({ body: 'hello', keepAlive: false });
    }
  });

  it('is UTF-8, even if a chunk splits a character', () => {
    const [one, two] = [Buffer.from('好').subarray(0, 1), Buffer.from('好').subarray(1)].map((b) =>
      b.toString('latin1'),
    );
    const text = `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk(one ?? '')}${chunk(two ?? '')}0\r\n\r\n`;
    expect(read(text)).toMatchObject({ body: '好' });
  });

  it.each([
    ['another answer', `${OK}Content-Length: 2\r\n\r\n`],
    ['a byte', 'x'],
    ['an empty line', '\r\n'],
    ['more than is read of an answer', 'x'.repeat(70_000)],
  ])('that is followed by %s counts, but its connection is not used again', (_what, more) => {
    expect(read(`${OK}Content-Length: 2\r\n\r\nok${more}`)).toMatchObject({
      body: 'ok',
      isCut: false,
      keepAlive: false,
    });
    expect(read(`HTTP/1.1 204 OK\r\n\r\n${more}`)).toMatchObject({ status: 204, keepAlive: false });
    const chunks = `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('ok')}0\r\n\r\n`;
    expect(read(`${chunks}${more}`)).toMatchObject({ body: 'ok', keepAlive: false });
  });
});

describe('an answer of more than 64 KB', () => {
  const long = `{"code":"0"}${' '.repeat(KB64)}`;
  it.each([
    ['with its length', `${OK}Content-Length: ${long.length}\r\n\r\n${long}`],
    ['of a length that never comes', `${OK}Content-Length: 999999999999999\r\n\r\n${long}`],
    ['in one chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk(long)}0\r\n\r\n`],
    ['in small chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('x').repeat(20_000)}0\r\n\r\n`],
    ['in a chunk extension', `${OK}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(KB64)}\r\nok\r\n0\r\n\r\n`],
    ['in trailers', `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${'X-A: b\r\n'.repeat(10_000)}\r\n`],
    ['until the connection is closed', `${OK}\r\n${long}`],
  ])('%s is truncated, never accepted, and its connection is closed', (_what, text) => {
    for (const packet of [...PACKETS, 65_000]) {
      const answer = read(text, { packet, closed: true });
      expect(answer).toMatchObject({ status: 200, isCut: true, keepAlive: false });
      expect(answer?.body).toHaveLength(KB64);
      expect(answer && isAccepted(answer)).toBe(false);
    }
  });
});

describe('an answer that comes a byte at a time', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    ['with a length', `${OK}Content-Length: 60000\r\n\r\n${'\n'.repeat(60_000)}`],
    ['in chunks of a byte', `${OK}Transfer-Encoding: chunked\r\n\r\n${chunk('x').repeat(10_000)}0\r\n\r\n`],
    ['with long headers', `${OK}X-A: ${'a'.repeat(16_000)}\r\nContent-Length: 0\r\n\r\n`],
  ])('%s is copied and searched a few times, not once per byte', (_what, text) => {
    let touched = 0;
    const watch = (owner: object, method: string, bytes: (on: Buffer, result: never) => number) => {
      const real = Reflect.get(owner, method) as (...args: unknown[]) => never;
      vi.spyOn(owner as Record<string, () => unknown>, method).mockImplementation(function (
        this: unknown,
        ...args: unknown[]
      ) {
        const result = real.apply(this, args);
        touched += bytes(this as Buffer, result);
        return result;
      });
    };
    watch(Buffer.prototype, 'indexOf', (on) => on.length);
    watch(Buffer.prototype, 'copy', (_on, copied: number) => copied);
    watch(Buffer.prototype, 'toString', (_on, written: string) => written.length);
    watch(Buffer, 'concat', (_on, whole: Buffer) => whole.length);
    expect(read(text, { packet: 1 })).toMatchObject({ status: 200 });
    expect(touched).toBeGreaterThan(text.length);
    expect(touched).toBeLessThan(8 * text.length);
  });
});

describe('an event is accepted', () => {
  it.each([
    ['by the text 0', '{"code":"0"}'],
    ['whatever else is said', '{"message":"OK","code":"0","data":{"code":"1"}}'],
    ['with white space', ' {\n"code" : "0" }\r\n'],
  ])('%s', (_what, body) => {
    expect(isAccepted({ status: 200, body, isCut: false })).toBe(true);
  });

  it.each([
    ['a number', 200, '{"code":0}'],
    ['another code', 200, '{"code":"1"}'],
    ['00', 200, '{"code":"00"}'],
    ['a code with white space', 200, '{"code":" 0"}'],
    ['no code', 200, '{}'],
    ['a code further in', 200, '{"data":{"code":"0"}}'],
    ['a code in a prototype', 200, '{"__proto__":{"code":"0"}}'],
    ['an array', 200, '[{"code":"0"}]'],
    ['a text', 200, '"0"'],
    ['null', 200, 'null'],
    ['nothing', 200, ''],
    ['half of it', 200, '{"code":"0"'],
    ['a page', 200, '<h1>OK</h1>'],
    ['very deep arrays', 200, '['.repeat(65_000)],
    ['201', 201, '{"code":"0"}'],
    ['204', 204, ''],
    ['302', 302, '{"code":"0"}'],
    ['500', 500, '{"code":"0"}'],
  ])('not by %s', (_what, status, body) => {
    expect(isAccepted({ status, body, isCut: false })).toBe(false);
  });
});
