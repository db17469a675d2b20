import { HEADERS, PATH_PREFIX } from '@perennial/wire';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { send } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, rawExchange, requestBytes } from '../support/raw-http.js';
import { anotherNode } from '../support/second-node.js';
import { testRoute } from '../support/test-endpoint.js';

const INNER = 'the inner detail';

const captured = capturedLog();
const moreRoutes = [
  testRoute('test/throwing', async () => {
    throw Object.assign(new Error(INNER), { statusCode: 418, code: 'FST_ERR_INVENTED' });
  }),
  testRoute('test/throwing-text', async () => {
    throw INNER;
  }),
  testRoute('test/bad-sql', async () => {
    await service.fresh.database.query(`select '${INNER}'::integer`);
    throw new Error('unreachable');
  }),
  testRoute('test/bad-answer', async ({ answer }) => answer({ expiresIn: INNER })),
];
const { service, channel } = serviceOfFile({ moreRoutes, log: captured.log });

const request = (method: string, path: string, headers: Record<string, string> = {}, body = '') =>
  send(service.baseUrl, method, path, headers, Buffer.from(body));

describe('an unknown path', () => {
  it.each([
    '/openapi/v1/',
    '/openapi/v1/nothing',
    '/openapi/v1/auth/token/',
    '/openapi/v1//auth/token',
    '/openapi/v1/auth%2Ftoken',
    '/openapi/v1/auth/token%20',
    '/openapi/v1/auth/Token',
    '/openapi/v2/auth/token',
    '/openapi/v1/../v1/auth/token',
    '/openapi/v1/%zz',
    '/openapi/v1/auth/token%',
    '/openapi/v1/%00',
    '/__proto__',
    `/${'x'.repeat(8000)}`,
    '*',
  ])('404001: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const reply = await request(method, path);
      expect(reply.status).toBe(404);
      expectEnvelope(reply.envelope, '404001');
      expect(reply.headers.allow).toBeUndefined();
    }
  });

  it.each<[string, Record<string, string>, string]>([
    ['that is too large', {}, ' '.repeat(2_000_000)],
    ['of a strange type', { 'Content-Type': 'x' }, '{}'],
    ['of no type', {}, '{}'],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }, '{}'],
  ])('404001: also with a body %s; echoes the request id', async (_what, headers, body) => {
    const { envelope } = await request('POST', '/nothing', { [HEADERS.requestId]: 'lost-1', ...headers }, body);
    expectEnvelope(envelope, '404001');
    expect(envelope.requestId).toBe('lost-1');
  });
});

describe('a method that is not POST', () => {
  const path = `${PATH_PREFIX}auth/token`;

  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])('405001: %s', async (method) => {
    const [reply] = await rawExchange(service.baseUrl, requestBytes(path, { Connection: 'close' }, '', method));
    // Node 20 does not know QUERY and cannot parse the request.
    if (method === 'QUERY' && reply?.status === 400) return expectEnvelope(reply.envelope, '400001');
    expect(reply?.status).toBe(405);
    expectEnvelope(reply?.envelope, '405001');
    expect(reply?.headers['allow']).toBe('POST');
    return undefined;
  });

  it('405001: with a query and a body', async () => {
    const reply = await request('PUT', `${path}?a=1`, { 'Content-Type': 'x' }, ' '.repeat(2_000_000));
    expectEnvelope(reply.envelope, '405001');
  });

  it('405: HEAD, which has no body', async () => {
    const reply = await fetch(service.baseUrl + path, { method: 'HEAD' });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('POST');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await reply.text()).toBe('');
  });
});

describe('a fault', () => {
  it.each(['test/throwing', 'test/throwing-text', 'test/bad-sql', 'test/bad-answer'])(
    '500001: %s says nothing of its inside, and the log has the request id',
    async (name) => {
      const requestId = `fault-${name.replace('/', '-')}`;
      const reply = await channel.call(name, { orderNo: '1' }, { requestId });
      expect(reply.status).toBe(500);
      expectEnvelope(reply.envelope, '500001');
      expect(reply.envelope).toMatchObject({ requestId, message: 'internal error' });
      expect(reply.text).not.toContain(INNER);
      const line = captured.lines().find((one) => one.requestId === requestId && one.msg === 'fault');
      expect(line).toMatchObject({ level: 'error', path: PATH_PREFIX + name });
      expect(line.err).toBeDefined();
    },
  );

  it('a client that hangs up while sending its body is not a fault', async () => {
    const faults = () => captured.lines().filter((line) => line.msg === 'fault').length;
    const before = faults();
    const headers = channel.signedHeaders('auth/token', Buffer.from('{}'), { requestId: 'hung-up' });
    const raw = rawConnection(service.baseUrl);
    const sent = { ...headers, 'Content-Length': '100', Expect: '100-continue' };
    raw.write(requestBytes(`${PATH_PREFIX}auth/token`, sent));
    await raw.replies(1);
    raw.write('{');
    raw.socket.resetAndDestroy();
    await vi.waitFor(() => expect(captured.lines()).toContainEqual(expect.objectContaining({ requestId: 'hung-up' })));
    expect(faults()).toBe(before);
  });
});

describe('the database is gone', () => {
  it('503001: with Retry-After, a fault in the log, and the reason for each request', async () => {
    const url = new URL(service.fresh.url);
    url.port = '1';
    const own = capturedLog();
    const database = openDatabase({ url: url.href, pool: 2, name: 'test' });
    const node = await anotherNode(service, { database, log: own.log });
    const reply = await node.client(channel).callBare('auth/token', {}, { requestId: 'no-database' });
    expect(reply.status).toBe(503);
    expectEnvelope(reply.envelope, '503001');
    expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(reply.text).not.toMatch(/ECONN|127\.0\.0\.1|postgres/i);
    expect(own.lines().find((line) => line.msg === 'fault')).toMatchObject({ requestId: 'no-database' });
    await node.client(channel).callBare('auth/token', {}, { requestId: 'still-none' });
    const noticed = { [HEADERS.requestId]: 'a-notice' };
    const notice = await send(node.baseUrl, 'POST', '/gateway/v1/notices/MOCKPAY', noticed, Buffer.from('{}'));
    expectEnvelope(notice.envelope, '503001');
    for (const requestId of ['no-database', 'still-none', 'a-notice']) {
      const line = own.lines().find((one) => one.msg === 'request' && one.requestId === requestId);
      expect(line).toMatchObject({ status: 503, code: '503001', why: 'database unavailable: ECONNREFUSED' });
    }
    const ready = await send(node.baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0));
    expect(ready.status).toBe(503);
    expectEnvelope(ready.envelope, '503001');
    const alive = await send(node.baseUrl, 'GET', '/healthz', {}, Buffer.alloc(0));
    expectEnvelope(alive.envelope, '0');
    await node.close();
    await database.close();
  });
});
