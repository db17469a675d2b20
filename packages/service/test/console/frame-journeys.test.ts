import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import { totpCode, totpStep } from '../../src/operator/people/totp.js';
import { launch } from '../browser/support.js';
import { collectRequest } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { person, visitor } from './browser.js';
import { PASSWORD } from './support.js';

/** What people do with the console before they come to an order: sign in, look around, search, look after each other. */

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([testService({ publicUrl: () => 'http://127.0.0.1' }), launch()]);
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
    await page.getByLabel('Password', { exact: true }).first().fill(PASSWORD);
    await page.getByRole('button').filter({ hasText: 'password' }).first().click();
    await page.getByText('Your password is set').waitFor();
    await page
      .getByRole('link', { name: 'Sign in' })
      .or(page.getByRole('button', { name: 'Sign in' }))
      .click();
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
    await page.getByText('Read this with an authenticator app').waitFor();
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
    expect(await page.getByRole('button', { name: 'Add' }).count()).toBe(0);
  });
});

describe('search', () => {
  it('opens by a key, and finds an order by its numbers while one types', async () => {
    const channel = await service.channel();
    const { data } = await channel.call('orders/create', collectRequest(channel, { externalOrderNo: 'SHOP-2026-7' }));
    const page = await person(browser, service, 'support', 'sam');
    await page.goto('/console');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('SHOP-2026-7');
    await page.getByText(data.orderNo).first().waitFor();
  });
});

describe('people and audit', () => {
  it('an admin makes an account, and everybody sees who did', async () => {
    const page = await person(browser, service, 'admin', 'ann');
    await page.goto('/console/people');
    await page.getByRole('button', { name: 'Add' }).first().click();
    await page.getByLabel('Name').fill('dora');
    await page.getByRole('radio', { name: /finance/i }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByText(/\/console\/setup#[\w-]{32}/).waitFor();
    await page.goto('/console/audit');
    await page.getByText('person.create').first().waitFor();
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/The chain is whole/).waitFor();
  });
});

describe('nothing that is stored runs as a script', () => {
  it('names of channels and people are text', async () => {
    const script = `<img src=x onerror=alert(1)>`;
    await service.fresh.database.query(
      `insert into channels (app_id, name, data_key, app_secret, aes_key, callback_secret,
      rate_per_second, rate_burst) select 'test_script', $1, data_key, app_secret, aes_key, callback_secret, 1, 1 from channels limit 1`,
      [script],
    );
    const page = await person(browser, service, 'admin', 'ann');
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const place of ['/console', '/console/audit', '/console/people']) {
      await page.goto(place, { waitUntil: 'networkidle' });
      expect(await page.locator('img[src=x]').count()).toBe(0);
    }
    expect(dialogs).toEqual([]);
  });
});
