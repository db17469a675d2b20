import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { setFrameOrigins } from '../../src/operator/provisioning/channel-settings.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { type Stage, stage } from '../redeem/support.js';
import { collectRequest } from '../support/demo.js';
import { barriers, DESKTOP, launch, PHONE, phone, press, scrollsSideways } from './support.js';

/** How the pages look and read, whoever looks at them and with what. */

let on: Stage;
let browser: Browser;
beforeAll(async () => {
  [on, browser] = await Promise.all([stage(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await on.close();
});

const SCREENS: readonly [string, BrowserContextOptions][] = [
  ['a phone, light', { ...PHONE, colorScheme: 'light' }],
  ['a desktop, dark', { ...DESKTOP, isMobile: false, colorScheme: 'dark' }],
  ['the smallest phone', { ...PHONE, viewport: { width: 320, height: 568 } }],
  ['a phone, dark', { ...PHONE, colorScheme: 'dark' }],
  ['a desktop, light', { ...DESKTOP, isMobile: false, colorScheme: 'light' }],
];

async function expectGood(page: Page): Promise<void> {
  expect(await barriers(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
}

const LOCALES = ['en-GB', 'zh-CN'];
/**
 * In a long run every screen in both languages; in a short one, one screen in the one and the next in the other, on three screens that
 * have every width and both schemes between them.
 */
const isLong = process.env['LONG_RUNS'] === 'on';

describe.each(SCREENS.slice(0, isLong ? 5 : 3))('on %s', (name, screen) => {
  const place = SCREENS.findIndex(([one]) => one === name);
  const locales = LOCALES.filter((_, at) => isLong || at === place % LOCALES.length);

  it.each(locales)('%s: no barriers, nothing sticks out, on any of the pages', async (locale) => {
    const order = await on.order();
    await on.advance(order, 2);
    const page = await phone(browser, { ...screen, locale });
    const url = `${on.service.baseUrl}${on.link(order)}`;
    await page.goto(url);
    await expectGood(page);
    await press(page, page.locator('button[name=claim]').first());
    expect(await page.locator('code').count()).toBe(1);
    await expectGood(page);
    await press(page, page.locator('button[name=period]').first());
    expect(await page.locator('code').count()).toBeGreaterThan(1);
    await expectGood(page);
    await page.goto(url.replace('/redeem?', '/redeem/unsubscribe?'));
    await page.locator('#digits').fill('0000');
    await expectGood(page);
    await page.goto(url.replace('/redeem?', '/redeem/payments?'));
    await expectGood(page);
    await page.goto(`${url}x`);
    await expectGood(page);
  });
});

describe('script in every field that a channel or an operator fills', () => {
  it('is shown as text, and nothing runs', async () => {
    const script = `"'><img src=x onerror=alert(1)><script>alert(1)</script>`;
    const { operator } = on.service;
    const productCode = 'SCRIPTED';
    await createProduct(operator, {
      productCode,
      productName: `Product ${script}`.slice(0, 64),
      settlementModes: ['CHANNEL_COLLECT'],
      periodType: 'MONTH',
      period: 1,
      totalCycles: 3,
      amountCent: 100,
      benefits: [{ benefitCode: 'SCRIPT', name: `B ${script}`.slice(0, 64), faceValueCent: 100 }],
    });
    await authorizeProduct(operator, { appId: on.channel.credentials.appId, productCode });
    const names = { channelUserId: `user ${script}`, externalOrderNo: `order ${script}` };
    const { data } = await on.channel.call('orders/create', collectRequest(on.channel, { ...names, productCode }));
    const page = await phone(browser);
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const { pathname, search } = new URL(data.redeemUrl);
    await page.goto(`${on.service.baseUrl}${pathname}${search}`);
    await page.getByText(names.externalOrderNo).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('><img src=x');
    await press(page, page.locator('button[name=claim]'));
    expect(await page.locator('code').count()).toBe(1);
    expect(await page.locator('img[src=x], script:not([src])').count()).toBe(0);
    expect(dialogs).toEqual([]);
  });
});

describe('other sites', () => {
  it('a form of another site is refused, and nothing is claimed', async () => {
    const order = await on.order();
    const link = on.link(order);
    const page = await phone(browser);
    await page.goto(`${on.service.baseUrl}${link}`);
    const value = await page.locator('button[name=claim]').first().getAttribute('value');
    const fields = [...new URLSearchParams(link.split('?')[1]), ['claim', value ?? '']];
    const inputs = fields.map(([name, given]) => `<input name="${name}" value="${given}">`).join('');
    // As localhost it is the same service under another site's name.
    const elsewhere = on.service.baseUrl.replace('127.0.0.1', 'localhost');
    await page.route(`${elsewhere}/evil`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${on.service.baseUrl}/redeem/claim">${inputs}<button>Win</button></form>`,
      }),
    );
    await page.goto(`${elsewhere}/evil`);
    const answered = page.waitForResponse((response) => response.url().endsWith('/redeem/claim'));
    await press(page, page.getByRole('button', { name: 'Win' }));
    expect((await answered).status()).toBe(403);
    await page.goto(`${on.service.baseUrl}${link}`);
    expect(await page.locator('code').count()).toBe(0);
  });

  it('a frame stays empty, unless the channel has named the site', async () => {
    const order = await on.order();
    const link = `${on.service.baseUrl}${on.link(order)}`;
    const context = await browser.newContext(PHONE);
    const page = await context.newPage();
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<iframe src="${link.replaceAll('&', '&amp;')}"></iframe>`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    onTestFinished(() => void site.close());
    const origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    await page.goto(origin);
    expect(await page.frameLocator('iframe').getByRole('heading', { level: 1 }).count()).toBe(0);
    await setFrameOrigins(on.service.operator, { appId: on.channel.credentials.appId, origins: [origin] });
    await page.reload();
    await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
    await context.close();
  });
});
