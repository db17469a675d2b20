import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { signWebhookForTest } from 'perennial-channel';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { provisionDemo } from '../../src/operator/provisioning/demo.js';
import { systemClock } from '../../src/platform/clock.js';
import { barriers, launch, phone, press, scrollsSideways } from '../browser/support.js';
import { ROOT } from '../docs/pages.js';
import { type Running, start, until } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';
import { localOperator } from '../webhooks/sending.js';
import { type FaultyProxy, faultyProxy } from './faulty-proxy.js';

/** Tests the sample shop as developers start it, with a user who buys. */

const SHOP = path.join(ROOT, 'examples', 'shop', 'shop.mjs');

let folder = '';
const channelFile = () => path.join(folder, 'demo-channel.json');
let service: TestService;
let line: FaultyProxy;
/** Whether answers to orders/create are lost. */
let isLosing = false;
let shop: Running;
let shopUrl = '';
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-shop-'));
  let baseUrl = '';
  const deps = { clock: systemClock, engine: true, localCallbacks: true, publicUrl: () => baseUrl };
  [service, browser] = await Promise.all([testService(deps), launch()]);
  baseUrl = service.baseUrl;
  line = await faultyProxy(baseUrl, { 'orders/create': () => 'lose-the-answer' }, () => isLosing);
  await provisionDemo(service.operator, { dataDir: folder, baseUrl: line.url });
  await openShop('0');
  await tellShop(true);
});

async function openShop(port: string): Promise<void> {
  shop = start(SHOP, { PORT: port }, [channelFile()]);
  shopUrl = await until('a shop that is open', () => {
    if (shop.child.exitCode !== null) throw new Error(`the shop ended: ${shop.stderr()}`);
    return shop.stdout().match(/open at (\S+)\n.*\n/)?.[1];
  });
}

/** Switches the service's events to the shop on or off. */
const tellShop = (isOn: boolean) =>
  setCallback(localOperator(service), {
    appId: 'test_demo',
    ...(isOn ? { url: `${shopUrl.replace('127.0.0.1', 'localhost')}/events` } : {}),
  });

