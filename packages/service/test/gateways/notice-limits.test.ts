import { randomUUID } from 'node:crypto';
import { signedHeaders } from '@perennial/wire/bridge';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { resetGatewayKey } from '../../src/operator/provisioning/payment-channels.js';
import { type Database, wrapQuery } from '../../src/platform/db/database.js';
import type { TestLimits } from '../../src/service.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { type Reply, send } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type TestService, testService } from '../support/service.js';
import { addBank, paidNotice } from './support.js';

const FAILURES = 3;
const THERE = '198.51.100.8';
const WRONG = Buffer.alloc(32, 1);

let service: TestService;
let log: CapturedLog;
let keys: Map<string, Buffer>;
/** Statements that the node has sent outside transactions. */
let asked: string[];
let node: Node;
let stopped: Promise<void> | undefined;
function stop(): Promise<void> {
  stopped ??= node.close();
  return stopped;
}
async function end(): Promise<void> {
  await stop();
  await service.close();
}
/** The address from which the current test sends. */
let HERE: string;
let tests = 0;
beforeEach(() => {
  tests += 1;
  HERE = `203.0.113.${tests}`;
});

async function start(authFailuresPerMinute: number, limits: TestLimits = {}): Promise<void> {
  log = capturedLog();
  service = await testService();
  keys = new Map();
  for (const code of ['REFBANK', 'OTHERBANK']) keys.set(code, await addBank(service, code));
  asked = [];
  const { database } = service.fresh;
  const counting: Database = {
    ...database,
    close: async () => undefined,
    query: wrapQuery(database, (run, { text }) => {
      asked.push(text);
      return run();
    }),
  };
  const testLimits = { authFailuresPerMinute, ...limits };
  const more = { database: counting, log: log.log, testLimits, trustedProxies: ['127.0.0.1'] };
  node = await anotherNode(service, more);
  stopped = undefined;
}

const paid = (more: object = {}) => paidNotice(service, more);

