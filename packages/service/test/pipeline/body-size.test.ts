import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { MAX_BODY_BYTES, PATH_PREFIX } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions, ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, rawExchange, rawExchangeUnread, requestBytes } from '../support/raw-http.js';
import { type TestService, testService } from '../support/service.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

let service: TestService;
let channel: ChannelClient;
let token: string;
/** What the action was handed, that is, what got through. */
let taken: unknown;
beforeAll(async () => {
  const taking = testRoute('test/taking', async ({ answer }, request) => {
    taken = request;
    return answer(DONE);
  });
  service = await testService({ moreRoutes: [taking], httpLimits: { lingerTime: 1_000 } });
  channel = await service.channel();
  token = await channel.getToken();
});
afterAll(() => service.close());

const NAME = 'test/taking';
const take = (raw: string, options: CallOptions = {}) => channel.callBare(NAME, {}, { token, raw, ...options });

/** A request as bytes, rightly signed; `sent` are the headers that tell how long the body is. */
function signed(body: string, sent: Record<string, string>, options: CallOptions = {}): Buffer {
  const headers = channel.signedHeaders(NAME, Buffer.from(options.signRaw ?? body), { token, ...options });
  return requestBytes(`${PATH_PREFIX}${NAME}`, { ...headers, ...sent }, body);
}

describe('size', () => {
  /** Valid JSON of exactly so many bytes: the limit on strings holds only for fields that an endpoint knows. */
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

  it.each<[string, CallOptions]>([
    ['with Content-Length', {}],
    ['in chunks', chunked],
  ])('400003: 1 MB and a byte %s, and the connection is closed', async (_what, options) => {
    const reply = await take(tooLarge, options);
    expect(reply.status).toBe(200);
    expectEnvelope(reply.envelope, '400003');
    expect(reply.headers.connection).toBe('close');
  });

  it('400003: echoes the request id', async () => {
    expect((await take(tooLarge, { requestId: 'large-1' })).envelope.requestId).toBe('large-1');
    expect((await take(tooLarge, { ...chunked, requestId: 'large-2' })).envelope.requestId).toBe('large-2');
  });

  it('400003: by what Content-Length says, before a byte of the body', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(signed('', { 'Content-Length': '1048577' }));
    const [reply] = await raw.replies(1);
    expectEnvelope(reply?.envelope, '400003');
    expect(reply?.headers['connection']).toBe('close');
    raw.close();
  });

  it('400003: the connection is closed for a client that never stops sending, too', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(signed('', { 'Content-Length': '1000000000000' }));
    const sending = setInterval(() => raw.write('x'.repeat(1000)), 10);
    // That it is closed is the point; that what was still under way is answered with a reset is not a fault then.
    const replies = await raw.untilClosed().catch(() => raw.replies(1));
    clearInterval(sending);
    expect(replies.map((reply) => reply.code)).toEqual(['400003']);
  });

  it('400003: is the last answer on the connection', async () => {
    const second = signed('{"orderNo":"after"}', { 'Content-Length': '19' });
    const replies = await rawExchange(
      service.baseUrl,
      Buffer.concat([signed(tooLarge, { 'Content-Length': '1048577' }), second]),
    );
    expect(replies.map((reply) => reply.code)).toEqual(['400003']);
  });

  // A connection that is closed with input unread is reset, and with it goes the answer: again and again, to be sure.
  it.each<[string, CallOptions]>([
    ['with Content-Length', {}],
    ['in chunks', chunked],
  ])('400003: a client that uploads 5 MB %s reads the answer', async (_what, options) => {
    for (let n = 0; n < 10; n += 1) expect((await take(large, options)).code).toBe('400003');
  });

  it('400003: a client that sends all of 5 MB before it reads gets the answer', async () => {
    const bytes = () => signed(large, { 'Content-Length': String(large.length) });
    for (let n = 0; n < 5; n += 1) {
      const replies = await rawExchangeUnread(service.baseUrl, bytes());
      expect(replies.map((reply) => reply.code)).toEqual(['400003']);
    }
  });

  it.each([
    ['that waits to be asked', []],
    ['that does not', ['--header', 'Expect:']],
    ['that sends chunks', ['--header', 'Transfer-Encoding: chunked']],
  ])('400003: curl %s reads the answer', async (_what, more) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-body-'));
    try {
      await writeFile(path.join(folder, 'body'), large);
      const headers = Object.entries(channel.signedHeaders(NAME, Buffer.from(large), { token }));
      const { stdout } = await promisify(execFile)('curl', [
        '--silent',
        '--show-error',
        '--data-binary',
        `@${path.join(folder, 'body')}`,
        ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
        ...more,
        `${service.baseUrl}${PATH_PREFIX}${NAME}`,
      ]);
      expectEnvelope(JSON.parse(stdout), '400003');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('Expect: 100-continue', () => {
  const body = '{"orderNo":"1"}';
  const expecting = (length: number) => ({ Expect: '100-continue', 'Content-Length': String(length) });

  it('0: the body is asked for, then answered', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(signed('', expecting(body.length), { signRaw: body }));
    expect((await raw.replies(1)).map((reply) => reply.status)).toEqual([100]);
    raw.write(body);
    expect((await raw.replies(2)).map((reply) => reply.status)).toEqual([100, 200]);
    expect((await raw.replies(2))[1]?.code).toBe('0');
    raw.close();
  });

  it('400003: a body that is too large is not even asked for', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(signed('', expecting(MAX_BODY_BYTES + 1), { signRaw: body }));
    expect((await raw.replies(1)).map((reply) => reply.code)).toEqual(['400003']);
    raw.close();
  });
});

describe('a Content-Length that lies', () => {
  const body = '{"orderNo":"lied"}';

  it('401002: it is shorter than what was signed, and the rest is no request', async () => {
    const replies = await rawExchange(service.baseUrl, signed(body, { 'Content-Length': '2' }));
    expect(replies.map((reply) => [reply.status, reply.code])).toEqual([
      [401, '401002'],
      [400, '400001'],
    ]);
    expect(taken).not.toEqual({ orderNo: 'lied' });
  });

  it('0: what it covers is a request of its own, and the rest is none', async () => {
    const replies = await rawExchange(
      service.baseUrl,
      signed(`${body}rest`, { 'Content-Length': String(body.length) }, { signRaw: body }),
    );
    expect(replies.map((reply) => reply.code)).toEqual(['0', '400001']);
    for (const reply of replies) expectEnvelope(reply.envelope, reply.code ?? '');
  });

  it('400001: it is longer than the bytes, and the client has no more', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(signed(body, { 'Content-Length': '100' }, { requestId: 'too-short' }));
    raw.socket.end();
    const replies = await raw.untilClosed();
    expect(replies.map((reply) => [reply.status, reply.code])).toEqual([[400, '400001']]);
    expectEnvelope(replies[0]?.envelope, '400001');
    expect(replies[0]?.envelope.requestId).toBe('too-short');
  });

  it('400001: chunks that are none', async () => {
    const replies = await rawExchange(service.baseUrl, signed('zz\r\n{}\r\n', { 'Transfer-Encoding': 'chunked' }));
    expect(replies.map((reply) => [reply.status, reply.code])).toEqual([[400, '400001']]);
  });
});
