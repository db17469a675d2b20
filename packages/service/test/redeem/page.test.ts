import { encode } from 'uqr';
import { beforeAll, describe, expect, it } from 'vitest';
import { resumeChannel, suspendChannel } from '../../src/operator/provisioning/channels.js';
import { ofFile } from '../orders/stage-of-file.js';
import { dailyProduct } from '../orders/support.js';
import type { Reply } from '../support/channel-client.js';
import { unique } from '../support/demo.js';
import {
  claim,
  claimAllsOf,
  claimsOf,
  codesOf,
  escaped,
  fillPeriods,
  formOf,
  linkIn,
  type Ordered,
  sell,
  stage,
  textOf,
  titleOf,
} from './support.js';

const on = ofFile(stage);
let order: Ordered;
beforeAll(async () => {
  order = await on.order();
});

/**
 * Returns the dark modules of a QR code, from left to right and top to bottom. The strokes of the code's path cover
 * these modules.
 */
function darkFields(path: string): string[] {
  let [x, y] = [0, 0];
  return [...path.matchAll(/([Mmh])(\d+)(?: ([\d.]+))?/g)].flatMap(([, step, first, second]) => {
    if (step === 'M') [x, y] = [Number(first), Math.floor(Number(second))];
    else x += Number(first);
    return step === 'h' ? Array.from({ length: Number(first) }, (_, n) => `${x - Number(first) + n},${y}`) : [];
  });
}

