import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { type Inspection, runAxe, type Violation } from './axe.js';

/** Chromium without a window; `npm test` says where it is. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };

export function launch(): Promise<Browser> {
  // As root, in a container as on CI, Chromium's own sandbox does not start. The pages are ours. One process for all tabs of a
  // context has read their scripts once.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--renderer-process-limit=1'];
  return chromium.launch({ executablePath, args });
}

export type Windows = Pick<Browser, 'newContext' | 'newPage'>;

/** A browser for the tests of a file. */
export function browserOfFile(): Windows {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  return { newContext: (options) => browser.newContext(options), newPage: (options) => browser.newPage(options) };
}

/** A phone of its own: nothing is shared with another but the link. What the page complains about fails the test. */
export async function phone(browser: Windows, more: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ ...PHONE, locale: 'en-GB', ...more });
  const page = await context.newPage();
  const complaints = gatherComplaints(page);
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  return page;
}

/** What the page complains about from now on. */
export function gatherComplaints(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // An answer of 4xx is a line of the console too, and tests ask for some.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return complaints;
}

/** Presses what leads to another page, and waits for that. */
export async function press(page: Page, what: Locator): Promise<void> {
  // A page that can be read may still be loading; that is not the one that is waited for.
  await page.waitForLoadState();
  const loaded = page.waitForEvent('load');
  await what.click();
  await loaded;
}

/** What axe finds to be serious or worse, as lines that say where. */
export const barriers = async (page: Page): Promise<string[]> =>
  linesOf((await runAxe(page)).filter(({ impact }) => impact === 'serious' || impact === 'critical'));

/** Everything that axe finds, also what is minor or only good practice. */
export const everyViolation = async (page: Page, what: Inspection = {}): Promise<string[]> =>
  linesOf(await runAxe(page, what));

const linesOf = (found: readonly Violation[]): string[] =>
  found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );

/** Whether something sticks out to the side. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
