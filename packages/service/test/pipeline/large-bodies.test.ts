import { HEADERS, PATH_PREFIX, TOKEN_LIFETIME_SECONDS } from '@perennial/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LargeBodyLimits } from '../../src/http/limits/large-bodies.js';
import type { CallOptions, ChannelClient, Reply } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { until } from '../support/processes.js';
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
let other: ChannelClient;
const tokens = new Map<ChannelClient, string>();
const tokenOf = (by: ChannelClient) => ({ token: tokens.get(by) ?? '' });
let halves: ReturnType<typeof rawConnection>[];
async function start(largeBodies: Partial<LargeBodyLimits>): Promise<void> {
  service = await testService({
    testLimits: { largeBodies, httpLimits: { requestTimeout: NEVER } },
    trustedProxies: ['127.0.0.1'],
  });
  channel = await service.channel();
  other = await service.channel();
  for (const one of [channel, other]) tokens.set(one, await one.getToken());
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
const list = (address: string, bytes: number, by = channel, options: CallOptions = {}) =>
  by.callBare(
    'products/list',
    {},
    { ...tokenOf(by), raw: sized(bytes), ...options, headers: { ...from(address), ...options.headers } },
  );

interface Begun extends CallOptions {
  readonly says?: boolean;
  readonly appId?: string;
}

/** A token that the service did not issue. */
const NO_TOKEN = { token: 'x'.repeat(80) };

/**
 * Begins a request: sends the first `sent` bytes of a body of `bytes` bytes. `says`: with a Content-Length. `appId`: the
 * channel that the request names.
 */
function begin(address: string, bytes: number, sent: number, { says = true, appId = '', ...options }: Begun = {}) {
  const raw = rawConnection(service.baseUrl);
  halves.push(raw);
  const body = sized(bytes);
  const headers = {
    ...channel.signedHeaders('products/list', Buffer.from(body), { ...tokenOf(channel), ...options }),
    ...from(address),
    ...(appId === '' ? {} : { [HEADERS.appId]: appId }),
  };
  const length = says ? { 'Content-Length': String(bytes) } : chunked;
  const send = (piece: string) => raw.write(says ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`);
  raw.write(requestBytes(PATH, { ...headers, ...length }));
  if (sent > 0) send(body.slice(0, sent));
  return {
    ...raw,
    /** Sends the rest of the body in pieces of `pieces` bytes. */
    finish(pieces = bytes) {
      for (let at = sent; at < bytes; at += pieces) send(body.slice(at, at + pieces));
      if (!says) raw.write('0\r\n\r\n');
    },
  };
}

/**
 * Resolves after the service has read all bytes sent so far: a small request is sent after them, and its answer has
 * come.
 */
const afterIt = () => list(ELSEWHERE, 100);

describe('bodies of more than 16 KB in flight', () => {
  // 100,000 bytes take a buffer of 131,072 bytes.
  it.each([
    ['declare their length', true],
    ['do not', false],
  ])('429001: for a channel whose bodies use its limit, from any address, when they %s', async (_what, says) => {
    await start({ bytesPerOwner: 200_000 });
    begin(HERE, 1_000_000, 100_000, { says });
    await afterIt();
    const reply = await list(THERE, 100_000);
    expect(reply.status).toBe(429);
    expectEnvelope(reply.envelope, '429001');
    expect(reply.headers['retry-after']).toBe('1');
    expect((await list(THERE, 16_384)).code).toBe('0');
    expect((await list(HERE, 100_000, other)).code).toBe('0');
  });

  it.each([
    ['an unknown app id', { appId: 'test_nobody' }],
    ['the app id of a channel', NO_TOKEN],
    ['the app id of a channel with the token of another', {}],
  ])('429001: for all strangers together, so that channels have room, with %s', async (_what, options) => {
    await start({ bytes: 400_000, bytesPerOwner: 200_000 });
    const strange = { ...tokenOf(other), ...options };
    for (const n of [1, 2, 3, 4]) begin(`198.51.100.${n}`, 1_000_000, 100_000, strange);
    await afterIt();
    expect((await list(HERE, 100_000, channel, NO_TOKEN)).code).toBe('429001');
    for (const one of [channel, other]) expect((await list(HERE, 100_000, one)).code).toBe('0');
  });

  it('401006: an expired token takes the room of strangers', async () => {
    await start({ bytesPerOwner: 200_000 });
    service.clock.advance(TOKEN_LIFETIME_SECONDS * 1000);
    expect((await list(HERE, 100_000)).code).toBe('401006');
    begin(HERE, 1_000_000, 100_000, NO_TOKEN);
    tokens.set(other, await other.getToken());
    expect((await list(HERE, 100_000)).code).toBe('429001');
    expect((await list(HERE, 100_000, other)).code).toBe('0');
  });

  it('0: a body whose token expires meanwhile gives all its room back', async () => {
    await start({ bytesPerOwner: 120_000 });
    const first = begin(HERE, 110_000, 20_000);
    await afterIt();
    service.clock.advance(TOKEN_LIFETIME_SECONDS * 1000);
    first.finish();
    expect((await first.replies(1)).map((reply) => reply.code)).toEqual(['401003']);
    tokens.set(channel, await channel.getToken());
    expect((await list(HERE, 100_000)).code).toBe('0');
  });

  it('429001: for everybody once the limit of the node is used', async () => {
    await start({ bytes: 200_000 });
    begin(HERE, 1_000_000, 100_000);
    await afterIt();
    expect((await list(THERE, 100_000, other)).code).toBe('429001');
    expect((await list(THERE, 16_384, other)).code).toBe('0');
  });

  it('0: bodies that are declared and do not arrive take no room', async () => {
    await start({ bytes: 1_050_000 });
    for (const says of [true, false]) for (let n = 0; n < 5; n += 1) begin(HERE, 1_000_000, 16_000, { says });
    await afterIt();
    expect((await list(HERE, 100_000)).code).toBe('0');
  });

  it.each<[string, (first: ReturnType<typeof begin>) => void]>([
    ['is finished', (first) => first.finish()],
    ['is given up', (first) => first.close()],
  ])('0: there is room again when the previous body %s', async (_what, end) => {
    await start({ bytesPerOwner: 150_000 });
    const first = begin(HERE, 110_000, 100_000);
    await afterIt();
    expect((await list(HERE, 100_000)).code).toBe('429001');
    end(first);
    await until('room', async () => (await list(HERE, 100_000)).code === '0');
  });

  it('408, 400001: a body that stalls is cut off, and its room is free', async () => {
    await start({ bytesPerOwner: 150_000, windowMs: 50 });
    const slow = begin(HERE, 1_000_000, 100_000);
    const [reply] = await slow.untilClosed();
    expect([reply?.status, reply?.headers['connection']]).toEqual([408, 'close']);
    expectEnvelope(reply?.envelope, '400001');
    expect((await list(HERE, 16_384)).code).toBe('0');
    await until('room', async () => (await list(HERE, 100_000)).code === '0');
  });

  it('0: every kind of answer frees the room', async () => {
    await start({ bytesPerOwner: 1_100_000 });
    const wrong = { signRaw: 'something else' };
    for (let n = 0; n < 3; n += 1) {
      expect((await list(HERE, 1_000_000)).code).toBe('0');
      expect((await list(HERE, 1_000_000, channel, { headers: chunked })).code).toBe('0');
      expect((await list(HERE, 1_000_000, channel, wrong)).code).toBe('401002');
      expect((await list(HERE, 1_000_000, channel, { token: 'x' })).code).toBe('401005');
      expect((await list(HERE, 100, channel, { raw: 'x'.repeat(1_000_000) })).code).toBe('400001');
      expect((await list(HERE, 1_100_000, channel, { headers: chunked })).code).toBe('400003');
    }
  });

  it('0: the bytes arrive unchanged, in any number of pieces', async () => {
    await start({});
    for (const says of [true, false]) {
      const slow = begin(HERE, 40_000, 0, { says });
      slow.finish(1_777);
      expect((await slow.replies(1)).map((reply) => reply.code)).toEqual(['0']);
    }
  });

  it('0: many at once run one after the other; a later small request is answered before the last', async () => {
    await start({ bytes: 40_000_000, bytesPerOwner: 40_000_000 });
    const answered: string[] = [];
    const note = (name: string) => (reply: Reply) => answered.push(`${name} ${reply.code}`);
    const large = Array.from({ length: 30 }, (_, n) => list(n % 2 === 0 ? HERE : THERE, 1_000_000).then(note('large')));
    await Promise.race(large);
    await Promise.all([...large, afterIt().then(note('small'))]);
    expect(answered.toSorted()).toEqual([...Array<string>(30).fill('large 0'), 'small 0']);
    expect(answered.at(-1)).toBe('large 0');
  });
});
