import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { fillDemo } from '../../../../scripts/demo/fill.mjs';
import { createPersonWithPassword, PASSWORD } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { consoleBrowser, isLoaded, moveTo, ON_THIS_MACHINE, signIn } from './console.js';
import { barriers, browserOfFile, everyViolation, scrollsSideways } from './support.js';

/**
 * Accessibility and layout of every page, with the data of `npm run demo`. Each page is checked on one of two screens,
 * in turn; `npm run prove -- looks` checks every page on both. The console is loaded once per screen.
 */

const browser = browserOfFile();
const service = ofFile(() => testService(ON_THIS_MACHINE));
const at = consoleBrowser(browser, () => service);
beforeAll(async () => {
  service.clock.set(Date.now());
  await createPersonWithPassword(service, 'demo', 'admin');
  // A second node with an engine does the pushes and bulk runs, and stops before the tests.
  const filling = {
    ...ON_THIS_MACHINE,
    engine: true,
    requestLog: true,
    clock: { now: () => Date.now() },
    localCallbacks: true,
    refundApprovalCent: 5_000,
  };
  const node = await anotherNode(service, filling);
  await fillDemo({ baseUrl: node.baseUrl, admin: { name: 'demo', password: PASSWORD } });
  await node.close();
}, 300_000);

const one = async (text: string): Promise<string> => {
  const [row] = await service.fresh.database.query<{ value: string }>(text);
  if (!row) throw new Error(`nothing is found by ${text}`);
  return encodeURIComponent(row.value);
};
const anOrder = () => one('select order_no::text as value from refunds order by 1 limit 1');
/** A channel that has API calls and delivered events in the demo's data. */
const CHANNEL = 'test_sunny_video';
const press = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click();
  await page.getByRole('dialog').first().waitFor();
};

interface Look {
  /** Path below /console. */
  readonly at: string | (() => Promise<string>);
  /** Text that appears when the page has its data. */
  readonly shows: string | RegExp;
  /** Opens a dialog. */
  open?(page: Page): Promise<void>;
}

const aUser = async () =>
  `/users?${await one(
    `select 'appId=' || app_id || '&channelUserId=' || channel_user_id as value
     from orders join channels using (channel_id) join refunds using (order_no) limit 1`,
  ).then(decodeURIComponent)}`;

