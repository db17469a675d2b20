import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createPerson, disablePerson } from '../../src/operator/people/people.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { ask } from './support.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Starts an identity provider that signs in the person named by the test, without asking for a password. */
async function startProvider() {
  let asked = new URLSearchParams();
  const codes = new Map<string, { nonce: string; challenge: string }>();
  let claims: Record<string, unknown> = {};
  let key = privateKey;
  const server = http.createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/.well-known/openid-configuration') {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      });
    }
    if (pathname === '/keys') {
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] });
    }
    if (pathname === '/authorize') {
      const code = randomBytes(16).toString('hex');
      asked = searchParams;
      codes.set(code, {
        nonce: searchParams.get('nonce') ?? '',
        challenge: searchParams.get('code_challenge') ?? '',
      });
      const to = new URL(searchParams.get('redirect_uri') ?? '');
      to.searchParams.set('code', code);
      to.searchParams.set('state', searchParams.get('state') ?? '');
      return response.writeHead(303, { location: to.href }).end();
    }
    const form = new URLSearchParams(await bodyOf(request));
    const begun = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (begun?.challenge !== challenge) return json({ error: 'invalid_grant' }, 400);
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: issuer, aud: 'perennial', iat: now, exp: now + 60, nonce: begun.nonce, ...claims };
    const text = [{ alg: 'RS256', kid: 'one' }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(text), key).toString('base64url');
    return json({ access_token: 'x', token_type: 'bearer', id_token: `${text}.${signature}` });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    willSay(next: Record<string, unknown>, signedWith = privateKey) {
      claims = next;
      key = signedWith;
    },
    /** The parameters of the last authorization request. */
    asked: () => Object.fromEntries(asked),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const provider = ofFile(startProvider);
const SETTINGS = () => ({
  ...{ issuer: provider.issuer, clientId: 'perennial', clientSecret: 'secret', name: 'Example' },
  acrValues: [] as string[],
});
const service = ofFile(() => testService({ singleSignOn: SETTINGS() }));
beforeEach(async () => {
  await service.fresh.database.query('truncate people, console_sessions, single_sign_on_tries cascade');
  // Moves the time, so that sign-ins begun by other tests no longer count towards the limit per minute.
  service.clock.advance(60_000);
});

const cookieOf = (headers: Headers) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';

/**
 * Begins a single sign-on and follows the redirect to the provider. Returns the cookie that binds the
 * sign-on to the browser, and the path of the callback.
 */
async function goThere(returnTo = '', headers: Record<string, string> = {}, baseUrl = service.baseUrl) {
  const begun = await ask(baseUrl, 'GET', `/single-sign-on${returnTo}`, { headers });
  expect(begun.status).toBe(303);
  const there = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
  const back = new URL(there.headers.get('location') ?? '');
  expect(back.origin + back.pathname).toBe('https://pay.example/console/api/single-sign-on/callback');
  return { cookie: cookieOf(begun.headers), path: `/single-sign-on/callback${back.search}` };
}
async function goThereAndBack(returnTo = '', headers: Record<string, string> = {}, baseUrl = service.baseUrl) {
  const { cookie, path } = await goThere(returnTo, headers, baseUrl);
  return ask(baseUrl, 'GET', path, { headers: { cookie } });
}
const REFUSED = '/console/sign-in?problem=single-sign-on';

