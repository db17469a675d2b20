import { decryptField } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { isPerennialError, PerennialConnectionError, PerennialError } from '../src/index.js';
import {
  answer,
  caught,
  NOW,
  ORDER,
  ok,
  type Peer,
  peer,
  reset,
  SECRETS,
  silence,
  testClient,
  usePeer,
} from './support.js';

usePeer();

const fault = answer(500, '500001');
const AT_7_S = new Date(NOW + 7000).toUTCString();
const keys = () => peer.asked.map(({ headers }) => headers['idempotency-key']);

describe('retries', () => {
  it.each([
    ['faults', [fault, fault, fault, ok()], [1000, 3000, 9000]],
    ['connections that break', [reset, reset, ok()], [1000, 3000]],
    ['a proxy that says 502 in its own words', [(_, response) => response.writeHead(502).end('<html>'), ok()], [1000]],
    ['503 with a time to wait', [answer(503, '503001', { headers: { 'Retry-After': '5' } }), ok()], [5000]],
    ['429 with a time to wait', [answer(429, '429001', { headers: { 'Retry-After': '7' } }), ok()], [7000]],
    ['429 without', [answer(429, '429001'), ok()], [60_000]],
    ['429 until a date', [answer(429, '429001', { headers: { 'Retry-After': AT_7_S } }), ok()], [7000]],
    ['429 that asks for nothing', [answer(429, '429001', { headers: { 'Retry-After': '0' } }), ok()], [1000]],
    ['429001 in HTTP 200', [answer(200, '429001'), ok()], [60_000]],
    ['code 0 in HTTP 500, which is no success', [answer(500, '0', { data: { orderNo: '2' } }), ok()], [1000]],
    [
      'a proxy that says in its own words for how long',
      [(_, response) => response.writeHead(503, { 'Retry-After': '30' }).end('<html>'), ok()],
      [30_000],
    ],
    ['the first under the key is still running', [answer(200, '409002'), ok()], [1000]],
    ['a nonce that something on the way has used', [answer(401, '401004'), ok()], [1000]],
  ] as [string, Parameters<Peer['play']>, number[]][])(
    '%s: with the same key and body, signed again',
    async (_, moves, expected) => {
      peer.play(...moves);
      const { client, waits } = testClient(peer);
      expect(await client.orders.create(ORDER)).toEqual({ orderNo: '1' });
      expect(waits).toEqual(expected);
      expect(peer.asked).toHaveLength(moves.length);
      expect(new Set(peer.asked.map(({ body }) => body)).size).toBe(1);
      expect(new Set(keys()).size).toBe(1);
      expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
      expect(new Set(peer.nonces).size).toBe(moves.length + 1);
      expect(peer.wronglySigned).toEqual([]);
    },
  );

  it('names the key if there is no token for the retry: the request may have been executed', async () => {
    const usual = peer.token;
    peer.token = ok({ accessToken: 'short', expiresIn: '60', expiresAt: '' });
    peer.play((asked, response) => {
      peer.token = reset;
      reset(asked, response);
    });
    try {
      const error = await caught(testClient(peer).client.orders.create(ORDER));
      expect(error).toBeInstanceOf(PerennialConnectionError);
      expect(keys()[0]).toBeDefined();
      expect(error).toMatchObject({ endpoint: 'orders/create', idempotencyKey: keys()[0], attempts: 1 });
    } finally {
      peer.token = usual;
    }
  });

  it.each([
    ['nothing', {}],
    ['no token', { expiresIn: '7200' }],
    ['a token with a line break', { accessToken: 'to\nken', expiresIn: '7200' }],
  ])('is not sent with %s in place of a token, and the token is not told', async (_, data) => {
    const usual = peer.token;
    peer.token = answer(200, '0', { data });
    try {
      const error = await caught(testClient(peer).client.orders.create(ORDER));
      const said = 'auth/token: something that is not the service answered with HTTP 200: check baseUrl';
      expect(error).toBeInstanceOf(PerennialConnectionError);
      expect(error).toMatchObject({ reason: 'unreadable-answer', message: said, attempts: 0, httpStatus: 200 });
      expect(peer.asked).toEqual([]);
    } finally {
      peer.token = usual;
    }
  });

  it('three times at most, or as often as configured', async () => {
    peer.play(fault);
    const { client, waits, notices } = testClient(peer);
    const error = await caught(client.orders.create(ORDER));
    expect(error).toMatchObject({
      name: 'INTERNAL_ERROR',
      code: '500001',
      httpStatus: 500,
      attempts: 4,
      retryable: true,
    });
    expect(error).toMatchObject({ endpoint: 'orders/create', idempotencyKey: keys()[0] });
    expect(waits).toEqual([1000, 3000, 9000]);
    expect(notices.slice(1).map(({ attempt, code, againAfterMs }) => [attempt, code, againAfterMs])).toEqual([
      [1, '500001', 1000],
      [2, '500001', 3000],
      [3, '500001', 9000],
      [4, '500001', undefined],
    ]);

    peer.asked.length = 0;
    expect(await caught(testClient(peer, { retries: 0 }).client.products.list())).toMatchObject({ attempts: 1 });
    expect(peer.asked).toHaveLength(1);
  });

  it('neither permanent refusals, nor after too long a delay', async () => {
    const long = answer(429, '429001', { headers: { 'Retry-After': '3600' } });
    for (const move of [
      answer(200, '420001'),
      answer(200, '429002'),
      answer(401, '401002'),
      answer(200, '409001'),
      long,
    ]) {
      peer.play(move);
      const { client, waits } = testClient(peer);
      expect(await caught(client.orders.query({ orderNo: '1' }))).toBeInstanceOf(PerennialError);
      expect(waits).toEqual([]);
    }
    expect(peer.asked).toHaveLength(5);
    expect(await caught(testClient(peer).client.products.list())).toMatchObject({ retryAfterMs: 3_600_000 });
  });
});

