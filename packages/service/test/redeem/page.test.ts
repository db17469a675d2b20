import { encode } from 'uqr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resumeChannel, suspendChannel } from '../../src/operator/provisioning/channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { dailyProduct } from '../orders/support.js';
import { unique } from '../support/demo.js';
import {
  claim,
  claimsOf,
  codesOf,
  escaped,
  formOf,
  linkIn,
  type Ordered,
  type Stage,
  stage,
  textOf,
  titleOf,
} from './support.js';

let on: Stage;
let order: Ordered;
beforeAll(async () => {
  on = await stage();
  order = await on.order();
});
afterAll(() => on.close());

/** What the strokes of a path cover, from left to right and top to bottom. */
function darkFields(path: string): string[] {
  let [x, y] = [0, 0];
  return [...path.matchAll(/([Mmh])(\d+)(?: ([\d.]+))?/g)].flatMap(([, step, first, second]) => {
    if (step === 'M') [x, y] = [Number(first), Math.floor(Number(second))];
    else x += Number(first);
    return step === 'h' ? Array.from({ length: Number(first) }, (_, n) => `${x - Number(first) + n},${y}`) : [];
  });
}

describe('the page', () => {
  it('says what was bought, which period it is, what is left and until when, and what comes next', async () => {
    const page = textOf(await on.get(order.path));
    expect(page).toContain('Your benefits Active Monthly membership Period 1 of 12 31 Jan – 28 Feb 2026');
    expect(page).toContain('Ready to claim 2 VIP pass Period 1 · Worth ¥15.00 Until 1 May 2026, 12:00 Claim');
    expect(page).toContain('Price ¥19.90 a month Next payment 28 Feb 2026');
    expect(page).toContain(`Order number ${order.orderNo} Provider order number ${order.externalOrderNo}`);
  });

  it('shows a claimed benefit with its code, as text and as a picture, and no button', async () => {
    const own = await on.order();
    const { page } = await claim(on, await on.get(own.path), 'VIP pass 1');
    expect([...claimsOf(page).keys()]).toEqual(['Coupon 1']);
    expect(codesOf(page)).toEqual([expect.stringMatching(/^[A-Z0-9]{16}$/)]);
    expect(page.text.match(/<svg/g)).toHaveLength(1);
    expect(page.text).toMatch(/<svg [^>]*aria-labelledby="b-1-\d+-qr b-1-\d+-name"/);
    expect(textOf(page)).toContain('Your codes VIP pass Period 1 · Claimed 31 Jan 2026, 12:00');
  });

  it('draws the code itself, field by field', async () => {
    const own = await on.order();
    const { page } = await claim(on, await on.get(own.path), 'VIP pass 1');
    const [code = ''] = codesOf(page);
    const [, path = ''] = / d="([^"]+)"/.exec(page.text) ?? [];
    const { data, size } = encode(code, { ecc: 'M', border: 4 });
    expect(page.text).toContain(`viewBox="0 0 ${size} ${size}"`);
    expect(darkFields(path)).toEqual(data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x},${y}`] : []))));
  });

  it('says so when nothing is left, and when the next benefits come', async () => {
    const own = await on.order();
    let page = await on.get(own.path);
    for (const what of ['VIP pass 1', 'Coupon 1']) ({ page } = await claim(on, page, what));
    expect(textOf(page)).toContain(
      'There is nothing left to claim at the moment. The next benefits come with the payment on 28 Feb 2026.',
    );
    const chinese = textOf(await on.get(own.path, { 'accept-language': 'zh' }));
    expect(chinese).toContain('目前没有可领取的权益。下一期权益将于 2026年2月28日 付款后发放。');
  });

  it('is one response without anything inline, and names nothing from elsewhere', async () => {
    const { text: page } = await on.get(order.path);
    expect(page).not.toMatch(/<style|style=|<script(?! src="\/redeem\/)| on\w+=|https?:/);
    for (const [, name = ''] of page.matchAll(/(?:src|href)="\/redeem\/(page\.[^"]+)"/g)) {
      const asset = await on.get(`/redeem/${name}`);
      expect([asset.status, asset.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(asset.headers['content-type']).toMatch(name.endsWith('css') ? /^text\/css/ : /^text\/javascript/);
    }
  });

  it('is kept by nobody, found by nobody, and tells nobody where its reader came from', async () => {
    const { headers } = await on.get(order.path);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    });
    expect(headers['set-cookie']).toBeUndefined();
  });

  it('a channel that was suspended still has its page: its users have paid', async () => {
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

  it('in Chinese, dates and amounts too', async () => {
    const page = textOf(await on.get(order.path, { 'accept-language': 'zh' }));
    expect(page).toContain('我的权益 生效中 Monthly membership 第 1 期，共 12 期 2026年1月31日 – 2026年2月28日');
    expect(page).toContain('VIP pass 第 1 期 · 价值 ¥15.00 截止 2026年5月1日 12:00 立即领取');
  });
});

describe('what a channel fills in', () => {
  it('is shown as text, wherever it stands', async () => {
    const { operator } = on.service;
    const evil = `<script>alert("x")</script>'&amp;<img src=x onerror=alert(1)>`;
    const productCode = unique('EVIL').toUpperCase().replaceAll('-', '_');
    await createProduct(operator, {
      productCode,
      productName: `P${evil}`,
      settlementModes: ['CHANNEL_COLLECT'],
      periodType: 'DAY',
      period: 1,
      totalCycles: 3,
      amountCent: 100,
      benefits: [
        { benefitCode: 'EVIL_1', name: `B${evil}`, faceValueCent: 50 },
        { benefitCode: 'EVIL_2', name: `C${evil}`, faceValueCent: 50 },
      ],
    });
    await authorizeProduct(operator, { appId: 'test_demo', productCode });
    const own = await on.order({ productCode, channelUserId: `U${evil}\n`, externalOrderNo: `${unique('E')}${evil}` });
    const first = await on.get(own.path);
    // Browsers would send a line break in a form as two characters.
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
    expect(titleOf(page)).toBe(`P${escaped(evil)} · Your benefits`);
  });
});

