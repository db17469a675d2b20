import { randomBytes } from 'node:crypto';
import { HEADERS, MAX_BODY_BYTES, Rejection } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressCheck } from '../../src/catalog/channels/channel.js';
import { setIpAllowList } from '../../src/operator/provisioning/channel-settings.js';
import { resumeChannel, suspendChannel } from '../../src/operator/provisioning/channels.js';
import { anotherNodeOfFile, serviceOfFile } from '../orders/stage-of-file.js';
import type { CallOptions, ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { testRoute } from '../support/test-endpoint.js';

const refusing = testRoute(
  'test/refusing',
  async () => {
    throw new Rejection('SUBSCRIPTION_NOT_FOUND');
  },
  { write: true },
);
const { service, channel } = serviceOfFile({ moreRoutes: [refusing] });
/** A node that trusts proxies on this machine and in 10.0.0.0/8. */
const behindProxy = anotherNodeOfFile(service, { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] });
let proxied: ChannelClient;
let token: string;
beforeAll(async () => {
  proxied = behindProxy.client(channel);
  token = await channel.getToken();
});

const allow = (...ranges: string[]) => setIpAllowList(service.operator, { appId: channel.credentials.appId, ranges });
const list = (options: CallOptions = {}, by = channel) => by.callBare('products/list', {}, { token, ...options });
const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });

describe('a channel that is shut out', () => {
  it.each<[string, string, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      '403001',
      'its address is not on the list',
      () => allow('203.0.113.0/24'),
      () => allow('127.0.0.1', '203.0.113.0/24'),
    ],
    [
      '403002',
      'it is suspended',
      () => suspendChannel(service.operator, { appId: channel.credentials.appId }),
      () => resumeChannel(service.operator, { appId: channel.credentials.appId }),
    ],
  ])('%s: %s, at once on every node; 0 for other channels, and once that is over', async (code, _what, begin, end) => {
    const other = await service.channel();
    for (const client of [channel, proxied]) expect((await list({}, client)).code).toBe('0');
    await begin();
    for (const client of [channel, proxied]) {
      const reply = await list({}, client);
      expect(reply.status).toBe(200);
      expectEnvelope(reply.envelope, code);
    }
    expect((await channel.callBare('auth/token', {})).code).toBe(code);
    expect((await other.call('products/list', {})).code).toBe('0');
    await end();
    for (const client of [channel, proxied]) expect((await list({}, client)).code).toBe('0');
  });
});

describe('the IP allow-list', () => {
  it.each([
    ['0', '203.0.113.7', ['203.0.113.7']],
    ['403001', '203.0.113.8', ['203.0.113.7']],
    ['0', '203.0.113.255', ['203.0.113.0/24']],
    ['403001', '203.0.114.0', ['203.0.113.0/24']],
    ['0', '::ffff:203.0.113.7', ['203.0.113.0/24']],
    ['0', '::ffff:cb00:7107', ['203.0.113.0/24']],
    ['403001', '::ffff:203.0.114.7', ['203.0.113.0/24']],
    ['0', '2001:db8::7', ['203.0.113.0/24', '2001:db8::/32']],
    ['0', '2001:DB8:0:0:0:0:0:7', ['2001:db8::7']],
    ['403001', '2001:db9::7', ['2001:db8::/32']],
    ['403001', '::1', ['127.0.0.1']],
    ['0', '203.0.113.7', ['0.0.0.0/0']],
    ['403001', '2001:db8::7', ['0.0.0.0/0']],
    ['403001', 'unknown', ['0.0.0.0/0', '::/0']],
    ['403001', '203.0.113.7:443', ['0.0.0.0/0', '::/0']],
  ])('%s: %s against %j', async (code, address, ranges) => {
    await allow(...ranges);
    expect((await list(from(address), proxied)).code).toBe(code);
  });

  it('a client that has hung up has no address and is refused', () => {
    const gone = undefined as unknown as string;
    expect(createAddressCheck(['0.0.0.0/0', '::/0'])(gone)).toBe(false);
    expect(createAddressCheck([])(gone)).toBe(true);
  });
});

describe('X-Forwarded-For', () => {
  beforeAll(() => allow('203.0.113.7'));
  afterAll(() => allow());

  it.each([
    ['403001', 'is not believed without a trusted proxy', '203.0.113.7', false],
    [
      '0',
      'names as the caller the last address that no trusted proxy has',
      '198.51.100.1, 203.0.113.7, 10.1.2.3',
      true,
    ],
    ['403001', 'does not count where the caller wrote it in front', '203.0.113.7, 198.51.100.1', true],
    ['403001', 'does not count there behind a second proxy either', '203.0.113.7, 198.51.100.1, 10.1.2.3', true],
  ])('%s: %s', async (code, _what, addresses, isProxied) => {
    expect((await list(from(addresses), isProxied ? proxied : channel)).code).toBe(code);
  });
});

/**
 * Tests the order of checks. Each row has one more error than the row before it. The answer is the error that is
 * checked first.
 */
describe('precedence', () => {
  const usedNonce = randomBytes(16).toString('hex');
  const usedKey = 'a key of precedence'.replaceAll(' ', '-');
  let victim: ChannelClient;
  let options: CallOptions & { raw: string; path?: string };
  const sql = (text: string) => service.fresh.database.query(text, [victim.credentials.appId]);

  beforeAll(async () => {
    victim = await service.channel();
    options = { token: await victim.getToken(), raw: '{"orderNo":"1"}' };
    const first = { ...options, nonce: usedNonce, idempotencyKey: usedKey };
    expect((await victim.callBare('test/refusing', {}, first)).code).toBe('420001');
  });

  it.each<[string, string, () => Partial<typeof options> | Promise<Partial<typeof options>>]>([
    ['420001', 'a business rule', () => ({})],
    ['409001', 'the idempotency key', () => ({ idempotencyKey: usedKey, raw: '{"orderNo":"2"}' })],
    ['400001', 'the body', () => ({ raw: '{"orderNo":2}' })],
    ['401005', 'the token', () => ({ token: 'x' })],
    [
      '429001',
      'the rate',
      async () => {
        await sql(`update rate_limits set tokens = 0, refilled_at = now() + interval '1 hour'
                   where channel_id = (select channel_id from channels where app_id = $1)`);
        return {};
      },
    ],
    [
      '403002',
      'the suspended channel',
      async () => {
        await suspendChannel(service.operator, { appId: victim.credentials.appId });
        return {};
      },
    ],
    [
      '403001',
      'the address',
      async () => {
        await setIpAllowList(service.operator, { appId: victim.credentials.appId, ranges: ['203.0.113.7'] });
        return {};
      },
    ],
    ['401004', 'the nonce', () => ({ nonce: usedNonce })],
    ['401002', 'the signature', () => ({ signRaw: 'something else' })],
    ['400003', 'the size', () => ({ raw: ' '.repeat(MAX_BODY_BYTES + 1) })],
    ['401003', 'the timestamp', () => ({ timestamp: service.clock.now() + 300_001 })],
    ['401001', 'a header', () => ({ headers: { [HEADERS.contentType]: undefined } })],
    ['405001', 'the method', () => ({ method: 'PUT' })],
    ['404001', 'the path', () => ({ path: '/openapi/v1/test/other' })],
  ])('%s: %s', async (code, _what, breakMore) => {
    options = { ...options, ...(await breakMore()) };
    const reply = await victim.callBare('test/refusing', {}, options);
    expectEnvelope(reply.envelope, code);
  });
});
