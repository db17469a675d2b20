import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { barriers, browserOfFile, DESKTOP, PHONE, phone, press, scrollsSideways } from '../browser/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel, sharedRequest, unique } from '../support/demo.js';
import { testService } from '../support/service.js';

/** A channel's own console in a browser, and "Try it" on the pages of endpoints. */

const service = ofFile(() =>
  testService({ publicUrl: () => 'http://127.0.0.1', requestLog: true, localCallbacks: true }),
);
const browser = browserOfFile();
const SMALL: BrowserContextOptions = { ...PHONE, colorScheme: 'dark', deviceScaleFactor: 1 };
const WIDE: BrowserContextOptions = { ...DESKTOP, isMobile: false, hasTouch: false, deviceScaleFactor: 1 };

async function open(path: string, screen: BrowserContextOptions = WIDE): Promise<Page> {
  const page = await phone(browser, { reducedMotion: 'reduce', ...screen });
  await page.clock.setFixedTime(service.clock.now());
  await page.goto(`${service.baseUrl}${path}`);
  return page;
}

async function signIn(page: Page, { credentials }: ChannelClient, isKept = false): Promise<void> {
  const { appId, appSecret, aesKey } = credentials;
  const buffer = Buffer.from(JSON.stringify({ appId, appSecret, aesKey }));
  await page
    .getByLabel('Credentials file')
    .setInputFiles({ name: 'channel.json', mimeType: 'application/json', buffer });
  await expect.poll(() => page.getByLabel('appId', { exact: true }).inputValue()).toBe(appId);
  if (isKept) await page.getByLabel('Stay signed in').check();
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function openConsole(by: ChannelClient, screen?: BrowserContextOptions): Promise<Page> {
  const page = await open('/developers/console', screen);
  await signIn(page, by);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

const openTab = (page: Page, name: string) => page.locator('#signed-in .tabs > label', { hasText: name }).click();
const stored = (page: Page) => page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');

describe('signing in', () => {
  it('keeps the secrets in the page: none is sent or stored, and a reload forgets them', async () => {
    const channel = await service.channel();
    const { appSecret, aesKey } = channel.credentials;
    const page = await open('/developers/console');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url() + JSON.stringify(request.headers()) + request.postData()));
    await signIn(page, channel);
    await page.getByText('No requests yet.').or(page.locator('#requests-list li')).first().waitFor();
    expect(sent.some((one) => one.includes('sandbox/requests/list'))).toBe(true);
    expect(sent.filter((one) => !one.startsWith(service.baseUrl))).toEqual([]);
    expect(sent.filter((one) => one.includes(appSecret) || one.includes(aesKey))).toEqual([]);
    expect(await stored(page)).toBe('[{},{}]');
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.locator('#signed-in').isVisible()).toBe(false);
  });

  it('lasts until the tab is closed if the reader wants it, on other pages too, or until the reader signs out', async () => {
    const channel = await service.channel();
    const page = await open('/developers/console');
    await signIn(page, channel, true);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto(`${service.baseUrl}/developers/reference/products/list`);
    await page.getByRole('button', { name: 'Send to the sandbox' }).waitFor();
    expect(await page.evaluate<number>('localStorage.length')).toBe(0);
    await page.goto(`${service.baseUrl}/developers/console`);
    await press(page, page.getByRole('button', { name: 'Sign out' }));
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await stored(page)).toBe('[{},{}]');
  });

  it('takes a pasted file, and says what is wrong with a secret', async () => {
    const channel = await service.channel();
    const page = await open('/developers/console');
    await page.getByLabel('appSecret', { exact: true }).evaluate(
      (field, text) => {
        // biome-ignore lint/suspicious/noExplicitAny: the page's own classes, which are not known here
        const { DataTransfer, ClipboardEvent } = globalThis as any;
        const clipboardData = new DataTransfer();
        clipboardData.setData('text', text);
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }));
      },
      JSON.stringify({ ...channel.credentials }),
    );
    expect(await page.getByLabel('appId', { exact: true }).inputValue()).toBe(channel.credentials.appId);
    await page.getByLabel('appSecret', { exact: true }).fill(channel.credentials.aesKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Refused with 401002').waitFor();
    await page.getByText('secret-of-encryption').waitFor();
    await page.getByLabel('appSecret', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('appSecret must be 32 bytes in base64').waitFor();
  });
});

