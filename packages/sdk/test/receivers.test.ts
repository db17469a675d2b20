import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createExpressReceiver,
  createFastifyReceiver,
  createFetchReceiver,
  createMemoryEventStore,
  createNodeReceiver,
  signWebhookForTest,
  type WebhookEvent,
  WebhookVerificationError,
} from '../src/index.js';
import { deepEvent, paymentEvent, SECRETS, signText } from './support.js';

const { callbackSecret, aesKey } = SECRETS;

const dealt: WebhookEvent[] = [];
const errors: [unknown, WebhookEvent | undefined][] = [];
let onEvent: (event: WebhookEvent) => unknown;
/** Called between the verification of an event's signature and the check of its time. */
let onGood: () => void;
const options = {
  callbackSecret,
  aesKey,
  now: () => {
    onGood();
    return Date.now();
  },
  onEvent: (event: WebhookEvent) => {
    dealt.push(event);
    return onEvent(event);
  },
  onError: (error: unknown, event?: WebhookEvent) => errors.push([error, event]),
};

const servers: http.Server[] = [];
async function listen(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Passes requests as express does to a mounted router: with the remaining URL, the original URL and the parsed body.
 */
function asExpress(parse?: (bytes: Buffer) => unknown): http.RequestListener {
  const receiver = createExpressReceiver(options);
  return async (request, response) => {
    const body = parse ? { body: parse(await buffer(request)) } : {};
    Object.assign(request, { originalUrl: request.url, url: '/', ...body });
    await receiver(request, response, (error) => {
      throw error;
    });
  };
}

const receiveByFetch = createFetchReceiver(options);
const asFetch: http.RequestListener = async (request, response) => {
  const body = await buffer(request);
  const { method = '', url } = request;
  const asked = new Request(`http://receiver.example${url}`, {
    method,
    headers: request.headers as Record<string, string>,
    ...(method === 'POST' ? { body } : {}),
  });
  const answer = await receiveByFetch(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
};

let app: FastifyInstance;
const urls: Record<string, string> = {};
beforeAll(async () => {
  app = fastify();
  await app.register(createFastifyReceiver({ ...options, url: '/events' }));
  app.post('/json', async ({ body }) => body);
  urls['node:http'] = await listen(createNodeReceiver(options));
  urls['express'] = await listen(asExpress());
  urls['express with raw()'] = await listen(asExpress((bytes) => bytes));
  urls['fetch'] = await listen(asFetch);
  urls['fastify'] = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await app.close();
  for (const server of servers) server.close();
});
beforeEach(() => {
  dealt.length = 0;
  errors.length = 0;
  onEvent = () => undefined;
  onGood = () => undefined;
});

let serial = 0;
const newEvent = () => {
  serial += 1;
  return paymentEvent(`evt_${serial}`);
};

const post = async (url: string, headers: RequestInit['headers'] = {}, body?: string) => {
  const response = await fetch(url, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
  return [response.status, await response.json()];
};

const send = (base: string, event: WebhookEvent, change: (body: string) => string = (body) => body) => {
  const { headers, body } = signWebhookForTest({ callbackSecret, aesKey, path: '/events', event });
  return post(`${base}/events?by=test`, headers, change(body));
};

describe.each(['node:http', 'express', 'express with raw()', 'fetch', 'fastify'])('a receiver on %s', (kind) => {
  const base = () => urls[kind] ?? '';

  it('processes an event once, and acknowledges it each time', async () => {
    const event = newEvent();
    for (let times = 0; times < 3; times += 1) expect(await send(base(), event)).toEqual([200, { code: '0' }]);
    expect(dealt).toEqual([event]);
    expect(errors).toEqual([]);
  });

  it('refuses a tampered event', async () => {
    const event = newEvent();
    expect(await send(base(), event, (body) => `${body} `)).toEqual([401, { code: 'signature-mismatch' }]);
    expect(dealt).toEqual([]);
    expect(errors).toEqual([[expect.any(WebhookVerificationError), undefined]]);
    const [unsigned] = await post(`${base()}/events`, { 'Content-Type': 'application/json' }, '{}');
    expect(unsigned).toBe(401);
  });

  it('refuses a body nested too deeply, and keeps running', async () => {
    const body = deepEvent('evt_deep', 100_000);
    const headers = signText(body, '/events', 'evt_deep', Date.now());
    expect(await post(`${base()}/events`, headers, body)).toEqual([400, { code: 'too-deep' }]);
    expect(errors).toMatchObject([[{ reason: 'too-deep' }, undefined]]);
    expect(await send(base(), newEvent())).toEqual([200, { code: '0' }]);
  });

  it.each([
    ['[]', 'not-json'],
    ['{"eventId":"q0"}', 'not-an-event'],
    ['{"eventId":"q0","eventType":7,"data":{}}', 'not-an-event'],
    ['{"eventId":"q0","eventType":"order.status.changed","data":null}', 'not-an-event'],
    ['{"eventId":"q0","eventType":"order.status.changed","data":[]}', 'not-an-event'],
  ])('refuses what is signed and no event: %s', async (body, reason) => {
    const headers = signText(body, '/events', 'q0', Date.now());
    expect(await post(`${base()}/events`, headers, body)).toEqual([400, { code: reason }]);
    expect(dealt).toEqual([]);
    expect(errors).toMatchObject([[{ reason }, undefined]]);
  });

  it('refuses a header that came twice', async () => {
    const { headers, body } = signWebhookForTest({ callbackSecret, aesKey, path: '/events', event: newEvent() });
    const twice = new Headers(headers);
    twice.append('X-SVC-Signature', headers['X-SVC-Signature'] ?? '');
    expect(await post(`${base()}/events`, twice, body)).toEqual([401, { code: 'malformed-header' }]);
  });

  it('refuses an empty request', async () => {
    for (const headers of [{ 'Content-Type': 'application/json' }, {}]) {
      expect(await post(`${base()}/events`, headers)).toEqual([401, { code: 'missing-header' }]);
    }
  });

  it('accepts an event again whose processing failed', async () => {
    const event = newEvent();
    const broken = new Error('the database is away');
    onEvent = () => Promise.reject(broken);
    expect(await send(base(), event)).toEqual([500, { code: 'failed' }]);
    expect(errors).toEqual([[broken, event]]);
    onEvent = () => undefined;
    expect(await send(base(), event)).toEqual([200, { code: '0' }]);
    expect(dealt).toEqual([event, event]);
  });

  it('gives concurrent duplicates the same answer', async () => {
    const event = newEvent();
    let fail: (error: Error) => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      onEvent = () => {
        resolve();
        return new Promise((_, reject) => {
          fail = reject;
        });
      };
    });
    const first = send(base(), event);
    await begun;
    const arrived = new Promise<void>((resolve) => {
      onGood = resolve;
    });
    const second = send(base(), event);
    await arrived;
    fail(new Error('no'));
    expect(await Promise.all([first, second])).toEqual([
      [500, { code: 'failed' }],
      [500, { code: 'failed' }],
    ]);
    expect(dealt).toHaveLength(1);
  });

  it('refuses what is not an event', async () => {
    expect([404, 405]).toContain((await fetch(`${base()}/events`)).status);
    const { headers } = signWebhookForTest({ callbackSecret, path: '/events', event: newEvent() });
    const response = await fetch(`${base()}/events`, { method: 'POST', headers, body: 'x'.repeat(1_048_577) });
    // express.raw() reads the body with its own limit, so this receiver refuses the signature and not the length.
    expect(response.status).toBe(kind === 'express with raw()' ? 401 : 413);
    await response.text();
    expect(dealt).toEqual([]);
  });
});

describe('a receiver', () => {
  it('explains what to do if the body was already parsed', async () => {
    const base = await listen(asExpress((bytes) => JSON.parse(bytes.toString('utf8'))));
    expect(await send(base, newEvent())).toEqual([500, { code: 'body-was-parsed' }]);
    expect(String(errors[0]?.[0])).toContain('must be the bytes that came');
  });

  it('reports a body that was consumed', async () => {
    const receiver = createNodeReceiver(options);
    const base = await listen(async (request, response) => {
      for await (const _ of request);
      await receiver(request, response);
    });
    expect(await send(base, newEvent())).toEqual([500, { code: 'missing-body' }]);
    const { headers, body } = signWebhookForTest({ callbackSecret, path: '/events', event: newEvent() });
    const used = new Request('http://receiver.example/events', { method: 'POST', headers, body });
    await used.text();
    expect((await receiveByFetch(used)).status).toBe(500);
    expect(errors.map(([error]) => (error as WebhookVerificationError).reason)).toEqual([
      'missing-body',
      'missing-body',
    ]);
  });

  it('does not answer twice if another handler has answered', async () => {
    let ended: Promise<void> | undefined;
    const receiver = createNodeReceiver(options);
    const base = await listen((request, response) => {
      response.writeHead(202).end('{}');
      ended = receiver(request, response);
    });
    expect(await send(base, newEvent())).toEqual([202, {}]);
    await expect(ended).resolves.toBeUndefined();
  });

  it('on fetch answers an incomplete body', async () => {
    const body = new ReadableStream({ start: (control) => control.error(new Error('cut')) });
    const request = new Request('http://receiver.example/events', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit);
    expect((await receiveByFetch(request)).status).toBe(400);
  });

  it('keeps running when onError rejects', async () => {
    const onError = (error: unknown) => {
      errors.push([error, undefined]);
      return Promise.reject(new Error('the log is away'));
    };
    const base = await listen(createNodeReceiver({ ...options, onError }));
    expect(await send(base, newEvent(), (body) => `${body} `)).toEqual([401, { code: 'signature-mismatch' }]);
    expect(await send(base, newEvent())).toEqual([200, { code: '0' }]);
    expect(errors).toHaveLength(1);
  });

  it('does not lose an event to a store that returns neither new nor known', async () => {
    const store = { remember: async () => true as unknown as 'new', forget: async () => undefined };
    const base = await listen(createNodeReceiver({ ...options, store }));
    expect(await send(base, newEvent())).toEqual([500, { code: 'failed' }]);
    expect(String(errors[0]?.[0])).toContain("store.remember must return 'new' or 'known'");
    expect(() => createNodeReceiver({ ...options, store: {} as never })).toThrow('store.remember must be a function');
  });

  it('behind a proxy uses the configured path', async () => {
    const base = await listen(createNodeReceiver({ ...options, path: '/events' }));
    const { headers, body } = signWebhookForTest({ callbackSecret, aesKey, path: '/events', event: newEvent() });
    expect((await fetch(`${base}/inside?x=1`, { method: 'POST', headers, body })).status).toBe(200);
  });

  it('on fastify leaves the rest of the application unchanged', async () => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"a":1}' };
    expect(await (await fetch(`${urls['fastify']}/json`, init)).json()).toEqual({ a: 1 });
  });

  it('with an invalid secret or path, or without a handler, is not created', () => {
    for (const name of ['onEvent', 'onError']) {
      const without = { ...options, [name]: undefined } as never;
      expect(() => createNodeReceiver(without)).toThrow(`${name} must be a function`);
    }
    expect(() => createNodeReceiver({ ...options, callbackSecret: 'no' })).toThrow(TypeError);
    const said = new TypeError('path must be the path of the callback address, such as /events: no host, no query');
    for (const path of ['events', '', 'http://x/events', '/a?b', '/a#b', null as unknown as string]) {
      for (const create of [createNodeReceiver, createExpressReceiver, createFetchReceiver]) {
        expect(() => create({ ...options, path })).toThrow(said);
      }
      expect(() => createFastifyReceiver({ ...options, url: '/events', path })).toThrow(said);
    }
  });

  it('forgets the oldest events when there are too many', async () => {
    const store = createMemoryEventStore({ most: 2 });
    const answers = [];
    for (const id of ['a', 'b', 'b', 'c', 'a']) answers.push(await store.remember(id));
    await store.forget('c');
    expect([...answers, await store.remember('c')]).toEqual(['new', 'new', 'known', 'new', 'new', 'new']);
  });
});

describe('node:http', () => {
  it('keeps running after incomplete bodies and odd paths from strangers', async () => {
    const { hostname, port } = new URL(urls['node:http'] ?? '');
    const server = servers.find((one) => String((one.address() as AddressInfo).port) === port);
    if (!server) throw new Error('it does not listen');
    const send = async (text: string, isCut: boolean) => {
      const socket = net.connect(Number(port), hostname);
      const answers: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => answers.push(chunk));
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(text);
      if (isCut) {
        await once(server, 'request');
        socket.resetAndDestroy();
      }
      await closed;
      return Buffer.concat(answers).toString().split('\r\n')[0];
    };
    const head = (path: string, length: number) =>
      `POST ${path} HTTP/1.1\r\nHost: receiver\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
    expect(await send(`${head('/events', 100)}{"a`, true)).toBe('');
    expect(await send(`${head('/events#x', 2)}{}`, false)).toMatch(/^HTTP\/1\.1 40[014] /);
    expect(errors.every(([error]) => error instanceof WebhookVerificationError)).toBe(true);
  });
});