interface Sent {
  readonly address?: string;
  readonly key?: Uint8Array;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

/** Sends a notice, correctly signed unless another key is given. */
function notice(code: string, { address = HERE, key, body = paid(), headers }: Sent = {}): Promise<Reply> {
  const path = `/gateway/v1/notices/${code}`;
  const bytes = Buffer.from(JSON.stringify(body));
  const signedWith = key ?? keys.get(code) ?? WRONG;
  const signed = signedHeaders({ path, body: bytes, now: service.clock.now(), requestId: randomUUID() }, signedWith);
  const all = { 'content-type': 'application/json', 'x-forwarded-for': address, ...signed, ...headers };
  return send(node.baseUrl, 'POST', path, all, bytes);
}

async function fail(status: number, call: () => Promise<Reply>): Promise<void> {
  for (let n = 0; n < FAILURES; n += 1) expect((await call()).status).toBe(status);
}

function expectRefused(reply: Reply): void {
  expect(reply.status).toBe(429);
  expectEnvelope(reply.envelope, '429001');
  expect(reply.headers['retry-after']).toBe('20');
}

describe('a sender of many untrusted notices', () => {
  beforeAll(() => start(FAILURES));
  afterAll(end);

  it.each<[string, number, () => Promise<Reply>]>([
    ['another key', 401, () => notice('REFBANK', { key: WRONG })],
    ['a payment channel that does not exist', 401, () => notice('NOBANK')],
    ['a body that is too large', 413, () => notice('REFBANK', { body: paid({ padding: 'x'.repeat(70_000) }) })],
    ['a Content-Type that cannot be read', 400, () => notice('REFBANK', { headers: { 'content-type': '@@@' } })],
  ])('429 and 429001: %s, without a database read', async (_what, status, call) => {
    expect((await notice('REFBANK')).status).toBe(200);
    await fail(status, call);
    const before = asked.length;
    expectRefused(await call());
    expect(asked.slice(before)).toEqual([]);
    service.clock.advance(20_000);
    expect((await call()).status).toBe(status);
  });

  it('200: from another address, and for another payment channel from the same address', async () => {
    await notice('REFBANK');
    await fail(401, () => notice('REFBANK', { key: WRONG }));
    expectRefused(await notice('REFBANK'));
    expect((await notice('REFBANK', { address: THERE })).status).toBe(200);
    expect((await notice('OTHERBANK')).status).toBe(200);
  });

  it('200: for every payment channel, after notices for unknown ones', async () => {
    await fail(401, () => notice('NOBANK'));
    expectRefused(await notice('NOBANK2'));
    for (const code of ['REFBANK', 'OTHERBANK']) expect((await notice(code)).status).toBe(200);
  });

  it('200: after genuine notices that were unusable', async () => {
    await fail(400, () => notice('REFBANK', { body: paid({ kind: 'REFUND' }) }));
    expect((await notice('REFBANK')).status).toBe(200);
  });
});

describe('database reads for notices', () => {
  beforeAll(() => start(100_000));
  afterAll(end);

  it.each<[string, () => Promise<Reply>]>([
    ['for an existing payment channel', () => notice('REFBANK', { key: WRONG })],
    ['for unknown payment channels', () => notice(randomUUID())],
  ])('at most ten statements a second for all untrusted notices, %s', async (_what, call) => {
    await notice('REFBANK');
    service.clock.advance(1000);
    asked.length = 0;
    for (let n = 0; n < 30; n += 1) expect((await call()).status).toBe(401);
    expect(asked).toHaveLength(10);
    service.clock.advance(1000);
    for (let n = 0; n < 30; n += 1) expect((await call()).status).toBe(401);
    expect(asked).toHaveLength(20);
    // A genuine notice is still accepted at this time.
    expect((await notice('REFBANK')).status).toBe(200);
  });

  it('401 and 200: an old key stops working, and a new key or payment channel works, at once', async () => {
    service.clock.advance(1000);
    const old = keys.get('REFBANK') ?? WRONG;
    expect((await notice('REFBANK')).status).toBe(200);
    const { gatewayKey } = await resetGatewayKey(service.operator, { code: 'REFBANK' });
    expect((await notice('REFBANK', { key: old })).status).toBe(401);
    expect((await notice('REFBANK', { key: Buffer.from(gatewayKey ?? '', 'base64') })).status).toBe(200);
    expect((await notice('NEWBANK')).status).toBe(401);
    keys.set('NEWBANK', await addBank(service, 'NEWBANK'));
    expect((await notice('NEWBANK')).status).toBe(200);
  });
});

describe('notices of more than 16 KB', () => {
  afterEach(end);
  const NO_ROOM = { largeBodies: { bytes: 0 } };
  const large = () => ({ body: paid({ padding: 'x'.repeat(50_000) }) });

  /** Sends the first 20,000 bytes of a notice from the current test's address. */
  function begin() {
    const raw = rawConnection(node.baseUrl);
    onTestFinished(raw.close);
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': HERE, 'Content-Length': '60000' };
    raw.write(requestBytes('/gateway/v1/notices/REFBANK', headers, 'x'.repeat(20_000)));
    return raw;
  }

  it('200: while other large bodies have no room', async () => {
    await start(FAILURES, NO_ROOM);
    expect((await notice('REFBANK', large())).status).toBe(200);
  });

  it('429: from an address whose notices use its limit; 200: from another', async () => {
    await start(FAILURES, { ...NO_ROOM, noticeBodies: { bytesPerOwner: 70_000 } });
    begin();
    await notice('REFBANK');
    const reply = await notice('REFBANK', large());
    expect(reply.status).toBe(429);
    expectEnvelope(reply.envelope, '429001');
    expect((await notice('REFBANK', { ...large(), address: THERE })).status).toBe(200);
  });

  it('408: if they stall, and their room is free', async () => {
    await start(FAILURES, { ...NO_ROOM, noticeBodies: { bytesPerOwner: 70_000, windowMs: 50 } });
    const [reply] = await begin().replies(1);
    expect([reply?.status, reply?.headers['connection']]).toEqual([408, 'close']);
    expectEnvelope(reply?.envelope, '400001');
    expect((await notice('REFBANK', large())).status).toBe(200);
  });
});

describe('the log', () => {
  beforeEach(() => start(100_000));
  afterEach(end);
  const lines = () => log.lines().filter((line) => /notice/.test(line.msg));

  it('has one line per address and payment channel, with the number of further ones', async () => {
    for (let n = 0; n < 5; n += 1) await notice('REFBANK', { key: WRONG });
    const first = { level: 'warn', address: HERE, paymentChannelCode: 'REFBANK', why: 'the signature does not match' };
    expect(lines()).toEqual([expect.objectContaining({ ...first, msg: 'a notice was refused' })]);
    await notice('REFBANK', { key: WRONG, address: THERE });
    await notice('NOBANK');
    expect(lines().slice(1)).toEqual([
      expect.objectContaining({ address: THERE, paymentChannelCode: 'REFBANK' }),
      expect.objectContaining({ address: HERE, paymentChannelCode: 'NOBANK' }),
    ]);
    await stop();
    expect(lines().slice(3)).toEqual([
      expect.objectContaining({
        address: HERE,
        paymentChannelCode: 'REFBANK',
        heldBack: 4,
        msg: 'more notices were refused',
      }),
    ]);
  });

  it('has every line about genuine notices', async () => {
    for (let n = 0; n < 3; n += 1) await notice('REFBANK', { body: paid({ kind: 'REFUND' }) });
    expect(lines()).toHaveLength(3);
  });
});