describe('the console', () => {
  it('lists requests with their diagnosis, without its own', async () => {
    const channel = await service.channel();
    await channel.call('orders/query', { orderNo: '1' });
    const body = { grantType: 'client_credentials', appId: channel.credentials.appId };
    const headers = channel.signedHeaders('auth/token', Buffer.from('{}'), { requestId: 'mine-1' });
    await channel.callBare('auth/token', body, { headers });
    const page = await openConsole(channel);
    const rows = page.locator('#requests-list > li');
    const refused = rows.filter({ hasText: '401002' });
    // The log is written after the answer.
    await expect
      .poll(async () => {
        await page.locator('#requests-form').getByRole('button', { name: 'Refresh' }).click();
        return refused.count();
      })
      .toBe(1);
    expect(await refused.textContent()).toContain('mine-1');
    expect(await rows.filter({ hasText: 'orders/query' }).getByRole('link').textContent()).toBe('What 420001 means');
    expect(await rows.filter({ hasText: 'sandbox/channel/set' }).count()).toBe(0);
    await press(page, refused.getByRole('link', { name: 'Diagnosis' }));
    await page.locator('#refused-outcome .lines li').first().waitFor();
  });

  it('moves an order in time with a slider, and fails a debit on request', async () => {
    const channel = await demoChannel(service);
    const { data: order } = await channel.call('orders/create', sharedRequest(channel));
    const page = await openConsole(channel);
    await openTab(page, 'Orders');
    const row = page.locator('#orders-list > li', { hasText: order.orderNo });
    await row.getByText('Move in time').click();
    await row.getByLabel('Advance through').fill('2');
    expect(await row.locator('output').textContent()).toContain('period 3, due 2026-03-31');
    await row.getByLabel('Outcome of each debit').selectOption('FAIL_RETRY');
    await row.getByRole('button', { name: 'Advance' }).click();
    await row.getByText('period 3: FAIL_RETRY').waitFor({ state: 'attached' });
    const { data } = await channel.call('orders/query', { orderNo: order.orderNo });
    const statuses = data.paymentRecords.map(({ paymentStatus }: { paymentStatus: string }) => paymentStatus);
    expect(statuses.slice(0, 3)).toEqual(['SUCCESS', 'FAIL', 'FAIL_RETRY']);
    await page.getByLabel('orderNo or externalOrderNo').fill(order.externalOrderNo);
    await page.getByRole('button', { name: 'Find, or refresh' }).click();
    // The order that is found replaces the one in the list, so it is folded again.
    await row.getByLabel('Advance through').waitFor({ state: 'hidden' });
    expect(await page.locator('#orders-list > li').count()).toBe(1);
    expect(await row.count()).toBe(1);
  });

  it('sets the callback address, tests it, and replays an event', async () => {
    const channel = await demoChannel(service);
    await channel.call('orders/create', collectRequest(channel));
    const bodies: string[] = [];
    const receiver = createServer((request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk)));
      request.on('end', () => response.end('{"code":"0"}'));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void receiver.close());
    const page = await openConsole(channel);
    await openTab(page, 'Receiver');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
    await page.getByLabel('Address for your events').fill('http://shop.example/events');
    await page.locator('#callback-form').getByRole('button', { name: 'Save' }).click();
    await page.getByText('it must start with https://').waitFor();
    await page.getByLabel('Address for your events').fill(url);
    await page.locator('#callback-form').getByRole('button', { name: 'Save' }).click();
    await page.getByText(`Your events are sent to ${url}`).waitFor();
    await page.getByRole('button', { name: 'Send a test push' }).click();
    await page.getByText('Your receiver accepted the test push').waitFor();
    expect(bodies.map((body) => JSON.parse(body).data)).toEqual([{ test: true }]);
    await page.getByLabel('Version').selectOption('v2');
    await page.locator('#fields-form').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Encrypted fields are in svc_aes_v2').waitFor();
    await page.getByLabel('Days before the debit').fill('3');
    await page.locator('#notice-form').getByRole('button', { name: 'Save' }).click();
    await page.getByText('The notice is sent 3 days before the debit').waitFor();
    expect((await channel.call('sandbox/channel/set', {})).data.upcomingNoticeDays).toBe(3);
    await openTab(page, 'Events');
    const event = page.locator('#events-list > li').first();
    await event.getByRole('button', { name: 'Replay' }).click();
    await event.getByText('The event is sent again').waitFor();
    await page.locator('#events-form').getByRole('button', { name: 'Refresh' }).click();
    await event.getByText('PENDING').waitFor();
  });

  it('rolls the app secret with an overlap, shows it once, and continues with it', async () => {
    const channel = await service.channel();
    const page = await openConsole(channel);
    await openTab(page, 'Secrets');
    await page.getByText('I will store the new secret').click();
    await page.getByRole('button', { name: 'Roll the secret' }).click();
    const appSecret = (await page.locator('#new-secret').textContent()) ?? '';
    await page.getByText('The former appSecret is valid until').waitFor();
    const renewed = channelClient(service.baseUrl, { ...channel.credentials, appSecret }, () => service.clock.now());
    expect((await renewed.call('products/list', {})).code).toBe('0');
    expect((await channel.call('products/list', {})).code).toBe('0');
    await page.getByText('I will store the new secret').click();
    await page.getByLabel('The old appSecret stays valid for').selectOption('0');
    await page.getByRole('button', { name: 'Roll the secret' }).click();
    await expect.poll(() => page.locator('#new-secret').textContent()).not.toBe(appSecret);
    expect((await channel.call('products/list', {})).code).toBe('401002');
    await openTab(page, 'Receiver');
    await page.locator('#fields-form').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Encrypted fields are in svc_aes_v1').waitFor();
  });

  it.each([
    ['a phone, dark', SMALL],
    ['a desktop, light', WIDE],
  ] as const)('is accessible on %s, and nothing overflows', async (_name, screen) => {
    const channel = await demoChannel(service);
    await channel.call('orders/create', sharedRequest(channel, { externalOrderNo: unique('long').padEnd(120, '0') }));
    const page = await openConsole(channel, screen);
    for (const [tab, list] of [
      ['Requests', '#requests-list > li'],
      ['Orders', '#orders-list > li'],
      ['Events', '#events-list > li'],
      ['Receiver', '#callback-form'],
      ['Secrets', '#roll-form'],
    ] as const) {
      await openTab(page, tab);
      await page.locator(list).first().waitFor();
      if (tab === 'Orders') await page.getByText('Move in time').first().click();
      expect([tab, await barriers(page)]).toEqual([tab, []]);
      expect([tab, await scrollsSideways(page)]).toEqual([tab, false]);
    }
  });
});

