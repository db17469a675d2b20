import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillDemo } from '../../src/demo/fill-demo.js';
import { everyViolation, launch, scrollsSideways } from '../browser/support.js';
import { type TestService, testService } from '../support/service.js';
import { ON_THIS_MACHINE, openPage, person, signIn, visitor } from './browser.js';

/**
 * Every page with a month of business in it: nothing for axe to find, and nothing that sticks out to the side. A page is loaded once;
 * width and colours change under it.
 */

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([testService(ON_THIS_MACHINE), launch()]);
  service.clock.set(Date.now());
  const gateways = {
    of: async () => {
      throw new Error('no institution is asked');
    },
  };
  await fillDemo({ ...service.operator, clock: service.clock, gateways }, { orders: 60 });
}, 120_000);
afterAll(async () => {
  await browser.close();
  await service.close();
});

const one = async (text: string): Promise<string> => {
  const [row] = await service.fresh.database.query<{ value: string }>(text);
  if (!row) throw new Error(`nothing is found by ${text}`);
  return encodeURIComponent(row.value);
};
const anOrder = () => one('select order_no::text as value from refunds order by 1 limit 1');
/** One that calls, and takes its events. */
const CHANNEL = 'test_sunny_video';
const press = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click();
  await page.getByRole('dialog').first().waitFor();
};

interface Look {
  /** Below /console. */
  readonly at: string | (() => Promise<string>);
  /** What is there once the page has its data. */
  readonly shows: string | RegExp;
  /** What is opened in front of it. */
  open?(page: Page): Promise<void>;
}

const LOOKS: Readonly<Record<string, Look>> = {
  overview: { at: '', shows: 'Melody Music' },
  orders: { at: '/orders', shows: /^60 orders/ },
  'orders, none': { at: '/orders?channelUserId=nobody', shows: 'No order matches' },
  'an order': { at: async () => `/orders/${await anOrder()}`, shows: 'The order was created' },
  'a refund': {
    at: async () =>
      `/orders/${await one(
        `select order_no::text as value from orders o join debit_attempts d using (order_no)
         where o.status = 'ACTIVE' and d.status = 'SUCCESS' order by 1 limit 1`,
      )}`,
    shows: 'The order was created',
    open: press('Refund…'),
  },
  'a user': {
    at: async () =>
      `/users?${await one(
        `select 'appId=' || app_id || '&channelUserId=' || channel_user_id as value
         from orders join channels using (channel_id) join refunds using (order_no) limit 1`,
      ).then(decodeURIComponent)}`,
    shows: 'Refunds',
  },
  'finding a user': { at: '/users', shows: 'User’s id at the channel' },
  'failed payments': { at: '/payments', shows: 'By reason' },
  'bulk runs': { at: '/bulk', shows: 'Retry payments' },
  'a bulk run': {
    at: async () => `/bulk/${await one('select run_id::text as value from bulk_runs limit 1')}`,
    shows: 'A result for each',
  },
  approvals: { at: '/approvals?status=ALL', shows: 'Asked by' },
  alerts: { at: '/alerts?which=all', shows: 'Last seen' },
  'an alert': {
    at: async () =>
      `/alerts?which=all&of=${await one('select kind as value from alerts order by kind, subject limit 1')}&subject=${await one(
        'select subject as value from alerts order by kind, subject limit 1',
      )}`,
    shows: 'What it means',
  },
  events: { at: '/events', shows: 'Melody Music' },
  'events of a channel': { at: `/events?appId=${CHANNEL}`, shows: 'Event id' },
  'an event': {
    at: `/events?appId=${CHANNEL}`,
    shows: 'Event id',
    open: async (page) => {
      await page.locator('tbody').getByRole('button').first().click();
      await page.getByText('Pushes and answers').waitFor();
    },
  },
  'a test event': {
    at: `/events?appId=${CHANNEL}`,
    shows: 'Event id',
    open: press('Send a test event'),
  },
  requests: { at: '/requests', shows: 'Choose a channel' },
  'requests of a channel': { at: `/requests?appId=${CHANNEL}`, shows: /^\/openapi\/v1\// },
  differences: { at: '/reconciliation?which=all', shows: /^(Only|Another|Twice) / },
  'compared days': { at: '/reconciliation?view=days', shows: 'Compared by' },
  'a statement': { at: '/reconciliation', shows: 'Differences', open: press('Compare a day') },
  settlement: { at: '/settlement', shows: 'Melody Music' },
  channels: { at: '/channels', shows: 'Melody Music' },
  'a new channel': { at: '/channels', shows: 'Melody Music', open: press('New channel') },
  'a channel': { at: `/channels/${CHANNEL}`, shows: 'Redemption page' },
  ...Object.fromEntries(
    (
      [
        ['secrets', 'App secret'],
        ['callbacks', 'Where events are pushed'],
        ['allowList', 'Addresses and ranges'],
        ['rate', 'Calls a second'],
        ['authorizations', 'Payment channels'],
      ] as const
    ).map(([tab, shows]) => [
      `a channel, ${tab}`,
      { at: `/channels/${CHANNEL}?tab=${tab}`, shows: new RegExp(shows) } satisfies Look,
    ]),
  ),
  products: { at: '/products', shows: 'New product' },
  'a new product': { at: '/products', shows: 'New product', open: press('New product') },
  'a product': {
    at: async () => `/products/${await one('select product_code as value from products order by 1 limit 1')}`,
    shows: 'Sold by',
  },
  'payment channels': { at: '/payment-channels', shows: /^Payment channels$/ },
  benefits: { at: '/benefits', shows: 'DEMO_COFFEE' },
  'a benefit': { at: '/benefits?code=DEMO_COFFEE', shows: 'Import codes' },
  people: { at: '/people', shows: 'Last sign-in' },
  'a new person': { at: '/people', shows: 'New person', open: press('New person') },
  'the audit log': { at: '/audit', shows: 'demo.fill' },
  'the account': { at: '/account', shows: /authenticator/ },
  'the search': {
    at: '',
    shows: 'Melody Music',
    open: async (page) => {
      await page.keyboard.press('/');
      await page.getByRole('dialog').getByText('Failed payments').waitFor();
    },
  },
  nothing: { at: '/no/such/page', shows: 'There is nothing here' },
};

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };

