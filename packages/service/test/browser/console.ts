import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import type { Role } from '../../src/operator/people/roles.js';
import { consoleClient } from '../console/support.js';
import type { TestService } from '../support/service.js';
import { DESKTOP, gatherComplaints, type Windows } from './support.js';

/** A service that browsers of this machine reach by plain HTTP, and which therefore sets a cookie that they keep. */
export const ON_THIS_MACHINE = { publicUrl: () => 'http://127.0.0.1' };

/** As long as a page may take on a busy machine. */
const PATIENCE_MS = 20_000;

/** The console of a service in a browser. What a page complains about fails the test that has opened it. */
export function consoleBrowser(browser: Windows, service: () => TestService) {
  // Those that a former test has left, without its cookies and settings: they have read the console's scripts already.
  const free: Page[] = [];
  const usual: BrowserContextOptions = { ...DESKTOP, locale: 'en-GB', reducedMotion: 'reduce' };

  /** A page for several tests, and what it has complained about so far. Nobody is signed in. */
  async function open(more?: BrowserContextOptions) {
    const context = { ...usual, baseURL: service().baseUrl, ...more };
    const page = (more ? undefined : free.pop()) ?? (await (await browser.newContext(context)).newPage());
    page.setDefaultTimeout(PATIENCE_MS);
    return { page, complaints: gatherComplaints(page) };
  }

  /** A page in which nobody is signed in. With options, be there none in them, nobody had it before or gets it afterwards. */
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
    /** The page of somebody who has just signed in. The person is made if there is none of that name. */
    async person(role: Role, name: string = role, more?: BrowserContextOptions): Promise<Page> {
      const page = await visitor(more);
      await signIn(page, service(), role, name);
      return page;
    },
    /** The page of a person for the tests of a file. It is loaded once, and each test goes elsewhere in it. */
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
          // Whatever it has open, the next test begins anew.
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

/** The error says what was waited for; this, what was there instead. */
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

/** Without the form: a session is begun, and its cookie is put into the browser. */
export async function signIn(page: Page, service: TestService, role: Role, name: string): Promise<void> {
  const { token } = await consoleClient(service, role, name);
  const cookie = { name: 'perennial', value: token, url: service.baseUrl };
  await page.context().addCookies([{ ...cookie, httpOnly: true, sameSite: 'Strict' }]);
}

/**
 * Another page of the console, as a link in it would lead there: nothing is loaded anew. By way of a page that has nothing, so that
 * what is shown afterwards does not stem from before.
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
