import { createHmac } from 'node:crypto';
import { HEADERS, PATH_PREFIX, sha256Hex, signRequest } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { type CallOptions, type ChannelCredentials, channelClient, type Reply } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';

// A service in production, which does not explain refusals. test/kit/diagnosis.test.ts covers the sandbox.
const { service, channel } = serviceOfFile({ environment: 'production' });

const NAME = 'products/list';
const list = (options: CallOptions) => channel.call(NAME, {}, options);
/** Calls with the channel's token and one changed credential. */
const listAs = async (change: Partial<ChannelCredentials>, requestId = 'same') => {
  const token = await channel.getToken();
  const stranger = channelClient(service.baseUrl, { ...channel.credentials, ...change }, () => service.clock.now());
  return stranger.callBare(NAME, {}, { token, requestId });
};

function expectRefused(reply: Reply): void {
  expect(reply.status).toBe(401);
  expectEnvelope(reply.envelope, '401002');
  expect(reply.envelope.message).toBe('signature does not match');
  expect(reply.data).toBeNull();
}

describe('X-SVC-Signature', () => {
  it('0: is the HMAC-SHA256 of seven lines, with the bytes of appSecret, in base64', async () => {
    const body = '{"page":1}';
    const nonce = '00112233445566778899aabbccddeeff';
    const timestamp = String(service.clock.now());
    const lines = ['POST', `${PATH_PREFIX}${NAME}`, '', sha256Hex(Buffer.from(body)), timestamp, nonce, 'request-1'];
    const signature = createHmac('sha256', Buffer.from(channel.credentials.appSecret, 'base64'))
      .update(lines.join('\n'))
      .digest('base64');
    const headers = { [HEADERS.signature]: signature };
    expect((await list({ raw: body, nonce, timestamp, requestId: 'request-1', headers })).code).toBe('0');
  });

  it('401002: another key, the text of appSecret instead of its bytes, or another secret of the channel', async () => {
    const { appSecret, aesKey, callbackSecret } = channel.credentials;
    const wrong = [
      Buffer.alloc(32),
      Buffer.from(appSecret),
      Buffer.from(aesKey, 'base64'),
      Buffer.from(callbackSecret),
    ];
    for (const key of wrong) expectRefused(await listAs({ appSecret: key.toString('base64') }));
  });

  /** Sends a fixed request with a correct signature that `change` has altered. */
  const changed = (change: (signature: string) => string) => {
    const fixed = { nonce: 'f'.repeat(32), requestId: 'fixed' };
    const headers: Record<string, string> = channel.signedHeaders(NAME, Buffer.from('{}'), fixed);
    return list({ ...fixed, headers: { [HEADERS.signature]: change(headers[HEADERS.signature] ?? '') } });
  };
  // Other encodings of the same bytes are tested in packages/wire/test/signing.test.ts.
  it.each<[string, (signature: string) => string]>([
    ['one character short', (s) => s.slice(1)],
    ['of 33 bytes', (s) => Buffer.concat([Buffer.from(s, 'base64'), Buffer.of(0)]).toString('base64')],
    ['a single character', () => 'A'],
    ['1024 characters', () => 'A'.repeat(1024)],
    ['junk after the padding', (s) => `${s}!`],
    ['without its padding', (s) => s.replace('=', '')],
    ['in hex', (s) => Buffer.from(s, 'base64').toString('hex')],
    ['in base64 of the hex text', (s) => Buffer.from(Buffer.from(s, 'base64').toString('hex')).toString('base64')],
  ])('401002: %s', async (_what, change) => {
    expectRefused(await changed(change));
  });

  it('0: the fixed request of the rows above is valid without a change', async () => {
    expect((await changed((signature) => signature)).code).toBe('0');
  });
});

