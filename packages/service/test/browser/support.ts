import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { type Inspection, runAxe, type Violation } from './axe.js';

/** The path of headless Chromium. `npm test` sets CHROMIUM. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };

export function launch(): Promise<Browser> {
  // Runs without Chromium's sandbox, because the sandbox does not start as root in a container. One renderer process
  // compiles each script only once.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--renderer-process-limit=1'];
  return chromium.launch({ executablePath, args });
}

export type Windows = Pick<Browser, 'newContext' | 'newPage'>;

/** Starts a browser for the tests of a file. */
export function browserOfFile(): Windows {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  return { newContext: (options) => browser.newContext(options), newPage: (options) => browser.newPage(options) };
}

/** Opens a page in its own context, by default on a phone. Errors of the page fail the test. */
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

/** Returns the list of the page's errors, which grows from now on. */
export function gatherComplaints(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Ignores failed responses, which Chromium also logs as errors, because tests cause some.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return complaints;
}

/**
 * True once the redemption page accepts clicks: for half a second after a claim it drops them as second clicks. True
 * under a fake clock, which has no navigation entry: such a test advances the time itself.
 */
const ACCEPTS_CLICKS = `(() => {
  const [navigation] = performance.getEntriesByType('navigation');
  return location.hash === '' || !navigation || performance.now() - navigation.loadEventStart > 500;
})()`;

/** Clicks an element that leads to another page, and waits until that page is loaded. */
export async function press(page: Page, what: Locator): Promise<void> {
  // Waits for the load event of the current page, which could otherwise be mistaken for the load event of the next
  // page.
  await page.waitForLoadState();
  await expect.poll(() => page.evaluate<boolean>(ACCEPTS_CLICKS)).toBe(true);
  const loaded = page.waitForEvent('load');
  await what.click();
  await loaded;
}

/** Returns axe's serious and critical violations, as lines with their places. */
export const barriers = async (page: Page): Promise<string[]> =>
  linesOf((await runAxe(page)).filter(({ impact }) => impact === 'serious' || impact === 'critical'));

/** Returns all violations that axe finds, including minor ones. */
export const everyViolation = async (page: Page, what: Inspection = {}): Promise<string[]> =>
  linesOf(await runAxe(page, what));

const linesOf = (found: readonly Violation[]): string[] =>
  found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );

export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
