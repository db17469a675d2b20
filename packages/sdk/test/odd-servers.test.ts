import { describe, expect, it } from 'vitest';
import { isPerennialError, PerennialConnectionError, PerennialError } from '../src/index.js';
import { answer, caught, type Move, ok, peer, reset, silence, testClient, usePeer } from './support.js';

usePeer();

const text =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Move =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

/** Begins an answer and never completes it. */
const beginning =
  (then: (response: Parameters<Move>[1]) => void): Move =>
  (_, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"code":', () => then(response));
  };

const endless: Move = (_, response) => {
  const chunk = Buffer.alloc(1 << 20, ' ');
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
};

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const UNREADABLE = 'something that is not the service answered with HTTP 200';

describe('a response that is not the service’s', () => {
  it.each([
    ['nothing', text(''), UNREADABLE],
    ['null', text('null'), UNREADABLE],
    ['a list', text('[]'), UNREADABLE],
    ['a text', text('"0"'), UNREADABLE],
    ['a code that is a number', text('{"code":0,"data":{}}'), UNREADABLE],
    ["a receiver's", text('{"code":"not-found"}', 404), 'something that is not the service answered with HTTP 404'],
    ['a code of fewer digits', text('{"code":"404","message":"no"}'), UNREADABLE],
    ['a success without data', text('{"code":"0"}'), UNREADABLE],
    ['a success with a list', text('{"code":"0","data":[]}'), UNREADABLE],
    ['a success with a text', text('{"code":"0","data":"done"}'), UNREADABLE],
    ['no text', text(Buffer.from([0x7b, 0xff, 0x7d])), UNREADABLE],
    ['deep', text(`{"code":"0","data":{"mobileEncrypted":${nested(100_000)}}}`), UNREADABLE],
    ['without an end', endless, 'an answer of more than 16777216 bytes'],
    ['empty by its status', text('', 204), 'answered with HTTP 204'],
    ['a redirect with a body of the service', text('{"code":"0","data":{}}', 307, { Location: '/' }), 'a redirect'],
  ])('%s is not taken for one, and not retried', async (_, move, said) => {
    peer.play(move);
    const error = await caught(testClient(peer).client.products.list());
    expect(error).toBeInstanceOf(PerennialConnectionError);
    expect(error).toMatchObject({ reason: 'unreadable-answer', attempts: 1, message: expect.stringContaining(said) });
  });

  it.each([
    ['is cut off', beginning((response) => response.socket?.destroy())],
    ['is no gzip', text('{"code":"0","data":{}}', 200, { 'Content-Encoding': 'gzip' })],
  ])('that %s half way is as one that did not come', async (_, move) => {
    peer.play(move);
    const { client } = testClient(peer, { retries: 0 });
    const error = await caught(client.orders.unsubscribe({ orderNo: '1' }, { idempotencyKey: 'mine' }));
    expect(error).toMatchObject({
      name: 'PerennialConnectionError',
      reason: 'connection',
      idempotencyKey: 'mine',
      cause: expect.any(Error),
    });
    expect(isPerennialError(error)).toBe(false);
  });

  it('in plain HTTP is recognised, and not retried', async () => {
    const baseUrl = peer.baseUrl.replace('http:', 'https:');
    const { client, waits } = testClient(peer, { baseUrl });
    expect(await caught(client.auth.token())).toMatchObject({
      reason: 'unreadable-answer',
      message: `${new URL(baseUrl).host} speaks http, not https: check baseUrl`,
    });
    expect(waits).toEqual([]);
  });

  it('that stalls half way times out', async () => {
    const usual = peer.token;
    peer.token = beginning(() => undefined);
    const error = await caught(testClient(peer, { retries: 0, timeoutMs: 50 }).client.auth.token());
    peer.token = usual;
    expect(error).toMatchObject({ name: 'PerennialConnectionError', reason: 'timeout' });
  });

  it('from a fetch that ignores its signal times out as well', async () => {
    const { client } = testClient(peer, { fetch: () => new Promise(() => undefined), timeoutMs: 20, retries: 0 });
    expect(await caught(client.auth.token())).toMatchObject({ reason: 'timeout' });
  });
});

