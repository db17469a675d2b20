import { CODES, type CodeName, endpoints, PATH_PREFIX, resultCodes } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MALFORMED_HTTP } from '../../src/http/requests/malformed-http.js';
import type { ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { type TestService, testService } from '../support/service.js';
import { readPage, rowsUnder, tableRows } from './pages.js';

const page = await readPage('docs/errors.md');

/** The tables of codes are those of five columns. */
const rows = tableRows(page)
  .filter((cells) => cells.length === 5)
  .map(([code = '', name = '', http = '', when = '', then = '']) => ({ code, name, http: Number(http), when, then }));

const codeOf = (name: CodeName) => CODES[name].code;

describe('docs/errors.md', () => {
  it('lists every code of the registry, with its name and HTTP status, and no other', () => {
    const listed = rows.map(({ code, name, http }) => ({ code, name, http }));
    const registry = resultCodes.map(({ code, name, http }) => ({ code, name, http }));
    expect(sorted(listed)).toEqual(sorted(registry));
  });

  it('says for every code when it is answered and what the caller does', () => {
    for (const { code, when, then } of rows) {
      expect(when, code).not.toBe('');
      expect(then, code).not.toBe('');
    }
  });

  it('lists the codes of every endpoint, and no other', () => {
    expect(rowsUnder(page, '## By endpoint')).toEqual(
      endpoints.map(({ name, codes }) => [name, codes.map(codeOf).join(', ') || 'none']),
    );
  });

  it.each(rows)(
    '$code: where it says which endpoints answer it, it names all of them and no other',
    ({ code, when }) => {
      const isNamed = (name: string) => [name, name.split('/').at(-1)].some((text) => when.includes(`\`${text}\``));
      const answering = endpoints.filter(({ codes }) => codes.some((name) => codeOf(name) === code));
      const named = endpoints.filter(({ name }) => isNamed(name));
      if (answering.length > 0 && named.length > 0) {
        expect(named.map(({ name }) => name)).toEqual(answering.map(({ name }) => name));
      }
    },
  );
});

describe('docs/errors.md, what is not a request', () => {
  let service: TestService;
  let channel: ChannelClient;
  beforeAll(async () => {
    service = await testService({ httpLimits: { headersTimeout: 300, connectionsCheckingInterval: 50 } });
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

  it('lists every kind, and no other', () => {
    expect(rowsUnder(page, '## What is not a request')).toEqual(
      MALFORMED_HTTP.map(({ what, http, result }) => [what, String(http), result.code]),
    );
    expect(MALFORMED_HTTP.map(({ message }) => message)).toEqual(Object.keys(sent));
  });

  it.each(MALFORMED_HTTP)('$what: $http', async ({ http, result, message }) => {
    const raw = rawConnection(service.baseUrl);
    sent[message]?.(raw);
    const replies = await raw.untilClosed();
    expect(replies.map((reply) => [reply.status, reply.envelope.message])).toEqual([[http, message]]);
    expectEnvelope(replies[0]?.envelope, result.code);
  });
});

function sorted<T extends { readonly code: string }>(codes: readonly T[]): T[] {
  return codes.toSorted((a, b) => Number(a.code) - Number(b.code));
}
