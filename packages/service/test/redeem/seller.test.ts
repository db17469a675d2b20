import { beforeAll, describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { claim, escaped, type Ordered, stage, textOf, titleOf } from './support.js';

/** Tests how the page shows its seller, and harmful names, such as a script or a thousand characters. */

const on = ofFile(stage);
let order: Ordered;
beforeAll(async () => {
  order = await on.order();
});

const HASH = 'ab'.repeat(32);

/** Stores the branding without the checks that apply to operators. Every node shows it on the next page. */
async function brand(fields: Record<string, string | null>): Promise<void> {
  const all = {
    display_name: null,
    accent: null,
    support: null,
    terms_url: null,
    shop_url: null,
    logo_hash: null,
    ...fields,
  };
  await on.query('delete from channel_brandings');
  await on.query(
    `insert into channel_brandings (channel_id, display_name, accent, support, terms_url, shop_url, logo_hash)
     select channel_id, $1, $2, $3, $4, $5, $6 from channels where app_id = 'test_demo'`,
    Object.values(all),
  );
  await on.query(`update channels set version = version + 1 where app_id = 'test_demo'`);
}

describe('a channel', () => {
  it("without branding has its name, a letter, and the service's icon", async () => {
    const { text } = await on.get(order.path);
    expect(text).toContain(
      '<span class="logo monogram" aria-hidden="true">D</span><bdi class="name">Demo channel</bdi>',
    );
    expect(text).toMatch(/<link rel="icon" href="\/redeem\/icon\.[0-9a-f]{12}\.svg">/);
    expect(text).not.toMatch(/accent-|<img|Back to your shop|https?:/);
    const [, name = ''] = /href="\/redeem\/(icon\.[^"]+)"/.exec(text) ?? [];
    expect((await on.get(`/redeem/${name}`)).headers['content-type']).toBe('image/svg+xml');
    expect(text.match(/<meta name="theme-color" media="\(prefers-color-scheme: (light|dark)\)"/g)).toHaveLength(2);
  });

  it('with all branding: logo, name, accent, link back, support and terms, on every page', async () => {
    await on.query(`insert into images (image_hash, media_type, bytes) values ($1, 'image/svg+xml', '<svg/>')`, [HASH]);
    await brand({
      display_name: 'Lumen',
      logo_hash: HASH,
      accent: '5b3df5',
      support: '400 820-1234',
      terms_url: 'https://lumen.example/terms',
      shop_url: 'https://lumen.example/',
    });
    const late = on.link(order, { exp: 1 });
    const paths = ['', '/benefits', '/codes', '/past', '/payments', '/unsubscribe'];
    for (const path of [...paths.map((one) => order.path.replace('/redeem', `/redeem${one}`)), late]) {
      const { text } = await on.get(path);
      expect(text).toContain(`<img class="logo" src="/redeem/images/${HASH}.svg?appId=test_demo" alt="">`);
      expect(text).toContain(`<link rel="icon" href="/redeem/images/${HASH}.svg?appId=test_demo">`);
      expect(text).toContain('<link rel="stylesheet" href="/redeem/accent-5b3df5.css">');
      // The main page also links to the seller at the top, and beside the time when the link expires.
      expect(text.match(/<a [^>]*href="https:\/\/lumen\.example\/" rel="noopener noreferrer">/g)).toHaveLength(
        path === order.path ? 3 : 1,
      );
      expect(text.match(/<a [^>]*href="tel:4008201234" rel="noopener noreferrer">/g)).toHaveLength(1);
      expect(text).toContain('<a href="https://lumen.example/terms" rel="noopener noreferrer">Terms</a>');
      expect(text).toMatch(/<title>[^<]* · Lumen<\/title>/);
    }
    expect(textOf(await on.get(order.path))).toContain('Back to Lumen');
    // An invalid link's page reveals nothing about the seller.
    expect((await on.get(`${order.path}x`)).text).not.toMatch(/Lumen|accent|images/);
  });

  it.each([
    ['help@lumen.example', 'href="mailto:help@lumen.example"'],
    ['https://lumen.example/help', 'href="https://lumen.example/help"'],
    ['+86 (400) 820', 'href="tel:+86400820"'],
  ])('support: %s', async (support, link) => {
    await brand({ support });
    expect((await on.get(order.path)).text).toContain(link);
  });

  it.each(['javascript:alert(1)', 'http://plain.example', 'data:text/html,x', '//evil.example', 'nonsense', ' '])(
    '%s as an address is no link at all',
    async (address) => {
      await brand({ support: address, terms_url: address, shop_url: address });
      const { text } = await on.get(order.path);
      expect(text).not.toMatch(/href="(?!\/redeem|#gift)/);
      expect(text).not.toContain('class="back"');
    },
  );
});

