import { HEADERS } from '@perennial/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMinuteLimit } from '../../src/http/answers/minute-limit.js';
import { suspendChannel } from '../../src/operator/provisioning/channels.js';
import { type Database, openDatabase, wrapQuery } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { type CallOptions, type ChannelClient, type Reply, send } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { anotherNode } from '../support/second-node.js';
import { manualClock, testService } from '../support/service.js';

const FAILURES = 3;
/** The client addresses of the current test, so that failures of other tests do not count. */
let HERE: string;
let THERE: string;
let tests = 0;

/** The wait until one more failure is allowed: three are allowed per minute, so one every 20 s. */
const AGAIN_MS = 20_000;

const LIMITED = { testLimits: { authFailuresPerMinute: FAILURES }, trustedProxies: ['127.0.0.1'] };
const service = ofFile(() => testService(LIMITED));
let channel: ChannelClient;
/** A channel behind the same proxy. */
let neighbour: ChannelClient;
beforeEach(async () => {
  tests += 1;
  HERE = `203.0.113.${tests}`;
  THERE = `198.51.100.${tests}`;
  channel = await service.channel();
  neighbour = await service.channel();
});

const at = (address: string, options: CallOptions = {}): CallOptions => ({
  ...options,
  headers: { 'X-Forwarded-For': address, ...options.headers },
});
/** Calls an endpoint with a valid access token. */
const list = (options: CallOptions = {}, by = channel) => by.call('products/list', {}, at(HERE, options));
/** Calls without a token. */
const askForToken = (options: CallOptions = {}, by = channel, address = HERE) =>
  by.callBare('auth/token', { grantType: 'client_credentials', appId: by.credentials.appId }, at(address, options));

const WRONG = { signRaw: 'something else' };
async function fail(code: string, call: () => Promise<Reply>): Promise<void> {
  for (let n = 0; n < FAILURES; n += 1) expect((await call()).code).toBe(code);
}

function expectRefused(reply: Reply): void {
  expect(reply.status).toBe(429);
  expectEnvelope(reply.envelope, '429001');
  expect(Number(reply.headers['retry-after'])).toBe(AGAIN_MS / 1000);
}

describe('a client that keeps failing authentication', () => {
  it.each<[string, string, () => CallOptions]>([
    ['401002', 'bad signatures', () => WRONG],
    ['401001', 'missing headers', () => ({ headers: { [HEADERS.nonce]: undefined } })],
    ['401003', 'old timestamps', () => ({ timestamp: service.clock.now() - 300_001 })],
  ])('429001: after %s for %s under the id of a channel that this node knows', async (code, _what, fault) => {
    expect((await askForToken()).code).toBe('0');
    await fail(code, () => askForToken(fault()));
    expectRefused(await askForToken(fault()));
    expectRefused(await askForToken());
  });

  it.each<[string, string, CallOptions]>([
    ['401002', 'ids that nobody has', { headers: { [HEADERS.appId]: 'test_nobody' } }],
    ['401001', 'no id at all', { headers: { [HEADERS.appId]: undefined } }],
    ['401001', 'an id that cannot be one', { headers: { [HEADERS.appId]: 'x'.repeat(65) } }],
  ])('429001: after %s for %s, for all other unknown ids', async (code, _what, fault) => {
    await fail(code, () => askForToken(fault));
    expectRefused(await askForToken(fault));
    expectRefused(await askForToken({ headers: { [HEADERS.appId]: 'test_somebody_else' } }));
  });

  it('0: below the limit, and one more attempt with each third of a minute', async () => {
    await askForToken();
    for (let n = 1; n < FAILURES; n += 1) expect((await askForToken(WRONG)).code).toBe('401002');
    expect((await askForToken()).code).toBe('0');
    expect((await askForToken(WRONG)).code).toBe('401002');
    service.clock.advance(AGAIN_MS - 1);
    expect((await askForToken()).code).toBe('429001');
    service.clock.advance(1);
    expect((await askForToken()).code).toBe('0');
    expect((await askForToken(WRONG)).code).toBe('401002');
    expectRefused(await askForToken(WRONG));
    service.clock.advance(60_000);
    await fail('401002', () => askForToken(WRONG));
  });

  it('429001: from the same address or IPv6 /64, and 0 from another', async () => {
    const [here, near, far] = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'];
    for (const [failing, same, other] of [
      [HERE, HERE, THERE],
      [here, near, far],
    ] as const) {
      await askForToken({}, channel, other);
      await fail('401002', () => askForToken(WRONG, channel, failing));
      expectRefused(await askForToken({}, channel, same));
      expect((await askForToken({}, channel, other)).code).toBe('0');
    }
  });

  // If a large channel behind one address uses an expired token, it must still be able to call auth/token.
  it.each<[string, string, CallOptions]>([
    ['401005', 'tokens that are not valid', { token: 'x' }],
    ['400001', 'bodies that are not valid', { raw: '[]' }],
  ])('0: after %s for %s, which come after the signature', async (code, _what, fault) => {
    await fail(code, () => list(fault));
    expect((await askForToken()).code).toBe('0');
  });

  it('403002: refusals of a known channel do not count', async () => {
    await list();
    await suspendChannel(service.operator, { appId: channel.credentials.appId });
    await fail('403002', () => list());
    expect((await list()).code).toBe('403002');
  });
});

