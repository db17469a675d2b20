import { beforeAll, describe, expect, it } from 'vitest';
import { csrfToken } from '../../src/console/sessions/sign-in.js';
import type { Operation } from '../../src/operations/operation.js';
import { OPERATIONS } from '../../src/operations/table.js';
import { mayDo, ROLES, type Role } from '../../src/operator/people/roles.js';
import { ofFile } from '../orders/stage-of-file.js';
import { testService } from '../support/service.js';
import { ask, type ConsoleClient, consoleClient } from './support.js';

const service = ofFile(testService);
const clients = new Map<Role, ConsoleClient>();
beforeAll(async () => {
  for (const role of ROLES) clients.set(role, await consoleClient(service, role));
});

/** Returns a path with an id that does not exist. */
const pathOf = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, '999');
/**
 * An invalid body, so that an operation changes nothing even if the role is allowed: the body is checked after the
 * role.
 */
const body = { nothing: 'that is known' };

const client = (role: Role): ConsoleClient => {
  const found = clients.get(role);
  if (!found) throw new Error(role);
  return found;
};
const type = (reply: { body: { type?: string } }) => reply.body.type?.replace('urn:perennial:problem:', '');

describe.each(OPERATIONS.map((one) => [`${one.method} ${one.path}`, one] as const))('%s', (_name, one) => {
  const isWrite = one.method !== 'GET';

  it('is 401 without a session, with a token and without', async () => {
    for (const csrf of [undefined, 'x'.repeat(43)]) {
      const reply = await ask(service.baseUrl, one.method, pathOf(one), { csrf, body: isWrite ? body : undefined });
      expect([reply.status, type(reply)]).toEqual([401, 'not-signed-in']);
    }
  });

  it.each(ROLES)('checks the token first, then the role, for %s', async (role) => {
    const { send, token } = client(role);
    if (isWrite) {
      for (const csrf of [undefined, '', 'x'.repeat(43), token]) {
        const reply = await send(one.method, pathOf(one), { csrf, body });
        expect([reply.status, type(reply)]).toEqual([403, 'csrf']);
      }
    }
    if (!mayDo(role, one.role)) {
      const reply = await sendAs(role, one);
      expect([reply.status, type(reply)]).toEqual([403, 'not-allowed']);
    }
  });

  if (one.path.includes('{')) {
    it('is 400 or 404 for a path that cannot exist', async () => {
      const reply = await client('admin').send(one.method, one.path.replaceAll(/\{\w+\}/g, '%00'), {
        csrf: csrfToken(client('admin').token),
        ...(isWrite ? { body } : {}),
      });
      expect([400, 404]).toContain(reply.status);
    });
  }

  const days = Object.entries(one.query?.properties ?? {}).filter(([, of]) => JSON.stringify(of).includes('{4}-'));
  for (const [name] of days) {
    it(`answers any day as ${name}`, async () => {
      const role = ROLES.find((some) => mayDo(some, one.role)) ?? 'admin';
      for (const day of ['0000-01-01', '0000-12-31 23:59:59', '0001-01-01', '2026-02-30', '9999-12-31']) {
        const reply = await client(role).get(`${pathOf(one)}?${name}=${encodeURIComponent(day)}`);
        expect([200, 400, 404, 409], `${day}: ${type(reply)}`).toContain(reply.status);
      }
    });
  }

  it('checks path and body for allowed roles', async () => {
    const role = ROLES.find((some) => mayDo(some, one.role)) ?? 'admin';
    // The operation itself must answer: with 404, 400 or success.
    const reply = await sendAs(role, one);
    expect(['not-signed-in', 'csrf', 'not-allowed', 'fault']).not.toContain(type(reply));
  });
});

async function sendAs(role: Role, one: Operation) {
  const { get, post, put, delete: remove } = client(role);
  if (one.method === 'GET') return get(pathOf(one));
  return one.method === 'POST'
    ? post(pathOf(one), body)
    : one.method === 'PUT'
      ? put(pathOf(one), body)
      : remove(pathOf(one));
}