const whatSticksOut = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth)
       .map((one) => one.tagName + '.' + one.className).slice(0, 5).join(' > ')`,
  );

/** What is wrong with a page on a desk in daylight, and on a phone at night. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const [viewport, colorScheme] of [
    [DESK, 'light'],
    [PHONE, 'dark'],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    const where = `${viewport.width} px, ${colorScheme}`;
    if (await scrollsSideways(page)) faults.push(`${where}: it scrolls sideways: ${await whatSticksOut(page)}`);
    faults.push(...(await everyViolation(page)).map((line) => `${where}: ${line}`));
  }
  return faults;
}

async function look(page: Page, { at, shows, open }: Look): Promise<string[]> {
  await page.setViewportSize(DESK);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(`/console${typeof at === 'string' ? at : await at()}`);
  await page.getByText(shows).first().waitFor();
  await open?.(page);
  await page.getByRole('status', { name: 'Loading…' }).first().waitFor({ state: 'detached' });
  return faultsOf(page);
}

describe('whole for everybody, on a desk and on a phone, light and dark', () => {
  let page: Page;
  let complaints: readonly string[];
  beforeAll(async () => {
    ({ page, complaints } = await openPage(browser, service));
    await signIn(page, service, 'admin', 'eli');
  });

  it.for(Object.entries(LOOKS))('%s', async ([, what]) => {
    expect(await look(page, what)).toEqual([]);
  });

  it('and no page has complained', () => {
    expect(complaints).toEqual([]);
  });

  it('also before somebody has signed in', async () => {
    const outside = await visitor(browser, service);
    expect(await look(outside, { at: '/sign-in', shows: 'Forgot your password?' })).toEqual([]);
    expect(await look(outside, { at: '/setup#abc', shows: 'The same again' })).toEqual([]);
  });

  it('also in Chinese', async () => {
    const chinese = await person(browser, service, 'admin', 'eli', { locale: 'zh-CN' });
    await chinese.goto(`/console/orders/${await anOrder()}`);
    await chinese.getByText('订单创建').first().waitFor();
    expect(await chinese.locator('html').getAttribute('lang')).toBe('zh-CN');
    const words = await chinese.evaluate<string>('document.querySelector("main").innerText');
    expect(words).not.toMatch(/\b(Refund|Timeline|Periods|Notes|Agreement)\b/);
    expect(await faultsOf(chinese)).toEqual([]);
  });
});
