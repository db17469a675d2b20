import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { encryptField } from '@perennial/wire';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { setEncryption } from '../../src/operator/provisioning/channel-settings.js';
import { resetCredentials, showChannel } from '../../src/operator/provisioning/channels.js';
import type { Environment } from '../../src/platform/settings.js';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import {
  type ChannelClient,
  type ChannelCredentials,
  channelClient,
  type Reply,
  send,
} from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { type TestService, testService } from '../support/service.js';

const log = capturedLog();
const { service: sandbox, channel } = serviceOfFile({ log: log.log });
const production = ofFile(() => testService({ environment: 'production' }));

const PATH = '/openapi/v1/auth/token';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const bytesOf = (secret: string) => Buffer.from(secret, 'base64');

interface Wrong {
  readonly key?: Buffer | string;
  readonly lines?: (right: string[]) => string[];
  readonly join?: string;
  readonly end?: string;
  readonly encode?: (mac: Buffer) => string;
  readonly timestamp?: string;
  readonly nonce?: string;
  readonly requestId?: string;
  readonly appId?: string;
  readonly body?: string;
  /** The loopback address from which the request is sent. */
  readonly from?: string;
}

/** Returns a client that signs without this project's code and makes the given mistakes. */
function raw(service: TestService, { appId, appSecret }: ChannelCredentials) {
  return async (wrong: Wrong = {}) => {
    const body = wrong.body ?? JSON.stringify({ grantType: 'client_credentials', appId });
    const timestamp = wrong.timestamp ?? String(service.clock.now());
    const nonce = wrong.nonce ?? randomBytes(16).toString('hex');
    const requestId = wrong.requestId ?? randomUUID();
    const right = ['POST', PATH, '', sha256(body), timestamp, nonce, requestId];
    const macOf = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();
    const text = (wrong.lines?.(right) ?? right).join(wrong.join ?? '\n') + (wrong.end ?? '');
    const mac = macOf(wrong.key ?? bytesOf(appSecret), text);
    const headers = {
      'content-type': 'application/json',
      'x-svc-app-id': wrong.appId ?? appId,
      'x-svc-timestamp': timestamp,
      'x-svc-nonce': nonce,
      'x-svc-request-id': requestId,
      'x-svc-signature': wrong.encode?.(mac) ?? mac.toString('base64'),
    };
    const reply = await send(service.baseUrl, 'POST', PATH, headers, Buffer.from(body), { localAddress: wrong.from });
    return { ...reply, requestId, right, rightMac: macOf(bytesOf(appSecret), right.join('\n')) };
  };
}

/**
 * Returns the mistakes that the answer's header names. Only the sandbox sends the header, and only after a diagnosis.
 */
const namesIn = ({ headers }: Reply): string[] => String(headers['x-svc-diagnosis'] ?? '').split(', ');
const isDiagnosed = ({ headers }: Reply): boolean => headers['x-svc-diagnosis'] !== undefined;
const get = (service: TestService, requestId: string) =>
  send(service.baseUrl, 'GET', `/developers/refused/${encodeURIComponent(requestId)}`, {}, Buffer.alloc(0));
const diagnosisOf = async (requestId: string) => (await get(sandbox, requestId)).envelope['diagnosis'];
const pageOf = (requestId: string) =>
  `see https://pay.example/developers/signature?request=${encodeURIComponent(requestId)}`;
function lineOf(requestId: string): object {
  const line = log.lines().find(({ msg, requestId: id }) => msg === 'request' && id === requestId);
  if (!line) throw new Error(`no line in the log for ${requestId}`);
  return line;
}
const at = (index: number, change: (line: string) => string) => (lines: string[]) =>
  lines.map((one, n) => (n === index ? change(one) : one));

