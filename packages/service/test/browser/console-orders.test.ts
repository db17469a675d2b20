import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import type { Role } from '../../src/operator/people/roles.js';
import { type OperatorStage, operatorStage } from '../console/operators.js';
import { PASSWORD } from '../console/support.js';
import { mobileOf, unique } from '../support/demo.js';
import { barriers, DESKTOP, launch, PHONE, phone, scrollsSideways } from './support.js';

/** What support and finance do at the console about orders and their money, in a browser. */

let on: OperatorStage;
let browser: Browser;
beforeAll(async () => {
  [on, browser] = await Promise.all([
    operatorStage({ publicUrl: () => 'http://127.0.0.1:1', refundApprovalCent: 1000 }),
    launch(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await on.close();
});
beforeEach(() => on.bank.reset());

const at = (path: string) => `${on.service.baseUrl}/console${path}`;
const DESK: BrowserContextOptions = { ...DESKTOP, isMobile: false, hasTouch: false };

/** Somebody of a role, at a page of the console. */
async function signedIn(role: Role, path: string, screen: BrowserContextOptions = DESK): Promise<[Page, string]> {
  const name = unique(role).toLowerCase();
  await createPerson(on.service.operator, { name, role, password: PASSWORD });
  const page = await phone(browser, screen);
  await page.goto(at(path));
  await page.locator('input[autocomplete=username]').fill(name);
  await page.locator('input[autocomplete=current-password]').fill(PASSWORD);
  await page.locator('button[type=submit]').click();
  await page.locator('article h1').waitFor();
  return [page, name];
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const bookedCents = () => [...on.bank.booked.values()].map(({ amountCent }) => amountCent);

async function fillRefund(page: Page, yuan: string): Promise<void> {
  await button(page, 'Refund…').click();
  await field(page, 'Amount in yuan').fill(yuan);
  await field(page, 'Note').fill('late delivery');
}

describe('an order', () => {
  it('says what comes next in words, and has one timeline of what was and what will be', async () => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    const [page] = await signedIn('support', `/orders/${orderNo}`);
    await page
      .getByText(/^Period 2 is debited again on .*, first of \w+ retries$/)
      .first()
      .waitFor();
    const next = page.getByRole('list', { name: 'What comes next' }).getByRole('listitem');
    expect(await next.first().innerText()).toContain('Period 2 is debited again');
    const past = page.getByRole('list', { name: 'What has happened' });
    expect(await past.innerText()).toContain('because retryable');
    await page
      .getByRole('toolbar', { name: 'What is shown' })
      .getByRole('button', { name: /^Money/ })
      .click();
    await past.getByText('The order was created').waitFor({ state: 'hidden' });
    expect(page.url()).toBe(at(`/orders/${orderNo}?show=money`));
    await past.getByText('The debit of period 2 failed, try 1').hover();
    await button(page, 'JSON of: The debit of period 2 failed, try 1').click();
    await page.getByText('"reason": "because retryable"').waitFor();
  });

  it('a viewer sees no button that would be refused, and nobody’s data in clear', async () => {
    const channelUserId = unique('user');
    const orderNo = await on.paidOrder({ channelUserId });
    const [page] = await signedIn('viewer', `/orders/${orderNo}`);
    await page.getByText('Details').waitFor();
    for (const name of ['Refund…', 'Debit again now…', 'More', 'Show'])
      expect([name, await button(page, name).count()]).toEqual([name, 0]);
    expect(await field(page, 'Write a note').count()).toBe(0);
    const text = await page.locator('main').innerText();
    expect(text).not.toContain(channelUserId);
    expect(text).not.toContain(mobileOf(channelUserId));
  });

  it('shows a mobile in clear for a reason, which stays on the timeline', async () => {
    const channelUserId = unique('user');
    const orderNo = await on.paidOrder({ channelUserId });
    const [page, name] = await signedIn('support', `/orders/${orderNo}`);
    await button(page, 'Show').click();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Show' }).isDisabled()).toBe(true);
    await field(page, 'Reason').fill('asks for a copy');
    await page.getByRole('dialog').getByRole('button', { name: 'Show' }).click();
    await page.getByText(mobileOf(channelUserId), { exact: true }).waitFor();
    await page.getByText('Looked at personal data').waitFor();
    expect(await page.getByText(`by ${name}`).count()).toBe(1);
    await page.reload();
    await page.getByText('Looked at personal data').waitFor();
    expect(await page.getByText(mobileOf(channelUserId), { exact: true }).count()).toBe(0);
  });

  it('what is stored is shown as text, also when it looks like a page', async () => {
    const orderNo = await on.paidOrder();
    const [page] = await signedIn('support', `/orders/${orderNo}`);
    await field(page, 'Write a note').fill('<img src=x onerror="document.title=1"><b>bold</b>');
    await button(page, 'Add note').click();
    await page.getByText('<b>bold</b>').first().waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
  });

  it('is unsubscribed after a preview of what that does, and a reason', async () => {
    const orderNo = await on.paidOrder();
    const [page] = await signedIn('support', `/orders/${orderNo}`);
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Unsubscribe…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('11 periods are voided').waitFor();
    await dialog.getByText('¥218.90 is not collected any more').waitFor();
    expect(await dialog.getByRole('button', { name: 'Unsubscribe' }).isDisabled()).toBe(true);
    await field(page, 'Reason').fill('asked on the phone');
    await dialog.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText(/^Nothing more is collected: an operator unsubscribed on/).waitFor();
    expect(await on.query(orderNo)).toMatchObject({ orderStatus: 'UNSUBSCRIBED' });
    expect(await button(page, 'Debit again now…').count()).toBe(0);
  });
});

describe('a refund', () => {
  it('up to the limit is made at once, after a preview', async () => {
    const orderNo = await on.paidOrder();
    const [page] = await signedIn('finance', `/orders/${orderNo}`);
    await fillRefund(page, '100');
    await page.getByText('Give an amount between 0.01 and 19.90.').waitFor();
    await field(page, 'Amount in yuan').fill('4.90');
    await page.getByText('¥4.90 goes back to the user').waitFor();
    await button(page, 'Refund ¥4.90').click();
    await page.getByText('¥4.90 is refunded').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(bookedCents()).toEqual([490]);
    await page.getByText('Period 1 was refunded').waitFor();
  });

  it('whose answer got lost is the same one when it is sent again, also after the page was loaded anew', async () => {
    const orderNo = await on.paidOrder();
    const [page] = await signedIn('finance', `/orders/${orderNo}`);
    let lost = 0;
    await page.route('**/refund', async (route) => {
      if (lost++ > 0) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await fillRefund(page, '3.00');
    await button(page, 'Refund ¥3.00').click();
    await page.getByText('The service does not answer').waitFor();
    expect(bookedCents()).toEqual([300]);
    await page.reload();
    await button(page, 'Refund…').click();
    await page.getByText('A refund of ¥3.00 was sent before and got no answer.').waitFor();
    expect(await field(page, 'Amount in yuan').inputValue()).toBe('3.00');
    await field(page, 'Note').fill('late delivery');
    await button(page, 'Refund ¥3.00').click();
    await page.getByText('¥3.00 is refunded').waitFor();
    expect(bookedCents()).toEqual([300]);
  });

  it('above the limit waits for a second person: not for who asked', async () => {
    const orderNo = await on.paidOrder();
    const [page, name] = await signedIn('finance', `/orders/${orderNo}`);
    await fillRefund(page, '19.90');
    await page.getByText(/^It is above the limit/).waitFor();
    await button(page, 'Ask a second person').click();
    await page.getByText('A second person has been asked for ¥19.90').waitFor();
    expect(bookedCents()).toEqual([]);

    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('row').filter({ hasText: name }).getByRole('button').click();
    await page.getByText('You asked for this: another person of finance has to decide.').waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);

    const [other] = await signedIn('finance', '/approvals');
    await other.getByRole('row').filter({ hasText: name }).getByRole('button').click();
    await other.getByText('¥19.90 goes back to the user').waitFor();
    await field(other, 'Note').fill('checked');
    await button(other, 'Approve').click();
    await other
      .getByRole('dialog')
      .getByText(/^R\d+01$/)
      .waitFor();
    expect(bookedCents()).toEqual([1990]);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1990 });
  });
});

describe('many at once', () => {
  it('failed payments: a dry run with number and sum, its words typed, and a result for each that survives a reload', async () => {
    const orderNos = [await on.paidOrder(), await on.paidOrder(), await on.paidOrder()];
    for (const orderNo of orderNos) await on.renewNow(orderNo, 'retryable');
    const [page] = await signedIn('support', '/payments?status=FAIL_RETRY');
    for (const orderNo of orderNos.slice(0, 2))
      await page.getByRole('checkbox', { name: `Select ${orderNo}-2` }).check();
    await page.getByText('2 selected · ¥39.80').waitFor();
    await button(page, 'Retry now…').click();
    await field(page, 'Reason').fill('the bank was away');
    await button(page, 'Dry run').click();
    await page.getByText('2 items would be done').waitFor();
    expect(await on.workOff()).toBe(0);

    await page.reload();
    await field(page, 'Type RETRY 2 to confirm').fill('RETRY 3');
    expect(await button(page, 'Start').isDisabled()).toBe(true);
    await field(page, 'Type RETRY 2 to confirm').fill('RETRY 2');
    await button(page, 'Start').click();
    await page.getByText('It goes on by itself', { exact: false }).waitFor();
    expect(await on.workOff()).toBe(2);
    await page.getByText('Everything was done.').waitFor();
    await page.reload();
    for (const orderNo of orderNos.slice(0, 2))
      await page
        .getByRole('row')
        .filter({ hasText: `${orderNo}-2` })
        .getByText('due now')
        .waitFor();
  });
});

describe('lists', () => {
  it('orders: filters stand in the address, with totals of what is filtered and a file of all of it', async () => {
    const orderNo = await on.paidOrder();
    const [page] = await signedIn('viewer', '/orders');
    await page.getByRole('link', { name: orderNo }).waitFor();
    await page.getByRole('toolbar', { name: 'Status' }).getByRole('button', { name: 'Unsubscribed' }).click();
    await page.getByRole('link', { name: orderNo }).waitFor({ state: 'hidden' });
    expect(page.url()).toBe(at('/orders?status=UNSUBSCRIBED'));
    await page.goto(at('/orders?status=ACTIVE&createdFrom=2020-01-01'));
    const [{ count } = { count: '' }] = await on.sql<{ count: string }>(
      `select count(*)::text as count from orders where status = 'ACTIVE'`,
    );
    await page.getByText(`${count} orders`, { exact: true }).waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toHaveLength(Number(count) + 1);
    expect(lines.filter((line) => line.startsWith(orderNo))).toHaveLength(1);
    await page.getByText(`${count} orders exported`).waitFor();
  });

  it('a user: everything that is theirs, by a link from the order', async () => {
    const channelUserId = unique('user');
    const orderNo = await on.paidOrder({ channelUserId });
    const [page] = await signedIn('support', `/orders/${orderNo}`);
    await page.getByRole('link', { name: channelUserId }).click();
    await page.getByRole('heading', { level: 1, name: channelUserId }).waitFor();
    await page.getByRole('link', { name: orderNo }).first().waitFor();
    await page.getByText('Nothing was refunded to this user.').waitFor();
  });
});

describe('on any screen', () => {
  const NARROW: BrowserContextOptions = { ...PHONE, viewport: { width: 360, height: 740 } };
  const SCREENS: readonly [string, BrowserContextOptions][] = [
    ['the narrowest phone, light, English', { ...NARROW, colorScheme: 'light', locale: 'en-GB' }],
    ['the narrowest phone, dark, Chinese', { ...NARROW, colorScheme: 'dark', locale: 'zh-CN' }],
    ['a desk, dark, Chinese', { ...DESK, colorScheme: 'dark', locale: 'zh-CN' }],
    [
      'a wide desk, light, English',
      { ...DESK, viewport: { width: 1440, height: 900 }, timezoneId: 'America/New_York' },
    ],
  ];

  it.each(SCREENS)('%s: no barriers, and nothing sticks out', async (_, screen) => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    const run = await on.support.post('/bulk', {
      kind: 'RETRY',
      items: [`${orderNo}-2`],
      reason: 'look',
      key: orderNo,
    });
    await on.ann.post(`/orders/${orderNo}/periods/1/refund`, { note: 'for the list', key: orderNo });
    const [page] = await signedIn('admin', '/orders', screen);
    const pages = ['/orders', '/orders?failed=true', `/orders/${orderNo}`, '/orders/123', '/payments', '/bulk'];
    for (const path of [...pages, `/bulk/${run.body.runId}`, '/approvals', '/approvals?status=DECLINED', '/users']) {
      await page.goto(at(path));
      await page.waitForLoadState('networkidle');
      expect([path, await barriers(page)]).toEqual([path, []]);
      expect([path, await scrollsSideways(page)]).toEqual([path, false]);
    }
  });
});