const LOOKS: Readonly<Record<string, Look>> = {
  overview: { at: '', shows: 'Melody Music' },
  orders: { at: '/orders', shows: /^104 orders/ },
  'orders, none': { at: '/orders?channelUserId=nobody', shows: 'No order matches' },
  'an order': { at: async () => `/orders/${await anOrder()}`, shows: 'Timeline' },
  'a refund': {
    at: async () =>
      `/orders/${await one(
        `select order_no::text as value from orders o join debit_attempts d using (order_no)
         where o.status = 'ACTIVE' and d.status = 'SUCCESS' order by 1 limit 1`,
      )}`,
    shows: 'Timeline',
    open: press('Refund…'),
  },
  'a user': { at: aUser, shows: 'Refunds' },
  'erasing a user': { at: aUser, shows: 'Refunds', open: press('Erase data') },
  'finding a user': { at: '/users', shows: 'User ID at the channel' },
  debits: { at: '/payments', shows: /^\d+ debits$/ },
  'failed payments': { at: '/payments?tab=failed', shows: 'By reason' },
  refunds: { at: '/payments?tab=refunds', shows: /^\d+ refunds?$/ },
  mentions: { at: '/mentions', shows: 'No unread mentions' },
  health: { at: '/health', shows: 'Callbacks of channels' },
  'bulk runs': { at: '/bulk', shows: 'Retry payments' },
  'a bulk run': {
    at: async () => `/bulk/${await one('select run_id::text as value from bulk_runs limit 1')}`,
    shows: 'Results',
  },
  approvals: { at: '/approvals?status=ALL', shows: 'Requested by' },
  alerts: { at: '/alerts?which=all', shows: 'Last occurred' },
  'an alert': {
    at: async () =>
      `/alerts?which=all&of=${await one('select kind as value from alerts order by kind, subject limit 1')}&subject=${await one(
        'select subject as value from alerts order by kind, subject limit 1',
      )}`,
    shows: 'Meaning',
  },
  events: { at: '/events', shows: 'Melody Music' },
  'events of a channel': { at: `/events?appId=${CHANNEL}`, shows: 'Event ID' },
  'an event': {
    at: `/events?appId=${CHANNEL}`,
    shows: 'Event ID',
    open: async (page) => {
      await page.locator('tbody button, main li button').first().click();
      await page.getByText('Pushes and answers').waitFor();
    },
  },
  'a test event': {
    at: `/events?appId=${CHANNEL}`,
    shows: 'Event ID',
    open: press('Send test event'),
  },
  requests: { at: '/requests', shows: 'Choose a channel' },
  'requests of a channel': { at: `/requests?appId=${CHANNEL}`, shows: /^\/openapi\/v1\// },
  differences: { at: '/reconciliation?which=all', shows: /^Only / },
  'compared days': { at: '/reconciliation?view=days', shows: 'file' },
  'a statement': { at: '/reconciliation', shows: 'Differences', open: press('Reconcile a day') },
  settlement: { at: '/settlement', shows: 'Melody Music' },
  'settlement lines': {
    at: async () =>
      `/settlement/lines?appId=${CHANNEL}&month=${await one(
        `select to_char(now() at time zone 'Asia/Shanghai', 'YYYY-MM') as value`,
      )}`,
    shows: /^100000/,
  },
  channels: { at: '/channels', shows: 'Melody Music' },
  'a new channel': { at: '/channels', shows: 'Melody Music', open: press('New channel') },
  'a channel': { at: `/channels/${CHANNEL}`, shows: 'Redemption page' },
  ...Object.fromEntries(
    (
      [
        ['branding', 'Preview'],
        ['secrets', 'App secret'],
        ['callbacks', 'Events are sent to these addresses'],
        ['allowList', 'Addresses and ranges'],
        ['rate', 'Calls per second'],
        ['authorizations', 'Payment channels'],
        ['fees', 'No fees are set'],
      ] as const
    ).map(([tab, shows]) => [
      `a channel, ${tab}`,
      { at: `/channels/${CHANNEL}?tab=${tab}`, shows: new RegExp(shows) } satisfies Look,
    ]),
  ),
  products: { at: '/products', shows: 'DEMO_VIDEO_MONTH' },
  'a new product': { at: '/products', shows: 'New product', open: press('New product') },
  'a product': {
    at: async () => `/products/${await one('select product_code as value from products order by 1 limit 1')}`,
    shows: 'Sold by',
  },
  'payment channels': { at: '/payment-channels', shows: 'DEMO_WALLET' },
  benefits: { at: '/benefits', shows: 'DEMO_COFFEE' },
  'a benefit': {
    at: '/benefits?code=DEMO_COFFEE',
    shows: 'DEMO_COFFEE',
    open: (page) => page.getByRole('dialog').getByText('Import codes').waitFor(),
  },
  people: { at: '/people', shows: 'Last sign-in' },
  'a new person': { at: '/people', shows: 'New operator', open: press('New operator') },
  'the audit log': { at: '/audit?action=events.pause', shows: 'Paused events' },
  'the account': { at: '/account', shows: /Authenticator/ },
};

const DESK = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const;
const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;

/** A long run checks every page on both screens. A short run checks each page on one of the screens, in turn. */
const isLong = process.env['LONG_RUNS'] === 'on';
const everySecond = <Item>(list: readonly Item[], first: 0 | 1) => list.filter((_, at) => isLong || at % 2 === first);
/** For additional checks of a page: returns all items in a long run, and every fourth in a short run. */
const everyFourth = <Item>(list: readonly Item[], first: 1 | 3) => list.filter((_, at) => isLong || at % 4 === first);
const SCREENS = [
  ['on a desk in daylight', DESK, everySecond(Object.entries(LOOKS), 0)],
  ['on a phone at night', PHONE, everySecond(Object.entries(LOOKS), 1)],
] as const;

/** Shortens lists in answers to six objects, because further objects look the same and checking them takes time. */
async function answerInShort(route: Route): Promise<void> {
  const response = await route.fetch();
  const isJson = response.headers()['content-type']?.includes('json');
  await route.fulfill(isJson ? { response, json: inShort(await response.json()) } : { response });
}

const inShort = (value: unknown): unknown => {
  if (Array.isArray(value)) return (typeof value[0] === 'object' ? value.slice(0, 6) : value).map(inShort);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inShort(one)]));
};

/** Selectors of the frame that every page has. Only one test checks the frame. */
const AROUND = ['.mantine-AppShell-navbar', '.mantine-AppShell-header'];
/** Selectors of the page behind a dialog. */
const BEHIND = ['#main article > :not(header)'];

/** Returns the layout faults and accessibility violations of a page. */
async function faultsOf(page: Page, without: readonly string[]): Promise<string[]> {
  return [...(await whatSticksOut(page)), ...(await everyViolation(page, { without }))];
}

