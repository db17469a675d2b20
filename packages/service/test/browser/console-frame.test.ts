import { gzipSync } from 'node:zlib';
import type { Locator, Page, Request, Response } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import { totpCode, totpStep } from '../../src/operator/people/totp.js';
import { keyPlaces } from '../../src/platform/secrets/stored-keys.js';
import { createPersonWithPassword, PASSWORD } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { consoleBrowser, ON_THIS_MACHINE, signIn } from './console.js';
import { browserOfFile, PHONE } from './support.js';

// The frame of the console: sign-in, navigation, search and settings.

const browser = browserOfFile();
const service = ofFile(() => testService(ON_THIS_MACHINE));
const at = consoleBrowser(browser, () => service);
let orderNo: string;
beforeAll(async () => {
  const channel = await demoChannel(service);
  for (const externalOrderNo of ['SHOP-2026-7', 'SHOP-2026-8'])
    ({
      data: { orderNo },
    } = await channel.call('orders/create', collectRequest(channel, { externalOrderNo })));
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });
const hasFocus = (what: Locator) => what.evaluate((element) => element === element.ownerDocument.activeElement);

async function typeSignIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

/** Returns a function that returns the current code of an operator who is setting up codes. */
async function codesOf(name: string): Promise<() => string> {
  const [row] = await service.fresh.database.query<{ id: number; pending: string }>(
    'select person_id as id, totp_pending as pending from people where name = $1',
    [name],
  );
  const secret = service.vault.unwrapKey(row?.pending ?? '', keyPlaces.secondFactor(row?.id ?? 0));
  return () => totpCode(secret, totpStep(service.clock.now()));
}

/** Confirms that the recovery codes are stored, and returns them. */
async function storeRecoveryCodes(page: Page): Promise<string[]> {
  const shown = page.getByRole('dialog', { name: 'Recovery codes' });
  await shown.getByLabel('I have stored it').check();
  const codes = (await shown.locator('dd').allInnerTexts()).map((text) => text.replaceAll(/[^A-Z2-9-]/g, ''));
  await shown.getByRole('button', { name: 'Done' }).click();
  return codes;
}

