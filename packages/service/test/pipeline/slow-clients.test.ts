import { PATH_PREFIX } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { MALFORMED_HTTP } from '../../src/http/requests/malformed-http.js';
import { createService } from '../../src/service.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { nodeDeps } from '../support/service.js';

const httpLimits = {
  headersTimeout: 300,
  requestTimeout: 600,
  keepAliveTimeout: 100,
  connectionsCheckingInterval: 50,
  halfCloseTimeout: 100,
};
const { service, channel } = serviceOfFile({ testLimits: { httpLimits } });

const path = `${PATH_PREFIX}auth/token`;
const body = () => JSON.stringify({ grantType: 'client_credentials', appId: channel.credentials.appId });
const headers = (requestId = 'slow') => ({
  ...channel.signedHeaders('auth/token', Buffer.from(body()), { requestId }),
  'Content-Length': String(body().length),
});

describe('a client that stalls', () => {
  it.each<[string, () => string | Buffer]>([
    ['before it says anything', () => ''],
    ['in the middle of the first line', () => 'POST /open'],
    ['in the middle of the headers', () => requestBytes(path, headers()).subarray(0, 200)],
    ['in front of the body', () => requestBytes(path, headers())],
    ['in the middle of the body', () => requestBytes(path, headers(), '{"grantType":')],
  ])('408, 400001: %s: is answered and cut off', async (_where, bytes) => {
    const raw = rawConnection(service.baseUrl);
    raw.write(bytes());
    const replies = await raw.untilClosed();
    expect(replies.map((reply) => reply.status)).toEqual([408]);
    expectEnvelope(replies[0]?.envelope, '400001');
    expect(replies[0]?.headers['connection']).toBe('close');
  });

  it('408: echoes the request id when it got that far', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(requestBytes(path, headers('stalled-1'), '{'));
    expect((await raw.untilClosed())[0]?.envelope.requestId).toBe('stalled-1');
  });

  it('408: is cut off even if it sends single bytes', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write('POST / HTTP/1.1\r\nX-Slow: ');
    const dripping = setInterval(() => raw.write('x'), 20);
    const replies = await raw.untilClosed().catch(() => raw.replies(1));
    clearInterval(dripping);
    expect(replies.map((reply) => reply.status)).toEqual([408]);
  });

  it('is dropped even if it never closes its own side', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write('not HTTP\r\n\r\n');
    await new Promise((resolve) => raw.socket.once('end', resolve));
    // So far the service has closed only its side of the connection. After it has dropped the connection, writing fails
    // sooner or later.
    const failed = new Promise((resolve) => raw.socket.once('error', resolve));
    const writing = setInterval(() => raw.write('x'), 20);
    await failed;
    clearInterval(writing);
    raw.close();
  });
});

describe('a malformed request', () => {
  /** One malformed request of each kind, by the message of its answer. */
  const sent: Readonly<Record<string, (raw: ReturnType<typeof rawConnection>) => void>> = {
    'the headers are too large': (raw) => raw.write(requestBytes(path, { 'X-Long': 'x'.repeat(16_384) })),
    'a header is malformed': (raw) => raw.write(requestBytes(path, { 'X SVC': '1' })),
    'the request did not arrive in time': (raw) => raw.write('POST /'),
    'the request is truncated': (raw) => {
      raw.write(requestBytes(path, headers(), '{'));
      raw.socket.end();
    },
    'the request is not HTTP/1.1': (raw) => raw.write('hello, is anybody there?\r\n\r\n'),
  };

  it('is tested for every kind', () => {
    expect(MALFORMED_HTTP.map(({ message }) => message)).toEqual(Object.keys(sent));
  });

  it.each(MALFORMED_HTTP)('$message: $http', async ({ http, result, message }) => {
    const raw = rawConnection(service.baseUrl);
    sent[message]?.(raw);
    const replies = await raw.untilClosed();
    expect(replies.map((reply) => [reply.status, reply.envelope.message])).toEqual([[http, message]]);
    expectEnvelope(replies[0]?.envelope, result.code);
  });
});

describe('a connection between two requests', () => {
  it('0, 0: serves one request after the other, and is closed when idle', async () => {
    const raw = rawConnection(service.baseUrl);
    raw.write(requestBytes(path, headers(), body()));
    await raw.replies(1);
    raw.write(requestBytes(path, headers(), body()));
    const replies = await raw.untilClosed();
    expect(replies.map((reply) => reply.code)).toEqual(['0', '0']);
    expect(replies[1]?.headers['connection']).not.toBe('close');
  });
});

describe('a service with default limits', () => {
  it('has timeouts for headers, requests and idle connections', () => {
    const { fresh, vault, clock } = service;
    const usual = createService({ database: fresh.database, vault, clock, ...nodeDeps() });
    const { headersTimeout, requestTimeout, keepAliveTimeout } = usual.server.server;
    expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 75_000,
    });
    return usual.stop();
  });
});
