import type net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPushClient, type PushClient } from '../../src/delivery/transport/push-client.js';
import { type TestNetwork, testNetwork } from './network.js';
import { ACCEPTED_BODY, type ReceiverAnswer, signedPush, startReceiver, type TestReceiver } from './receiver.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const OK = 'HTTP/1.1 200 OK\r\n';
const ACCEPTING = `${OK}Content-Length: ${ACCEPTED_BODY.length}\r\n\r\n${ACCEPTED_BODY}`;

let network: TestNetwork;
let receiver: TestReceiver;
let sender: PushClient;
beforeEach(async () => {
  network = testNetwork();
  receiver = await startReceiver({ secrets: { app: SECRET } });
  sender = createPushClient({ allowLocalhost: true });
});
afterEach(async () => {
  sender.close();
  await receiver.close();
  network.restore();
  // After every test, no socket is open and every push was signed correctly.
  expect(network.sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
  expect(receiver.forged).toEqual([]);
});

const push = (through = sender) => through.push(receiver.url, () => signedPush('app', SECRET));

type Outcome = readonly [what: string, answer: ReceiverAnswer, expected: object];
const OUTCOMES: readonly Outcome[] = [
  ['accepts', 'accept', { outcome: 'ACCEPTED', httpStatus: 200, answer: ACCEPTED_BODY }],
  ['refuses', 'refuse', { outcome: 'REFUSED', httpStatus: 200, answer: '{"code":"500001","message":"not now"}' }],
  ['redirects', 'redirect', { outcome: 'REFUSED', httpStatus: 307 }],
  ['says 201', { status: 201 }, { outcome: 'REFUSED', httpStatus: 201, answer: ACCEPTED_BODY }],
  ['says 500', { status: 500, body: 'oh' }, { outcome: 'REFUSED', httpStatus: 500, answer: 'oh' }],
  ['answers endlessly', 'huge', { outcome: 'REFUSED', httpStatus: 200 }],
  ['closes the connection', 'close', { outcome: 'UNREACHABLE', httpStatus: null, answer: 'the connection was closed' }],
  ['resets the connection', 'reset', { outcome: 'UNREACHABLE', httpStatus: null, answer: 'ECONNRESET' }],
  ['closes during the headers', { raw: [OK], close: true }, { outcome: 'REFUSED', httpStatus: null }],
  [
    'closes during the body',
    { raw: [`${OK}Content-Length: 99\r\n\r\n{"co`], close: true },
    { outcome: 'REFUSED', httpStatus: 200, answer: 'the answer ends too early: {"co' },
  ],
  [
    'closes before the body',
    { raw: ['HTTP/1.1 502 Bad Gateway\r\nContent-Length: 99\r\n\r\n'], close: true },
    { outcome: 'REFUSED', httpStatus: 502, answer: 'the answer ends too early' },
  ],
  [
    'sends a broken body',
    { raw: ['HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n<h1>\r\n'] },
    { outcome: 'REFUSED', httpStatus: 500, answer: 'a chunk has no size: <h1>  ' },
  ],
  ['does not speak HTTP', { raw: ['220 smtp ready\r\n'] }, { outcome: 'REFUSED', answer: 'it is not HTTP/1.1' }],
];

describe('a push to a receiver that', () => {
  it.each(OUTCOMES)('%s', async (_what, answer, expected) => {
    receiver.answer(answer);
    expect(await push()).toMatchObject(expected);
    expect(receiver.pushes).toHaveLength(1);
    expect(network.dialled).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  it('does not exist', async () => {
    await receiver.close();
    expect(await push()).toEqual({ outcome: 'UNREACHABLE', httpStatus: null, answer: 'ECONNREFUSED' });
  });
});

it.each(['plain', 'Zürich', '好的 🙂'])('the body arrives byte for byte: %s', async (name) => {
  expect(await sender.push(receiver.url, () => signedPush('app', SECRET, '/events', '4711', { name }))).toMatchObject({
    outcome: 'ACCEPTED',
  });
  expect(receiver.pushes).toMatchObject([{ data: { name } }]);
});

it('200 characters of an answer are stored, without those that PostgreSQL or a terminal cannot handle', async () => {
  receiver.answer({ status: 500, body: `\0\u001b[31m\u202e\ud83d\r\n${'好'.repeat(300)}` });
  const { answer } = await push();
  expect(answer).toBe(`  [31m \ufffd  ${'好'.repeat(190)}`);
});

/** Waits until the client has read `bytes` bytes of the receiver's answer. */
async function came(bytes: number): Promise<void> {
  while ((network.sockets[0]?.bytesRead ?? 0) < bytes) await new Promise(setImmediate);
}

it('a connection that is reset in the body: the received part is known', async () => {
  const part = `${OK}Content-Length: 5\r\n\r\n{`;
  receiver.answer({ raw: [part] });
  let theirs: net.Socket | undefined;
  receiver.server.once('request', ({ socket }) => {
    theirs = socket;
  });
  const result = push();
  await came(part.length);
  theirs?.resetAndDestroy();
  expect(await result).toEqual({ outcome: 'UNREACHABLE', httpStatus: 200, answer: 'ECONNRESET: {' });
});

describe('the deadline of a push', () => {
  // Stops the time. A test calls `over` when everything else has happened, so that the deadline passes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  const over = () => vi.advanceTimersByTimeAsync(5_000);
  const late = { outcome: 'TIMEOUT', httpStatus: null, answer: 'no answer within 5000 ms' };
  const half = `${OK}Content-Length: 5\r\n\r\n{`;
  const headers = 'HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\n';
  const interim = 'HTTP/1.1 102 Processing\r\n\r\n';

  it.each<[string, ReceiverAnswer, number, object]>([
    ['a receiver that hangs', 'hang', 0, late],
    [
      'a receiver that trickles',
      'trickle',
      1,
      { ...late, httpStatus: 200, answer: expect.stringMatching(/^no answer within 5000 ms: +$/) },
    ],
    ['unfinished headers', { raw: [OK] }, OK.length, late],
    ['headers without a body', { raw: [headers] }, headers.length, { ...late, httpStatus: 503 }],
    ['half of a body', { raw: [half] }, half.length, { ...late, httpStatus: 200, answer: `${late.answer}: {` }],
    ['interim answers alone', { raw: [interim] }, interim.length, late],
  ])('ends %s, whose connection is then closed', async (_what, answer, bytes, expected) => {
    receiver.answer(answer);
    const result = push();
    await receiver.until(1);
    await came(bytes);
    await over();
    expect(await result).toEqual(expected);
    await receiver.until(() => receiver.connections.open === 0);
  });

  it('applies to a kept connection, and is not restarted', async () => {
    expect(await push()).toMatchObject({ outcome: 'ACCEPTED' });
    receiver.answer('hang');
    const result = push();
    await receiver.until(2);
    await over();
    expect(await result).toEqual(late);
    expect(receiver.connections.made).toBe(1);
  });

  it.each([
    ['a slow name lookup', () => new Promise<never>(() => undefined)],
    ['an address that never answers', async () => ['203.0.113.7']],
  ])('ends %s', async (_what, resolve) => {
    network.route('203.0.113.7', 'silence');
    const other = createPushClient({ allowLocalhost: true, resolveName: resolve });
    const result = other.push('https://hooks.example/', () => signedPush('app', SECRET));
    await over();
    expect(await result).toEqual(late);
  });

  it('ends a slow name lookup: no connection is opened', async () => {
    let found: (addresses: string[]) => void = () => undefined;
    const resolve = () => new Promise<string[]>((settle) => (found = settle));
    const other = createPushClient({ allowLocalhost: true, resolveName: resolve });
    const result = other.push('https://hooks.example/', () => signedPush('app', SECRET));
    await over();
    expect(await result).toEqual(late);
    found(['203.0.113.7']);
    await new Promise(setImmediate);
    expect(network.dialled).toEqual([]);
  });
});

describe('a kept connection', () => {
  // Stops the time, so that a connection is closed for the tested reason and not because of a timeout.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    receiver.server.keepAliveTimeout = 0;
  });
  afterEach(() => void vi.useRealTimers());

  it('serves one push after another', async () => {
    for (let count = 1; count <= 20; count += 1) expect(await push()).toMatchObject({ outcome: 'ACCEPTED' });
    expect(receiver.connections).toEqual({ made: 1, open: 1 });
    sender.close();
    await receiver.until(() => receiver.connections.open === 0);
  });

  it('serves one push at a time', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => push()));
    expect(results.filter(({ outcome }) => outcome === 'ACCEPTED')).toHaveLength(8);
    expect(new Set(receiver.pushes.map(({ connection }) => connection)).size).toBe(8);
    await Promise.all(Array.from({ length: 8 }, () => push()));
    expect(receiver.connections.made).toBe(8);
  });

  it.each<[string, (socket: net.Socket) => unknown]>([
    ['closes it', (socket) => socket.end()],
    ['resets it', (socket) => socket.resetAndDestroy()],
    ['sends unrequested data', (socket) => socket.write('x')],
  ])('is dropped if the other end %s', async (_what, act) => {
    let theirs: net.Socket | undefined;
    receiver.server.on('request', ({ socket }) => {
      theirs = socket;
    });
    await push();
    if (theirs) act(theirs);
    await receiver.until(() => receiver.connections.open === 0);
    expect(await push()).toMatchObject({ outcome: 'ACCEPTED' });
    expect(receiver.connections.made).toBe(2);
  });

  it.each([
    ['an answer with Connection: close', ACCEPTING.replace('\r\n', '\r\nConnection: close\r\n')],
    ['unrequested data', `${ACCEPTING}${OK}Content-Length: 12\r\n\r\n{"code":"1"}`],
  ])('is not used after %s', async (_what, raw) => {
    receiver.answer({ raw: [raw] });
    for (let count = 1; count <= 3; count += 1) expect(await push()).toMatchObject({ outcome: 'ACCEPTED' });
    expect(receiver.connections.made).toBe(3);
  });

  it('that was just closed is replaced once by a new one, with a new signature', async () => {
    await push();
    let closed = 0;
    receiver.answer(() => {
      closed += 1;
      return closed === 1 ? 'close' : 'accept';
    });
    expect(await push()).toMatchObject({ outcome: 'ACCEPTED' });
    receiver.answer('reset');
    expect(await push()).toEqual({ outcome: 'UNREACHABLE', httpStatus: null, answer: 'ECONNRESET' });
    expect(receiver.pushes.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
    expect(new Set(receiver.pushes.map(({ nonce }) => nonce)).size).toBe(5);
  });

  it.each<ReceiverAnswer>(['close', 'reset'])(
    'closed by "%s" a while later is not replaced: the receiver may have processed the push',
    async (answer) => {
      await push();
      receiver.answer(() => {
        vi.advanceTimersByTime(101);
        return answer;
      });
      expect(await push()).toMatchObject({ outcome: 'UNREACHABLE', httpStatus: null });
      expect(receiver.pushes).toHaveLength(2);
      expect(receiver.connections.made).toBe(1);
    },
  );

  it('closed after a byte was received is not replaced: the receiver has understood the push', async () => {
    await push();
    receiver.answer({ raw: ['H'], close: true });
    expect(await push()).toMatchObject({ outcome: 'REFUSED', answer: 'the answer ends in its headers' });
    expect(receiver.pushes).toHaveLength(2);
  });

  it('expires after four seconds', async () => {
    await push();
    await vi.advanceTimersByTimeAsync(3_999);
    expect(await push()).toMatchObject({ outcome: 'ACCEPTED' });
    await vi.advanceTimersByTimeAsync(3_999);
    expect(receiver.connections).toEqual({ made: 1, open: 1 });
    await vi.advanceTimersByTimeAsync(1);
    await receiver.until(() => receiver.connections.open === 0);
  });

  it('is used for at most a minute, so that changed names are followed', async () => {
    for (let second = 0; second < 60; second += 3) {
      await push();
      await vi.advanceTimersByTimeAsync(3_000);
    }
    expect(receiver.connections.made).toBe(1);
    await push();
    expect(receiver.connections.made).toBe(2);
  });

  it('belongs to one receiver', async () => {
    const other = await startReceiver({ secrets: { app: SECRET } });
    await push();
    expect(await sender.push(other.url, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
    expect([receiver.pushes.length, other.pushes.length]).toEqual([1, 1]);
    await other.close();
  });

  it('is not kept after close', async () => {
    let answerNow: () => void = () => undefined;
    receiver.server.once('request', (_request, response) => {
      answerNow = () => response.end(ACCEPTED_BODY);
    });
    receiver.answer('hang');
    const result = push();
    await receiver.until(1);
    sender.close();
    answerNow();
    expect(await result).toMatchObject({ outcome: 'ACCEPTED' });
    expect(network.sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  });
});

it('hundreds of pushes to a receiver with random behaviour leave nothing behind', async () => {
  const moods: readonly ReceiverAnswer[] = ['accept', 'refuse', 'close', 'reset', 'huge', { raw: ['x\n'] }, 'accept'];
  let next = 0;
  receiver.answer(() => moods[next++ % moods.length] ?? 'accept');
  for (let round = 1; round <= 15; round += 1) {
    const results = await Promise.all(Array.from({ length: 20 }, () => push()));
    expect(results.map(({ outcome }) => outcome)).not.toContain('TIMEOUT');
  }
  sender.close();
  await receiver.until(() => receiver.connections.open === 0);
  expect(network.sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
});