describe('behind one address', () => {
  it.each<[string, () => Promise<Reply>]>([
    [
      'without any header',
      () => send(service.baseUrl, 'POST', '/openapi/v1/auth/token', at(HERE).headers ?? {}, Buffer.alloc(0)),
    ],
    ['under unknown ids', () => askForToken({ headers: { [HEADERS.appId]: 'test_nobody' } })],
  ])('0: channels are not blocked by requests %s', async (_what, call) => {
    await channel.getToken();
    await neighbour.getToken();
    for (let n = 0; n < 5 * FAILURES; n += 1) await call();
    expectRefused(await call());
    for (const by of [channel, neighbour]) {
      expect((await askForToken({}, by)).code).toBe('0');
      expect((await list({}, by)).code).toBe('0');
    }
  });

  it('0: a channel is not blocked by requests under another id', async () => {
    await list();
    await list({}, neighbour);
    await fail('401002', () => askForToken(WRONG));
    expectRefused(await askForToken());
    expect((await askForToken({}, neighbour)).code).toBe('0');
  });

  it('0: a channel with a live token is not blocked by requests under its own id', async () => {
    await list();
    for (let n = 0; n < 5 * FAILURES; n += 1) await askForToken(WRONG);
    for (let n = 0; n < 5 * FAILURES; n += 1) await list({ ...WRONG, token: 'x'.repeat(80) });
    for (let n = 0; n < 5 * FAILURES; n += 1) expect((await list()).code).toBe('0');
  });

  it('0: also on a node that does not know the channel yet', async () => {
    const node = await anotherNode(service, LIMITED);
    try {
      const token = await channel.getToken();
      const there = node.client(channel);
      for (let n = 0; n < 2 * FAILURES; n += 1) await askForToken({ headers: { [HEADERS.appId]: undefined } }, there);
      expect((await askForToken({}, there)).code).toBe('429001');
      expect((await list({ token }, there)).code).toBe('0');
      expect((await askForToken({}, there)).code).toBe('0');
    } finally {
      await node.close();
    }
  });

  it('429001: a genuine token with unknown app ids: none of them is looked up any more', async () => {
    const asked: unknown[] = [];
    const real = openDatabase({ url: service.fresh.url, pool: 4, name: 'watched node' });
    const database: Database = {
      ...real,
      query: wrapQuery(real, (run, { text, values }) => {
        if (/from channels\b/.test(text)) asked.push(...values);
        return run();
      }),
    };
    const node = await anotherNode(service, { ...LIMITED, database });
    try {
      const token = await channel.getToken();
      const there = node.client(channel);
      const stranger = (n: number) => list({ token, headers: { [HEADERS.appId]: `test_nobody_${n}` } }, there);
      for (let n = 0; n < FAILURES; n += 1) expect((await stranger(n)).code).toBe('401002');
      for (let n = FAILURES; n < 5 * FAILURES; n += 1) expectRefused(await stranger(n));
      const names = asked.filter((value) => String(value).startsWith('test_nobody'));
      expect(names).toEqual(Array.from({ length: FAILURES }, (_, n) => `test_nobody_${n}`));
      // The token's channel was looked up only one time.
      expect(asked.filter((value) => typeof value === 'number')).toHaveLength(1);
      // Requests of the channel itself still succeed.
      expect((await list({ token }, there)).code).toBe('0');
    } finally {
      await node.close();
      await real.close();
    }
  });

  it.each<[string, () => Promise<CallOptions>]>([
    ['of another channel', async () => ({ token: await neighbour.getToken() })],
    [
      'that has expired',
      async () => {
        const token = await channel.getToken();
        service.clock.advance(7_200_000);
        return { token };
      },
    ],
  ])('429001: a token %s does not help', async (_what, tokenOf) => {
    const { token } = await tokenOf();
    await askForToken();
    await fail('401002', () => askForToken(WRONG));
    expectRefused(await list({ token: token ?? '' }));
  });

  it('429001: failures with a live token block requests with it, but not those without', async () => {
    await fail('401002', () => list(WRONG));
    expectRefused(await list());
    expect((await askForToken()).code).toBe('0');
  });
});

