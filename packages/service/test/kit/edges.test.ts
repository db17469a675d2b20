import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../support/channel-client.js';
import { type TestService, testService } from '../support/service.js';

/** What the edges of the service say: to a path that is not quite one, and about which form of an answer it is. */

let sandbox: TestService;
let production: TestService;
beforeAll(async () => {
  [sandbox, production] = await Promise.all([testService(), testService({ environment: 'production' })]);
});
afterAll(() => Promise.all([sandbox.close(), production.close()]));

const messageOf = async (service: TestService, path: string, method = 'POST') => {
  const { status, code, envelope } = await send(service.baseUrl, method, path, {}, Buffer.from('{}'));
  expect([path, status, code]).toEqual([path, 404, '404001']);
  return envelope.message as string;
};

const CREATE = 'no such endpoint; POST /openapi/v1/orders/create was probably meant';
const MISSED: readonly (readonly [path: string, message: string])[] = [
  ['/orders/create', `${CREATE}: the path lacks the prefix /openapi/v1/`],
  ['/openapi/orders/create?x=/', `${CREATE}: the path lacks the prefix /openapi/v1/`],
  ['/openapi/v2/orders/create', `${CREATE}: the path lacks the prefix /openapi/v1/`],
  ['/openapi/v1/orders/create/', `${CREATE}: the path ends with a slash`],
  ['/openapi/v1//orders/create', `${CREATE}: the path has two slashes in a row`],
  ['/openapi/v1/orders/Create', `${CREATE}: the path has capital letters`],
  [
    '/Orders/create/',
    `${CREATE}: the path lacks the prefix /openapi/v1/ and ends with a slash and has capital letters`,
  ],
  ['/openapi/v1/x/../orders/create', CREATE],
  [
    '/sandbox/orders/advance',
    'no such endpoint; POST /openapi/v1/sandbox/orders/advance was probably meant: the path lacks the prefix /openapi/v1/',
  ],
  ['/openapi/v1/orders', 'no such endpoint'],
  ['/openapi/v1/reorders/create', 'no such endpoint'],
  ['/api', 'no such endpoint; paths of endpoints begin with /openapi/v1/'],
];

describe('404001', () => {
  it('says in the sandbox which endpoint was probably meant, and what is wrong with the path', async () => {
    for (const [path, message] of MISSED) {
      for (const method of ['POST', 'GET']) {
        expect([path, await messageOf(sandbox, path, method)]).toEqual([path, message]);
      }
    }
  });

  it('says nothing of it in production', async () => {
    for (const [path] of MISSED) expect(await messageOf(production, path)).toBe('no such endpoint');
  });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  send(sandbox.baseUrl, 'GET', path, headers, Buffer.alloc(0));

describe('a file', () => {
  it('is compressed only for who takes that at least as gladly as the file as it is', async () => {
    const encodingFor = async (accepted: string) => {
      const { headers } = await get('/developers/guides/errors', { 'accept-encoding': accepted });
      expect(headers.vary).toBe('accept-encoding');
      return headers['content-encoding'] ?? 'plain';
    };
    for (const accepted of ['gzip, BR;q=0.5', '*', 'identity;q=0, *;q=0.1', 'br;q=0.5, identity;q=0.5'])
      expect([accepted, await encodingFor(accepted)]).toEqual([accepted, 'br']);
    for (const accepted of ['br;q=0', 'br; q=0.000, *', 'gzip', '*;q=0', 'identity, br;q=0.9', 'br;q=x', 'abr', ''])
      expect([accepted, await encodingFor(accepted)]).toEqual([accepted, 'plain']);
  });
});

describe('GET /', () => {
  it('says that its answer depends on what is asked for, whichever it is', async () => {
    const vary = { headers: { vary: 'accept' } };
    expect(await get('/', { accept: 'application/json' })).toMatchObject({ status: 404, code: '404001', ...vary });
    expect(await get('/', { accept: 'text/html' })).toMatchObject({ status: 200, ...vary });
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect(await messageOf(sandbox, '/', method)).toMatch(/^no such endpoint/);
  });
});