describe('signing in', () => {
  it('sets a password by one-time link, leads to the requested page, and signs out', async () => {
    const { setupToken } = await createPerson(service.operator, { name: 'ann', role: 'admin' });
    const page = await at.visitor();
    await page.goto(`/console/setup#${setupToken}`);
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    // The URL has no token any more, so the browser's history does not contain the token.
    await page.waitForURL('/console/setup');
    await page.getByLabel('Repeat password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your password is set').waitFor();

    await page.goto('/console/audit?action=person.create');
    await page.waitForURL(/\/sign-in\?to=/);
    // Nobody was signed in before, so no session has expired.
    await page.getByText('Sign in to open the page.').waitFor();
    expect(await page.getByText(/expired|cookies/).count()).toBe(0);
    await typeSignIn(page, 'ann', 'wrong password');
    await page.getByText('Wrong name or password.').waitFor();
    await typeSignIn(page, 'ann');
    await heading(page, 'Audit log').waitFor();
    expect(page.url()).toBe(`${service.baseUrl}/console/audit?action=person.create`);

    const blocked = await at.visitor();
    await blocked.addInitScript(`Object.defineProperty(navigator, 'cookieEnabled', { value: false })`);
    await blocked.goto('/console/');
    await blocked.getByText('This browser blocks cookies. Allow cookies for the console to sign in.').waitFor();

    const other = await page.context().newPage();
    await other.goto('/console/people');
    await heading(other, 'Operators').waitFor();
    await page.getByRole('button', { name: /Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    // The other window shows that the session has ended. A different operator can sign in there.
    await other.getByRole('link', { name: 'Audit log' }).click();
    await other.getByRole('dialog', { name: 'Your session has expired' }).waitFor();
    await other.getByRole('button', { name: 'Sign in with another account' }).click();
    await heading(other, 'Sign in').waitFor();
    expect(other.url()).toContain('to=%2Faudit');
  });

  it('after a session has ended keeps the input, and sends it', async () => {
    await createPersonWithPassword(service, 'sid', 'support');
    const page = await at.person('support', 'sid');
    const endSession = () => page.context().clearCookies();
    // Sends a click to the button itself: without a session any poll opens the dialog, which then covers the button.
    const submit = (within: Page | Locator, name: string) =>
      within.getByRole('button', { name, exact: true }).dispatchEvent('click');
    await page.goto(`/console/orders/${orderNo}`);
    await page.getByLabel('Write a note').fill('a long note that took a while');
    await endSession();
    await submit(page, 'Add note');
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' });
    await dialog.waitFor();
    // Escape does not close the dialog.
    await page.keyboard.press('Escape');
    const password = dialog.getByLabel('Password', { exact: true });
    await password.fill('wrong password');
    await page.keyboard.press('Enter');
    await dialog.getByText('Wrong name or password.').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('sid');
    await password.fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('listitem').getByText('a long note that took a while').first().waitFor();

    // Signing in in another tab closes the dialog in this tab too.
    await page.getByLabel('Write a note').fill('another one');
    await endSession();
    await submit(page, 'Add note');
    await dialog.waitFor();
    const other = await page.context().newPage();
    await other.goto('/console/sign-in');
    await typeSignIn(other, 'sid');
    await heading(other, 'Overview').waitFor();
    await other.close();
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('listitem').getByText('another one').first().waitFor();

    // While the session dialog is open, Escape does not close the dialog under it.
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Unsubscribe…' }).click();
    const below = page.getByRole('dialog', { name: `Unsubscribe order ${orderNo}?` });
    await below.getByLabel('Reason').fill('asked for by phone');
    // The button is disabled until the preview is shown.
    await expect.poll(() => below.getByRole('button', { name: 'Unsubscribe' }).isEnabled()).toBe(true);
    await endSession();
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await submit(below, 'Unsubscribe');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    expect(await below.count()).toBe(1);
  });

  it('works with an authenticator app, and never redirects to another site', async () => {
    await createPersonWithPassword(service, 'chen', 'viewer');
    const page = await at.person('viewer', 'chen');
    await page.goto('/console/account');
    await page.getByRole('button', { name: 'Set up codes' }).click();
    await page.getByRole('img', { name: 'Scan this with an authenticator app' }).waitFor();
    const code = await codesOf('chen');
    await page.getByLabel('Then enter the six digits that the app shows').fill(code());
    await page.getByRole('button', { name: 'Turn codes on' }).click();
    await page.getByText('Codes are on').waitFor();
    await storeRecoveryCodes(page);
    service.clock.advance(60_000);
    const other = await at.visitor();
    await other.goto('/console/sign-in?to=//elsewhere.example/');
    await typeSignIn(other, 'chen');
    await other.getByLabel('Authenticator code').fill(code());
    await other.keyboard.press('Enter');
    await heading(other, 'Overview').waitFor();
    expect(new URL(other.url()).origin).toBe(service.baseUrl);
    service.clock.advance(60_000);
    await page.getByRole('button', { name: 'Turn codes off' }).click();
    const removal = page.getByRole('dialog', { name: 'Sign in with your password only?' });
    await removal.getByLabel('Authenticator code').fill(code());
    await removal.getByRole('button', { name: 'Turn codes off' }).click();
    await page.getByText('Codes are off').waitFor();
  });

  it('leads an operator whose role needs codes to set them up, before anything else', async () => {
    const strict = await anotherNode(service, { ...ON_THIS_MACHINE, totpRoles: ['admin'] });
    onTestFinished(() => strict.close());
    await createPersonWithPassword(service, 'gina', 'admin');
    const page = await at.visitor({ baseURL: strict.baseUrl });
    await page.goto('/console/orders');
    await typeSignIn(page, 'gina');
    await heading(page, 'Your account').waitFor();
    await page.getByText('Your role needs codes').waitFor();
    await page.getByRole('button', { name: 'Set up codes' }).click();
    await page.getByRole('img', { name: 'Scan this with an authenticator app' }).waitFor();
    const canceled = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect((await canceled).status()).toBe(200);
    await page.getByRole('button', { name: 'Set up codes' }).click();
    await page.getByRole('img', { name: 'Scan this with an authenticator app' }).waitFor();
    const code = await codesOf('gina');
    await page.getByLabel('Then enter the six digits that the app shows').fill(code());
    await page.getByRole('button', { name: 'Turn codes on' }).click();
    await page.getByText('Codes are on').waitFor();
    const [recoveryCode = '', ...others] = await storeRecoveryCodes(page);
    expect(others).toHaveLength(9);
    await page.getByText('10 recovery codes left').waitFor();
    await page.getByRole('link', { name: 'Orders' }).click();
    await heading(page, 'Orders').waitFor();

    // The phone is lost: a recovery code takes the place of the authenticator's code.
    const elsewhere = await at.visitor({ baseURL: strict.baseUrl });
    await elsewhere.goto('/console/account');
    await typeSignIn(elsewhere, 'gina');
    await elsewhere.getByLabel('Authenticator code').fill(recoveryCode);
    await elsewhere.keyboard.press('Enter');
    await elsewhere.getByText('9 recovery codes left').waitFor();
  });

  it('marks background polls as unattended, until the user acts', async () => {
    const page = await at.person('viewer', 'ida', {});
    await page.clock.install();
    const polls: Request[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/waiting')) polls.push(request);
    });
    await page.goto('/console/account');
    // Moves the clock until the page polls, because the next poll comes a minute after the page has the last answer.
    const nextPoll = async () => {
      const before = polls.length;
      const moveOn = async () => {
        await page.clock.runFor(30_000);
        return polls.length;
      };
      await expect.poll(moveOn).toBeGreaterThan(before);
      return polls.at(-1)?.headers()['x-unattended'];
    };
    await heading(page, 'Your account').waitFor();
    await nextPoll();
    expect(await nextPoll()).toBe('true');
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname.endsWith('/api/audit'));
    await page.getByRole('link', { name: 'Audit log' }).click();
    expect((await asked).headers()['x-unattended']).toBeUndefined();
  });

  it('loads at most 350 KB of compressed scripts and styles for the overview', async () => {
    await createPersonWithPassword(service, 'lou', 'viewer');
    const page = await at.visitor();
    const bodies: Promise<Buffer>[] = [];
    const keep = (response: Response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname)) bodies.push(response.body());
    };
    page.on('response', keep);
    await page.goto('/console');
    await typeSignIn(page, 'lou');
    await heading(page, 'Overview').waitFor();
    await page.waitForLoadState('networkidle');
    page.off('response', keep);
    const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body).byteLength);
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(350_000);
  });

  it.each([
    ['orders', () => '/orders'],
    ['an order', () => `/orders/${orderNo}`],
  ])('requests %s while the script of the page loads', async (_, pathOf) => {
    const page = await at.person('viewer', 'pia', PHONE);
    const data = new Promise<void>((resolve) => {
      page.on('request', (request) => {
        if (new URL(request.url()).pathname === `/console/api${pathOf()}`) resolve();
      });
    });
    await page.route(/\/orders?-page-[\w-]+\.js$/, async (route) => {
      await data;
      await route.continue();
    });
    await page.goto(`/console${pathOf()}`);
    await page.getByText(orderNo).first().waitFor();
  });

  it('shows orders on a phone with one format of years for all times, and loads the calendar with the filters', async () => {
    const page = await at.person('support', 'paula', PHONE);
    await page.addInitScript(`{
      window.yearFormats = 0;
      Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, {
        construct(target, args) {
          if (args[1]?.year && !args[1].month) window.yearFormats += 1;
          return new target(...args);
        },
      });
    }`);
    const calendars: string[] = [];
    page.on('request', (request) => {
      if (/day-range-picker|DatePicker/.test(request.url())) calendars.push(request.url());
    });
    await page.goto('/console/orders');
    await page.getByText(orderNo).waitFor();
    expect(await page.locator('main li time').count()).toBeGreaterThan(1);
    expect(await page.evaluate('window.yearFormats')).toBe(1);
    await page.waitForLoadState('networkidle');
    expect(calendars).toEqual([]);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('button', { name: 'Created' }).waitFor();
    expect(calendars).not.toEqual([]);
  });
});