describe('names chosen by others', () => {
  it.each([
    ['script', `<script>alert("x")</script>'&<img src=x onerror=alert(1)>`, undefined],
    ['other directions and controls', 'ab\u202Ecod\u2066x\u200F\u0007y\u2028z', 'ab cod x y z'],
    ['a thousand characters', 'W'.repeat(1000), undefined],
    ['a thousand of four bytes', '😀'.repeat(1000), undefined],
  ])('%s: stay text, and the page small', async (_what, name, shown) => {
    await brand({ display_name: name });
    const own = await on.order();
    await on.query('update benefits set name = $2 where order_no = $1', [own.orderNo, name]);
    await on.query(`update products set product_name = $1 where product_code = 'TEST_SPU_001'`, [name]);
    await on.query('delete from benefit_presentations');
    await on.query(
      `insert into benefit_presentations (benefit_code, description_en, use_url)
       values ('VIP_PASS', $1, 'https://use.example/a?b=1&c=2'), ('COUPON', $1, 'javascript:alert(1)')`,
      [name],
    );
    const first = await on.get(own.path);
    const benefit = escaped(shown ?? name);
    const { page } = await claim(on, first, `${benefit} 1`);
    const others = await Promise.all(
      ['/benefits', '/codes', '/payments', '/unsubscribe'].map((one) =>
        on.get(own.path.replace('/redeem', `/redeem${one}`)),
      ),
    );
    for (const { status, text } of [first, page, ...others]) {
      expect([status, Buffer.byteLength(text) < 50_000]).toEqual([200, true]);
      expect(text).not.toMatch(/<script>|<img src=x|javascript:|[\u200f\u2028-\u202e\u2066-\u2069]/u);
    }
    expect(first.text).not.toContain('\u0007');
    expect(first.text).toContain(`<bdi>${benefit}</bdi>`);
    expect(first.text).toContain(`<p class="description"><bdi>${benefit}</bdi></p>`);
    // The name of the seller is shortened, because it is on the page many times.
    const [, seller = ''] = /<bdi class="name">([^<]*)</.exec(first.text) ?? [];
    expect([...seller.replaceAll(/&[^;]+;/g, 'x')].length).toBeLessThanOrEqual(60);
    expect(titleOf(first)).toContain(benefit);
  });

  it('a code links to where it is used, if that is an https URL', async () => {
    await on.query('delete from benefit_presentations');
    await on.query(
      `insert into benefit_presentations (benefit_code, icon_hash, description_zh, use_url)
       values ('VIP_PASS', $1, '四台设备', 'https://use.example/redeem'), ('COUPON', null, null, 'http://use.example/')`,
      [HASH],
    );
    await on.query(`update products set product_name = 'Monthly membership' where product_code = 'TEST_SPU_001'`);
    const own = await on.order();
    const first = await on.get(own.path, { 'accept-language': 'zh' });
    expect(first.text).toContain(`<img class="icon" src="/redeem/images/${HASH}.svg" alt="" loading="lazy">`);
    expect(textOf(first)).toContain('VIP pass 价值 ¥15.00 四台设备 领取');
    expect((await on.get(own.path)).text).not.toContain('class="description"');
    expect(first.text).not.toContain('use.example');
    let { page } = await claim(on, await on.get(own.path), 'VIP pass 1');
    ({ page } = await claim(on, page, 'Coupon 1'));
    expect(page.text.match(/href="https:\/\/use\.example\/redeem" rel="noopener noreferrer"/g)).toHaveLength(1);
    expect(page.text).not.toContain('http://');
    expect(textOf(page)).toContain('Use it at use.example');
  });
});
