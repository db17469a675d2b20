import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { browserOfFile, everyViolation, PHONE, phone, scrollsSideways } from '../browser/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { refundStage } from '../refunds/support.js';
import { type Language, makeStates, openShop, type Shown } from './looks-states.js';

/**
 * Checks every state of the page: no overflow, no broken word, no finding of axe. A short run uses only the narrowest
 * screen, which has the same effect as text of twice the size, and axe checks each state in one language. A long run
 * uses every screen, light and dark, and the largest orders too. SHOTS names a folder for screenshots.
 */

const isLong = process.env['LONG_RUNS'] === 'on';
const shots = process.env['SHOTS'];
/** The timeout for all states on one screen, with their screenshots. */
const TIMEOUT = isLong ? 300_000 : 60_000;

const NARROWEST: BrowserContextOptions = { ...PHONE, viewport: { width: 195, height: 600 }, colorScheme: 'light' };
const WIDE = { isMobile: false, hasTouch: false, deviceScaleFactor: 1 };
const SCREENS: readonly BrowserContextOptions[] = [
  { ...PHONE, viewport: { width: 320, height: 568 } },
  PHONE,
  { ...PHONE, ...WIDE, viewport: { width: 768, height: 1024 } },
  { ...PHONE, ...WIDE, viewport: { width: 1280, height: 900 } },
];
const LOOKS = isLong
  ? [
      NARROWEST,
      ...SCREENS.flatMap((screen) => (['light', 'dark'] as const).map((colorScheme) => ({ ...screen, colorScheme }))),
    ]
  : [NARROWEST];

const browser = browserOfFile();
/** An address without a receiver. The pages only show that messages can be sent. */
const messageHook = { url: 'http://127.0.0.1:9/', secret: 'sixteen characters' };
const on = ofFile(() => refundStage({ redeemOpensPerMinute: 100_000, messageHook }));
beforeAll(async () => {
  if (shots !== undefined) await mkdir(shots, { recursive: true });
});

/**
 * A script for the page that finds words broken across two lines. In Chinese it looks for dates and certain words.
 * Codes, numbers and names may be broken.
 */
const BROKEN = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest('bdi, code, .number, script, [hidden], details:not([open]) > :not(summary)')) continue;
    for (const { index, 0: word } of node.data.matchAll(/[A-Za-z]{2,}|[0-9]+年[0-9]+月[0-9]+日|退订|截至|领取|权益|兑换码|订阅|扣款|退款|手机号|链接/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 4)));
      if (tops.size > 1) broken.push('broken: ' + word);
    }
  }
  return broken;
})()`;

async function layoutFaults(page: Page): Promise<string[]> {
  const broken = await page.evaluate<string[]>(BROKEN);
  return (await scrollsSideways(page)) ? [...broken, 'scrolls sideways'] : broken;
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (shots !== undefined) await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
}

const LANGUAGES: readonly Language[] = ['en-GB', 'zh-CN'];
describe.each(LANGUAGES)('%s', (locale) => {
  let states: Shown;
  beforeAll(async () => {
    await openShop(on, locale);
    states = await makeStates(on, locale, isLong);
  });

  it.each(LOOKS)(
    'at $viewport.width px, $colorScheme: every state is whole, and axe finds nothing',
    async (look) => {
      const page = await phone(browser, { ...look, locale, reducedMotion: 'reduce' });
      const faults: string[] = [];
      for (const [index, [name, address]] of Object.entries(states).entries()) {
        await open(page, address);
        const axeFaults = isLong || index % 2 === LANGUAGES.indexOf(locale) ? await everyViolation(page) : [];
        const found = [...(await layoutFaults(page)), ...axeFaults];
        faults.push(...found.map((fault) => `${name}: ${fault}`));
        await takePicture(page, `${name} ${locale} ${look.viewport?.width} ${look.colorScheme}`);
      }
      expect(faults).toEqual([]);
    },
    TIMEOUT,
  );

  it.each(isLong ? SCREENS.slice(1, 2) : [])(
    'at $viewport.width px, without JavaScript: the same',
    async (screen) => {
      const [page, plain] = [
        await phone(browser, { ...screen, locale }),
        await phone(browser, { ...screen, locale, javaScriptEnabled: false }),
      ];
      for (const [name, address] of Object.entries(states)) {
        await Promise.all([page, plain].map((one) => open(one, address)));
        expect(await plain.locator(`${ONLY_WITH_SCRIPT}:visible`).count(), name).toBe(0);
        const read = await readShown(page);
        expect(read.join('').length, name).toBeGreaterThan(40);
        expect(await readShown(plain), name).toEqual(read);
        expect(await layoutFaults(plain), name).toEqual([]);
      }
    },
    TIMEOUT,
  );
});

/** Buttons that copy and share, which are hidden without a script. */
const ONLY_WITH_SCRIPT = 'main button[type=button]';

/** Returns the texts that the page must show with and without a script. */
async function readShown(page: Page): Promise<string[]> {
  await page.evaluate(`for (const one of document.querySelectorAll('${ONLY_WITH_SCRIPT}')) one.hidden = true`);
  return page.locator('main :is(h1, h2, h3, h4, p, dt, dd, li, label, summary, code, a, button)').allInnerTexts();
}

async function open(page: Page, address: string): Promise<void> {
  const response = await page.goto(`${on.service.baseUrl}${address}`);
  expect((await response?.body())?.length).toBeLessThan(50_000);
}

it('nothing moves after a claim for users who prefer reduced motion', async () => {
  const orderNo = await on.paidOrder({});
  const { pathname, search } = new URL(String((await on.query(orderNo))['redeemUrl']));
  for (const [reducedMotion, moves] of [
    ['reduce', 0],
    ['no-preference', 3],
  ] as const) {
    const page = await phone(browser, { reducedMotion });
    // Pauses the animations at their start, so that none has ended before they are counted.
    await page.addInitScript(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('*, ::before, ::after { animation-play-state: paused !important }');
      document.adoptedStyleSheets = [sheet];
    }`);
    await page.goto(`${on.service.baseUrl}${pathname}${search}`);
    await page.locator('button[name=claim]').first().click();
    await page.locator('#done').waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(moves);
  }
});
