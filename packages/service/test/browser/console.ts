import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import type { Role } from '../../src/operator/people/roles.js';
import { consoleClient } from '../console/support.js';
import type { TestService } from '../support/service.js';
import { DESKTOP, gatherComplaints, type Windows } from './support.js';

/** Settings of a service on plain HTTP, so that its cookie has no Secure flag and browsers keep it. */
export const ON_THIS_MACHINE = { publicUrl: () => 'http://127.0.0.1' };

/** Timeout for a page on a busy machine. */
const PATIENCE_MS = 20_000;

/** Opens pages of a service's console. Errors of a page fail its test, or the file if tests share the page. */
export function consoleBrowser(browser: Windows, service: () => TestService) {
  // Pages of earlier tests, without cookies and settings. They are reused, because they have compiled the console's
  // scripts.
  const free: Page[] = [];
  const usual: BrowserContextOptions = { ...DESKTOP, locale: 'en-GB', reducedMotion: 'reduce' };

  /** Returns a signed-out page that several tests can share, and its errors, which the caller has to check. */
  async function open(more?: BrowserContextOptions) {
    const context = { ...usual, baseURL: service().baseUrl, ...more };
    const page = (more ? undefined : free.pop()) ?? (await (await browser.newContext(context)).newPage());
    page.setDefaultTimeout(PATIENCE_MS);
    return { page, complaints: gatherComplaints(page) };
  }

  /** Returns a signed-out page for one test. With options, even empty ones, the page is new and not reused. */
  async function visitor(more?: BrowserContextOptions): Promise<Page> {
    const { page, complaints } = await open(more);
    onTestFinished(async ({ task }) => {
      const hasFailed = task.result?.state === 'fail';
      if (hasFailed) await tellWhatIsShown(page);
      if (more || hasFailed) await page.context().close();
      else {
        await empty(page);
        free.push(page);
      }
      expect(complaints).toEqual([]);
    });
    return page;
  }

  return {
    open,
    visitor,
    /** Returns a page of a signed-in operator, who is created if necessary. */
    async person(role: Role, name: string = role, more?: BrowserContextOptions): Promise<Page> {
      const page = await visitor(more);
      await signIn(page, service(), role, name);
      return page;
    },
    /** Returns an operator's page for the tests of a file. Each test navigates in it. A failed test closes it. */
    loaded(role: Role, name: string): (path: string) => Promise<Page> {
      let opened: Awaited<ReturnType<typeof open>> | undefined;
      afterAll(async () => {
        await opened?.page.context().close();
        expect(opened?.complaints ?? []).toEqual([]);
      });
      return async (path) => {
        onTestFinished(async ({ task }) => {
          if (task.result?.state !== 'fail' || !opened) return;
          await tellWhatIsShown(opened.page);
          // Closes the page, so that the next test starts with a new one.
          await opened.page.context().close();
          opened = undefined;
        });
        if (opened) await moveTo(opened.page, path);
        else {
          opened = await open();
          await signIn(opened.page, service(), role, name);
          await opened.page.goto(`/console${path}`);
          await opened.page.getByRole('heading', { level: 1 }).waitFor();
        }
        return opened.page;
      };
    },
  };
}

/** Logs what the page shows, because the error message only says what was expected. */
async function tellWhatIsShown(page: Page): Promise<void> {
  process.stderr.write(`${page.url()} shows:\n${await page.evaluate('document.body.innerText')}\n`);
}

async function empty(page: Page): Promise<void> {
  page.removeAllListeners();
  await page.unrouteAll({ behavior: 'wait' });
  if (page.url().startsWith('http')) await page.evaluate('localStorage.clear(), sessionStorage.clear()');
  await page.goto('about:blank');
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await context.clearCookies();
}

/** Signs in without the form: creates a session and sets its cookie in the browser. */
export async function signIn(page: Page, service: TestService, role: Role, name: string): Promise<void> {
  const { token } = await consoleClient(service, role, name);
  const cookie = { name: 'perennial', value: token, url: service.baseUrl };
  await page.context().addCookies([{ ...cookie, httpOnly: true, sameSite: 'Strict' }]);
}

/** Waits until the page shows no placeholders for data that it is loading. */
export const isLoaded = (page: Page): Promise<void> =>
  page
    .locator('main :is([role=status]:not(.only-read), .mantine-Skeleton-root)')
    .first()
    .waitFor({ state: 'detached' });

/**
 * Navigates inside the console like a link, without a reload. Goes through an empty page first, so that no content of
 * the previous page remains.
 */
export async function moveTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`(async () => {
    for (const next of ['/nothing', ${JSON.stringify(path)}]) {
      const before = document.querySelector('#main').firstElementChild;
      history.pushState(null, '', '/console' + next);
      while (before.isConnected) await new Promise(requestAnimationFrame);
    }
  })()`);
}
