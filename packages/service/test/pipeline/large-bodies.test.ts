import { PATH_PREFIX } from '@perennial/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallOptions, ChannelClient, Reply } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { type TestService, testService } from '../support/service.js';

const PATH = `${PATH_PREFIX}products/list`;
const HERE = '203.0.113.7';
const THERE = '203.0.113.8';
const ELSEWHERE = '203.0.113.9';

/** Longer than any test. */
const NEVER = 600_000;

let service: TestService;
let channel: ChannelClient;
let token: string;
let halves: ReturnType<typeof rawConnection>[];
async function start(largeBodies: { bytes?: number; bytesPerAddress?: number; waitMs?: number }): Promise<void> {
  service = await testService({ testLimits: { largeBodies }, trustedProxies: ['127.0.0.1'] });
  channel = await service.channel();
  token = await channel.getToken();
}
beforeEach(() => {
  halves = [];
});
afterEach(async () => {
  for (const half of halves) half.close();
  await service.close();
});

const sized = (bytes: number) => `{"x":"${'x'.repeat(bytes - 8)}"}`;
const from = (address: string) => ({ 'X-Forwarded-For': address });
const chunked = { 'Transfer-Encoding': 'chunked' };
const list = (address: string, bytes: number, options: CallOptions = {}) =>
  channel.callBare(
    'products/list',
    {},
    { token, raw: sized(bytes), ...options, headers: { ...from(address), ...options.headers } },
  );

/** Begins a request: sends the first `sent` bytes of a body of `bytes` bytes, with or without a Content-Length. */
function begin(address: string, bytes: number, sent: number, sayLength = true) {
  const raw = rawConnection(service.baseUrl);
  halves.push(raw);
  const body = sized(bytes);
  const headers = { ...channel.signedHeaders('products/list', Buffer.from(body), { token }), ...from(address) };
  const length = sayLength ? { 'Content-Length': String(bytes) } : chunked;
  const send = (piece: string) => raw.write(sayLength ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`);
  raw.write(requestBytes(PATH, { ...headers, ...length }));
  if (sent > 0) send(body.slice(0, sent));
  return {
    ...raw,
    /** Sends the rest of the body in pieces of `pieces` bytes. */
    finish(pieces = bytes) {
      for (let at = sent; at < bytes; at += pieces) send(body.slice(at, at + pieces));
      if (!sayLength) raw.write('0\r\n\r\n');
    },
  };
}

/**
 * Resolves after the service has read all bytes sent so far: a small request is sent after them, and its answer has
 * come.
 */
const afterIt = () => list(ELSEWHERE, 100);

describe('bodies of more than 16 KB in flight', () => {
  it.each([
    ['declare their length', true],
    ['do not', false],
  ])('429001: for an address whose bodies in flight use its limit, when they %s', async (_what, says) => {
    await start({ bytesPerAddress: 1_100_000, waitMs: 100 });
    begin(HERE, 100_000, 50_000, says);
    begin(HERE, 900_000, 50_000, says);
    await afterIt();
    const reply = await list(HERE, 200_000);
    expect(reply.status).toBe(429);
    expectEnvelope(reply.envelope, '429001');
    expect(reply.headers['retry-after']).toBe('1');
    expect((await list(HERE, 16_384)).code).toBe('0');
    expect((await list(THERE, 200_000)).code).toBe('0');
  });

  it('429001: for all addresses once the limit of the node is used', async () => {
    await start({ bytes: 300_000, waitMs: 100 });
    begin(HERE, 140_000, 10);
    begin(THERE, 140_000, 10);
    await afterIt();
    expect((await list(ELSEWHERE, 100_000)).code).toBe('429001');
    expect((await list(ELSEWHERE, 16_384)).code).toBe('0');
  });

  it('429001: a body of undeclared length counts as a megabyte once it is large', async () => {
    await start({ bytesPerAddress: 1_000_000, waitMs: 100 });
    expect((await list(HERE, 16_384, { headers: chunked })).code).toBe('0');
    expect((await list(HERE, 16_385, { headers: chunked })).code).toBe('429001');
  });

  it.each<[string, (first: ReturnType<typeof begin>) => void]>([
    ['is finished', (first) => first.finish()],
    ['is given up', (first) => first.close()],
  ])('0: the next body waits, and is read when the previous one %s', async (_what, end) => {
    await start({ bytesPerAddress: 150_000, waitMs: NEVER });
    const first = begin(HERE, 100_000, 10);
    await afterIt();
    const waiting = [list(HERE, 100_000), list(HERE, 90_000), list(HERE, 80_000)];
    await afterIt();
    end(first);
    expect((await Promise.all(waiting)).map((reply) => reply.code)).toEqual(['0', '0', '0']);
  });

  it('0: a client that stops waiting frees its place', async () => {
    await start({ bytesPerAddress: 150_000, waitMs: NEVER });
    const first = begin(HERE, 100_000, 10);
    await afterIt();
    const impatient = begin(HERE, 100_000, 10);
    await afterIt();
    impatient.close();
    await afterIt();
    const waiting = list(HERE, 100_000);
    first.finish();
    expect((await waiting).code).toBe('0');
  });

  it('0: every kind of answer frees the room', async () => {
    await start({ bytesPerAddress: 1_100_000, waitMs: 100 });
    const wrong = { signRaw: 'something else' };
    for (let n = 0; n < 3; n += 1) {
      expect((await list(HERE, 1_000_000)).code).toBe('0');
      expect((await list(HERE, 1_000_000, { headers: chunked })).code).toBe('0');
      expect((await list(HERE, 1_000_000, wrong)).code).toBe('401002');
      expect((await list(HERE, 1_000_000, { token: 'x' })).code).toBe('401005');
      expect((await list(HERE, 100, { raw: 'x'.repeat(1_000_000) })).code).toBe('400001');
      expect((await list(HERE, 1_100_000, { headers: chunked })).code).toBe('400003');
    }
  });

  it('0: the bytes arrive unchanged, in any number of pieces', async () => {
    await start({});
    for (const says of [true, false]) {
      const slow = begin(HERE, 40_000, 0, says);
      slow.finish(1_777);
      expect((await slow.replies(1)).map((reply) => reply.code)).toEqual(['0']);
    }
  });

  it('0: many at once run one after the other; a later small request is answered before the last', async () => {
    await start({ waitMs: NEVER });
    const answered: string[] = [];
    const note = (name: string) => (reply: Reply) => answered.push(`${name} ${reply.code}`);
    const large = Array.from({ length: 30 }, (_, n) => list(n % 2 === 0 ? HERE : THERE, 1_000_000).then(note('large')));
    await Promise.race(large);
    await Promise.all([...large, afterIt().then(note('small'))]);
    expect(answered.toSorted()).toEqual([...Array<string>(30).fill('large 0'), 'small 0']);
    expect(answered.at(-1)).toBe('large 0');
  });
});
