import { describe, expect, it } from 'vitest';
import { PerennialClient, type PerennialClientOptions } from '../src/index.js';
import { answer, caught, NOW, ORDER, ok, peer, SECRETS, testClient, usePeer } from './support.js';

usePeer();

const create = (body: unknown, options?: unknown) =>
  testClient(peer).client.orders.create(body as typeof ORDER, options as undefined);

describe('a body', () => {
  const circle: Record<string, unknown> = { ...ORDER };
  circle['self'] = circle;
  let deep: unknown = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];

  it.each([
    ['nothing', null, 'the body of orders/create must be an object'],
    ['a list', [], 'the body of orders/create must be an object'],
    ['a text', 'x', 'the body of orders/create must be an object'],
    ['a BigInt', { ...ORDER, cycles: 1n }, 'cycles must not be a BigInt: JSON has none'],
    ['no number', { ...ORDER, within: { cycles: Number.NaN } }, 'cycles must not be NaN'],
    ['no end', { ...ORDER, cycles: Number.POSITIVE_INFINITY }, 'cycles must not be Infinity'],
    ['an unpaired surrogate', { ...ORDER, mobile: '\ud83d' }, 'mobile contains an unpaired surrogate'],
    ['an object to be encrypted', { ...ORDER, mobile: {} }, 'mobile must be a string'],
    ['a card where none is expected', { ...ORDER, bankCardNo: '6222' }, 'bankCardNo has no place here'],
    ['itself', circle, 'circular structure'],
    ['too many levels', { ...ORDER, deep }, 'the body is nested too deeply'],
  ])('with %s is refused by name, and not sent', async (_, body, said) => {
    const error = await caught(create(body));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(said);
    expect(String(error)).not.toMatch(/6222|13800000001/);
    expect(peer.asked).toEqual([]);
  });

  it('is sent as JSON: dates as text, undefined omitted, every name kept', async () => {
    const names = JSON.parse('{"__proto__":{"a":1},"constructor":1}');
    await create({ ...ORDER, mobile: undefined, at: new Date(NOW), ...names });
    expect(peer.asked[0]?.body).toBe(
      '{"settlementMode":"CHANNEL_COLLECT","externalOrderNo":"order-1","productCode":"TEST_SPU_001",' +
        '"channelUserId":"user-1","at":"2026-01-01T00:00:00.000Z","__proto__":{"a":1},"constructor":1}',
    );
  });
});

describe('a call', () => {
  it('accepts null options, and refuses an invalid signal', async () => {
    await create(ORDER, null);
    await create(ORDER, { signal: null });
    expect(peer.asked).toHaveLength(2);
    expect(await caught(create(ORDER, { signal: {} }))).toEqual(new TypeError('signal must be an AbortSignal'));
  });

  it('aborted before its start sends nothing, and rejects with the reason', async () => {
    const reason = new Error('enough');
    expect(await caught(create(ORDER, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect([...peer.asked, ...peer.tokensAsked]).toEqual([]);
  });

  it.each([
    [
      'throw',
      () => {
        throw new Error('no');
      },
    ],
    ['reject', () => Promise.reject(new Error('no'))],
  ])('succeeds and fails as it would when its hooks %s', async (_, hook) => {
    const { client } = testClient(peer, { onRequest: hook, onResponse: hook });
    expect(await client.orders.create(ORDER)).toEqual({ orderNo: '1' });
    peer.play(answer(200, '420001'));
    expect(await caught(client.orders.create(ORDER))).toMatchObject({ name: 'SUBSCRIPTION_NOT_FOUND' });
  });

  it('made twice at once with one key is the same request, and both have its outcome', async () => {
    const { client, waits } = testClient(peer);
    peer.play((asked, response) =>
      peer.play(answer(200, '409002'), (...second) => {
        ok()(asked, response);
        ok()(...second);
      }),
    );
    const options = { idempotencyKey: 'mine' };
    const both = await Promise.all([client.orders.create(ORDER, options), client.orders.create(ORDER, options)]);
    expect(both).toEqual([{ orderNo: '1' }, { orderNo: '1' }]);
    expect(new Set(peer.asked.map(({ body }) => body)).size).toBe(1);
    expect(waits).toEqual([1000]);
  });
});

describe('a clock', () => {
  it('that is set back costs one token, when the service reports the old one as expired', async () => {
    const { client, clock } = testClient(peer);
    await client.products.list();
    clock.now -= 36_000_000;
    peer.play(answer(401, '401006'), ok());
    await client.products.list();
    clock.now += 7_139_999;
    await client.products.list();
    expect(peer.tokensAsked).toHaveLength(2);
    clock.now += 1;
    await client.products.list();
    expect(peer.tokensAsked).toHaveLength(3);
  });

  it('may have fractions of milliseconds, and one without a time throws at once', async () => {
    await testClient(peer, { now: () => NOW + 0.5 }).client.products.list();
    expect(peer.asked[0]?.headers['x-svc-timestamp']).toBe(String(NOW));
    for (const now of [() => Number.NaN, () => new Date(NOW) as unknown as number]) {
      const { client, waits } = testClient(peer, { now });
      expect(await caught(client.products.list())).toEqual(
        new TypeError('now must return Unix milliseconds as a number'),
      );
      expect(waits).toEqual([]);
    }
  });
});

describe('a client', () => {
  it('refuses invalid options and functions', () => {
    const right = { baseUrl: peer.baseUrl, appId: 'test_demo', ...SECRETS };
    const make = (options: unknown) => () => new PerennialClient(options as PerennialClientOptions);
    for (const options of [undefined, null, 'x']) expect(make(options)).toThrow('options must be an object');
    for (const name of ['fetch', 'now', 'wait', 'onRequest', 'onResponse']) {
      expect(make({ ...right, [name]: 'x' })).toThrow(new TypeError(`${name} must be a function`));
    }
    for (const secret of [5, Buffer.alloc(32), new String(SECRETS.appSecret), null]) {
      expect(make({ ...right, appSecret: secret })).toThrow('appSecret must be a string: 32 bytes in base64');
    }
  });
});
