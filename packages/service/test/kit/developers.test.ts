import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { CODES, endpoints, HEADERS, sha256Hex, signWebhook } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINT_TEXTS } from '../../../developers/src/content/endpoints.js';
import { provisionDemo } from '../../src/operator/provisioning/demo.js';
import { systemClock } from '../../src/platform/clock.js';
import { VERSION } from '../../src/platform/version.js';
import { send } from '../support/channel-client.js';
import { packageRoot } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';

/** The developers' pages as served. */

const root = path.join(packageRoot, '..', '..');
const site = path.join(root, 'packages', 'service', 'dist', 'pages', 'developers');
const PAGES = readdirSync(site, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.html') && name !== 'not-found.html')
  .map((name) => `/developers/${name.slice(0, -'.html'.length)}`.replace(/\/index$/, ''));

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'";

let service: TestService;
/** A production service that does not serve the developers' pages. */
let without: TestService;
/** A production service with an address that has to be escaped, and with a file limit that a test can reach. */
let behindPath: TestService;
const MOST_FILES = 30;
beforeAll(async () => {
  const environment = 'production';
  [service, without, behindPath] = await Promise.all([
    // Uses the real time, because the pages' scripts use it.
    testService({ clock: systemClock }),
    testService({ environment, developers: 'off', publicUrl: () => 'https://pay.example/<&"sub' }),
    testService({
      environment,
      publicUrl: () => `https://pay.example/a'b<c`,
      testLimits: { developersFilesPerMinute: MOST_FILES },
      trustedProxies: ['127.0.0.1'],
    }),
  ]);
});
afterAll(() => Promise.all([service.close(), without.close(), behindPath.close()]));

const BROTLI = { 'accept-encoding': 'br' };

const get = (path: string, headers: Record<string, string> = {}, method = 'GET', to = service) =>
  send(to.baseUrl, method, path, headers, Buffer.alloc(0));

describe('every page', () => {
  it('exists: one for each guide, each endpoint, and each tool', () => {
    expect(PAGES).toEqual(expect.arrayContaining(['/developers', '/developers/reference', '/developers/signature']));
    for (const { name } of endpoints) expect(PAGES).toContain(`/developers/reference/${name}`);
    for (const name of ['three-ways', 'webhooks', 'redemption', 'errors', 'limits', 'signing', 'going-live'])
      expect(PAGES).toContain(`/developers/guides/${name}`);
  });

  it('is HTML under a strict policy, with the installation’s address and no placeholder left', async () => {
    for (const page of PAGES) {
      const { status, headers, text } = await get(page);
      expect([page, status]).toEqual([page, 200]);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toBe(POLICY);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(text.match(/__(?:ROOT|ENVIRONMENT|PUBLIC_URL)__|\{\{|undefined|\[object/)).toBeNull();
      // Facts of production, even hidden by a style, and a command that npx finds only in a clone.
      expect([page, text.match(/This installation is in production|npx perennial-server/)]).toEqual([page, null]);
    }
    expect((await get('/developers')).text).toContain('https://pay.example');
  });

  it('links only to existing pages and sections, and loads nothing from elsewhere', async () => {
    const texts = new Map(await Promise.all(PAGES.map(async (page) => [page, (await get(page)).text] as const)));
    const wrong: string[] = [];
    const asked = new Map<string, number>();
    for (const [page, text] of texts) {
      for (const [, loaded = ''] of text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g)) {
        if (!loaded.startsWith('/developers/assets/')) wrong.push(`${page} loads ${loaded}`);
      }
      if (/<style|<script>|\son\w+="|style="/.test(text)) wrong.push(`${page} has script or style in it`);
      for (const [, href = ''] of text.matchAll(/(?:href|src|action)="([^"]+)"/g)) {
        const [to = '', section] = href.replace(/^https:\/\/pay\.example/, '').split('#');
        const target = to === '' ? page : to;
        if (!target.startsWith('/')) wrong.push(`${page} leads to ${href}`);
        const known = texts.get(target);
        if (known === undefined && !asked.has(target)) asked.set(target, (await get(target)).status);
        if (known === undefined && asked.get(target) !== 200) wrong.push(`${page} leads to ${href}`);
        if (known !== undefined && section !== undefined && !known.includes(`id="${section}"`))
          wrong.push(`${page} leads to ${href}, where there is no such section`);
      }
    }
    expect(wrong).toEqual([]);
    expect(asked.size).toBeGreaterThan(3);
  });

  it('exists at the URL that the SDK names', async () => {
    const text = readFileSync(path.join(root, 'packages', 'sdk', 'README.md'), 'utf8');
    const named = new Set(text.match(/\/developers\/[\w./-]*\w/g));
    for (const page of named) expect([page, (await get(page, {}, 'HEAD')).status]).toEqual([page, 200]);
    expect(named.size).toBeGreaterThan(3);
  });

  it('labels its regions uniquely, and has no empty heading and no disabled checkbox', async () => {
    for (const page of PAGES) {
      const { text } = await get(page);
      const names = [...text.matchAll(/role="(?:region|group)" aria-label="([^"]*)"/g)].map(([, name]) => name);
      expect([page, names.filter((name, at) => name === '' || names.indexOf(name) !== at)]).toEqual([page, []]);
      expect([page, text.match(/<(th|h[1-3])[^>]*>\s*<\/\1>/)]).toEqual([page, null]);
      const boxes = [...text.matchAll(/(<label>)?<input type="checkbox"(?! id="menu-switch")([^>]*)>/g)];
      for (const [, label, more] of boxes) expect([page, label, more]).toEqual([page, '<label>', '']);
      if (page.endsWith('going-live')) expect(boxes.length).toBeGreaterThan(5);
    }
  });
});

describe('code on a page', () => {
  /** Returns a page's code blocks by name, as a reader copies them. */
  async function codeOf(page: string): Promise<Map<string, string>> {
    const { text } = await get(page);
    const plain = (html: string) =>
      html
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&');
    const blocks = text.matchAll(/<pre [^>]*aria-label="([^"]+)"><code>(.*?)<\/code>/gs);
    return new Map([...blocks].map(([, name = '', code = '']) => [plain(name), plain(code)]));
  }

  it('has no markup meant for the generator', async () => {
    let count = 0;
    for (const page of PAGES)
      for (const [name, code] of await codeOf(page)) {
        count += 1;
        expect([page, name, code.match(/[⟦⟧]|(?![\n\t])\p{Cc}/u)]).toEqual([page, name, null]);
      }
    expect(count).toBeGreaterThan(200);
  });

  it('for a shell runs as copied, with an encrypted field', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-snippet-'));
    try {
      await provisionDemo(service.operator, { dataDir: path.join(folder, 'data'), baseUrl: service.baseUrl });
      const client = (await get('/developers/clients/perennial.sh')).text;
      await writeFile(path.join(folder, 'perennial.sh'), client, { mode: 0o755 });
      const code = (await codeOf('/developers/reference/orders/create')).get('curl: B: billed to you') ?? '';
      expect(code).toContain('$(seal 13900000003)');
      const env = { PATH: process.env['PATH'], no_proxy: '127.0.0.1' };
      const { stdout } = await promisify(execFile)('sh', ['-c', code], { cwd: folder, env });
      expect(JSON.parse(stdout)).toMatchObject({ code: '0', data: { orderStatus: 'ACTIVE' } });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('for an event has matching headers and signature', async () => {
    const blocks = await codeOf('/developers/reference/webhooks');
    const { callbackSecret } = JSON.parse(
      readFileSync(path.join(root, 'packages', 'wire', 'vectors', 'webhook-signature.json'), 'utf8'),
    );
    for (const eventType of ['order.status.changed', 'payment.status.changed']) {
      const body = blocks.get(`Body of ${eventType}`) ?? '';
      const [start, ...lines] = (blocks.get(`Headers of ${eventType}`) ?? '').split('\n');
      const headers = Object.fromEntries(lines.map((line) => line.split(': ')));
      const signature = signWebhook(
        {
          path: start?.split(' ')[1] ?? '',
          bodySha256: sha256Hex(Buffer.from(body)),
          timestamp: headers[HEADERS.timestamp],
          nonce: headers[HEADERS.nonce],
          eventId: JSON.parse(body).eventId,
        },
        Buffer.from(callbackSecret, 'base64'),
      );
      expect([eventType, headers[HEADERS.signature]]).toEqual([eventType, signature]);
      expect([eventType, headers[HEADERS.eventId]]).toEqual([eventType, JSON.parse(body).eventId]);
    }
  });
});

describe('a file', () => {
  it('is compressed on request, and 304 if unchanged; HEAD is GET without a body', async () => {
    const plain = await get('/developers/guides/errors');
    const request = await fetch(`${service.baseUrl}/developers/guides/errors`, { headers: BROTLI });
    expect(request.headers.get('content-encoding')).toBe('br');
    expect(await request.text()).toBe(plain.text);
    const { etag = '' } = plain.headers;
    expect(plain.headers['cache-control']).toBe('no-cache');
    expect((await get('/developers/guides/errors', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('/developers/guides/errors', { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await get('/developers/guides/errors', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-length']).toBe(plain.headers['content-length']);
  });

  it('is compressed only if the client prefers that at least equally', async () => {
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

  it('with a hash in its name is cached for ever', async () => {
    const [, style = ''] = /href="([^"]+\.css)"/.exec((await get('/developers')).text) ?? [];
    const { headers } = await get(style);
    expect(headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
  });

  it('that does not exist is an HTML page', async () => {
    for (const name of [
      'nothing',
      'guides',
      'not-found',
      'not-found.html',
      'assets/none.js',
      '../package.json',
      '..%2f..%2fpackage.json',
      '%2e%2e/build.js',
      'guides/.x',
      'x'.repeat(99),
    ]) {
      const { status, headers, text } = await get(`/developers/${name}`);
      if (name.startsWith('..') && status === 404 && headers['content-type']?.startsWith('application/json')) continue;
      expect([name, status]).toEqual([name, 404]);
      expect(headers['content-security-policy']).toBe(POLICY);
      expect(text).toContain('There is no such page');
    }
    expect((await get('/developers/')).headers.location).toBe('/developers');
    expect((await get('/developers/guides/errors//')).headers.location).toBe('/developers/guides/errors');
    expect((await get('/developers', {}, 'POST')).code).toBe(CODES.PATH_NOT_FOUND.code);
  });

  it('is refused to an address with too many requests, and to no other; channels are unaffected', async () => {
    const from = (address: string) => get('/developers/search', { 'x-forwarded-for': address }, 'HEAD', behindPath);
    const statuses = await Promise.all(Array.from({ length: MOST_FILES + 1 }, () => from('192.0.2.1')));
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(MOST_FILES);
    const refused = await from('192.0.2.1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await from('192.0.2.2')).status).toBe(200);
    const channel = await behindPath.channel();
    const { code } = await channel.callBare('auth/token', {}, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(code).toBe(CODES.PARAM_INVALID.code);
  });
});

describe('documents', () => {
  it('vectors.json has every vector of the files, each with a description', async () => {
    const { vectors } = JSON.parse((await get('/developers/vectors.json')).text);
    const folder = path.join(root, 'packages', 'wire', 'vectors');
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(Object.keys(vectors).toSorted()).toEqual(files.map((name) => path.basename(name, '.json')).toSorted());
    for (const name of files) {
      const { description, content } = vectors[path.basename(name, '.json')];
      expect(content).toEqual(JSON.parse(readFileSync(path.join(folder, name), 'utf8')));
      expect(description).not.toBe('');
    }
  });

  it('describe every endpoint', () => {
    expect(Object.keys(ENDPOINT_TEXTS).toSorted()).toEqual(endpoints.map(({ name }) => name).toSorted());
  });
});

const messageOf = async (of: TestService, path: string, method = 'POST') => {
  const { status, code, envelope } = await send(of.baseUrl, method, path, {}, Buffer.from('{}'));
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
  ['/openapi/v1/reorders/create', CREATE],
  ['/openapi/v1/order/create', CREATE],
  ['/openapi/v1/ordersCreate', `${CREATE}: the path has capital letters`],
  ['/openapi/v1/orders/delete', 'no such endpoint'],
  ['/api', 'no such endpoint; paths of endpoints begin with /openapi/v1/'],
];

describe('404001', () => {
  it('names the probable endpoint and the fault in the path, in the sandbox', async () => {
    for (const [path, message] of MISSED) {
      for (const method of ['POST', 'GET']) {
        expect([path, await messageOf(service, path, method)]).toEqual([path, message]);
      }
    }
  });

  it('names neither in production', async () => {
    for (const [path] of MISSED) expect(await messageOf(without, path)).toBe('no such endpoint');
  });
});

describe('GET /', () => {
  it('names the service and its pages', async () => {
    const { status, headers, text } = await get('/', { accept: 'text/html,*/*;q=0.8' });
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'sha256-/);
    for (const one of ['sandbox', VERSION, 'https://pay.example/openapi/v1/']) expect(text).toContain(one);
    for (const path of ['/developers', '/console', '/readyz']) expect(text).toContain(`href="${path}"`);
    expect((await get('/', {}, 'HEAD')).status).toBe(200);
  });

  it('has a Vary header, for every format', async () => {
    const vary = { headers: { vary: 'accept' } };
    expect(await get('/', { accept: 'application/json' })).toMatchObject({ status: 404, code: '404001', ...vary });
    expect(await get('/', { accept: 'text/html' })).toMatchObject({ status: 200, ...vary });
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect(await messageOf(service, '/', method)).toMatch(/^no such endpoint/);
  });

  it('is the only page left with DEVELOPERS=off, without a version in production', async () => {
    const { status, text } = await get('/', {}, 'GET', without);
    expect(status).toBe(200);
    expect(text).toContain('production');
    expect(text).not.toContain(VERSION);
    expect(text).not.toContain('/developers');
    expect(text).toContain('https://pay.example/&lt;&amp;&quot;sub/openapi/v1/');
    for (const page of ['/developers', '/developers/openapi.json', '/developers/guides/errors'])
      expect(await get(page, {}, 'GET', without)).toMatchObject({ status: 404, code: '404001' });
  });
});

describe('in production, behind a path', () => {
  it('pages are the same, with their own URLs, and mark the endpoints of the sandbox', async () => {
    const page = await get('/developers/reference/sandbox/orders/advance', {}, 'GET', behindPath);
    expect(page.text).toContain('data-environment="production"');
    expect(page.text).toContain('This endpoint is available in the sandbox only');
    expect(page.text).toContain('href="/a&#39;b%3Cc/developers/reference"');
    const { servers } = JSON.parse((await get('/developers/openapi.json', {}, 'GET', behindPath)).text);
    expect(servers[0].url).toBe(`https://pay.example/a'b<c`);
    const compressed = await fetch(`${behindPath.baseUrl}/developers/openapi.json`, { headers: BROTLI });
    expect(await compressed.text()).toContain(`https://pay.example/a'b<c`);
    expect(compressed.headers.get('access-control-allow-origin')).toBe('*');
  });
});