describe('"Try it"', () => {
  it('sends the example with a number of its own, and shows the answer, the signed request and the own app id', async () => {
    const channel = await demoChannel(service);
    const page = await open('/developers/reference/orders/create', SMALL);
    await signIn(page, channel);
    await page.getByRole('button', { name: 'Send to the sandbox' }).click();
    await page.getByText('Code 0').waitFor();
    const shown = await page.locator('#try-outcome').textContent();
    expect(shown).toContain('"orderStatus": "ACTIVE"');
    expect(shown).toMatch(/POST \/openapi\/v1\/orders\/create HTTP\/1.1/);
    expect(shown).toContain('"mobileEncrypted":"svc_aes_v2:');
    expect(await barriers(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await scrollsSideways(page)).toBe(false);
    const own = await service.channel();
    const other = await open('/developers/reference/auth/token');
    await signIn(other, own);
    await other.getByRole('button', { name: 'Send to the sandbox' }).waitFor();
    const samples = (await other.locator('.aside pre').allTextContents()).join();
    expect(samples).toContain(own.credentials.appId);
    expect(samples).not.toContain('test_demo');
    expect(await other.getByLabel('Body').inputValue()).toContain(own.credentials.appId);
  });

  it("fills in the latest order's numbers, and shows the sandbox's warning", async () => {
    const channel = await demoChannel(service);
    // The first order of a database may have the example's number.
    await channel.call('orders/create', sharedRequest(channel));
    const { data: order } = await channel.call('orders/create', sharedRequest(channel));
    const page = await open('/developers/reference/payments/query');
    expect(await page.getByRole('link', { name: 'Try it' }).isVisible()).toBe(true);
    await signIn(page, channel);
    const [{ paymentOrderNo }] = order.paymentRecords;
    const body = page.getByLabel('Body');
    await expect.poll(() => body.inputValue()).toContain(`"paymentOrderNo": "${paymentOrderNo}"`);
    await body.fill(JSON.stringify({ paymentOrderNo, paymentNo: '1' }));
    await page.getByRole('button', { name: 'Send to the sandbox' }).click();
    await page.getByText('Code 0, with a warning').waitFor();
    await page.getByText('unknown field paymentNo is ignored').first().waitFor();
  });

  it('shows a refusal with its code, and refuses what is not JSON', async () => {
    const channel = await service.channel();
    const page = await open('/developers/reference/orders/query');
    await signIn(page, channel);
    const send = page.getByRole('button', { name: 'Send to the sandbox' });
    await page.getByLabel('Body').fill('{ "orderNo": "1" }');
    await send.click();
    await page.getByText('Refused with 420001').waitFor();
    await page.getByLabel('Body').fill('{ orderNo');
    await send.click();
    await page.getByText('The body is not JSON').waitFor();
  });
});

it('production has neither', async () => {
  const production = await testService({ environment: 'production', publicUrl: () => 'http://127.0.0.1' });
  onTestFinished(() => production.close());
  const page = await phone(browser, WIDE);
  await page.goto(`${production.baseUrl}/developers/console`);
  await page.getByText('This page works in the sandbox only.').waitFor();
  expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
  await page.goto(`${production.baseUrl}/developers/reference/orders/create`);
  expect(await page.getByText('Try it').filter({ visible: true }).count()).toBe(0);
});
