import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { ofFile } from '../orders/stage-of-file.js';
import { svg } from '../pictures/samples.js';
import { refundStage } from '../refunds/support.js';
import { mobileOf, unique } from '../support/demo.js';
import { browserOfFile, DESKTOP, phone, press } from './support.js';

// Journeys of a user on the redemption page.

const browser = browserOfFile();
const on = ofFile(refundStage);

/** Creates a paid order of mode A. Returns its redemption link and the last four digits of the user's login mobile. */
async function subscribed() {
  const channelUserId = unique('user');
  const orderNo = await on.paidOrder({ channelUserId });
  return { orderNo, url: await linkTo(orderNo), digits: mobileOf(channelUserId).slice(-4) };
}

async function linkTo(orderNo: string): Promise<string> {
  const { pathname, search } = new URL(String((await on.query(orderNo))['redeemUrl']));
  return `${on.service.baseUrl}${pathname}${search}`;
}

const claimButton = (page: Page, name: string) => page.getByRole('button', { name: `Claim ${name}`, exact: true });
const codes = (page: Page) => page.locator('code').allTextContents();
const boxOf = async (what: Locator) => {
  const box = await what.boundingBox();
  if (!box) throw new Error(`${what} cannot be seen`);
  return box;
};
const alertOf = (page: Page) => page.getByRole('alert').textContent();

describe('claiming', () => {
  it('offline: the page says that nothing was claimed, and the same button works when it is online again', async () => {
    for (const [locale, says] of [
      ['en-GB', 'You are offline. Nothing was changed. Please press again when you are connected.'],
      ['zh-CN', '网络未连接，操作未生效。请联网后再点一次。'],
    ] as const) {
      const { url } = await subscribed();
      const page = await phone(browser, { locale });
      await page.goto(url);
      const button = page.locator('button[name="claim"]').first();
      await page.context().setOffline(true);
      await button.tap();
      expect(await alertOf(page)).toBe(says);
      expect(page.url()).toBe(url);
      await page.context().setOffline(false);
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await press(page, button);
      expect(await codes(page)).toHaveLength(1);
    }
  });

  it('open, claim, copy, reload, second phone: every visit shows the same code', async () => {
    const { orderNo, url } = await subscribed();
    const page = await phone(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.addInitScript('addEventListener("scroll", () => (globalThis.firstAt ??= scrollY))');
    await page.goto(url);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Monthly membership');
    await page.getByText('Period 1 of 12').waitFor();
    await page.getByText('Next payment ¥19.90 28 Feb 2026').waitFor();

    await press(page, claimButton(page, 'VIP pass'));
    const [code, ...others] = await codes(page);
    expect([code, others]).toEqual([expect.stringMatching(/^[0-9A-Z]{16}$/), []]);
    expect(await claimButton(page, 'VIP pass').count()).toBe(0);
    await page.getByRole('img', { name: 'QR code VIP pass' }).waitFor();
    // The page opens at the claimed code, without visible scrolling.
    expect((await boxOf(page.locator('code'))).y).toBeLessThan(300);
    await page.waitForFunction('globalThis.firstAt > 0');
    expect(await page.evaluate('scrollY - firstAt')).toBe(0);
    // Begins to wait before the tap, because the button shows "Copied" for only two seconds.
    await Promise.all([
      page.getByRole('button', { name: 'Copied' }).waitFor(),
      page.getByRole('button', { name: 'Copy' }).tap(),
    ]);
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);

    await page.reload();
    expect(await codes(page)).toEqual([code]);
    const second = await phone(browser);
    await second.goto(await linkTo(orderNo));
    expect(await codes(second)).toEqual([code]);

    await press(second, claimButton(second, 'Coupon'));
    expect(await codes(second)).toHaveLength(2);
    await second.getByText('There is nothing left to claim at the moment.').waitFor();
    expect(await on.query(orderNo)).toMatchObject({ redeemUrl: null });
    expect(await on.queryPeriod(orderNo)).toMatchObject({
      usedAmountCent: 1990,
      claimRecords: [{ benefitCode: 'VIP_PASS' }, { benefitCode: 'COUPON' }],
    });
  });

  it.each([
    ['a phone', {}],
    ['a phone without JavaScript', { javaScriptEnabled: false }],
  ])('%s: a second tap on the same spot after a claim claims nothing', async (_, more) => {
    const { orderNo, url } = await subscribed();
    const page = await phone(browser, more);
    await page.goto(url);
    const { x, y, width, height } = await boxOf(claimButton(page, 'VIP pass'));
    const spot = [x + width / 2, y + height / 2] as const;
    await press(page, claimButton(page, 'VIP pass'));
    await page.touchscreen.tap(...spot);
    await page.goto(await linkTo(orderNo));
    expect(await codes(page)).toHaveLength(1);
    expect(await claimButton(page, 'Coupon').count()).toBe(1);
  });

  it('an immediate second click, on a button that moved under the mouse, claims nothing', async () => {
    const { url } = await subscribed();
    const page = await phone(browser, { viewport: { width: 1280, height: 1600 }, isMobile: false });
    await page.clock.install();
    await page.goto(url);
    await page.clock.pauseAt(Date.now() + 60_000);
    await press(page, claimButton(page, 'VIP pass'));
    let posts = 0;
    page.on('request', (request) => {
      posts += request.method() === 'POST' ? 1 : 0;
    });
    await claimButton(page, 'Coupon').click();
    expect(await codes(page)).toHaveLength(1);
    expect(posts).toBe(0);
    // A later click claims.
    await page.clock.fastForward(500);
    await press(page, claimButton(page, 'Coupon'));
    expect([await codes(page), posts]).toEqual([[expect.anything(), expect.anything()], 1]);
  });

  it('a click without a navigation: the button works again after a while', async () => {
    const { url } = await subscribed();
    const page = await phone(browser);
    await page.clock.install();
    await page.goto(url);
    const button = claimButton(page, 'VIP pass');
    // Answers with 204, so that the browser stays on the page, as if the user had stopped loading.
    await page.route('**/redeem/claim', (route) => route.fulfill({ status: 204 }), { times: 1 });
    await Promise.all([page.waitForResponse('**/redeem/claim'), button.tap()]);
    expect(await button.getAttribute('aria-busy')).toBe('true');
    await page.clock.fastForward(20_000);
    expect(await button.getAttribute('aria-busy')).toBeNull();
    await press(page, button);
    expect(await codes(page)).toHaveLength(1);
  });

  it('without JavaScript: everything works except the copy button', async () => {
    const { url, orderNo, digits } = await subscribed();
    const page = await phone(browser, { javaScriptEnabled: false });
    await page.goto(url);
    await press(page, claimButton(page, 'VIP pass'));
    expect(await codes(page)).toHaveLength(1);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.getByRole('img', { name: 'QR code VIP pass' }).waitFor();
    await page.getByRole('link', { name: 'End subscription' }).tap();
    await page.getByLabel('Last four digits').fill(digits);
    await page.getByRole('button', { name: 'End subscription now' }).tap();
    await page.getByRole('heading', { name: 'Your subscription has ended' }).waitFor();
    expect(await on.query(orderNo)).toMatchObject({ orderStatus: 'UNSUBSCRIBED' });
    await page.getByText('This is the link to keep.').waitFor();
    await press(page, page.getByRole('link', { name: 'Claim your benefits' }));
    await page.getByText('This is the link to keep.').waitFor();
    expect(await codes(page)).toHaveLength(1);
  });
});

