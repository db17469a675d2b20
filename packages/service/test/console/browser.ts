import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { beginSession } from '../../src/console/sessions/sign-in.js';
import { findPerson, insertPerson } from '../../src/operator/people/people-sql.js';
import type { Role } from '../../src/operator/people/roles.js';
import { DESKTOP } from '../browser/support.js';
import type { TestService } from '../support/service.js';

/** A service that browsers of this machine reach by plain HTTP, and which therefore sets a cookie that they keep. */
export const ON_THIS_MACHINE = { publicUrl: () => 'http://127.0.0.1' };

/** As long as a page may take on a busy machine. */
const PATIENCE_MS = 20_000;

const textOf = (page: Page): Promise<string> => page.evaluate('document.body.innerText');

/** A browser in which nobody is signed in, and what its page has complained about so far. */
export async function openPage(
  browser: Browser,
  service: TestService,
  more: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const context = await browser.newContext({ ...DESKTOP, locale: 'en-GB', baseURL: service.baseUrl, ...more });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // An answer of 4xx is a line of the console too, and tests ask for some.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return { page, complaints };
}

/** The same for one test. What the page complains about fails it. */
export async function visitor(browser: Browser, service: TestService, more: BrowserContextOptions = {}): Promise<Page> {
  const { page, complaints } = await openPage(browser, service, more);
  onTestFinished(async ({ task }) => {
    // The error says what was waited for; this, what was there instead.
    if (task.result?.state === 'fail') process.stderr.write(`${page.url()} shows:\n${await textOf(page)}\n`);
    await page.context().close();
    expect(complaints).toEqual([]);
  });
  return page;
}

/** The browser of somebody who has just signed in. The person is made if there is none of that name. */
export async function person(
  browser: Browser,
  service: TestService,
  role: Role,
  name = role as string,
  more: BrowserContextOptions = {},
): Promise<Page> {
  const page = await visitor(browser, service, more);
  await signIn(page, service, role, name);
  return page;
}

export async function signIn(
  page: Page,
  { fresh, vault, clock, baseUrl }: TestService,
  role: Role,
  name: string,
): Promise<void> {
  const { database } = fresh;
  await insertPerson(database, { name, role, by: 'test' });
  const row = await findPerson(database, name);
  if (!row) throw new Error('a person who was made is there');
  const visit = { address: '127.0.0.1', userAgent: 'test' };
  const value = await beginSession({ database, vault, clock }, row, visit, 'password');
  await page.context().addCookies([{ name: 'perennial', value, url: baseUrl, httpOnly: true, sameSite: 'Strict' }]);
}