describe('with the keyboard only', () => {
  it('an operator signs in, finds an order by its external number, opens a dialog and closes it', async () => {
    await createPersonWithPassword(service, 'kay', 'support');
    const page = await at.visitor();
    const press = (key: string) => page.keyboard.press(key);
    /** Presses Tab until the element has the focus. */
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
    await heading(page, 'Overview').waitFor();

    await press('/');
    await page.getByRole('textbox', { name: /Order, payment, refund/ }).waitFor();
    await page.keyboard.type('SHOP-2026-8');
    await page.getByRole('dialog').getByText(orderNo).first().waitFor();
    await press('Enter');
    await heading(page, `Order ${orderNo}`).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const more = page.getByRole('button', { name: 'More' });
    await tabTo(more);
    await press('Enter');
    const item = page.getByRole('menuitem', { name: 'Unsubscribe…' });
    await item.waitFor();
    while (!(await hasFocus(item))) await press('ArrowDown');
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: `Unsubscribe order ${orderNo}?` });
    await dialog.waitFor();
    await expect.poll(() => hasFocus(dialog.getByLabel('Reason'))).toBe(true);
    // The focus stays in the dialog.
    for (let n = 0; n < 6; n += 1) {
      await press('Tab');
      expect(await dialog.locator(':focus').count()).toBe(1);
    }
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(more)).toBe(true);
  });
});

