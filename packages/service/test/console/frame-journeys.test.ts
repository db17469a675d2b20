import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import { totpCode, totpStep } from '../../src/operator/people/totp.js';
import { launch } from '../browser/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { ON_THIS_MACHINE, person, visitor } from './browser.js';
import { PASSWORD } from './support.js';

/** What people do with the console before they come to an order: sign in, look around, search, look after each other. */

let service: TestService;
let browser: Browser;
let channel: ChannelClient;
beforeAll(async () => {
  [service, browser] = await Promise.all([testService(ON_THIS_MACHINE), launch()]);
  channel = await demoChannel(service);
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

describe('signing in', () => {
  it('by the one-time link: a password is set, then it signs in, and out again', async () => {
    const { setupToken } = await createPerson(service.operator, { name: 'ann', role: 'admin' });
    const page = await visitor(browser, service);
    await page.goto(`/console/setup#${setupToken}`);
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('The same again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('Your password is set').waitFor();
    expect(page.url()).not.toContain(setupToken);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Name').fill('ann');
    await page.getByLabel('Password', { exact: true }).fill('wrong password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Name and password do not match.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /ann/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.goto('/console/people');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('with codes of an authenticator app, which are set up in the account', async () => {
    await createPerson(service.operator, { name: 'chen', role: 'viewer', password: PASSWORD });
    const page = await person(browser, service, 'viewer', 'chen');
    await page.goto('/console/account');
    await page.getByRole('button', { name: 'Set up codes' }).click();
    await page.getByRole('img', { name: 'Read this with an authenticator app' }).waitFor();
    const [row] = await service.fresh.database.query<{ pending: string }>(
      `select totp_pending as pending from people where name = 'chen'`,
    );
    const secret = service.vault.unwrapKey(row?.pending ?? '');
    const code = () => totpCode(secret, totpStep(service.clock.now()));
    await page.getByLabel('Then type the six digits that it shows').fill(code());
    await page.getByRole('button', { name: 'Turn codes on' }).click();
    await page.getByText('From now on a code is asked for').waitFor();
    service.clock.advance(60_000);
    const other = await visitor(browser, service);
    await other.goto('/console/sign-in');
    await other.getByLabel('Name').fill('chen');
    await other.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await other.keyboard.press('Enter');
    await other.getByLabel('Code of your authenticator').fill(code());
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

describe('the menu', () => {
  it('shows each role what it may open', async () => {
    const page = await person(browser, service, 'viewer', 'vera');
    await page.goto('/console/people');
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await page.getByRole('cell', { name: 'vera' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'New person' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0);
  });
});

describe('search', () => {
  it('opens by a key, and finds an order by its numbers while one types', async () => {
    const { data } = await channel.call('orders/create', collectRequest(channel, { externalOrderNo: 'SHOP-2026-7' }));
    const page = await person(browser, service, 'support', 'sam');
    await page.goto('/console');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('textbox', { name: /Order, payment, refund/ }).waitFor();
    await page.keyboard.type('SHOP-2026-7');
    await page.getByRole('dialog').getByText(data.orderNo).first().waitFor();
  });
});

describe('the keyboard alone', () => {
  it('signs in, finds an order, opens a dialog and closes it again', async () => {
    const { data } = await channel.call('orders/create', collectRequest(channel));
    await createPerson(service.operator, { name: 'kay', role: 'support', password: PASSWORD });
    const page = await visitor(browser, service);
    const press = (key: string) => page.keyboard.press(key);
    const hasFocus = (what: Locator) => what.evaluate((element) => element === element.ownerDocument.activeElement);
    /** Tab by Tab, as somebody without a mouse comes there. */
    const tabTo = async (what: Locator) => {
      await what.waitFor();
      for (let n = 0; n < 80; n += 1) {
        if (await hasFocus(what)) return;
        await press('Tab');
      }
      throw new Error(`${what} is not reached with Tab`);
    };
    await page.goto('/console');
    await tabTo(page.getByLabel('Name'));
    await page.keyboard.type('kay');
    await press('Tab');
    await page.keyboard.type(PASSWORD);
    await press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await press('/');
    await page.getByRole('textbox', { name: /Order, payment, refund/ }).waitFor();
    await page.keyboard.type(data.orderNo);
    await page.getByRole('dialog').getByText(data.orderNo).first().waitFor();
    await press('Enter');
    await page.getByRole('heading', { name: `Order ${data.orderNo}` }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const more = page.getByRole('button', { name: 'More' });
    await tabTo(more);
    await press('Enter');
    const item = page.getByRole('menuitem', { name: 'Unsubscribe…' });
    await item.waitFor();
    while (!(await hasFocus(item))) await press('ArrowDown');
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: `Unsubscribe order ${data.orderNo}?` });
    await dialog.waitFor();
    await expect.poll(() => hasFocus(dialog.getByLabel('Reason'))).toBe(true);
    // Nothing behind the dialog is reached.
    for (let n = 0; n < 6; n += 1) {
      await press('Tab');
      expect(await dialog.locator(':focus').count()).toBe(1);
    }
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(more)).toBe(true);
  });

  it('skips the menu, and goes from row to row by the arrows', async () => {
    const page = await person(browser, service, 'viewer', 'vera');
    await page.goto('/console/orders');
    const rows = page.getByRole('table').locator('tbody').getByRole('link');
    await rows.first().waitFor();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the page' });
    expect(await skip.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator('#main :focus').count()).toBe(1);
    await rows.first().focus();
    const second = (await rows.nth(1).textContent()) ?? '';
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Order \d/ }).waitFor();
    expect(page.url()).toContain(/\d{12,}/.exec(second)?.[0] ?? 'a number');
  });
});