describe('the memory of failures', () => {
  it('forgets the oldest failures when there are too many, and mixes up no clients', () => {
    const limit = createMinuteLimit(1, manualClock());
    for (let n = 0; n < 10_000; n += 1) limit.count(`address ${n}`);
    expect(limit.isReached('address 0')).toBe(true);
    limit.count('address 10000');
    for (const n of [0, 500, 999, 10_001]) expect(limit.isReached(`address ${n}`)).toBe(false);
    for (const n of [1_000, 5_000, 10_000]) expect(limit.isReached(`address ${n}`)).toBe(true);
  });

  it('a clock that is set back forgives no failure and extends no refusal', () => {
    const clock = manualClock();
    const limit = createMinuteLimit(60, clock);
    for (let n = 0; n < 60; n += 1) limit.count('address');
    clock.advance(-3_600_000);
    expect(limit.isReached('address')).toBe(true);
    clock.advance(1000);
    expect(limit.isReached('address')).toBe(false);
  });
});

describe('an undeclared proxy', () => {
  let log: CapturedLog;
  const warnings = () => log.lines().filter((line) => /TRUSTED_PROXIES/.test(line.msg));
  const behind = async (trustedProxies: string[], headers: Record<string, string>) => {
    const node = await anotherNode(service, { log: log.log, trustedProxies });
    try {
      for (let n = 0; n < 3; n += 1) await askForToken({ headers }, node.client(channel));
    } finally {
      await node.close();
    }
  };
  beforeEach(() => {
    log = capturedLog();
  });

  const said = { 'X-Forwarded-For': '203.0.113.7' };
  const forwarded = { Forwarded: 'for=203.0.113.7' };
  it.each<[string, string[], Record<string, string>]>([
    ['no proxy is', [], said],
    ['another one is', ['10.0.0.0/8'], said],
    ['no proxy is, and it sends Forwarded', [], forwarded],
  ])('is logged once, with its address: %s', async (_what, trustedProxies, headers) => {
    await behind(trustedProxies, headers);
    expect(warnings()).toEqual([expect.objectContaining({ level: 'warn', peer: '127.0.0.1' })]);
  });

  it('is not logged if it is declared', async () => {
    await behind(['127.0.0.0/8'], { ...said, ...forwarded });
    expect(warnings()).toEqual([]);
  });
});
