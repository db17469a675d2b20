import { CONTENT_TYPE, HEADERS, PATH_PREFIX } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { serviceOfFile } from '../orders/stage-of-file.js';
import type { CallOptions } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { rawExchange, rawExchangeUnread, requestBytes } from '../support/raw-http.js';

const { service, channel } = serviceOfFile();

const list = (options: CallOptions) => channel.call('products/list', {}, options);
const visible = (length: number) => '~'.repeat(length);

describe('a required header', () => {
  const names = [
    HEADERS.contentType,
    HEADERS.appId,
    HEADERS.timestamp,
    HEADERS.nonce,
    HEADERS.requestId,
    HEADERS.signature,
    HEADERS.authorization,
  ];

  it.each(names)('401001: %s is missing, or empty', async (name) => {
    for (const [value, said] of [
      [undefined, `${name} is missing`],
      ['', name],
    ]) {
      const reply = await list({ headers: { [name]: value } });
      expect(reply.status).toBe(401);
      expectEnvelope(reply.envelope, '401001');
      expect(reply.envelope.message).toContain(said);
    }
  });

  // Equal values are the hard case, because Node keeps only the first of some repeated headers.
  it.each(names)('401001: %s is sent twice, with the same value', async (name) => {
    const token = await channel.getToken();
    const body = Buffer.from('{}');
    const headers: Record<string, string> = channel.signedHeaders('products/list', body, { token });
    const value = headers[name] ?? '';
    const [reply] = await rawExchange(
      service.baseUrl,
      requestBytes(
        `${PATH_PREFIX}products/list`,
        { ...headers, [name]: [value, value], Connection: 'close', 'Content-Length': '2' },
        body,
      ),
    );
    expect(reply?.status).toBe(401);
    expectEnvelope(reply?.envelope, '401001');
    expect(reply?.envelope.message).toContain(`${name} is sent more than once`);
  });

  it('0: auth/token needs no Authorization header and ignores one', async () => {
    const body = { grantType: 'client_credentials', appId: channel.credentials.appId };
    expect((await channel.callBare('auth/token', body)).code).toBe('0');
    expect((await channel.callBare('auth/token', body, { headers: { Authorization: 'Basic eA==' } })).code).toBe('0');
  });

  it('401001: the first faulty header in the order of the interface document is named', async () => {
    const reply = await list({ headers: { [HEADERS.nonce]: 'x', [HEADERS.appId]: undefined } });
    expect(reply.envelope.message).toContain(HEADERS.appId);
  });
});

describe('Content-Type', () => {
  it.each([
    CONTENT_TYPE,
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;CHARSET=utf-8',
    'application/json ; charset="UTF-8"',
  ])('0: %s', async (value) => {
    expect((await list({ headers: { [HEADERS.contentType]: value } })).code).toBe('0');
  });
});

describe('a malformed header', () => {
  it.each<[string, string, string]>([
    ...[
      'text/plain',
      'application/json;charset=GBK',
      'application/json;charset=',
      'application/json;charset="UTF-8',
      'application/json;charset=UTF-8;charset=GBK',
      'application/json, application/json',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ].map((type) => [type, HEADERS.contentType, type] as [string, string, string]),
    ['an app id with a space', HEADERS.appId, 'test demo'],
    ['an app id of 65 characters', HEADERS.appId, visible(65)],
    ['an app id with a character beyond ASCII', HEADERS.appId, 'test_é'],
    ['a nonce of 31 characters', HEADERS.nonce, 'a'.repeat(31)],
    ['a nonce of 33 characters', HEADERS.nonce, 'a'.repeat(33)],
    ['a nonce that is not hex', HEADERS.nonce, 'g'.repeat(32)],
    ['a nonce as a UUID with dashes', HEADERS.nonce, '01234567-89ab-cdef-0123-456789abcdef'],
    ['a signature with a space', HEADERS.signature, `${visible(21)} ${visible(22)}`],
    ['a signature of 1025 characters', HEADERS.signature, visible(1025)],
    ['Authorization of another scheme', HEADERS.authorization, 'Basic dGVzdA=='],
    ['Authorization without a token', HEADERS.authorization, 'Bearer'],
    ['Authorization with two tokens', HEADERS.authorization, 'Bearer one two'],
  ])('401001: %s', async (_what, name, value) => {
    const reply = await list({ headers: { [name]: value } });
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401001');
    expect(reply.envelope.message).toContain(name);
  });

  it('0: the scheme of Authorization is not case-sensitive', async () => {
    const token = await channel.getToken();
    expect((await list({ headers: { [HEADERS.authorization]: `bearer ${token}` } })).code).toBe('0');
  });
});

