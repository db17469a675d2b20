import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestService, testService } from '../support/service.js';

let service: TestService;
let without: TestService;
beforeAll(async () => {
  [service, without] = await Promise.all([testService(), testService({ console: 'off' })]);
});
afterAll(() => Promise.all([service.close(), without.close()]));

describe('the page of the console', () => {
  it('loads only its own files, and no inline script', async () => {
    for (const path of ['/console', '/console/orders', '/console/orders/100000001000']) {
      const response = await fetch(`${service.baseUrl}${path}`);
      const text = await response.text();
      expect(response.status).toBe(200);
      const policy = response.headers.get('content-security-policy') ?? '';
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
      expect(policy).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; font-src 'self'; img-src 'self' data:; ` +
          `connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      );
      expect(text).toContain(nonce);
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)/);
      expect(text).not.toMatch(/(src|href)="(?!\/console\/|data:)/);
      expect(response.headers.get('x-frame-options')).toBe('DENY');
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('has a script that is compressed and may be cached for ever; other names are 404', async () => {
    const page = await (await fetch(`${service.baseUrl}/console`)).text();
    const [script = ''] = page.match(/\/console\/assets\/[\w.-]+\.js/) ?? [];
    const response = await fetch(`${service.baseUrl}${script}`, { headers: { 'accept-encoding': 'br' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(response.headers.get('content-encoding')).toBe('br');
    for (const other of ['nothing.js', '..%2f..%2fpackage.json', 'index.html', '%2e%2e%2findex.html']) {
      expect((await fetch(`${service.baseUrl}/console/assets/${other}`)).status).toBe(404);
    }
  });

  it('is 404 if the console is switched off', async () => {
    for (const path of ['/console', '/console/api/session', '/console/api/sign-in-ways']) {
      expect((await fetch(`${without.baseUrl}${path}`)).status).toBe(404);
    }
  });
});