describe('no response', () => {
  it('in time is a timeout', async () => {
    const good = peer.token;
    peer.token = silence;
    const { client, waits } = testClient(peer, { timeoutMs: 20, retries: 1 });
    const error = await caught(client.auth.token({}, { requestId: 'request-1' }));
    peer.token = good;
    expect(error).toBeInstanceOf(PerennialConnectionError);
    expect(error).toMatchObject({ reason: 'timeout', attempts: 2, requestId: 'request-1', endpoint: 'auth/token' });
    expect(String(error)).toContain('no answer within 20 ms');
    expect(waits).toEqual([1000]);
  });
});

describe('the token', () => {
  it('is requested once by concurrent calls, and again a minute before it expires', async () => {
    const { client, clock } = testClient(peer);
    await Promise.all(Array.from({ length: 8 }, () => client.products.list()));
    expect(peer.tokensAsked).toHaveLength(1);
    expect(peer.tokensAsked[0]?.body).toBe('{"grantType":"client_credentials","appId":"test_demo"}');
    expect(peer.asked.every(({ headers }) => headers.authorization === 'Bearer token-1')).toBe(true);
    clock.now = NOW + 7_139_999;
    await client.products.list();
    expect(peer.tokensAsked).toHaveLength(1);
    clock.now += 1;
    await client.products.list();
    expect(peer.tokensAsked).toHaveLength(2);
  });

  it.each(['401005', '401006'])('%s: one renewal for all refused calls', async (code) => {
    const { client, waits } = testClient(peer);
    await client.products.list();
    peer.play((asked, response) =>
      asked.headers.authorization === 'Bearer token-1' ? answer(401, code)(asked, response) : ok()(asked, response),
    );
    await Promise.all(Array.from({ length: 5 }, () => client.orders.create(ORDER)));
    expect(peer.tokensAsked).toHaveLength(2);
    expect(waits).toEqual([]);

    peer.play(answer(401, code));
    expect(await caught(client.orders.create(ORDER))).toMatchObject({ code, attempts: 2 });
    expect(peer.tokensAsked).toHaveLength(3);
  });

  it('is not renewed for a refusal that arrives after the renewal', async () => {
    const { client } = testClient(peer);
    await client.products.list();
    let refuseLate: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      peer.play(
        (asked, response) => {
          refuseLate = () => answer(401, '401005')(asked, response);
          resolve();
        },
        answer(401, '401005'),
        ok(),
      );
    });
    const late = client.orders.query({ orderNo: '1' });
    await held;
    await client.orders.query({ orderNo: '2' });
    refuseLate();
    await late;
    expect(peer.tokensAsked).toHaveLength(2);
  });

  it('that cannot be fetched fails all waiting calls, and is requested again by the next', async () => {
    const { client } = testClient(peer, { retries: 0 });
    const good = peer.token;
    peer.token = answer(401, '401002');
    const errors = await Promise.all([caught(client.products.list()), caught(client.orders.query({ orderNo: '1' }))]);
    expect(errors.map((error) => isPerennialError(error, 'SIGNATURE_INVALID'))).toEqual([true, true]);
    expect(peer.tokensAsked).toHaveLength(1);
    peer.token = good;
    await client.products.list();
  });
});