describe('an answer', () => {
  it('is recognised by its content, not by its type', async () => {
    peer.play(text('{"code":"0","data":{"items":[]}}', 200, { 'Content-Type': 'text/html' }));
    expect(await testClient(peer).client.products.list()).toEqual({ items: [] });
  });

  it('may have field names that are special in JavaScript', async () => {
    peer.play(text('{"code":"0","data":{"__proto__":{"polluted":1},"mobileEncrypted":null}}'));
    const data = await testClient(peer).client.products.list();
    expect(JSON.stringify(data)).toBe('{"__proto__":{"polluted":1},"mobile":null}');
    expect(data).not.toHaveProperty('polluted');
  });

  it.each([
    [{ items: [1], nextCursor: 'same' }, 'products/list goes in a circle'],
    [{ items: 'abc', nextCursor: null }, 'products/list was answered without a list'],
    [{ nextCursor: null }, 'products/list was answered without a list'],
  ])('of a list that is none, %j, ends the iteration', async (data, said) => {
    peer.play(ok(data));
    const items: unknown[] = [];
    const walk = async () => {
      for await (const item of testClient(peer).client.products.listAll()) items.push(item);
    };
    expect(await caught(walk())).toEqual(new TypeError(said));
    expect(items.length).toBeLessThanOrEqual(2);
  });

  it('without a message has that of its code', async () => {
    peer.play(text('{"code":"420001","message":{"a":1}}'), text('{"code":"499999"}'));
    const { client } = testClient(peer);
    expect(await caught(client.products.list())).toMatchObject({ message: 'no such order', serviceMessage: '' });
    const error = await caught(client.products.list());
    expect(error).toMatchObject({ message: 'code 499999', name: 'UNKNOWN_CODE' });
    expect(isPerennialError(error, 'SUBSCRIPTION_NOT_FOUND')).toBe(false);
    expect(isPerennialError(error, 'PARAM_INVALID', 'UNKNOWN_CODE')).toBe(true);
  });
});

describe('a refusal', () => {
  const refusedFor = (mistakes: readonly string[]): Move =>
    answer(401, '401002', {
      headers: { 'X-SVC-Diagnosis': mistakes.join(', ') },
      message: 'signature does not match: so',
    });
  const json =
    (status: number, body: object): Move =>
    (_, response) =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

  it('uses the SDK’s field names, and keeps the service’s message', async () => {
    const message =
      'one of channelUserId, bankCardNoEncrypted, sharedAgreement.realNameEncrypted; names end in Encrypted';
    peer.play(answer(400, '400001', { message }));
    const error = await caught(testClient(peer).client.products.list());
    expect(error).toMatchObject({
      message: 'one of channelUserId, bankCardNo, sharedAgreement.realName; names end in Encrypted',
      serviceMessage: message,
    });
  });

  const WRONG = 'wrong-secret: appSecret is not the one of this appId';
  it.each([
    [['unknown'], WRONG],
    [['secret-not-decoded'], WRONG],
    [['secret-of-callback'], 'secret-of-callback: appSecret holds the callbackSecret'],
    [['crlf', 'secret-of-encryption'], 'secret-of-encryption: appSecret holds the aesKey'],
    [['secret-before-reset'], 'secret-before-reset: appSecret is the one from before'],
    [['body-serialised-again'], 'changed-on-its-way: appSecret is right'],
    [['constructor'], 'changed-on-its-way: appSecret is right'],
  ])('of a signature, %j, says what somebody with this client can have done', async (mistakes, said) => {
    const likely = mistakes.map((mistake) => ({ mistake, hint: 'as the service says it' }));
    const diagnosis = { lines: ['POST'], likely };
    peer.play(refusedFor(mistakes), json(200, { diagnosis }));
    const error = await caught(testClient(peer).client.send('products/list', {}, { requestId: 'r/1?' }));
    expect(error).toBeInstanceOf(PerennialError);
    expect(error).toMatchObject({
      name: 'SIGNATURE_INVALID',
      serviceMessage: 'signature does not match: so',
      diagnosis,
    });
    expect((error as Error).message).toMatch(new RegExp(`^signature does not match\\. Likely ${said}`));
    expect(peer.asked.map(({ path, body }) => [path, body]).at(-1)).toEqual(['/developers/refused/r%2F1%3F', '']);
    expect(peer.asked.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  it('of a timestamp has the service’s message', async () => {
    const message = 'timestamp is too far: use milliseconds (timestamp-in-seconds); see http://x/developers/signature';
    const headers = { 'X-SVC-Diagnosis': 'timestamp-in-seconds' };
    const diagnosis = { lines: 5, likely: [null, 1, { mistake: 'timestamp-in-seconds', hint: 'use milliseconds' }] };
    peer.play(answer(401, '401003', { headers, message }), json(200, { diagnosis }));
    // The valid parts of a malformed diagnosis are used.
    const likely = [{ mistake: 'timestamp-in-seconds', hint: 'use milliseconds' }];
    expect(await caught(testClient(peer).client.products.list())).toMatchObject({
      message,
      diagnosis: { lines: [], likely },
    });
  });

  it.each<[string, Move]>([
    ['another node has it', answer(404, '404001')],
    ['it is not JSON', text('{"diagnosis":')],
    ['something else answers', json(200, { diagnosis: 1 })],
    ['the connection breaks', reset],
    ['nothing answers', silence],
  ])('has no diagnosis if %s', async (_why, move) => {
    peer.play(refusedFor(['crlf']), move);
    const error = await caught(testClient(peer, { timeoutMs: 500 }).client.products.list());
    expect(error).toMatchObject({ name: 'SIGNATURE_INVALID', diagnosis: undefined });
    expect((error as Error).message).toContain('changed-on-its-way: appSecret is right');
  });

  it('in production requests no diagnosis', async () => {
    peer.play(answer(401, '401002', { message: 'signature does not match' }));
    const error = await caught(testClient(peer).client.products.list());
    expect(error).toMatchObject({ message: 'signature does not match', diagnosis: undefined });
    expect(peer.asked).toHaveLength(1);
  });
});
