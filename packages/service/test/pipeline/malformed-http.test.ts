import { PATH_PREFIX } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MALFORMED_HTTP } from '../../src/http/requests/malformed-http.js';
import type { ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { type TestService, testService } from '../support/service.js';

describe('what is not a request', () => {
  let service: TestService;
  let channel: ChannelClient;
  beforeAll(async () => {
    service = await testService({
      testLimits: { httpLimits: { headersTimeout: 300, connectionsCheckingInterval: 50 } },
    });
    channel = await service.channel();
  });
  afterAll(() => service.close());

  const path = `${PATH_PREFIX}auth/token`;
  /** One of each kind, by the message that it is answered with. */
  const sent: Readonly<Record<string, (raw: ReturnType<typeof rawConnection>) => void>> = {
    'the headers are too large': (raw) => raw.write(requestBytes(path, { 'X-Long': 'x'.repeat(16_384) })),
    'a header is malformed': (raw) => raw.write(requestBytes(path, { 'X SVC': '1' })),
    'the request did not arrive in time': (raw) => raw.write('POST /'),
    'the request ends before its end': (raw) => {
      const headers = channel.signedHeaders('auth/token', Buffer.from('{'), {});
      raw.write(requestBytes(path, { ...headers, 'Content-Length': '100' }, '{'));
      raw.socket.end();
    },
    'the request is not HTTP/1.1': (raw) => raw.write('hello, is anybody there?\r\n\r\n'),
  };

  it('is tried here in every kind', () => {
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
