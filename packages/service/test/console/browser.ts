import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { beginSession } from '../../src/console/sessions/sign-in.js';
import { findPerson, insertPerson } from '../../src/operator/people/people-sql.js';
import type { Role } from '../../src/operator/people/roles.js';
import { DESKTOP } from '../browser/support.js';
import type { TestService } from '../support/service.js';

/** A browser in which nobody is signed in. What the page complains about fails the test. */
export async function visitor(browser: Browser, service: TestService, more: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ ...DESKTOP, locale: 'en-GB', baseURL: service.baseUrl, ...more });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // An answer of 4xx is a line of the console too, and tests ask for some.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
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
  const { fresh, vault, clock, baseUrl } = service;
  const { database } = fresh;
  await insertPerson(database, { name, role, by: 'test' });
  const row = await findPerson(database, name);
  if (!row) throw new Error('a person who was made is there');
  const visit = { address: '127.0.0.1', userAgent: 'test' };
  const value = await beginSession({ database, vault, clock }, row, visit, 'password');
  await page.context().addCookies([{ name: 'perennial', value, url: baseUrl, httpOnly: true, sameSite: 'Strict' }]);
  return page;
}
