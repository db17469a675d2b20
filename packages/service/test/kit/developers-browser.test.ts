import { createHmac } from 'node:crypto';
import { HEADERS, sha256Hex, signRequest } from '@perennial/wire';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { barriers, browserOfFile, DESKTOP, PHONE, phone, press, scrollsSideways } from '../browser/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { testService } from '../support/service.js';

/** The developers' pages in a browser: appearance and behaviour. */

const service = ofFile(() => testService({ publicUrl: () => 'http://127.0.0.1' }));
const browser = browserOfFile();

const isLong = process.env['LONG_RUNS'] === 'on';
const SMALL: BrowserContextOptions = { ...PHONE, viewport: { width: 360, height: 740 }, deviceScaleFactor: 1 };
const WIDE: BrowserContextOptions = { ...DESKTOP, isMobile: false, hasTouch: false, deviceScaleFactor: 1 };

async function open(path: string, screen: BrowserContextOptions = WIDE): Promise<Page> {
  const page = await phone(browser, { reducedMotion: 'reduce', ...screen });
  await page.goto(`${service.baseUrl}${path}`);
  return page;
}

const SCREENS: readonly [string, BrowserContextOptions][] = [
  ['a phone, dark', { ...SMALL, colorScheme: 'dark' }],
  ['a desktop, light', { ...WIDE, colorScheme: 'light' }],
  ['a phone, light', { ...SMALL, colorScheme: 'light' }],
  ['a desktop, dark', { ...WIDE, colorScheme: 'dark' }],
];

/**
 * A long run tests every page on all screens. A short run tests each page on one of two screens, which together cover
 * each width and colour scheme.
 */
describe.each(SCREENS.slice(0, isLong ? 4 : 2))('on %s', (name, screen) => {
  const first = SCREENS.findIndex(([one]) => one === name);
  const ofThis = (paths: readonly string[]) => paths.filter((_, place) => isLong || place % 2 === first);

  it('is accessible, and nothing overflows', async () => {
    const page = await open('/', screen);
    for (const path of ofThis([
      '/',
      '/developers',
      '/developers/reference/orders/create',
      '/developers/reference/webhooks',
      '/developers/signature',
      '/developers/console',
      '/developers/guides/versions',
    ])) {
      if (path !== '/') await page.goto(`${service.baseUrl}${path}`);
      expect([path, await barriers(page)]).toEqual([path, []]);
      expect([path, await scrollsSideways(page)]).toEqual([path, false]);
    }
    for (const path of ofThis([
      'guides/going-live',
      'guides/webhooks',
      'guides/signing',
      'guides/errors',
      'reference',
      'search?q=nonce',
    ])) {
      await page.goto(`${service.baseUrl}/developers/${path}`);
      expect([path, await scrollsSideways(page)]).toEqual([path, false]);
    }
  });
});

