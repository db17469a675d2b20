import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import type { Role } from '../../src/operator/people/roles.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { raiseAlert } from '../../src/platform/alerts/alerts-sql.js';
import { PASSWORD } from '../console/support.js';
import { unique } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { barriers, DESKTOP, launch, PHONE, phone, scrollsSideways } from './support.js';

/** The pages about events, alerts, books and set-up, in a browser. */

const DESK: BrowserContextOptions = { ...DESKTOP, isMobile: false, hasTouch: false };
const NARROW: BrowserContextOptions = { ...PHONE, viewport: { width: 360, height: 740 } };
/** A name that would be a script, were it anything but text. */
const ODD_NAME = '<script>document.title = "taken"</script> & partner';

let service: TestService;
let browser: Browser;
let appId: string;
beforeAll(async () => {
  [service, browser] = await Promise.all([testService({ publicUrl: () => 'http://127.0.0.1:1' }), launch()]);
  ({ appId } = await createChannel(service.operator, { name: ODD_NAME }));
  await raiseAlert(service.fresh.database, 'webhook-given-up', appId, '<b>3</b> given up at once');
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

/** Somebody of a role, at a page of the console. */
async function signedIn(role: Role, path: string, screen: BrowserContextOptions = DESK): Promise<Page> {
  const name = unique(role).toLowerCase();
  await createPerson(service.operator, { name, role, password: PASSWORD });
  const page = await phone(browser, screen);
  await page.goto(`${service.baseUrl}/console${path}`);
  await page.locator('input[autocomplete=username]').fill(name);
  await page.locator('input[autocomplete=current-password]').fill(PASSWORD);
  await page.locator('button[type=submit]').click();
  await page.locator('article h1').waitFor();
  return page;
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${service.baseUrl}/console${path}`);
  await page.locator('article h1').waitFor();
  await page.waitForLoadState('networkidle');
}

const pages = () => [
  '/events',
  `/events?appId=${appId}`,
  `/requests?appId=${appId}`,
  '/alerts',
  `/alerts?of=webhook-given-up&subject=${appId}`,
  '/reconciliation',
  '/reconciliation?view=days',
  '/settlement',
  '/channels',
  ...['general', 'secrets', 'callbacks', 'allowList', 'rate', 'authorizations'].map(
    (tab) => `/channels/${appId}?tab=${tab}`,
  ),
  '/products',
  '/payment-channels',
  '/benefits',
];

describe('every page', () => {
  it.each([
    ['on a phone, dark', { ...NARROW, colorScheme: 'dark' as const }],
    ['on a desk, light', DESK],
  ])('has no barriers and does not stick out, %s', async (_, screen) => {
    const page = await signedIn('admin', '/channels', screen);
    for (const path of pages()) {
      await open(page, path);
      expect([path, await scrollsSideways(page)]).toEqual([path, false]);
      expect([path, await barriers(page)]).toEqual([path, []]);
    }
  });

  it('offers a viewer nothing that would be refused', async () => {
    const page = await signedIn('viewer', '/channels');
    for (const path of pages()) {
      await open(page, path);
      const names = await page.getByRole('button').allInnerTexts();
      const acts = names.filter((name) =>
        /^(New|Roll|Set|Change|Save|Suspend|Authorize|Withdraw|Replay|Pause|Send|Acknowledge|Compare|Close the)/.test(
          name,
        ),
      );
      expect([path, acts]).toEqual([path, []]);
    }
  });
});

describe('the secrets of a channel', () => {
  it('are shown once, closed only by saying that they are stored, and then gone', async () => {
    const page = await signedIn('admin', '/channels');
    await page.getByRole('button', { name: 'New channel' }).click();
    await page.getByLabel('Name', { exact: true }).fill(ODD_NAME);
    await page.getByRole('button', { name: 'Make the channel' }).click();
    const dialog = page.getByRole('dialog', { name: `Secrets of ${ODD_NAME}` });
    const [id, ...secrets] = await dialog.locator('dd .mono').allInnerTexts();
    expect(secrets).toHaveLength(3);
    expect(await dialog.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByLabel('I have stored them').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: ODD_NAME }).waitFor();
    expect(page.url()).toBe(`${service.baseUrl}/console/channels/${id}`);
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'Roll secrets' }).waitFor();
    const left = await page.content();
    expect(secrets.filter((secret) => left.includes(secret))).toEqual([]);
    expect(await page.title()).not.toBe('taken');
  });

  it('overlap when they are rolled', async () => {
    const page = await signedIn('admin', `/channels/${appId}?tab=secrets`);
    await page.getByRole('button', { name: 'Roll secrets' }).click();
    await page.getByRole('button', { name: 'Make new ones' }).click();
    await page.getByLabel('I have stored them').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('The former app secret is still taken until').waitFor();
  });
});

describe('an alert', () => {
  it('is taken, written about and put aside; what is stored is shown as text', async () => {
    const page = await signedIn('support', `/alerts?of=webhook-given-up&subject=${appId}`);
    const panel = page.getByRole('dialog', { name: 'Events given up' });
    await panel.getByText('<b>3</b> given up at once').waitFor();
    await panel.getByRole('button', { name: 'Owner: Nobody' }).click();
    await page.getByRole('menuitem', { name: 'Take it' }).click();
    await panel.getByRole('button', { name: /Owner: .*\(you\)/ }).waitFor();
    await panel.getByLabel('Write a comment').fill('<i>called</i> them');
    await panel.getByRole('button', { name: 'Comment' }).click();
    await panel.getByText('<i>called</i> them').waitFor();
    await panel.getByRole('button', { name: 'Acknowledge' }).click();
    await panel.getByText('Acknowledged by').waitFor();
    await open(page, '/alerts');
    await page.getByText('All is well').waitFor();
  });
});