describe('the table of operations', () => {
  it('has each method and path once', () => {
    const names = OPERATIONS.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(names).toEqual([...new Set(names)]);
  });

  it('is in the OpenAPI document, for signed-in operators', async () => {
    expect((await ask(service.baseUrl, 'GET', '/openapi.json')).status).toBe(401);
    const { body: document } = await client('viewer').get('/openapi.json');
    expect(document.openapi).toBe('3.1.0');
    for (const { method, path } of OPERATIONS) {
      expect(document.paths[`/console/api${path}`][method.toLowerCase()].summary).toBeTypeOf('string');
    }
  });

  it('answers 404 to another path, 403 without a token, and 401 without a session', async () => {
    const { send, token, get } = client('viewer');
    expect((await get('/no-such-thing')).status).toBe(404);
    expect((await send('POST', '/no-such-thing', { csrf: csrfToken(token), body })).status).toBe(404);
    expect((await ask(service.baseUrl, 'POST', '/no-such-thing', { body })).status).toBe(401);
    const without = await send('PATCH', '/no-such-thing', { body });
    expect([without.status, type(without)]).toEqual([403, 'csrf']);
  });

  it.each(['/orders/%ff', '/orders/%', `/orders/${'9'.repeat(300)}`, '/%E4%B8', '/orders/%ff?x=%ff'])(
    'judges %s as any other path, although it names nothing',
    async (path) => {
      const nobody = await ask(service.baseUrl, 'GET', path);
      expect([nobody.status, type(nobody)]).toEqual([401, 'not-signed-in']);
      const reply = await client('viewer').get(path);
      expect([400, 404]).toContain(reply.status);
      expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect((await client('viewer').send('POST', path, { body })).status).toBe(403);
    },
  );

  it('marks what needs a confirmed identity: whatever moves money, reveals a secret, or sets where events go', async () => {
    const { body: document } = await client('viewer').get('/openapi.json');
    const needed = OPERATIONS.filter(({ method, path }) => {
      return document.paths[`/console/api${path}`][method.toLowerCase()]['x-needs-proof'];
    });
    expect(needed.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /orders/{orderNo}/periods/{cycleNo}/retry',
      'POST /orders/{orderNo}/periods/{cycleNo}/refund',
      'POST /orders/{orderNo}/unmask',
      'POST /orders/{orderNo}/claims/{claimNo}/reveal',
      'POST /orders/{orderNo}/claims/{claimNo}/replace',
      'POST /orders/{orderNo}/redemption-link',
      'POST /users/export',
      'POST /users/erase',
      'POST /users/mobile',
      'POST /bulk/{runId}/start',
      'POST /approvals/{approvalId}/approve',
      'POST /approvals/{approvalId}/carry-out',
      'POST /channels/{appId}/fees',
      'POST /settlement/{month}/close',
      'POST /channels',
      'PUT /channels/{appId}',
      'PUT /channels/{appId}/branding',
      'POST /channels/{appId}/credentials',
      'PUT /channels/{appId}/products/{productCode}',
      'DELETE /channels/{appId}/products/{productCode}',
      'PUT /channels/{appId}/payment-channels/{code}',
      'DELETE /channels/{appId}/payment-channels/{code}',
      'POST /products',
      'POST /products/{formerCode}/versions',
      'POST /payment-channels',
      'PUT /payment-channels/{code}',
      'POST /payment-channels/{code}/key',
      'POST /payment-channels/{code}/pause',
      'POST /payment-channels/{code}/resume',
      'PUT /benefits/{benefitCode}/fulfilment',
      'PUT /benefits/{benefitCode}/presentation',
      'POST /people',
      'PUT /people/{name}/role',
      'POST /people/{name}/disable',
      'POST /people/{name}/enable',
      'POST /people/{name}/reset',
      'POST /people/{name}/unbind',
      'POST /account/totp',
      'PUT /account/totp',
      'POST /account/recovery-codes',
    ]);
  });
});