describe('what is signed', () => {
  it.each<[string, CallOptions]>([
    ['the body is sent with other white space', { raw: '{ "page": 1 }', signRaw: '{"page":1}' }],
    ['the body is sent with other escapes', { raw: '{"x":"\\u0041"}', signRaw: '{"x":"A"}' }],
    ['the body is sent with fields in another order', { raw: '{"size":2,"page":1}', signRaw: '{"page":1,"size":2}' }],
    ['the body is sent with a line break at the end', { raw: '{}\n', signRaw: '{}' }],
    ['the body is sent empty', { raw: '', signRaw: '{}' }],
  ])('401002: %s', async (_what, options) => {
    expectRefused(await list(options));
  });

  it.each(['{ "page": 1 }', '{"x":"\\u0041"}', '{"size":2,"page":1}', '{}\n', '\t{}'])(
    '0: the bytes of %j as they travel',
    async (raw) => {
      expect((await list({ raw })).code).toBe('0');
    },
  );

  const signedFor = (parts: {
    path?: string;
    query?: string;
    timestamp?: string;
    nonce?: string;
    requestId?: string;
  }) => {
    const sent = {
      path: `${PATH_PREFIX}${NAME}`,
      query: '',
      timestamp: String(service.clock.now()),
      nonce: 'b'.repeat(32),
      requestId: 'sent',
    };
    const bodySha256 = sha256Hex(Buffer.from('{}'));
    const secret = Buffer.from(channel.credentials.appSecret, 'base64');
    const { timestamp, nonce, requestId } = sent;
    return { timestamp, nonce, requestId, signature: signRequest({ ...sent, bodySha256, ...parts }, secret) };
  };
  it.each([
    ['another path', { path: `${PATH_PREFIX}payment-channels/list` }],
    ['a path with a slash at the end', { path: `${PATH_PREFIX}${NAME}/` }],
    ['a query that is not sent', { query: 'page=1' }],
    ['another timestamp', { timestamp: '1769832000001' }],
    ['another nonce', { nonce: 'c'.repeat(32) }],
    ['the nonce in capitals', { nonce: 'B'.repeat(32) }],
    ['another request id', { requestId: 'other' }],
    ['a query in another order', { query: 'b=2&a=1' }, 'a=1&b=2'],
    ['a decoded query', { query: 'a=1' }, 'a=%31'],
    ['no query, although one is sent', {}, 'a=1'],
  ])('401002: signed for %s', async (_what, parts, query?: string) => {
    const { signature, ...sent } = signedFor(parts);
    expectRefused(await list({ ...sent, ...(query ? { query } : {}), headers: { [HEADERS.signature]: signature } }));
  });

  it.each(['a=1&b=2', 'a', '%20=%2F&a=+', 'a=1?b=2', 'page=2'])('0: the query as it is sent: %s', async (query) => {
    expect((await list({ query })).code).toBe('0');
  });
});

describe('an unknown app id', () => {
  it('401002: the same answer as a bad signature', async () => {
    const unknown = await listAs({ appId: 'test_nobody' });
    const badSignature = await list({ requestId: 'same', signRaw: 'something else' });
    expectRefused(unknown);
    expect(unknown.text).toBe(badSignature.text);
    expect(Object.keys(unknown.headers)).toEqual(Object.keys(badSignature.headers));
  });

  it('401002: a key of zeros, which replaces the missing secret, is not accepted', async () => {
    expectRefused(await listAs({ appId: 'test_nobody', appSecret: Buffer.alloc(32).toString('base64') }));
  });

  it('401002: app ids are case-sensitive and exact', async () => {
    for (const appId of [channel.credentials.appId.toUpperCase(), `${channel.credentials.appId}x`]) {
      expectRefused(await list({ headers: { [HEADERS.appId]: appId } }));
    }
  });

  it('401002: a deleted channel, on a node that knew it', async () => {
    const shortLived = await service.channel();
    expect((await shortLived.call(NAME, {})).code).toBe('0');
    await service.fresh.database.query('delete from channels where app_id = $1', [shortLived.credentials.appId]);
    expectRefused(await shortLived.call(NAME, {}));
  });
});

describe('X-SVC-Timestamp', () => {
  const at = (timestamp: number | string) => list({ timestamp });

  it.each([0, 1, -1, 300_000, -300_000])('0: %i ms off the service clock', async (offset) => {
    expect((await at(service.clock.now() + offset)).code).toBe('0');
  });

  it.each<[string, string | (() => number)]>([
    ['just too late', () => service.clock.now() - 300_001],
    ['just too early', () => service.clock.now() + 300_001],
    ['seconds in place of milliseconds', '1769832000'],
    ['zero', '0'],
    ['negative', '-1769832000000'],
    ['the largest of 64 bits', '9223372036854775807'],
    ['19 digits', '9999999999999999999'],
  ])('401003: a number that is off (%s)', async (_what, timestamp) => {
    const reply = await at(typeof timestamp === 'string' ? timestamp : timestamp());
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401003');
    expect(reply.data).toBeNull();
  });

  it.each([
    ['20 digits', '17698320000000000000'],
    ['letters', 'now'],
    ['a fraction', '1769832000000.5'],
    ['an exponent', '1.769832e12'],
    ['hex', '0x19c12345678'],
    ['a plus sign', '+1769832000000'],
    ['a separator', '1,769,832,000,000'],
    ['two numbers', '1769832000000 1769832000000'],
    ['the time format of bodies', '2026-01-31 12:00:00'],
    ['NaN', 'NaN'],
  ])('401001: garbage (%s)', async (_what, timestamp) => {
    const reply = await at(timestamp);
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401001');
    expect(reply.envelope.message).toContain(HEADERS.timestamp);
  });

  it('0: leading zeros are signed as they were sent', async () => {
    expect((await at(`00${service.clock.now()}`)).code).toBe('0');
  });
});