describe('X-SVC-Request-Id', () => {
  it.each(['a', '7e0a6b0c-5b0e-4c0b-9d55-0d4c2d7f7b11', '"<{%0d%0a}>\\', visible(1024)])(
    '0: %s is echoed',
    async (id) => {
      const reply = await list({ requestId: id });
      expectEnvelope(reply.envelope, '0');
      expect(reply.envelope.requestId).toBe(id);
    },
  );

  it('401001: a refusal echoes it as well', async () => {
    const reply = await list({ requestId: 'my-id', headers: { [HEADERS.nonce]: undefined } });
    expect(reply.envelope).toMatchObject({ code: '401001', requestId: 'my-id' });
  });

  it.each([
    ['is missing', undefined],
    ['holds a space', 'a b'],
    ['holds a tab', 'a\tb'],
    ['holds a character beyond ASCII', 'é'],
  ])('401001: it %s, and the service generates one', async (_what, value) => {
    const reply = await list({ headers: { [HEADERS.requestId]: value } });
    expectEnvelope(reply.envelope, '401001');
    expect(reply.envelope.message).toContain(HEADERS.requestId);
    expect(reply.envelope.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('400001: it has more than 1,024 characters, and the service generates one', async () => {
    for (const headers of [{}, { [HEADERS.timestamp]: '1' }]) {
      const reply = await list({ requestId: visible(1025), headers });
      expect(reply.status).toBe(200);
      expectEnvelope(reply.envelope, '400001');
      expect(reply.envelope.message).toBe('header X-SVC-Request-Id must be 1 to 1,024 visible ASCII characters');
      expect(reply.envelope.requestId).toMatch(/^[0-9a-f-]{36}$/);
    }
    const reply = await list({ requestId: visible(1025), headers: { [HEADERS.signature]: undefined } });
    expect(reply.code).toBe('401001');
  });

  it('401001: it is sent twice, and the service generates one instead of choosing', async () => {
    const reply = await list({ headers: { [HEADERS.requestId]: ['one', 'two'] } });
    expectEnvelope(reply.envelope, '401001');
    expect(reply.envelope.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('bytes that no HTTP client sends', () => {
  const path = `${PATH_PREFIX}auth/token`;
  const length = { 'Content-Length': '2' };
  const withId = (id: string) => requestBytes(path, { [HEADERS.requestId]: id, ...length }, '{}');

  it.each<[string, () => Buffer, number, string]>([
    ['CR inside a request id', () => withId('one\rtwo'), 401, '401001'],
    ['LF inside a request id', () => withId('one\ntwo'), 401, '401001'],
    ['CR LF and junk inside a request id', () => withId('one\r\ntwo'), 401, '401001'],
    ['NUL inside a request id', () => withId('one\0two'), 401, '401001'],
    ['a header name with a space', () => requestBytes(path, { 'X SVC': '1', ...length }, '{}'), 401, '401001'],
    ['headers of more than 16 KB', () => requestBytes(path, { 'X-Long': 'x'.repeat(16_384) }), 401, '401001'],
    ['headers of 1 MB', () => requestBytes(path, { 'X-Long': 'x'.repeat(1_048_576) }), 401, '401001'],
    [
      'both Content-Length and Transfer-Encoding',
      () => requestBytes(path, { ...length, 'Transfer-Encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n'),
      400,
      '400001',
    ],
    ['two different Content-Length', () => requestBytes(path, { 'Content-Length': ['2', '3'] }, '{}'), 400, '400001'],
    ['a negative Content-Length', () => requestBytes(path, { 'Content-Length': '-1' }, '{}'), 400, '400001'],
    ['an unknown Transfer-Encoding', () => requestBytes(path, { 'Transfer-Encoding': 'x' }, '{}'), 400, '400001'],
    ['an invalid method', () => requestBytes(path, length, '{}', 'POTS'), 400, '400001'],
    ['no HTTP at all', () => Buffer.from('hello, is anybody there?\r\n\r\n'), 400, '400001'],
    ['a TLS handshake', () => Buffer.from('16030100f8010000f40303', 'hex'), 400, '400001'],
    ['the preface of HTTP/2', () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 400, '400001'],
    ['binary zeros', () => Buffer.alloc(1000), 400, '400001'],
  ])('%s: an envelope, and the connection is closed', async (_what, bytes, status, code) => {
    const replies = await rawExchange(service.baseUrl, bytes());
    expect(replies.map((reply) => reply.status)).toEqual([status]);
    expect(replies[0]?.headers['connection']).toBe('close');
    expectEnvelope(replies[0]?.envelope, code);
    expect((await list({})).code).toBe('0');
  });

  it('0: a request before the junk on the same connection gets its own answer first', async () => {
    const body = JSON.stringify({ grantType: 'client_credentials', appId: channel.credentials.appId });
    const headers = channel.signedHeaders('auth/token', Buffer.from(body), {});
    const good = requestBytes(path, { ...headers, 'Content-Length': String(body.length) }, body);
    const replies = await rawExchange(service.baseUrl, Buffer.concat([good, Buffer.from('junk\r\n\r\n')]));
    expect(replies.map((reply) => reply.code)).toEqual(['0', '400001']);
  });

  it('400001: a client that sends 5 MB of junk before it reads gets the answer', async () => {
    for (let n = 0; n < 5; n += 1) {
      const replies = await rawExchangeUnread(service.baseUrl, Buffer.alloc(5 * 1024 * 1024, 'junk '));
      expect(replies.map((reply) => reply.code)).toEqual(['400001']);
    }
  });

  // Without a Host header, or with an unknown Expect header, Node itself would answer with an empty body.
  it.each([
    ['no Host header', { Host: undefined }],
    ['an Expect header that means nothing', { Expect: 'a-miracle' }],
  ])('401001: %s', async (_what, headers) => {
    const bytes = requestBytes(path, { ...headers, Connection: 'close' });
    expectEnvelope((await rawExchange(service.baseUrl, bytes))[0]?.envelope, '401001');
  });
});
