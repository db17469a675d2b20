import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../support/channel-client.js';
import { type TestService, testService } from '../support/service.js';

/** What somebody hears whose first call goes to a path that is not quite one. */

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