describe('the page', () => {
  it('shows the product, the period, what is left and until when, and what comes next', async () => {
    const page = textOf(await on.get(order.path));
    expect(page).toContain('Active Monthly membership Period 1 of 12 31 Jan 2026 – 28 Feb 2026');
    expect(page).toContain('Ready to claim 2 Period 1 Claim by 1 May 2026, 12:00 VIP pass Worth ¥15.00 Claim Coupon');
    const link = 'Your link to this page works until 7 Feb 2026, 12:00.';
    expect(page).toContain(`Claim both ${link} For a new link, open your benefits again from Demo channel.`);
    expect(page.split('7 Feb 2026')).toHaveLength(2);
    expect(page).toContain('Started on 31 Jan 2026');
    expect(page).toContain('Remaining 11 periods Runs until 31 Jan 2027');
    expect(page).not.toContain('Paid with');
    expect(page).toContain('Billing Billed by Demo channel. 31 Jan 2026 Period 1 ¥19.90 Billed');
    expect(page).toContain('Next period ¥19.90 28 Feb 2026');
    expect(page).toContain('Price ¥19.90 a month');
    expect(page).toContain(`Order number ${order.orderNo} Provider order number ${order.externalOrderNo}`);
  });

  it('shows a claimed benefit with its code, as text and as a QR code, and no button', async () => {
    const own = await on.order();
    const { page } = await claim(on, await on.get(own.path), 'VIP pass 1');
    expect([...claimsOf(page).keys()]).toEqual(['Coupon 1']);
    expect(codesOf(page)).toEqual([expect.stringMatching(/^[A-Z0-9]{16}$/)]);
    expect(page.text.match(/<svg class="qr"/g)).toHaveLength(1);
    expect(page.text).toMatch(/<svg class="qr" [^>]*aria-labelledby="b-1-\d+-qr b-1-\d+-name"/);
    expect(textOf(page)).toContain('It’s yours VIP pass Period 1 · Claimed 31 Jan 2026, 12:00');
    const later = textOf(await on.get(own.path));
    expect(later).toContain('Your codes VIP pass Period 1 · Claimed 31 Jan 2026, 12:00');
    expect(later).not.toContain('It’s yours');
  });

  it('draws the QR code correctly, module by module', async () => {
    const own = await on.order();
    const { page } = await claim(on, await on.get(own.path), 'VIP pass 1');
    const [code = ''] = codesOf(page);
    const [, path = ''] = /class="qr".*? d="([^"]+)"/.exec(page.text) ?? [];
    const { data, size } = encode(code, { ecc: 'M', border: 4 });
    expect(page.text).toContain(`viewBox="0 0 ${size} ${size}" shape-rendering`);
    expect(darkFields(path)).toEqual(data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x},${y}`] : []))));
  });

  it('is one response without inline styles or scripts, and loads nothing from elsewhere', async () => {
    const { text: page } = await on.get(order.path);
    expect(page).not.toMatch(/<style|style=|<script(?! src="\/redeem\/)| on\w+=|https?:/);
    for (const [, name = ''] of page.matchAll(/(?:src|href)="\/redeem\/(page\.[^"]+)"/g)) {
      const asset = await on.get(`/redeem/${name}`);
      expect([asset.status, asset.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(asset.headers['content-type']).toMatch(name.endsWith('css') ? /^text\/css/ : /^text\/javascript/);
    }
  });

  it('is not cached, not indexed, and sends no referrer', async () => {
    const { headers } = await on.get(order.path);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
      'content-security-policy':
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    });
    expect(headers['set-cookie']).toBeUndefined();
  });

  it('stays available for a suspended channel, because its users have paid', async () => {
    const { operator } = on.service;
    const own = await on.order();
    await suspendChannel(operator, { appId: 'test_demo' });
    const { page } = await claim(on, await on.get(own.path), 'VIP pass 1');
    await resumeChannel(operator, { appId: 'test_demo' });
    expect(codesOf(page)).toHaveLength(1);
  });
});

describe('languages', () => {
  it.each([
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
    ['en;q=0.3, zh-Hant-TW;q=0.4', 'zh-CN'],
    ['ZH', 'zh-CN'],
    ['fr, zh;q=0.1', 'zh-CN'],
    ['en-US,en;q=0.9,zh;q=0.8', 'en'],
    ['zh;q=0, en;q=0.1', 'en'],
    ['zh;q=nonsense', 'en'],
    ['fr', 'en'],
    ['*', 'en'],
    ['', 'en'],
  ])('%s: %s', async (accepted, lang) => {
    const { headers, text: page } = await on.get(order.path, { 'accept-language': accepted });
    expect([headers['content-language'], headers['vary']]).toEqual([lang, 'Accept-Language']);
    expect(page).toContain(`<html lang="${lang}">`);
    expect(page).toContain(lang === 'en' ? 'Ready to claim' : '待领取');
  });

  it('the switch: keeps its choice in all links and forms, against the language of the browser', async () => {
    const own = await on.order();
    await on.advance(own, 1);
    const browser = { 'accept-language': 'en' };
    const first = await on.get(own.path, browser);
    const page = await on.get(linkIn(first, '中文'), browser);
    expect(page.headers['content-language']).toBe('zh-CN');
    const links = [...page.text.matchAll(/(?:href|action)="(\/redeem(?:\/[a-z-]+)?\?[^"#]*)"/g)].map(
      ([, href = '']) => href,
    );
    expect(links.length).toBeGreaterThan(3);
    for (const href of links) expect(href).toMatch(/[?;]lang=(zh|en)$/);
    const [, action = ''] = /action="([^"]+)"/.exec(page.text) ?? [];
    const [value = ''] = claimsOf(page).values();
    const { headers } = await on.post(action, { ...formOf(page), claim: value }, browser);
    expect(headers.location).toMatch(/&lang=zh#done$/);
    const question = await on.get(linkIn(page, '退订'), browser);
    expect(question.headers['content-language']).toBe('zh-CN');
    expect((await on.get(linkIn(question, 'English'), browser)).headers['content-language']).toBe('en');
    // A refused link is not on its page.
    expect((await on.get('/redeem?sig=bad')).text).toContain('href="/redeem?lang=zh"');
    for (const lang of ['fr', '', 'zh&lang=en']) expect((await on.get(`${own.path}&lang=${lang}`)).status).toBe(200);
  });

  it('in Chinese, including dates and amounts', async () => {
    const page = textOf(await on.get(order.path, { 'accept-language': 'zh' }));
    expect(page).toContain('生效中 Monthly membership 第 1 期，共 12 期 2026年1月31日 – 2026年2月28日');
    expect(page).toContain('第 1 期 请在 2026年5月1日 12:00 前领取 VIP pass 价值 ¥15.00 领取');
  });
});

describe('texts of a channel', () => {
  it('are shown as text, everywhere', async () => {
    const evil = `<script>alert("x")</script>'&amp;<img src=x onerror=alert(1)>`;
    const productCode = unique('EVIL').toUpperCase().replaceAll('-', '_');
    await sell(on, {
      productCode,
      productName: `P${evil}`,
      benefits: [
        { benefitCode: 'EVIL_1', name: `B${evil}`, faceValueCent: 50 },
        { benefitCode: 'EVIL_2', name: `C${evil}`, faceValueCent: 50 },
      ],
    });
    const own = await on.order({ productCode, channelUserId: `U${evil}\n`, externalOrderNo: `${unique('E')}${evil}` });
    const first = await on.get(own.path);
    // The line break is escaped, because browsers would send it in a form as two characters.
    expect(formOf(first)['channelUserId']).toBe(`U${evil}%0A`);
    const { page } = await claim(on, first, `B${escaped(evil)} 1`);
    const ask = await on.get(own.path.replace('/redeem', '/redeem/unsubscribe'));
    for (const name of ['P', 'B', 'C', 'U']) {
      expect(page.text.includes(escaped(`${name}${evil}`)), name).toBe(true);
    }
    expect(page.text).toContain(escaped(own.externalOrderNo));
    for (const { text: shown } of [first, page, ask]) {
      expect(shown).not.toMatch(/<script>|<img|alert\("x"\)/);
    }
    expect(titleOf(page)).toBe(`P${escaped(evil)} · Your benefits · Demo channel`);
  });
});