/** Returns the elements beyond the right edge. Polls, because a page needs a moment to shrink to its screen. */
async function whatSticksOut(page: Page): Promise<string[]> {
  const fits = expect.poll(() => scrollsSideways(page)).toBe(false);
  return fits.then(
    () => [],
    () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth)
           .map((one) => 'sticks out: ' + one.tagName + '.' + one.className)`,
      ),
  );
}

const addressOf = async ({ at: place }: Look): Promise<string> => (typeof place === 'string' ? place : place());

describe.for(SCREENS)('no violations and no overflow, %s', ([, screen, looks]) => {
  let page: Page;
  let complaints: readonly string[];
  beforeAll(async () => {
    ({ page, complaints } = await at.open(screen));
    await page.route('**/console/api/**', answerInShort);
    await signIn(page, service, 'admin', 'eli');
    await page.goto('/console');
    await page.getByText('Melody Music').first().waitFor();
  });

  it.for(looks)('%s', async ([, look], { onTestFailed }) => {
    onTestFailed(
      async () => void process.stderr.write(`${page.url()} shows:\n${await page.locator('body').innerText()}\n`),
    );
    await moveTo(page, await addressOf(look));
    await page.getByText(look.shows).first().waitFor();
    await look.open?.(page);
    await isLoaded(page);
    expect(await faultsOf(page, [...AROUND, ...(look.open ? BEHIND : [])])).toEqual([]);
  });

  it('the frame, its menus and the search', async () => {
    await page.evaluate(`history.pushState(null, '', '/console/no/such/page')`);
    await page.getByText('Not found').waitFor();
    expect(await faultsOf(page, [])).toEqual([]);
    await page.getByRole('button', { name: 'Colour scheme' }).click();
    await page.getByRole('menuitem', { name: 'Follow the system' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('dialog').getByText('Payments', { exact: true }).waitFor();
    expect(await faultsOf(page, AROUND)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    if (screen !== PHONE) return;
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    expect(await faultsOf(page, AROUND)).toEqual([]);
  });

  it('signed-out pages', async () => {
    const outside = await at.visitor(screen);
    for (const [path, shows] of [
      ['/sign-in', 'Forgot your password?'],
      ['/setup#abc', 'Repeat password'],
    ]) {
      await outside.goto(`/console${path}`);
      await outside.getByText(shows ?? '').waitFor();
      expect.soft([path, await faultsOf(outside, [])]).toEqual([path, []]);
    }
  });

  it('no page has logged an error', () => {
    expect(complaints).toEqual([]);
  });
});

const SAID_IN_ENGLISH =
  /given up together|codes are left|wait for codes|open: \d|was unsubscribed|due now|has a result|every (claim|difference)|not refunded/;

/** Looks without a dialog. */
const PAGES = Object.entries(LOOKS).filter(([, { open }]) => open === undefined);

describe('every page', () => {
  it('in Chinese, on a phone: no overflow, and no English texts of alerts and results', async () => {
    const page = await at.person('admin', 'eli', { ...PHONE, locale: 'zh-CN' });
    await page.goto('/console');
    await page.getByRole('heading', { name: '总览' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    for (const [name, look] of everyFourth(PAGES, 3)) {
      await moveTo(page, await addressOf(look));
      await page.locator('main h1').waitFor();
      await isLoaded(page);
      expect.soft([name, await whatSticksOut(page)]).toEqual([name, []]);
      const words = await page.locator('main').innerText();
      expect.soft([name, words.match(SAID_IN_ENGLISH)]).toEqual([name, null]);
      if (name !== 'an order') continue;
      // The periods come first, then the details, then the long history.
      const [periods, details, history] = await page.evaluate<number[]>(
        `['main article section', 'main aside', 'main article section:nth-of-type(2)'].map((one) =>
           document.querySelector(one).getBoundingClientRect().top)`,
      );
      expect([periods, details, history]).toEqual([periods, details, history].toSorted((a = 0, b = 0) => a - b));
      expect(words).toContain('订单创建');
      expect(words).not.toMatch(/\b(Refund|Timeline|Periods|Notes|Agreement)\b/);
    }
  });

  it('offers a viewer no button that would be refused', async () => {
    const page = await at.person('viewer', 'vera');
    await page.goto('/console');
    await page.getByText('Melody Music').first().waitFor();
    for (const [name, look] of everyFourth(PAGES, 1)) {
      if (THEIR_OWN.includes(name) || OF_USERS.includes(name)) continue;
      await moveTo(page, await addressOf(look));
      await page.getByText(look.shows).first().waitFor();
      await isLoaded(page);
      // Ignores the button that opens a row, because its text may describe an action of an operator.
      const offered = await page.evaluate<string[]>(
        `[...document.querySelectorAll(':is(main, [role=dialog]) button:not([data-opener])')].map((one) => one.ariaLabel ?? one.innerText)`,
      );
      expect.soft([name, offered.filter((one) => CHANGES.test(one))]).toEqual([name, []]);
    }
  });
});

/**
 * Pages on which a viewer has buttons. The buttons change only the viewer's own account, or show only what a viewer may
 * see.
 */
const THEIR_OWN = ['the account', 'finding a user'];

/** Pages that viewers are refused, because they name a user. */
const OF_USERS = ['orders, none', 'a user'];

/** Matches the labels of buttons that change something or show restricted data. */
const CHANGES =
  /^(New |Replace |Set |Change |Save|Suspend|Resume|Authorize|Withdraw\b|Replay|Pause|Send |Acknowledge$|Assign to me|Owner:|Comment$|Reconcile a|Close |Refund…|Debit again|Retry |Unsubscribe…?$|Cancel|Approve$|Decline$|Start$|Stop|Import|Add |Actions for|Show$)/;
