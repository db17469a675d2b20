import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import type { Role } from '../../src/operator/people/roles.js';
import { consoleClient, PASSWORD } from '../console/support.js';
import { unique } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { barriers, DESKTOP, launch, PHONE, phone, scrollsSideways } from './support.js';

/** The console as operators see it, in a browser, with its own policy in force. */

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([testService({ publicUrl: () => 'http://127.0.0.1:1' }), launch()]);
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

const at = (path: string) => `${service.baseUrl}/console${path}`;
const DESK: BrowserContextOptions = { ...DESKTOP, isMobile: false, hasTouch: false };
const WIDE: BrowserContextOptions = { ...DESK, viewport: { width: 1440, height: 900 } };
const NARROW: BrowserContextOptions = { ...PHONE, viewport: { width: 360, height: 740 } };

async function make(role: Role): Promise<string> {
  const name = unique(role).toLowerCase();
  await createPerson(service.operator, { name, role, password: PASSWORD });
  return name;
}

async function typeSignIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.locator('input[autocomplete=username]').fill(name);
  await page.locator('input[autocomplete=current-password]').fill(password);
  await page.locator('button[type=submit]').click();
}

/** Somebody of a role who has signed in, at a page of the console. */
async function signedIn(role: Role, path: string, screen: BrowserContextOptions = DESK): Promise<[Page, string]> {
  const name = await make(role);
  const { token } = await consoleClient(service, role, name);
  const page = await phone(browser, screen);
  await page.context().addCookies([{ name: 'perennial', value: token, url: service.baseUrl }]);
  await page.goto(at(path));
  await page.locator('article h1').waitFor();
  return [page, name];
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

describe('signing in', () => {
  it('by the one-time link: a password, then the page that was asked for', async () => {
    const name = unique('ann').toLowerCase();
    const { setupToken } = await createPerson(service.operator, { name, role: 'admin' });
    const page = await phone(browser, DESK);
    await page.goto(at(`/setup#${setupToken}`));
    await page.getByLabel('New password').fill(PASSWORD);
    // The token is not left in the browser's history.
    await page.waitForURL(at('/setup'));
    await page.getByLabel('The same again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('Your password is set').waitFor();
    await page.goto(at('/audit?action=person.create'));
    await page.waitForURL(/\/sign-in\?to=/);
    await typeSignIn(page, name);
    await heading(page, 'Audit log').waitFor();
    expect(page.url()).toBe(at('/audit?action=person.create'));
  });

  it('says that name and password do not match, and after five tries how long to wait', async () => {
    const name = await make('viewer');
    const page = await phone(browser, DESK);
    await page.goto(at('/sign-in'));
    for (let tries = 1; tries <= 5; tries++) {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await typeSignIn(page, name, `wrong ${tries}`);
      await answered;
      await page.getByRole('alert').waitFor();
      if (tries < 5) expect(await page.getByRole('alert').innerText()).toBe('Name and password do not match.');
    }
    await typeSignIn(page, name);
    await page.getByText(/Too many tries. You can try again in \d+ (sec|min)/).waitFor();
    expect(await page.locator('button[type=submit]').isDisabled()).toBe(true);
  });

  it('leads to no address but the console’s own', async () => {
    const name = await make('viewer');
    const page = await phone(browser, DESK);
    await page.goto(at('/sign-in?to=//elsewhere.example/'));
    await typeSignIn(page, name);
    await heading(page, 'Overview').waitFor();
    expect(new URL(page.url()).host).toBe(new URL(service.baseUrl).host);
  });

  it('signing out ends the session, and another window notices', async () => {
    const [page] = await signedIn('viewer', '/audit');
    const other = await page.context().newPage();
    await other.goto(at('/people'));
    await heading(other, 'People').waitFor();
    await page.getByRole('button', { name: /Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    await other.getByRole('link', { name: 'Audit log' }).click();
    await heading(other, 'Sign in').waitFor();
    expect(other.url()).toContain('to=%2Faudit');
  });
});

describe('what a role may do', () => {
  it('a viewer sees who there is, and no button that would be refused', async () => {
    const [page, name] = await signedIn('viewer', '/people');
    await page.getByRole('row', { name: new RegExp(name) }).waitFor();
    expect(await page.getByRole('button', { name: 'New person' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0);
  });

  it('an admin whose proof is old is asked for the password, and what they were doing goes on', async () => {
    const [page] = await signedIn('admin', '/people');
    await service.fresh.database.query(`update console_sessions set proven_at = now() - interval '1 hour'`);
    const newcomer = unique('new').toLowerCase();
    await page.getByRole('button', { name: 'New person' }).click();
    await page.getByLabel('Name', { exact: true }).fill(newcomer);
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('Is it still you?').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('not this one');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('That is not your password.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText(`A link for ${newcomer}`).waitFor();
    expect(await page.getByText(/\/console\/setup#[\w-]{32}$/).count()).toBe(1);
  });
});

describe('finding one’s way', () => {
  it('a slash opens the search, which finds pages by name and opens the first by Enter', async () => {
    const [page] = await signedIn('viewer', '/people');
    await page.keyboard.press('/');
    await page.getByPlaceholder(/Order, payment/).fill('audit');
    await page.getByRole('button', { name: 'Audit log' }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Audit log').waitFor();
  });

  it('filters stand in the address, and Back and a copy of it lead to the same rows', async () => {
    const [page] = await signedIn('viewer', '/audit');
    await page.getByPlaceholder('Who').fill('nobody at all');
    await page.getByText('No entry matches').waitFor();
    expect(page.url()).toBe(at('/audit?actor=nobody+at+all'));
    await page.reload();
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('table').waitFor();
    expect(page.url()).toBe(at('/audit'));
  });

  it('rows are reached and opened by the keyboard alone', async () => {
    const [page] = await signedIn('viewer', '/audit');
    await page.getByRole('table').waitFor();
    await page.locator('tbody [data-opener]').first().focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('tbody tr:nth-child(2) [data-opener]:focus').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('an address that nobody knows says so, inside the frame', async () => {
    const [page] = await signedIn('viewer', '/people');
    await page.goto(at('/no-such-page'));
    await page.getByText('There is nothing here').waitFor();
    expect(await page.getByRole('link', { name: 'Overview' }).count()).toBe(1);
  });
});

describe('language and times', () => {
  it('the other language is a press away, and remembered', async () => {
    const [page] = await signedIn('viewer', '/people');
    await page.getByRole('button', { name: 'Language: 中文' }).click();
    await heading(page, '人员').waitFor();
    await page.reload();
    await heading(page, '人员').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
  });

  it('times are Beijing’s; the viewer’s own is shown on pointing at one', async () => {
    const [page] = await signedIn('viewer', '/audit', { ...DESK, timezoneId: 'America/New_York' });
    const time = page.locator('tbody time').first();
    await time.waitFor();
    const moment = new Date((await time.getAttribute('datetime')) ?? '');
    const clock = (timeZone: string) =>
      new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(moment);
    expect(await time.innerText()).toContain(clock('Asia/Shanghai'));
    await time.hover();
    await page.getByText('Here', { exact: true }).waitFor();
    expect(await page.getByRole('tooltip').innerText()).toContain(clock('America/New_York'));
  });
});

describe('on any screen', () => {
  const SCREENS: readonly [string, BrowserContextOptions][] = [
    ['the narrowest phone, light, English', { ...NARROW, colorScheme: 'light', locale: 'en-GB' }],
    ['the narrowest phone, dark, Chinese', { ...NARROW, colorScheme: 'dark', locale: 'zh-CN' }],
    ['a desk, light, Chinese', { ...DESK, colorScheme: 'light', locale: 'zh-CN' }],
    ['a wide desk, dark, English', { ...WIDE, colorScheme: 'dark', locale: 'en-GB' }],
  ];

  it.each(SCREENS)('%s: no barriers, and nothing sticks out', async (_, screen) => {
    const [page] = await signedIn('admin', '/', screen);
    for (const path of ['/', '/people', '/audit', '/account', '/no-such-page', '/sign-in', '/setup']) {
      await page.goto(at(path));
      await page.waitForLoadState('networkidle');
      expect([path, await barriers(page)]).toEqual([path, []]);
      expect([path, await scrollsSideways(page)]).toEqual([path, false]);
    }
  });

  it('dialogs, menus and the search have no barriers either', async () => {
    const [page] = await signedIn('admin', '/people');
    const expectNone = async () => expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'New person' }).click();
    await page.getByLabel('Name', { exact: true }).waitFor();
    await expectNone();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Light or dark' }).click();
    await page.getByRole('menuitem', { name: 'As the system' }).waitFor();
    await expectNone();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Order, payment/).waitFor();
    await expectNone();
  });

  it('on a phone the menu is a drawer that closes when a page is chosen', async () => {
    const [page] = await signedIn('viewer', '/', NARROW);
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('link', { name: 'Audit log' }).click();
    await heading(page, 'Audit log').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
});

describe('the first load', () => {
  it('is at most 350 KB of script and style, compressed', async () => {
    const name = await make('viewer');
    const page = await phone(browser, DESK);
    const bodies: Promise<Buffer>[] = [];
    const keep = (response: Response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname)) bodies.push(response.body());
    };
    page.on('response', keep);
    await page.goto(at('/'));
    await typeSignIn(page, name);
    await heading(page, 'Overview').waitFor();
    await page.waitForLoadState('networkidle');
    page.off('response', keep);
    const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body).byteLength);
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(350_000);
  });
});