describe('401002 in the sandbox', () => {
  const EARLIER = { nonce: 'ab'.repeat(16), requestId: 'an-earlier-request' };
  beforeAll(async () => {
    expect((await raw(sandbox, channel.credentials)(EARLIER)).code).toBe('0');
  });

  it.each<[names: string, wrong: (secrets: ChannelCredentials) => Wrong]>([
    ['secret-not-decoded', ({ appSecret }) => ({ key: appSecret })],
    ['secret-of-callback', ({ callbackSecret }) => ({ key: bytesOf(callbackSecret) })],
    ['secret-of-encryption', ({ aesKey }) => ({ key: bytesOf(aesKey) })],
    ['path-with-host', () => ({ lines: at(1, (path) => `https://pay.example${path}`) })],
    ['path-with-host', () => ({ lines: at(1, (path) => `${sandbox.baseUrl}${path}`) })],
    ['other-nonce', () => ({ lines: at(5, () => EARLIER.nonce) })],
    ['other-request-id', () => ({ lines: at(6, () => EARLIER.requestId) })],
    ['secret-not-decoded signature-hex', ({ appSecret }) => ({ key: appSecret, encode: (mac) => mac.toString('hex') })],
    ['unknown', () => ({ key: 'of somebody else' })],
  ])('%s', async (names, wrong) => {
    const { credentials } = channel;
    const reply = await raw(sandbox, credentials)(wrong(credentials));
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401002');
    expect(namesIn(reply).join(' ')).toBe(names);
    const { lines, likely } = await diagnosisOf(reply.requestId);
    expect(lines).toEqual(reply.right);
    expect(likely.map(({ mistake }: { mistake: string }) => mistake)).toEqual(namesIn(reply));
    const { message } = reply.envelope;
    expect(message).toMatch(/^signature does not match: /);
    for (const name of namesIn(reply)) expect(message.includes(` (${name}); `)).toBe(name !== 'unknown');
    expect(message.endsWith(`; ${pageOf(reply.requestId)}`)).toBe(true);
    expect(lineOf(reply.requestId)).toMatchObject({ code: '401002', diagnosis: names });
    const { appSecret, callbackSecret, aesKey } = credentials;
    for (const secret of [...[appSecret, callbackSecret, aesKey].map(bytesOf), reply.rightMac]) {
      for (const form of ['base64', 'base64url', 'hex'] as const) {
        expect(reply.text + JSON.stringify({ lines, likely })).not.toContain(secret.toString(form));
        expect(log.text()).not.toContain(secret.toString(form));
      }
    }
    expect(log.text()).not.toContain(reply.right[5]);
  });

  it('the message has the correction, the name of the mistake and the URL of the details', async () => {
    const { credentials } = channel;
    const reply = await raw(sandbox, credentials)({ key: credentials.appSecret, requestId: 'r~1/2' });
    expect(reply.envelope.message).toBe(
      'signature does not match: decode the appSecret from base64 and sign with its 32 bytes (secret-not-decoded); ' +
        'see https://pay.example/developers/signature?request=r~1%2F2',
    );
  });

  it('the nonce of a refused request counts as an earlier one, too', async () => {
    const ask = raw(sandbox, channel.credentials);
    await ask({ key: 'x', nonce: 'cd'.repeat(16) });
    expect(namesIn(await ask({ lines: at(5, () => 'cd'.repeat(16)) }))).toEqual(['other-nonce']);
  });

  it('a correct signature has no diagnosis, in the answer or the log', async () => {
    const reply = await raw(sandbox, channel.credentials)();
    expectEnvelope(reply.envelope, '0');
    expect(isDiagnosed(reply)).toBe(false);
    expect(lineOf(reply.requestId)).not.toHaveProperty('diagnosis');
  });

  it('an unknown app id is reported, and nothing is computed', async () => {
    const ask = raw(sandbox, channel.credentials);
    const reply = await ask({ appId: 'test_nobody' });
    expect(reply.envelope).toMatchObject({ code: '401002', data: null });
    expect(reply.envelope.message).toBe('signature does not match: this app id is unknown here');
    expect((await ask({ appId: 'app_of_production' })).envelope.message).toContain('begin with test_');
    expect(isDiagnosed(reply)).toBe(false);
    expect(lineOf(reply.requestId)).not.toHaveProperty('diagnosis');
  });
});