describe('many periods', () => {
  it('stays below 50 KB with everything on it claimed, and the rest is behind a link', async () => {
    const own = await on.order();
    await on.advance(own, 11);
    let page = await on.get(own.path);
    for (let pressed = 1; claimsOf(page).size > 0; pressed += 1) {
      const [next = ''] = claimsOf(page).keys();
      ({ page } = await claim(on, page, next));
      // Another link for each ten: how often one may be used in a minute is not what this is about.
      const exp = Math.floor(on.service.clock.now() / 1000) + 100 + pressed;
      if (pressed % 10 === 0) page = await on.get(on.link(own, { exp }));
    }
    expect([codesOf(page).length, page.text.match(/<svg/g)?.length]).toEqual([20, 20]);
    expect(Buffer.byteLength(page.text)).toBeLessThan(50_000);
    // One link to them, which says why.
    expect(page.text).not.toContain('Earlier periods');
    const second = await on.get(linkIn(page, '4 older benefits to claim'));
    expect([...claimsOf(second).keys()]).toEqual(['VIP pass 2', 'Coupon 2', 'VIP pass 1', 'Coupon 1']);
    expect(second.text).not.toMatch(/(older|newer) benefits? to claim/);
    expect(codesOf(await on.get(linkIn(second, 'Back to the newest')))).toEqual(codesOf(page));
  });

  it('an order of 9,999 periods opens, and whatever can be claimed is a link away', async () => {
    await dailyProduct(on.service, 'PAGE_9999', 9999);
    const own = await on.order({ productCode: 'PAGE_9999' });
    const { database } = on.service.fresh;
    // Seven years of days, of which the last ninety can be claimed and the newest thirty were.
    await database.query(
      `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, status, issued_at,
         expires_at, claim_no, claimed_at)
       select order_no, n, position, channel_id, benefit_code, name, face_value_cent,
         case when n > 9969 then 'CLAIMED' when n > 9909 then 'ISSUED' else 'EXPIRED' end, issued_at,
         case when n > 9909 then expires_at else issued_at end,
         case when n > 9969 then 'C' || n end, case when n > 9969 then issued_at end
       from benefits, generate_series(2, 9999) n where order_no = $1`,
      [own.orderNo],
    );
    await database.query('update orders set cycle_no = 9999 where order_no = $1', [own.orderNo]);
    const page = await on.get(own.path);
    expect([page.status, claimsOf(page).size]).toEqual([200, 0]);
    expect(Buffer.byteLength(page.text)).toBeLessThan(50_000);
    expect(textOf(page)).toContain('Ready to claim 61 61 older benefits to claim');
    const second = await on.get(linkIn(page, '61 older benefits to claim'));
    expect(claimsOf(second).size).toBe(20);
    expect([...claimsOf(second).keys()][0]).toBe('Day pass 9969');
    expect(textOf(second)).toContain('41 older benefits to claim');
    expect(textOf(second)).not.toContain('newer');
    const third = await on.get(linkIn(second, '41 older benefits to claim'));
    expect(textOf(third)).toContain('Ready to claim 61 20 newer benefits to claim Day pass');
    expect([...claimsOf(await on.get(linkIn(third, '20 newer benefits to claim'))).keys()][0]).toBe('Day pass 9969');
    const between = textOf(await on.get(`${own.path}&from=5000-1`));
    expect(between).toContain('Ready to claim 61 60 newer benefits to claim 1 older benefit to claim');
    const claimed = await claim(on, second, 'Day pass 9950');
    expect(claimed.answer.headers.location).toMatch(/from=9969-\d+#b-9950-/);
    expect(codesOf(claimed.page)).toHaveLength(1);
  });
});