describe('ending the subscription', () => {
  it('shows the consequences, refuses wrong digits, accepts the right ones, and notifies the channel', async () => {
    const { orderNo, url, digits } = await subscribed();
    const page = await phone(browser, DESKTOP);
    await page.goto(url);
    await page.getByRole('link', { name: 'End subscription' }).click();
    await page.getByRole('heading', { name: 'End Monthly membership\u2060?' }).waitFor();
    await page.getByText('The next payment of ¥19.90 on 28 Feb 2026 will not be taken').waitFor();
    await page.getByLabel('Last four digits').fill(other(digits));
    await page.getByRole('button', { name: 'End subscription now' }).click();
    expect(await alertOf(page)).toMatch(/2 attempts are left/);
    await page.getByLabel('Last four digits').fill(digits);
    await page.getByRole('button', { name: 'End subscription now' }).click();
    await page.getByRole('heading', { name: 'Your subscription has ended' }).waitFor();
    await page.getByText(orderNo, { exact: true }).first().waitFor();
    expect(await on.query(orderNo)).toMatchObject({ orderStatus: 'UNSUBSCRIBED', redeemUrl: null });
    const told = await on.service.fresh.database.query(
      `select data::json ->> 'orderStatus' as status from events where order_no = $1 and event_type = 'order.status.changed'
       order by event_no desc limit 1`,
      [orderNo],
    );
    expect(told).toEqual([{ status: 'UNSUBSCRIBED' }]);
  });
});

const other = (digits: string): string => String((Number(digits) + 1) % 10_000).padStart(4, '0');

const HOSTILE = svg(
  `<script>document.documentElement.setAttribute('ran', 'script')</script>
   <style>.a{fill:#0a6b4b}</style>
   <rect class="a" width="10" height="10" onload="this.ownerDocument.documentElement.setAttribute('ran', 'handler')"/>
   <image href="/redeem/page.css?asked" width="1" height="1"/>
   <animate attributeName="x" begin="0s" dur="1s" onbegin="document.documentElement.setAttribute('ran', 'animation')"/>`,
  `viewBox="0 0 10 10" width="20" height="20" onload="this.setAttribute('ran', 'root')"`,
);

describe('a hostile logo', () => {
  it('runs no script and sends no request, opened directly and in a page, and is drawn', async () => {
    const { branding } = await setBranding(on.service.operator, { appId: 'test_demo', logo: HOSTILE });
    const address = `${on.service.baseUrl}/redeem/images/${branding.logo?.file}`;
    // Does not use `phone`, because `phone` fails the test at any error of the page, and the policy's refusal of a
    // script is such an error.
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on('requestfinished', (request) => asked.push(request.url()));
    await page.goto(address);
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('svg').getAttribute('ran')).toBeNull();
    expect(asked).toEqual([address]);
    await page.goto(`${on.service.baseUrl}/healthz`);
    asked.length = 0;
    const drawn = await page.evaluate<[number, number, number[]]>(`(async () => {
      const image = new Image();
      image.src = ${JSON.stringify(address)};
      document.body.append(image);
      await image.decode();
      const canvas = document.createElement('canvas');
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return [image.naturalWidth, image.naturalHeight, [...context.getImageData(10, 10, 1, 1).data]];
    })()`);
    expect(drawn).toEqual([20, 20, [0x0a, 0x6b, 0x4b, 255]]);
    expect(asked.filter((url) => url !== address)).toEqual([]);
    await page.close();
  });
});