/** Returns all pages of a list. */
async function pagesOf(path: string): Promise<Reply[]> {
  const pages = [await on.get(path)];
  for (let last = pages[0]; last?.text.includes('>Show more<'); last = pages.at(-1)) {
    pages.push(await on.get(linkIn(last, 'Show more')));
  }
  for (const { status, text } of pages) expect([status, Buffer.byteLength(text) < 50_000]).toEqual([200, true]);
  return pages;
}

describe('many periods', () => {
  it('24 benefits: nearest deadline first, the first twelve, and all of them one link away', async () => {
    const own = await on.order();
    await on.advance(own, 11);
    const page = await on.get(own.path);
    expect(textOf(page)).toContain('Ready to claim 24 Claim everything (24) Period 1');
    expect([...claimsOf(page).keys()].slice(0, 3)).toEqual(['VIP pass 1', 'Coupon 1', 'VIP pass 2']);
    expect(claimsOf(page).size).toBe(12);
    const lists = await pagesOf(linkIn(page, 'All 24 to claim'));
    const all = lists.flatMap((one) => [...claimsOf(one).keys()]);
    expect([lists.length, all.length, all.at(-1)]).toEqual([2, 24, 'Coupon 12']);
    const [, second] = lists;
    expect(second && linkIn(second, 'Back to the start')).toBe(linkIn(page, 'All 24 to claim'));
    // Claims whole periods, each with one press.
    const twelve = [...claimAllsOf(page).values(), ...claimAllsOf(second as Reply).values()];
    expect(twelve).toHaveLength(6 + 2);
    for (const period of claimAllsOf(page).values()) await on.post('/redeem/claim-all', { ...formOf(page), period });
    const half = await on.get(own.path);
    expect(textOf(half)).toContain('Ready to claim 12 Claim everything (12) Period 7');
    expect([codesOf(half).length, Buffer.byteLength(half.text) < 50_000]).toEqual([4, true]);
    const codes = await pagesOf(linkIn(half, 'All 12 codes'));
    expect(new Set(codes.flatMap(codesOf)).size).toBe(12);
    expect(linkIn(codes[0] as Reply, 'Back to your benefits')).toBe(own.path);
  });

  it('a benefit with a nearer deadline comes first, and shows its own deadline', async () => {
    const own = await on.order();
    await on.advance(own, 2);
    await on.service.fresh.database.query(
      `update benefits set expires_at = to_timestamp($2::double precision / 1000) where order_no = $1 and cycle_no = 3 and name = 'Coupon'`,
      [own.orderNo, on.service.clock.now() + 2 * 86_400_000],
    );
    const page = await on.get(own.path);
    const order = ['Coupon 3', 'VIP pass 3', 'VIP pass 1', 'Coupon 1', 'VIP pass 2', 'Coupon 2'];
    expect([...claimsOf(page).keys()]).toEqual(order);
    // PostgreSQL sorts the list, and the node sorts the page. Both must show the benefits in the same sequence.
    const [list] = await pagesOf(own.path.replace('/redeem', '/redeem/benefits'));
    expect(list && [...claimsOf(list).keys()]).toEqual(order);
    expect(textOf(page)).toContain('Coupon Worth ¥4.90 2 days left Claim by 2 Feb 2026, 12:00 Claim');
    expect(textOf(page)).toContain('VIP pass Worth ¥15.00 Claim by 29 Jun 2026, 12:00 Claim');
    expect(textOf(page)).toContain('Period 1 Claim by 1 May 2026, 12:00 VIP pass Worth ¥15.00 Claim');
  });

  it('an order of 9,999 periods opens, and everything is one link away', async () => {
    await dailyProduct(on.service, 'PAGE_9999', 9999);
    const own = await on.order({ productCode: 'PAGE_9999' });
    await fillPeriods(on.service.fresh, own.orderNo);
    const page = await on.get(own.path);
    expect([page.status, [...claimsOf(page).keys()].slice(0, 2)]).toEqual([200, ['Day pass 1', 'Day pass 9910']]);
    expect(Buffer.byteLength(page.text)).toBeLessThan(50_000);
    expect(textOf(page)).toContain('Ready to claim 61 Claim everything (61) Period 1');
    const toClaim = (await pagesOf(linkIn(page, 'All 61 to claim'))).flatMap((one) => [...claimsOf(one).keys()]);
    expect([toClaim.length, toClaim.at(-1)]).toEqual([61, 'Day pass 9969']);
    const codes = await pagesOf(linkIn(page, 'All 30 codes'));
    expect(textOf(codes[0] as Reply)).toContain('Your codes Day pass Period 9999');
    expect(textOf(await on.get(linkIn(page, '9908 benefits no longer available')))).toContain(
      'Day pass Period 9909 · Expired',
    );
    expect(textOf(await on.get(`${own.path.replace('/redeem', '/redeem/past')}&from=3-1`))).toMatch(
      /Day pass Period 3 · .*Day pass Period 2 · [^·]*Back to the start/,
    );
    const payments = await on.get(linkIn(page, 'All 9999 periods'));
    expect(payments.text.match(/class="payment"/g)).toHaveLength(20);
    expect(textOf(await on.get(linkIn(payments, 'Show more')))).toContain('Period 9979');
    const oldest = textOf(await on.get(`${own.path.replace('/redeem', '/redeem/payments')}&from=2`));
    expect(oldest).toMatch(/Period 2 ¥\d.* Period 1 ¥/);
    const { answer, page: done } = await claim(on, page, 'Day pass 9910');
    expect(answer.headers.location).toMatch(/&done=9910-\d+#done$/);
    expect([codesOf(done).length, textOf(done).includes('It’s yours Day pass Period 9910')]).toEqual([1, true]);
  });
});
