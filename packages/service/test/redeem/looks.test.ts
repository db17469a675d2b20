import { redeemUrl } from '@perennial/wire';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { barriers, launch, PHONE, phone, scrollsSideways } from '../browser/support.js';
import { type RefundStage, refundStage } from '../refunds/support.js';
import { unique } from '../support/demo.js';

/** Every state of the page on the narrowest screen, and with letters twice as large as usual: nothing sticks out, no word breaks. */

let on: RefundStage;
let browser: Browser;
beforeAll(async () => {
  [on, browser] = await Promise.all([refundStage({ redeemOpensPerMinute: 100_000 }), launch()]);
});
afterAll(async () => {
  await browser.close();
  await on.close();
});

/** Words of letters alone that stand on more than one line; in Chinese, dates. Codes, numbers and names may break. */
const BROKEN = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest('bdi, code, .number, script, [hidden], details:not([open]) > :not(summary)')) continue;
    for (const { index, 0: word } of node.data.matchAll(/[A-Za-z]{2,}|\\\\d+年\\\\d+月\\\\d+日/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 4)));
      if (tops.size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

async function expectWhole(page: Page, what: string): Promise<void> {
  expect(await page.evaluate<string[]>(BROKEN), what).toEqual([]);
  expect(await scrollsSideways(page), what).toBe(false);
}

it.each(['en-GB', 'zh-CN'])('%s: at 195 px no word breaks and nothing sticks out, without barriers', async (locale) => {
  const channelUserId = unique('user');
  const orderNo = await on.paidOrder({ channelUserId });
  const { appId, callbackSecret } = on.channel.credentials;
  const linkFor = (seconds: number) => {
    const exp = Math.floor(on.service.clock.now() / 1000) + seconds;
    const parts = { host: on.service.baseUrl, orderNo, appId, channelUserId, exp };
    return redeemUrl(parts, Buffer.from(callbackSecret, 'base64'));
  };
  const url = linkFor(86_400);
  const page = await phone(browser, { ...PHONE, viewport: { width: 195, height: 600 }, locale });
  const look = async (path: string, what: string) => {
    await page.goto(path);
    await expectWhole(page, what);
  };
  await look(url, 'fresh');
  expect(await barriers(page)).toEqual([]);
  await page.locator('button[name=period]').first().click();
  await page.locator('#done').waitFor();
  await expectWhole(page, 'claimed');
  expect(await barriers(page)).toEqual([]);
  await look(url.replace('/redeem?', '/redeem/unsubscribe?'), 'the question');
  await on.channel.call('sandbox/orders/advance', { orderNo, outcomes: ['FAIL'], cycles: 1 });
  await on.refund({ orderNo, cycleNo: 1, amountCent: 100 });
  await on.channel.call('sandbox/orders/advance', { orderNo, cycles: 1 });
  await look(url, 'failed and refunded');
  await look(url.replace('/redeem?', '/redeem/payments?'), 'payments');
  await on.channel.call('orders/unsubscribe', { orderNo });
  await look(url, 'ended');
  await look(url.replace('/redeem?', '/redeem/ended?'), 'the confirmation');
  expect(await barriers(page)).toEqual([]);
  await look(linkFor(-1), 'expired');
  await look(`${url}x`, 'refused');
});

it('whoever wants nothing to move sees nothing move after a claim', async () => {
  const orderNo = await on.paidOrder({});
  const { pathname, search } = new URL(String((await on.query(orderNo))['redeemUrl']));
  for (const [reducedMotion, moves] of [
    ['reduce', 0],
    ['no-preference', 3],
  ] as const) {
    const page = await phone(browser, { reducedMotion });
    await page.goto(`${on.service.baseUrl}${pathname}${search}`);
    await page.locator('button[name=claim]').first().click();
    await page.locator('#done').waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(moves);
  }
});
