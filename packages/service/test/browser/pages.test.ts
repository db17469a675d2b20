import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { stage } from '../redeem/support.js';
import { barriers, browserOfFile, DESKTOP, PHONE, phone, press, scrollsSideways } from './support.js';

// Accessibility and layout of the redemption pages.

const browser = browserOfFile();
const on = ofFile(stage);

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
 * A long run checks every screen in both languages. A short run checks the first three screens, which have all widths,
 * in alternating languages.
 */
const isLong = process.env['LONG_RUNS'] === 'on';

describe.each(SCREENS.slice(0, isLong ? 5 : 3))('on %s', (name, screen) => {
  const place = SCREENS.findIndex(([one]) => one === name);
  const locales = LOCALES.filter((_, at) => isLong || at === place % LOCALES.length);

  it.each(locales)('%s: no page has accessibility barriers or scrolls sideways', async (locale) => {
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