describe('401003 in the sandbox', () => {
  it.each([
    ['seconds', (now: number) => String(Math.floor(now / 1000)), 'timestamp-in-seconds', 'in seconds'],
    ['a late clock', (now: number) => String(now - 660_000), 'unknown', '11 minutes behind'],
  ])('%s', async (_what, timestampAt, mistake, says) => {
    const reply = await raw(sandbox, channel.credentials)({ timestamp: timestampAt(sandbox.clock.now()) });
    expectEnvelope(reply.envelope, '401003');
    expect(namesIn(reply)).toEqual([mistake]);
    const { message } = reply.envelope;
    expect(message).toMatch(/^X-SVC-Timestamp is more than 5 minutes off: /);
    expect(message).toContain(says);
    const name = mistake === 'unknown' ? '' : ` (${mistake})`;
    expect(message.endsWith(`${name}; ${pageOf(reply.requestId)}`)).toBe(true);
    expect(message).not.toContain('unknown');
    expect(await diagnosisOf(reply.requestId)).toEqual({
      likely: [{ mistake, hint: expect.stringContaining(says) }],
      lines: at(3, () => '(the body was not read)')(reply.right),
    });
    expect(lineOf(reply.requestId)).toMatchObject({ code: '401003', diagnosis: mistake });
  });

  it('for a channel that this node has not seen; for none that does not exist', async () => {
    const { credentials } = await sandbox.channel();
    expect(namesIn(await raw(sandbox, credentials)({ timestamp: '1769832000' }))).toEqual(['timestamp-in-seconds']);
    const stranger = await raw(sandbox, credentials)({ timestamp: '1769832000', appId: 'test_nobody' });
    expect(stranger.envelope).toMatchObject({
      code: '401003',
      message: 'X-SVC-Timestamp is more than 5 minutes off',
      data: null,
    });
  });
});

describe('the cost limit', () => {
  const MINUTE_MS = 60_000;
  const LIMITED = 'signature does not match; too many diagnoses, retry in a minute to get one';
  const crlf = { join: '\r\n' };
  beforeEach(() => sandbox.clock.advance(MINUTE_MS));

  it('of 200 wrong requests 60 are diagnosed per channel and address; later some more', async () => {
    const other = raw(sandbox, (await sandbox.channel()).credentials);
    const replies: Reply[] = [];
    for (let n = 0; n < 4; n += 1) {
      replies.push(...(await Promise.all(Array.from({ length: 50 }, () => other({ key: 'wrong' })))));
    }
    expect(replies.map(({ code }) => code)).toEqual(Array(200).fill('401002'));
    expect(replies.filter(isDiagnosed)).toHaveLength(60);
    expect(replies.at(-1)?.envelope.message).toBe(LIMITED);
    expect(namesIn(await raw(sandbox, channel.credentials)(crlf))).toEqual(['crlf']);
    expect(namesIn(await other({ ...crlf, from: '127.0.0.2' }))).toEqual(['crlf']);
    sandbox.clock.advance(1_000);
    expect(namesIn(await other(crlf))).toEqual(['crlf']);
    expect(isDiagnosed(await other(crlf))).toBe(false);
  });

  it('300 per node, over all channels', async () => {
    const asks = await Promise.all(
      Array.from({ length: 6 }, async () => raw(sandbox, (await sandbox.channel()).credentials)),
    );
    for (const ask of asks.slice(0, 5)) {
      const replies = await Promise.all(Array.from({ length: 60 }, () => ask({ key: 'wrong' })));
      expect(replies.every(isDiagnosed)).toBe(true);
    }
    const last = await asks[5]?.(crlf);
    expect(last?.envelope).toMatchObject({ data: null, message: LIMITED });
    sandbox.clock.advance(MINUTE_MS);
  });
});

