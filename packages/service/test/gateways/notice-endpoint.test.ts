import { randomUUID } from 'node:crypto';
import { signedHeaders } from '@perennial/wire/bridge';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { send } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, rawExchangeUnread, requestBytes } from '../support/raw-http.js';
import { testService } from '../support/service.js';
import { addBank, paidNotice } from './support.js';

const PATH = '/gateway/v1/notices/REFBANK';

const log = capturedLog();
const testLimits = { httpLimits: { halfCloseTimeout: 1_000 } };
const service = ofFile(() => testService({ log: log.log, testLimits, trustedProxies: ['127.0.0.1'] }));
let key: Buffer;
let before: number;
beforeAll(async () => {
  key = await addBank(service, 'REFBANK');
});
beforeEach(() => {
  before = log.lines().length;
});

const newLines = () => log.lines().slice(before);

const paid = (more: object = {}) => paidNotice(service, more);

let sent = 0;
/**
 * Returns signed headers with a new address each time, because the log has one line per address, payment channel and
 * minute.
 */
function headersFor(body: Buffer, signedWith: Uint8Array = key) {
  const signed = signedHeaders({ path: PATH, body, now: service.clock.now(), requestId: randomUUID() }, signedWith);
  sent += 1;
  return { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${sent}`, ...signed };
}

/** Sends a notice, correctly signed unless another key is given. */
function notice(body: object | string, signedWith?: Uint8Array) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return send(service.baseUrl, 'POST', PATH, headersFor(bytes, signedWith), bytes);
}

/** Returns a notice of exactly `bytes` bytes. */
const sized = (bytes: number) => {
  const bare = JSON.stringify(paid({ padding: '' })).length;
  return JSON.stringify(paid({ padding: 'x'.repeat(bytes - bare) }));
};

describe('a valid notice', () => {
  it('200, also with 65,536 bytes, and no log line', async () => {
    for (const body of [paid(), sized(65_536)]) {
      const reply = await notice(body);
      expect(reply.status, reply.text).toBe(200);
      expect(reply.envelope).toMatchObject({ code: '0', data: null, success: true });
    }
    expect(newLines()).toEqual([]);
  });
});

describe('a notice that is larger than 64 KB', () => {
  it.each([65_537, 70_000, 2_000_000])('413 and 400003: %i bytes, whatever the content', async (bytes) => {
    const reply = await notice(sized(bytes));
    expect(reply.status).toBe(413);
    expectEnvelope(reply.envelope, '400003');
    expect(reply.envelope.message).toBe('notice is larger than 64 KB');
    expect(reply.headers.connection).toBe('close');
  });

  it('413: in chunks too', async () => {
    const body = Buffer.from(sized(70_000));
    const chunked = { ...headersFor(body), 'transfer-encoding': 'chunked' };
    const reply = await send(service.baseUrl, 'POST', PATH, chunked, body);
    expect([reply.status, reply.code]).toEqual([413, '400003']);
  });

  it('413: a bridge that sends everything before it reads gets the answer', async () => {
    const body = Buffer.from(sized(5_000_000));
    const headers = { ...headersFor(body), 'Content-Length': String(body.length) };
    const replies = await rawExchangeUnread(service.baseUrl, requestBytes(PATH, headers, body));
    expect(replies.map(({ status, code }) => [status, code])).toEqual([[413, '400003']]);
  });
});

describe('a correctly signed notice that is unusable', () => {
  it.each<[string, () => object | string]>([
    ['an unknown kind', () => paid({ kind: 'REFUND' })],
    ['a time before 1970', () => paid({ paidAt: -5 })],
    ['a decline without a kind', () => paid({ status: 'DECLINED', decline: 'MAYBE' })],
    ['nothing at all', () => ''],
  ])('400 and 400001, and one line in the log: %s', async (_what, body) => {
    const reply = await notice(body());
    expect(reply.status).toBe(400);
    expectEnvelope(reply.envelope, '400001');
    expect(reply.envelope.message).toBe('the notice has no result that is known');
    const { requestId } = reply.envelope;
    const why = 'the notice has no result that is known';
    expect(newLines()).toEqual([
      expect.objectContaining({
        level: 'warn',
        requestId,
        paymentChannelCode: 'REFBANK',
        why,
        msg: 'a notice was refused',
      }),
    ]);
  });

  it('the log has none of its content', async () => {
    const content = { attemptNo: 'SECRET-NUMBER', institutionRef: '6222020000001234567', amountCent: 736_451_829 };
    await notice(paid({ status: 'PENDING', ...content }));
    expect(newLines()).toHaveLength(1);
    expect(log.text()).not.toMatch(/SECRET-NUMBER|6222020000001234567|736451829/);
  });

  it.each(['@@@', 'application/', 'text'])('400: a Content-Type that cannot be read, %s', async (contentType) => {
    const body = Buffer.from(JSON.stringify(paid()));
    const headers = { ...headersFor(body), 'content-type': contentType };
    const reply = await send(service.baseUrl, 'POST', PATH, headers, body);
    expect(reply.status).toBe(400);
    expectEnvelope(reply.envelope, '400001');
    expect(newLines()).toEqual([expect.objectContaining({ level: 'warn', why: reply.envelope.message })]);
  });

  it('400: it is truncated', async () => {
    const body = Buffer.from(JSON.stringify(paid()));
    const raw = rawConnection(service.baseUrl);
    raw.write(requestBytes(PATH, { ...headersFor(body), 'Content-Length': String(body.length + 1) }, body));
    raw.socket.end();
    expect((await raw.untilClosed()).map(({ status, code }) => [status, code])).toEqual([[400, '400001']]);
  });
});

describe('an untrusted notice', () => {
  it.each<[string, () => ReturnType<typeof notice>, string]>([
    ['another key', () => notice(paid(), Buffer.alloc(32, 1)), 'the signature does not match'],
    ['another key, nothing usable', () => notice({}, Buffer.alloc(32, 1)), 'the signature does not match'],
    [
      'no signature',
      () => send(service.baseUrl, 'POST', PATH, {}, Buffer.from(JSON.stringify(paid()))),
      'header X-Bridge-timestamp is missing or malformed',
    ],
  ])('401 and 401002, with the reason only in the log: %s', async (_what, sent, why) => {
    const reply = await sent();
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401002');
    expect(reply.envelope.message).toBe('signature does not match');
    expect(newLines()).toEqual([expect.objectContaining({ level: 'warn', paymentChannelCode: 'REFBANK', why })]);
  });
});