describe('aborting', () => {
  const reason = new Error('enough');

  it('ends a request in flight, and later ones', async () => {
    const { client } = testClient(peer, { retries: 0 });
    const control = new AbortController();
    peer.play(() => control.abort(reason));
    for (let times = 0; times < 2; times += 1) {
      expect(await caught(client.products.list({}, { signal: control.signal }))).toBe(reason);
    }
    expect(peer.asked).toHaveLength(1);
  });

  it('ends a delay', async () => {
    const control = new AbortController();
    // Aborts after the delay has begun.
    const onResponse = ({ endpoint }: { endpoint: string }) => {
      if (endpoint === 'products/list') setImmediate(() => control.abort(reason));
    };
    const { client } = testClient(peer, { wait: undefined, onResponse });
    peer.play(answer(429, '429001'));
    expect(await caught(client.products.list({}, { signal: control.signal }))).toBe(reason);
  });

  it('does not affect the token of others', async () => {
    const { client } = testClient(peer);
    const control = new AbortController();
    const good = peer.token;
    let giveToken: () => void = () => undefined;
    peer.token = (asked, response) => {
      giveToken = () => good(asked, response);
      control.abort(reason);
    };
    const given = caught(client.products.list({}, { signal: control.signal }));
    const kept = client.products.list();
    expect(await given).toBe(reason);
    giveToken();
    peer.token = good;
    expect(await kept).toEqual({ orderNo: '1' });
  });
});

describe('the body', () => {
  const shared = {
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: 'order-2',
    productCode: 'TEST_SPU_001',
    channelUserId: 'user-1',
    mobile: '13800000001',
    sharedAgreement: {
      paymentChannelCode: 'MOCKPAY',
      sharedAgreementNo: 'agreement-1',
      bankCardNo: '6222020000001234567',
      bankMobile: '13800000001',
      certificateNo: '110101199001011234',
      realName: '张三',
      channelUserId: 'user-1',
    },
  } as const;
  const backwards = <Value extends object>(value: Value) =>
    Object.fromEntries(Object.entries(value).reverse()) as Value;
  const sent = () => peer.asked.map(({ body }) => body);

  it('has the same bytes for the same key, from another process and with another order of fields', async () => {
    for (const encryption of ['v1', 'v2'] as const) {
      peer.asked.length = 0;
      await testClient(peer, { encryption }).client.orders.create(shared, { idempotencyKey: 'mine' });
      await testClient(peer, { encryption }).client.orders.create(backwards(shared), { idempotencyKey: 'mine' });
      await testClient(peer, { encryption }).client.orders.create(shared, { idempotencyKey: 'another' });
      const [first, again, other] = sent();
      expect(again).toBe(first);
      expect(other).not.toBe(first);

      const body = JSON.parse(first ?? '');
      const open = (value: string) => decryptField(value, Buffer.from(SECRETS.aesKey, 'base64'));
      expect(body.mobileEncrypted.startsWith(`svc_aes_${encryption}:`)).toBe(true);
      expect(open(body.mobileEncrypted)).toBe('13800000001');
      expect(open(body.sharedAgreement.realNameEncrypted)).toBe('张三');
      // The same text in two fields must not have the same ciphertext.
      expect(body.sharedAgreement.bankMobileEncrypted).not.toBe(body.mobileEncrypted);
      expect(first).not.toMatch(/13800000001|6222020000001234567|张三|"mobile"|"realName"/);
    }
  });

  it('of a read is encrypted again each time', async () => {
    const { client } = testClient(peer);
    peer.play(ok({ bankDataList: [], nextCursor: null }));
    for (let times = 0; times < 2; times += 1) await client.agreements.userData({ bankCardNo: '6222020000001234567' });
    expect(new Set(sent()).size).toBe(2);
    expect(keys()).toEqual([undefined, undefined]);
  });

  it('of an answer under another key names the field', async () => {
    peer.play(ok({ bankDataList: [{ realNameEncrypted: 'svc_aes_v2:AAAA' }], nextCursor: null }));
    const error = await caught(testClient(peer).client.agreements.userData({ channelUserId: 'user-1' }));
    expect(error).toMatchObject({
      name: 'DecryptionError',
      field: 'realName',
      message: expect.stringMatching(/^realName cannot/),
    });
  });
});

describe('the answer', () => {
  it('is complete with send, and states whether it is a replay', async () => {
    peer.play(answer(200, '0', { data: { orderNo: '9' }, headers: { 'Idempotency-Replayed': 'true' } }));
    const whole = await testClient(peer).client.send('orders/create', ORDER, {
      requestId: 'mine',
      idempotencyKey: 'key',
    });
    expect(whole).toEqual({
      data: { orderNo: '9' },
      requestId: 'mine',
      httpStatus: 200,
      timestamp: '2026-01-01 08:00:00',
      replayed: true,
      idempotencyKey: 'key',
      attempts: 1,
    });
  });
});