describe('an app secret from before a reset', () => {
  const reset = async (service: TestService, { credentials }: ChannelClient, environment: Environment = 'sandbox') => {
    const fresh = await resetCredentials(
      { ...service.operator, environment },
      { ...credentials, names: ['appSecret'] },
    );
    return channelClient(service.baseUrl, { ...credentials, ...fresh }, () => service.clock.now());
  };

  it('is diagnosed, is never accepted, and is shown nowhere', async () => {
    const first = await sandbox.channel();
    const second = await reset(sandbox, first);
    const signed = () => raw(sandbox, second.credentials)({ key: bytesOf(first.credentials.appSecret) });
    const now = sandbox.clock.now();
    for (const time of [now, 1, now + 10 * 365 * 86_400_000]) {
      sandbox.clock.set(time);
      const reply = await signed();
      expect(reply.code).toBe('401002');
      expect(namesIn(reply)).toEqual(['secret-before-reset']);
    }
    sandbox.clock.set(now);
    expect((await raw(sandbox, second.credentials)()).code).toBe('0');
    const { formerSecretUntil } = await showChannel(sandbox.operator, second.credentials);
    expect(formerSecretUntil).toBeNull();

    const { database } = sandbox.fresh;
    await createHousekeeping({ database, log: log.log, environment: 'sandbox' })();
    const third = await reset(sandbox, second);
    expect(namesIn(await raw(sandbox, third.credentials)({ key: bytesOf(second.credentials.appSecret) }))).toEqual([
      'secret-before-reset',
    ]);
    expect(namesIn(await raw(sandbox, third.credentials)({ key: bytesOf(first.credentials.appSecret) }))).toEqual([
      'unknown',
    ]);
  });

  it('survives housekeeping in the sandbox, is erased in production, and is not kept by a reset there', async () => {
    const { database } = sandbox.fresh;
    const kept = async ({ credentials: { appId } }: ChannelClient) =>
      (
        await database.query<{ former: string | null }>(
          'select former_app_secret as former from channels where app_id = $1',
          [appId],
        )
      )[0]?.former;
    const rolled = await reset(sandbox, await sandbox.channel());
    await createHousekeeping({ database, log: log.log, environment: 'sandbox' })();
    expect(await kept(rolled)).not.toBeNull();
    await createHousekeeping({ database, log: log.log, environment: 'production' })();
    expect(await kept(rolled)).toBeNull();
    const again = await reset(sandbox, rolled);
    expect(await kept(again)).not.toBeNull();
    expect(await kept(await reset(sandbox, again, 'production'))).toBeNull();
  });

  it('is no mistake while it is accepted beside the new one', async () => {
    const first = await sandbox.channel();
    const { appId } = first.credentials;
    await resetCredentials(sandbox.operator, { appId, names: ['appSecret'], overlapHours: 1 });
    const ask = raw(sandbox, first.credentials);
    expect((await ask()).code).toBe('0');
    expect(namesIn(await ask({ join: '\r\n' }))).toEqual(['crlf']);
  });
});

describe('GET /developers/refused/{requestId}', () => {
  it('gives the seven lines and the hints, for a quarter of an hour', async () => {
    const requestId = `a/b?c#${'%'.repeat(1018)}`;
    const reply = await raw(sandbox, channel.credentials)({ join: '\r\n', requestId });
    const found = await get(sandbox, requestId);
    expect(found.status).toBe(200);
    expect(found.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': expect.stringContaining('json'),
    });
    const hint = 'You joined the lines with CR LF. Join them with LF alone, on every system.';
    expect(found.envelope).toEqual({ diagnosis: { lines: reply.right, likely: [{ mistake: 'crlf', hint }] } });
    sandbox.clock.advance(15 * 60_000);
    const gone = await get(sandbox, requestId);
    expect(gone.status).toBe(404);
    expectEnvelope(gone.envelope, '404001');
    expect((await get(sandbox, 'never-sent')).status).toBe(404);
  });

  it('keeps the last 200, and 50 of one channel', async () => {
    const sendWrong = async (count: number) => {
      const ask = raw(sandbox, (await sandbox.channel()).credentials);
      const more = async () => (await ask({ join: '\r\n' })).requestId;
      const ids: string[] = [];
      while (ids.length < count) ids.push(await more());
      sandbox.clock.advance(60_000);
      return { ids, more };
    };
    const statuses = (ids: readonly (string | undefined)[]) =>
      Promise.all(ids.map(async (id) => (await get(sandbox, id ?? '')).status));

    sandbox.clock.advance(15 * 60_000);
    const [a, b] = [await sendWrong(50), await sendWrong(50)];
    await b.more();
    expect(await statuses([a.ids[0], b.ids[0], b.ids[1]])).toEqual([200, 404, 200]);
    await sendWrong(50);
    await sendWrong(50);
    await sendWrong(1);
    expect(await statuses([a.ids[0], a.ids[1], b.ids[1]])).toEqual([404, 200, 200]);
  });

  it('404 in production, as for every other path', async () => {
    const { requestId } = await raw(production, (await production.channel()).credentials)({ join: '\r\n' });
    const reply = await get(production, requestId);
    expectEnvelope(reply.envelope, '404001');
    const elsewhere = await send(production.baseUrl, 'GET', '/elsewhere', {}, Buffer.alloc(0));
    expect(reply.envelope.message).toBe(elsewhere.envelope.message);
  });
});