describe('single sign-on', () => {
  it('signs in an operator whose name is the verified address, and afterwards by the subject', async () => {
    expect((await ask(service.baseUrl, 'GET', '/sign-in-ways')).body).toMatchObject({
      oidc: true,
      oidcName: 'Example',
    });
    await createPerson(service.operator, { name: 'ann@example.com', role: 'finance' });
    provider.willSay({ sub: '7', email: 'ann@example.com', email_verified: true });
    const first = await goThereAndBack('?returnTo=/orders');
    expect([first.status, first.headers.get('location')]).toEqual([303, '/console/orders']);
    const { body } = await ask(service.baseUrl, 'GET', '/session', { headers: { cookie: cookieOf(first.headers) } });
    expect(body).toMatchObject({ name: 'ann@example.com', role: 'finance', hasPassword: false });
    provider.willSay({ sub: '7', email: 'another@example.com', email_verified: true });
    expect((await goThereAndBack()).headers.get('location')).toBe('/console/');
  });

  it.each([
    ['nobody has an account of that name', { sub: '1', email: 'nobody@example.com', email_verified: true }],
    ['the address is not verified', { sub: '1', email: 'ann@example.com' }],
    ['the person is disabled', { sub: '1', email: 'bo@example.com', email_verified: true }],
    ['another subject has the address now', { sub: '2', email: 'chen@example.com', email_verified: true }],
    ['the answer is for somebody else', { sub: '1', email: 'ann@example.com', email_verified: true, aud: 'other' }],
    ['another client asked for the answer', { sub: '1', email: 'ann@example.com', email_verified: true, azp: 'other' }],
    ['the subject has a NUL', { sub: '1\0', email: 'ann@example.com', email_verified: true }],
    ['the address has a NUL', { sub: '1', email: 'ann@example.com\0', email_verified: true }],
    ['the answer is to another question', { sub: '1', email: 'ann@example.com', email_verified: true, nonce: 'x' }],
  ])('lets nobody in when %s', async (_why, claims) => {
    for (const name of ['ann', 'bo', 'chen']) {
      await createPerson(service.operator, { name: `${name}@example.com`, role: 'admin' });
    }
    await disablePerson(service.operator, { name: 'bo@example.com' });
    provider.willSay({ sub: '9', email: 'chen@example.com', email_verified: true });
    expect((await goThereAndBack()).headers.get('location')).toBe('/console/');
    provider.willSay(claims);
    const refused = await goThereAndBack();
    expect(refused.headers.get('location')).toBe(REFUSED);
    expect(refused.headers.get('set-cookie')).toBeNull();
  });

  it('verifies the signature of the ID token', async () => {
    await createPerson(service.operator, { name: 'ann@example.com', role: 'admin' });
    const forger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    provider.willSay({ sub: '1', email: 'ann@example.com', email_verified: true }, forger);
    expect((await goThereAndBack()).headers.get('location')).toBe(REFUSED);
  });

  it('has a state cookie that other hosts cannot set', async () => {
    const { headers } = await ask(service.baseUrl, 'GET', '/single-sign-on');
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-perennial-sign-on=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  it('confirms the identity only if the provider has authenticated the operator since, and replaces the session', async () => {
    await createPerson(service.operator, { name: 'ann@example.com', role: 'admin' });
    const ann = { sub: '1', email: 'ann@example.com', email_verified: true };
    const now = () => Math.floor(Date.now() / 1000);
    const disable = async (cookie: string) => {
      const { body } = await ask(service.baseUrl, 'GET', '/session', { headers: { cookie } });
      const headers = { cookie, 'x-csrf-token': body.csrfToken };
      return (await ask(service.baseUrl, 'POST', '/people', { headers, body: { name: 'bo', role: 'viewer' } })).body
        .code;
    };
    provider.willSay(ann);
    const cookie = cookieOf((await goThereAndBack()).headers);
    expect(provider.asked()).not.toHaveProperty('prompt');
    expect(await disable(cookie)).toBe('proof-needed');
    for (const claims of [ann, { ...ann, auth_time: now() - 3600 }]) {
      provider.willSay(claims);
      expect((await goThereAndBack('?prove=true', { cookie })).headers.get('location')).toBe(REFUSED);
    }
    expect(provider.asked()).toMatchObject({ prompt: 'login', max_age: '0' });
    provider.willSay({ ...ann, auth_time: now() });
    const proven = cookieOf((await goThereAndBack('?prove=true', { cookie })).headers);
    expect(await disable(proven)).toBeUndefined();
    expect((await ask(service.baseUrl, 'GET', '/session', { headers: { cookie } })).status).toBe(401);
  });

  it('requires the authentication that OIDC_ACR_VALUES names', async () => {
    const singleSignOn = { ...SETTINGS(), acrValues: ['phr', 'mfa'] };
    const strict = await anotherNode(service, { singleSignOn });
    onTestFinished(() => strict.close());
    await createPerson(service.operator, { name: 'ann@example.com', role: 'admin' });
    const there = async (acr?: string) => {
      provider.willSay({ sub: '1', email: 'ann@example.com', email_verified: true, acr });
      return (await goThereAndBack('', {}, strict.baseUrl)).headers.get('location');
    };
    expect(await there()).toBe(REFUSED);
    expect(provider.asked()).toMatchObject({ acr_values: 'phr mfa' });
    expect(await there('pwd')).toBe(REFUSED);
    expect(await there('mfa')).toBe('/console/');
  });

  it('can be begun thirty times a minute from one address', async () => {
    const begin = async () => (await ask(service.baseUrl, 'GET', '/single-sign-on')).status;
    expect(await Promise.all(Array.from({ length: 30 }, begin))).toEqual(Array(30).fill(303));
    expect(await begin()).toBe(429);
    expect(await service.fresh.database.query('select from single_sign_on_tries')).toHaveLength(30);
    service.clock.advance(2_000);
    expect(await begin()).toBe(303);
  });

  it('completes only sign-ins begun in the same browser, and once', async () => {
    await createPerson(service.operator, { name: 'ann@example.com', role: 'admin' });
    provider.willSay({ sub: '1', email: 'ann@example.com', email_verified: true });
    const { cookie, path } = await goThere();
    expect((await ask(service.baseUrl, 'GET', path)).headers.get('location')).toBe(REFUSED);
    expect((await ask(service.baseUrl, 'GET', path, { headers: { cookie } })).headers.get('location')).toBe(
      '/console/',
    );
    expect((await ask(service.baseUrl, 'GET', path, { headers: { cookie } })).headers.get('location')).toBe(REFUSED);
  });

  it.each(['//evil.example', 'https://evil.example', '/\\evil.example', '%2F%2Fevil.example'])(
    'never leads to %s',
    async (returnTo) => {
      await createPerson(service.operator, { name: 'ann@example.com', role: 'admin' });
      provider.willSay({ sub: '1', email: 'ann@example.com', email_verified: true });
      const reply = await goThereAndBack(`?returnTo=${returnTo}`);
      expect(reply.headers.get('location')).toBe('/console/');
    },
  );
});