describe('search', () => {
  it('opens by a key, suggests while typing, and leads to the page', async () => {
    const page = await open('/developers');
    await page.keyboard.press('/');
    await page.keyboard.type('401002');
    const first = page.getByRole('option').first();
    await first.waitFor();
    expect(await first.textContent()).toContain('401002 SIGNATURE_INVALID');
    await page.keyboard.press('ArrowDown');
    expect(await first.getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/developers/guides/errors#code-401002');
    expect(await page.locator('#code-401002').isVisible()).toBe(true);
  });

  it('has a page of all results, also if there are none', async () => {
    const page = await open('/developers/search?q=externalOrderNo');
    await page.getByText(/\d+ found for/).waitFor();
    expect(await page.locator('.results a').count()).toBeGreaterThan(5);
    await page.getByRole('combobox').fill('<b>zyx</b>');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing found for “<b>zyx</b>”.').waitFor();
    expect(await page.locator('.results a').count()).toBe(0);
    await press(page, page.locator('#way-on').getByRole('link', { name: 'Reference' }));
    expect(new URL(page.url()).pathname).toBe('/developers/reference');
  });

  it('finds a page by synonyms in any form, and names the endpoint of a section', async () => {
    const page = await open('/developers/search');
    const find = async (query: string) => {
      await page.goto(`${service.baseUrl}/developers/search?q=${encodeURIComponent(query)}`);
      await page.getByText(/\d+ found for/).waitFor();
      const found = await page.locator('.results a').evaluateAll((links) =>
        // biome-ignore lint/suspicious/noExplicitAny: elements of the page, whose types are not known here
        links.slice(0, 3).map((link: any) => link.pathname.replace('/developers/', '') + link.hash),
      );
      expect(await page.locator('#way-on').isVisible()).toBe(false);
      return found;
    };
    expect(await find('webhook')).toContain('guides/webhooks');
    expect((await find('webhooks'))[0]).toBe('guides/webhooks');
    for (const word of ['retry', 'retries'])
      expect([word, await find(word)]).toEqual([word, expect.arrayContaining(['guides/webhooks'])]);
    expect((await find('postman'))[0]).toBe('clients/perennial.postman_collection.json');
    expect((await find('idempotencykey'))[0]).toBe('reference#idempotency');
    expect((await find('redeemurl'))[0]).toBe('guides/redemption');
    expect((await find('timezone'))[0]).toBe('reference');
    expect((await find('currency'))[0]).toBe('reference');
    expect(await find('docker')).toContain('guides/sandbox#your-own-sandbox');
    expect(await find('rotate')).toContain('guides/signing#rotate-a-secret');
    expect((await find('changelog'))[0]).toBe('guides/versions');
    await find('bindOrderNo sharedAgreement');
    await page.getByRole('link', { name: 'Create an order: Request' }).waitFor();
  });
});

describe('a reader’s choice', () => {
  it('of a language is kept on the next page', async () => {
    const page = await open('/developers/reference/orders/query');
    await page.locator('label', { hasText: 'Python' }).first().click();
    await page.getByText('channel.call("orders/query"').first().waitFor();
    expect(await page.getByText('perennial.orders.query(').first().isVisible()).toBe(false);
    await page.goto(`${service.baseUrl}/developers/guides/signing`);
    await page.getByText('hmac.digest(key, text.encode(), "sha256")').waitFor();
  });

  it('of a scheme is kept', async () => {
    const page = await open('/developers', { ...WIDE, colorScheme: 'light' });
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(await ground()).toBe('rgb(255, 255, 255)');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    const dark = await ground();
    expect(dark).not.toBe('rgb(255, 255, 255)');
    await page.goto(`${service.baseUrl}/developers/guides/limits`);
    expect(await ground()).toBe(dark);
  });

  it('of a ticked item is kept', async () => {
    const page = await open('/developers/guides/going-live', SMALL);
    await page.locator('.task label').last().click();
    await page.reload();
    expect(await page.getByRole('checkbox').last().isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1);
  });

  it('does not affect printing, which is dark on white', async () => {
    const page = await open('/developers/reference/webhooks', { ...WIDE, colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Light colours' }).click();
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await page.emulateMedia({ media: 'print' });
    for (const part of ['body', 'pre']) {
      const ground = await page.evaluate<string>(`getComputedStyle(document.querySelector('${part}')).backgroundColor`);
      expect([part, ground]).toEqual([part, 'rgb(255, 255, 255)']);
    }
    expect(await barriers(page)).toEqual([]);
  });

  it('of code is copied by a button', async () => {
    const page = await open('/developers/guides/redemption');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const code = page.locator('.code').first();
    await code.hover();
    await code.getByRole('button', { name: 'Copy' }).click();
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(await code.locator('pre').textContent());
  });
});

it('pages, menu and language choice work without scripts', async () => {
  const page = await open('/developers/reference/orders/query', { ...SMALL, javaScriptEnabled: false });
  await page.getByRole('checkbox', { name: 'Show all pages' }).check({ force: true });
  await press(page, page.getByRole('link', { name: 'Create an order' }));
  await page.locator('label', { hasText: 'PHP' }).first().click();
  await page.getByText("$channel->call('orders/create'").first().waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
  // Without scripts a form would send secrets in the address.
  await page.goto(`${service.baseUrl}/developers/console`);
  await page.getByRole('heading', { name: 'Your console' }).waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
  expect(await page.getByRole('textbox').count()).toBe(0);
});

describe('signature diagnosis', () => {
  const APP_SECRET = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
  const BODY = `{"grantType":"client_credentials","appId":"it's"}`;
  const parts = {
    path: '/openapi/v1/auth/token',
    query: '',
    bodySha256: sha256Hex(Buffer.from(BODY)),
    timestamp: '1767225600000',
    nonce: '00112233445566778899aabbccddeeff',
    requestId: 'mine-1',
  };
  const headers = (signature: string) => [
    `${HEADERS.timestamp}: ${parts.timestamp}`,
    `${HEADERS.nonce}: ${parts.nonce}`,
    `${HEADERS.requestId}: ${parts.requestId}`,
    `${HEADERS.signature}: ${signature}`,
  ];
  /** A curl command as copied from a terminal, with shell quotes. */
  const curl = (signature: string) =>
    `$ curl -sS -X POST 'https://pay.example${parts.path}' \\\n${headers(signature)
      .map((one) => `  -H "${one}" \\\n`)
      .join('')}  --data-raw '${BODY.replaceAll("'", `'\\''`)}'\n`;
  const rightSignature = signRequest(parts, Buffer.from(APP_SECRET, 'base64'));

  async function diagnose(page: Page, request: string): Promise<string> {
    await page.getByLabel('The request').fill(request);
    await page.getByLabel('appSecret').fill(APP_SECRET);
    await page.getByRole('button', { name: 'Find the mistake' }).click();
    return (await page.locator('#outcome .finding').first().textContent()) ?? '';
  }

  const quoted = `'${BODY.replaceAll("'", `'\\''`)}'`;
  const inHeaders = headers(rightSignature).map((one) => `-H '${one}'`);
  /** Returns a curl command with these options for a correct request. */
  const command = (options: string, sent = inHeaders) =>
    `curl ${options} https://pay.example${parts.path} ${sent.join(' ')}`;
  const RIGHT = 'The signature is correct';

  it('reads curl commands as a shell and curl do', async () => {
    const page = await open('/developers/signature');
    const ansi = BODY.replace("'", String.raw`\x27`).replace('grant', String.raw`\147\u0072ant`);
    const double = BODY.replaceAll('"', String.raw`\"`);
    for (const [options, says] of [
      [`-sSd ${quoted}`, RIGHT],
      [`-sXPOST --json ${quoted}`, RIGHT],
      [`--data-binary $'${ansi}'`, RIGHT],
      [`--data-raw "${double}"`, RIGHT],
      [`--proxy http://p:1 --cacert x -u me:pw --retry 3 -b a=b --resolve h:1:127.0.0.1 -m 5 -d ${quoted}`, RIGHT],
      [`-X GET -d ${quoted}`, 'refused with 405001'],
      [`-X PUT -d ${quoted}`, 'sent with PUT'],
      [`-G -d ${quoted}`, 'sent with GET'],
      ['', 'sent with GET'],
      ['--data-binary "$body"', 'Missing: Body. Body: $body is replaced by your shell'],
      [String.raw`-d "{\"appId\":\"${'${app}'}\"}"`, 'Body: ${app} is replaced'],
      ['-d @body.json', 'The body is in the file body.json: paste its content.'],
      ['-F a=b', '--form builds the body'],
    ] as const)
      expect([options, await diagnose(page, command(options))]).toEqual([options, expect.stringContaining(says)]);
    expect(await page.getByText(RIGHT).count()).toBe(0);
    const unset = headers(rightSignature).map((one) => `-H "${one.replace(parts.nonce, '$(openssl rand -hex 16)')}"`);
    expect(await diagnose(page, command(`-d ${quoted}`, unset))).toContain(
      'X-SVC-Nonce: $(openssl rand -hex 16) is replaced by your shell',
    );
    await page.getByLabel('X-SVC-Nonce').fill(parts.nonce);
    await page.getByRole('button', { name: 'Find the mistake' }).click();
    await page.getByText(RIGHT).waitFor();
    const piped = command(`-d ${quoted}`).replace('https://pay.example', '$BASE');
    expect(await diagnose(page, `${piped} 2>/dev/null | jq .`)).toContain(RIGHT);
    expect(await page.getByText('Ignored in the command').count()).toBe(0);
    expect(await diagnose(page, command(`--strange 1 -d ${quoted}`))).toContain(RIGHT);
    await page.getByText('Ignored in the command: --strange 1.').waitFor();
    await diagnose(page, `${command(`-d ${quoted}`)} -H "Accept: x`);
    await page.getByText('Ignored in the command: "Accept: x').waitFor();
  });

  it('explains the mistake before its name', async () => {
    const page = await open('/developers/signature');
    const digest = Buffer.from(parts.bodySha256, 'hex').toString('base64');
    const signature = signRequest({ ...parts, bodySha256: digest }, Buffer.from(APP_SECRET, 'base64'));
    expect(await diagnose(page, curl(signature))).toMatch(/^You wrote the SHA-256 of the body in base64.*digest-upper/);
  });

  it('finds a mistake in a pasted request without any network request', async () => {
    const page = await open('/developers/signature');
    await page.waitForLoadState('networkidle');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const text = ['POST', parts.path, '', parts.bodySha256, parts.timestamp, parts.nonce, parts.requestId].join('\n');
    const undecoded = createHmac('sha256', APP_SECRET).update(text).digest('base64');
    expect(await diagnose(page, curl(undecoded))).toContain('secret-not-decoded');
    expect(await page.locator('.lines li').count()).toBe(7);
    expect(await page.locator('.lines').textContent()).toContain(parts.bodySha256);
    expect(await diagnose(page, curl(rightSignature))).toContain('The signature is correct');
    const lines = [
      `POST ${parts.path} HTTP/1.1`,
      'Host: pay.example',
      ...headers(createHmac('sha256', 'x').update(text).digest('base64')),
    ];
    expect(await diagnose(page, `${lines.join('\r\n')}\r\n\r\n${BODY}\n`)).toContain('unknown');
    expect(await diagnose(page, 'POST /x HTTP/1.1\n\n{}')).toContain('Missing: X-SVC-Timestamp, X-SVC-Nonce');
    await page.getByLabel('appSecret').fill('short');
    await page.getByRole('button', { name: 'Fill in an example' }).click();
    await page.getByText('body-serialised-again').first().waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await page.evaluate<number>('localStorage.length + sessionStorage.length')).toBe(0);
  });

  it('shows the service’s diagnosis of a refused request, also by URL', async () => {
    const channel = await service.channel();
    const requestId = 'refused/1?&';
    const { appId, appSecret } = channel.credentials;
    const body = { grantType: 'client_credentials', appId };
    const signed = channel.signedHeaders('auth/token', Buffer.from(JSON.stringify(body)), { requestId });
    const hex = Buffer.from(signed[HEADERS.signature], 'base64').toString('hex');
    const refused = await channel.callBare('auth/token', body, {
      headers: { ...signed, [HEADERS.signature]: hex },
    });
    expect(refused.envelope).toMatchObject({ code: '401002', message: expect.stringContaining('(signature-hex)') });
    const page = await open(`/developers/signature?request=${encodeURIComponent(requestId)}`);
    await page.locator('#refused-outcome').getByText('signature-hex').waitFor();
    expect(await page.locator('#refused-outcome .lines li').count()).toBe(7);
    expect(await page.content()).not.toContain(appSecret);
    await page.getByLabel('Request id').fill('of-nobody');
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('No diagnosis found').waitFor();
  });
});