describe('DEVELOPERS=off', () => {
  it('the message names no URL, and there is none', async () => {
    const service = await testService({ developers: 'off' });
    const reply = await raw(service, (await service.channel()).credentials)({ join: '\r\n' });
    expect(reply.envelope).toMatchObject({
      code: '401002',
      message:
        'signature does not match: you joined the lines with CR LF. Join them with LF alone, on every system (crlf)',
      data: null,
    });
    expect(namesIn(reply)).toEqual(['crlf']);
    expectEnvelope((await get(service, reply.requestId)).envelope, '404001');
    await service.close();
  });
});

describe('production', () => {
  it('gives no diagnosis, whatever is wrong', async () => {
    const { credentials } = await production.channel();
    const ask = raw(production, credentials);
    const requestId = 'the-same';
    const expected = (code: string, message: string) =>
      `{"code":"${code}","message":"${message}","data":null,"requestId":"the-same","timestamp":"2026-01-31 12:00:00","success":false}`;
    const refused = expected('401002', 'signature does not match');
    const reply = await ask({ requestId, key: credentials.appSecret });
    expect(reply.text).toBe(refused);
    expect(isDiagnosed(reply)).toBe(false);
    expect((await ask({ requestId, appId: 'test_nobody' })).text).toBe(refused);
    const late = await ask({ requestId, timestamp: '1769832000' });
    expect(late.text).toBe(expected('401003', 'X-SVC-Timestamp is more than 5 minutes off'));
  });

  it('does not explain an unreadable field', async () => {
    const client = await production.channel();
    const reply = await client.call('agreements/user-data', { bankCardNoEncrypted: '6222020000001234567' });
    expect(reply.envelope).toMatchObject({ code: '400002', message: 'bankCardNoEncrypted cannot be decrypted' });
  });
});

describe('400002 in the sandbox names the likely cause', () => {
  const CARD = '6222020000001234567';
  it.each<[says: string, value: (secrets: ChannelCredentials) => string]>([
    ['(prefix): it begins with neither', () => CARD],
    ['(key): it is encrypted under the appSecret', ({ appSecret }) => encryptField(CARD, bytesOf(appSecret), 'v2')],
    ['(key): it is encrypted under the callbackSecret', ({ callbackSecret: key }) => encryptField(CARD, bytesOf(key))],
  ])('%s', async (says, value) => {
    const bankCardNoEncrypted = value(channel.credentials);
    const reply = await channel.call('agreements/user-data', { bankCardNoEncrypted });
    expectEnvelope(reply.envelope, '400002');
    expect(reply.envelope.message).toContain(`bankCardNoEncrypted cannot be decrypted ${says}`);
    for (const secret of [CARD, ...(bankCardNoEncrypted === CARD ? [] : [bankCardNoEncrypted])]) {
      expect(reply.text + log.text()).not.toContain(secret);
    }
  });

  it('but nothing about v1 for a channel that accepts only v2', async () => {
    const { credentials } = channel;
    const v1 = encryptField(CARD, bytesOf(credentials.aesKey), 'v1').replace('v1', 'v2');
    const ask = async () => (await channel.call('agreements/user-data', { bankCardNoEncrypted: v1 })).envelope.message;
    expect(await ask()).toContain('it is encrypted as');
    await setEncryption(sandbox.operator, { appId: credentials.appId, acceptsV1: false });
    expect(await ask()).toContain('(key): the key or the bytes are wrong');
  });
});