afterAll(async () => {
  shop?.child.kill();
  await shop?.exited;
  await browser?.close();
  await service?.close();
  line?.close();
  await rm(folder, { recursive: true, force: true });
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

/** Waits until an order's page shows at least `count` events, and returns them. */
async function eventsOn(page: Page, count: number): Promise<string[]> {
  const events = page.locator('.timeline li');
  await events.nth(count - 1).waitFor();
  return (await events.allTextContents()).map((text) => text.replace(/\d{4}-.*/, ''));
}

async function signedIn(name: string): Promise<Page> {
  const page = await phone(browser, { viewport: { width: 360, height: 780 } });
  await page.goto(shopUrl);
  await page.getByLabel('Your name').fill(name);
  await press(page, button(page, 'Sign in'));
  return page;
}

async function expectGood(page: Page): Promise<void> {
  expect(await barriers(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
}

describe('the sample shop', () => {
  it('A.1: a card is bound, events appear live, a benefit is claimed, and the user unsubscribes', async () => {
    const page = await signedIn('<b>Ann</b>');
    expect(await page.locator('.who').textContent()).toBe('<b>Ann</b>');
    await press(page, link(page, 'Choose Monthly membership'));
    await press(page, link(page, 'Add a card'));
    await page.getByLabel('Mobile that your bank knows').fill('13800000009');
    await press(page, button(page, 'Send the code'));
    expect(await page.getByRole('alert').textContent()).toContain('The code could not be sent');
    await page.getByLabel('Mobile that your bank knows').fill('13800000001');
    await press(page, button(page, 'Send the code'));
    await page.getByLabel('Code from the message').fill('000000');
    await press(page, button(page, 'Add the card'));
    expect(await page.getByRole('alert').textContent()).toContain('Please have another code sent.');
    await press(page, link(page, 'Have another code sent'));
    await press(page, button(page, 'Send the code'));
    await page.getByLabel('Code from the message').fill('123456');
    await press(page, button(page, 'Add the card'));
    await page.getByText('Card ending in 4567.').waitFor();
    await expectGood(page);

    await press(page, button(page, 'Subscribe by card'));
    expect(await eventsOn(page, 2)).toEqual(['Period 1 Paid', 'Subscription Active']);
    expect(await heading(page)).toBe('Monthly membership Active');
    expect(await page.locator('tbody tr').count()).toBe(12);
    await expectGood(page);

    const benefits = await page.context().newPage();
    await benefits.goto(`${page.url()}/benefits`);
    await press(benefits, button(benefits, 'Claim VIP pass'));
    expect(await benefits.locator('code').allTextContents()).toEqual([expect.stringMatching(/^[0-9A-Z]{16}$/)]);

    const digits = await page.getByText('asked for these digits').locator('code').textContent();
    await benefits.getByRole('link', { name: 'End subscription' }).click();
    await benefits.getByLabel('Last four digits').fill(digits ?? '');
    await benefits.getByRole('button', { name: 'End subscription now' }).click();
    // The shop learned of the end only from the service's events: one for the order and one for each voided period.
    expect((await eventsOn(page, 14))[2]).toBe('Subscription Ended');
    await page.getByRole('heading', { name: 'Monthly membership Ended' }).waitFor();
    expect(await link(page, 'Open your benefits').count()).toBe(0);
  });

  it('A.2: a decline is explained; then a failed debit, another agreement, and the end', async () => {
    const page = await signedIn('Ben');
    await page.goto(`${shopUrl}/buy/TEST_SPU_001`);
    await page.getByLabel('Pretend that the card is declined').last().check();
    await press(page, button(page, 'Subscribe by agreement'));
    expect(await heading(page)).toBe('Monthly membership Declined');
    await page.getByText('Your card was declined, and nothing was charged.').waitFor();

    await press(page, link(page, 'Try again'));
    await press(page, button(page, 'Subscribe by agreement'));
    await page.getByText('Next payment: ¥19.90 on ').waitFor();
    await press(page, button(page, 'The debit fails'));
    await page.getByText('¥19.90 will be tried again on ').waitFor();
    const second = page.locator('tbody tr').nth(1);
    expect(await second.textContent()).toContain('Trying again');
    await press(page, button(page, 'Replace the agreement'));
    expect(await page.getByRole('status').textContent()).toBe('The subscription runs on the new agreement.');
    await second.getByText('Paid').waitFor();
    await page.getByText('End the subscription').click();
    await press(page, button(page, 'End it now'));
    const events = await eventsOn(page, 15);
    expect(events.slice(2, 5)).toEqual(['Period 2 Trying again', 'Period 2 Paid', 'Subscription Ended']);
  });

  it('B: an order whose answer is lost is retried with its key, also after the shop was killed', async () => {
    await tellShop(false);
    const page = await signedIn('Cleo');
    await press(page, link(page, 'Choose Seven days'));
    await press(page, link(page, 'Pay in the shop'));
    const before = line.seen.length;
    isLosing = true;
    await press(page, button(page, 'Pay ¥1.00'));
    expect(await heading(page)).toBe('Seven days Not known yet');
    expect(await page.getByRole('alert').textContent()).toMatch(/orders\/create has no answer .* Request \w+/);
    await page.getByText('No event has come yet.').waitFor();
    await press(page, button(page, 'Ask again'));
    expect(await heading(page)).toBe('Seven days Not known yet');

    shop.child.kill('SIGKILL');
    await shop.exited;
    isLosing = false;
    await openShop(new URL(shopUrl).port);
    await page.reload();
    await page.getByRole('heading', { name: 'Seven days Active' }).waitFor();
    // Each of the shop's attempts was sent twice, except the last one.
    const creates = line.seen.slice(before).filter(({ endpoint }) => endpoint === 'orders/create');
    const keys = creates.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(/^[0-9a-f-]{36}$/)));
    expect(new Set(keys).size).toBe(1);
    await press(page, link(page, 'Memberships'));
    expect(await page.locator('.rows a').count()).toBe(1);
    await tellShop(true);
  });

  it('refuses forged events and forms', async () => {
    const page = await signedIn('Dora');
    await page.goto(`${shopUrl}/buy/TEST_SPU_001`);
    await press(page, button(page, 'Subscribe by agreement'));
    const { pathname } = new URL(page.url());
    const { headers, body } = signWebhookForTest({
      callbackSecret: Buffer.alloc(32).toString('base64'),
      path: '/events',
      event: forgedEvent(pathname.split('/')[2] ?? '') as never,
    });
    const refused = await fetch(`${shopUrl}/events`, { method: 'POST', headers, body });
    expect([refused.status, await refused.json()]).toEqual([401, { code: 'signature-mismatch' }]);
    const form = { token: '0'.repeat(64) };
    expect((await page.request.post(`${shopUrl}${pathname}/refresh`, { form })).status()).toBe(403);
    await page.reload();
    expect(await eventsOn(page, 2)).toEqual(['Period 1 Paid', 'Subscription Active']);

    // The shop acknowledges event types that it does not know, and shows what it can.
    const { callbackSecret } = JSON.parse(await readFile(channelFile(), 'utf8'));
    const externalOrderNo = pathname.split('/')[2] ?? '';
    const period = { orderNo: '1', externalOrderNo, cycleNo: 2, expectPayTime: '2026-02-28 12:00:00' };
    for (const eventType of ['payment.upcoming', 'refund.status.changed']) {
      const event = { ...forgedEvent(''), eventId: eventType, eventType, data: period };
      const signed = signWebhookForTest({ callbackSecret, path: '/events', event: event as never });
      const { status } = await fetch(`${shopUrl}/events`, { method: 'POST', ...signed });
      expect([eventType, status]).toEqual([eventType, 200]);
    }
    await page.reload();
    expect((await eventsOn(page, 4)).slice(2)).toEqual(['Period 2 is due on 28 Feb 2026', 'Something else happened']);
    // Users cannot see the orders of others.
    const other = await signedIn('Ed');
    expect((await other.goto(page.url()))?.status()).toBe(404);
  });

  it('reports in one line a missing channel and a service that is not running', async () => {
    const missing = start(SHOP, {}, [path.join(folder, 'nowhere.json')]);
    expect([await missing.exited, missing.stderr()]).toEqual([
      1,
      expect.stringMatching(/^shop: .*nowhere\.json cannot be read: npm start writes it.*\n$/),
    ]);
    const stopped = path.join(folder, 'stopped.json');
    const channel = JSON.parse(await readFile(channelFile(), 'utf8'));
    // Nothing listens on port 1.
    await writeFile(stopped, JSON.stringify({ ...channel, baseUrl: 'http://127.0.0.1:1' }));
    const alone = start(SHOP, {}, [stopped]);
    expect([await alone.exited, alone.stderr()]).toEqual([
      1,
      'shop: nothing answers at http://127.0.0.1:1: start the service with npm start\n',
    ]);
  });
});

const forgedEvent = (externalOrderNo: string) => ({
  eventId: 'forged',
  eventType: 'order.status.changed',
  occurredAt: '2026-01-31 12:00:00',
  retryNo: 0,
  data: { orderNo: '1', externalOrderNo, orderStatus: 'COMPLETED' },
});