describe('on every page', () => {
  it('times are in Beijing time, with local time in a tooltip; the chosen language is remembered', async () => {
    const page = await at.person('viewer', 'vera', { timezoneId: 'America/New_York' });
    await page.goto('/console/audit');
    const time = page.locator('tbody time').first();
    await time.waitFor();
    const moment = new Date((await time.getAttribute('datetime')) ?? '');
    const clock = (timeZone: string) =>
      new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(moment);
    expect(await time.innerText()).toContain(clock('Asia/Shanghai'));
    await time.hover();
    await page.getByText('Local', { exact: true }).waitFor();
    expect(await page.getByRole('tooltip').innerText()).toContain(clock('America/New_York'));

    await page.getByRole('button', { name: 'Language: 中文' }).click();
    await heading(page, '审计日志').waitFor();
    await page.reload();
    await heading(page, '审计日志').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
  });

  it('a lost connection is shown, on loaded and unloaded pages; the console recovers', async () => {
    const { page, complaints } = await at.open({});
    onTestFinished(() => page.context().close());
    await signIn(page, service, 'viewer', 'vera');
    await page.goto('/console/orders');
    await page.getByRole('link', { name: orderNo }).waitFor();
    const lost = page.getByRole('alert').filter({ hasText: 'No connection to the service' });
    await page.context().setOffline(true);
    await lost.waitFor();
    await page.getByRole('link', { name: orderNo }).waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByText('The service does not answer').waitFor();
    await page.context().setOffline(false);
    await lost.waitFor({ state: 'detached' });
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Approvals').waitFor();
    await page.getByText('Nothing to approve').or(page.getByRole('table')).first().waitFor();

    // Without a connection, a request fails immediately. The page does not show that it is loading.
    await page.context().setOffline(true);
    await lost.waitFor();
    await page.getByRole('link', { name: 'Orders', exact: true }).click();
    await page.getByLabel('Status').getByRole('button', { name: 'Terminated' }).click();
    await page.getByText('The service does not answer').waitFor();
    for (const one of complaints) expect(one).toContain('The files of the page could not be loaded');
  });

  it('on a phone the menu is a drawer that closes after a choice; an unknown address keeps the frame', async () => {
    const page = await at.person('viewer', 'vera', { ...PHONE, viewport: { width: 360, height: 740 } });
    await page.goto('/console/no-such-page');
    await page.getByText('Not found').waitFor();
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Audit log' }).click();
    await heading(page, 'Audit log').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});
