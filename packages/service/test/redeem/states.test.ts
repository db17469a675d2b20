import { describe, expect, it } from 'vitest';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { ofFile } from '../orders/stage-of-file.js';
import { mobileOf, sharedRequest } from '../support/demo.js';
import { at, claim, claimsOf, formOf, linkIn, type Ordered, post, sell, stage, textOf } from './support.js';

/** Tests the page of an order that is not simply active. */

const on = ofFile(stage);

const chineseOf = async ({ path }: Pick<Ordered, 'path'>) => textOf(await on.get(path, { 'accept-language': 'zh' }));

describe('the first payment', () => {
  it('is shown as in progress while it is', async () => {
    const { data } = await on.channel.call('orders/create', sharedRequest(on.channel));
    const order = { ...data, path: data.redeemUrl.replace(/^.*(?=\/redeem)/, '') };
    await on.query(`update orders set status = 'INITIALIZING', next_due_at = null where order_no = $1`, [
      order.orderNo,
    ]);
    const page = textOf(await on.get(order.path));
    expect(page).toContain('Next payment First payment in progress');
    expect(page).toContain('Ordered on 31 Jan 2026');
    expect(page).not.toContain('Started on');
    expect(await chineseOf(order)).toContain('下次扣款 首期扣款处理中');
  });
});

describe('a product without benefits', () => {
  it('promises none on any page, in any state', async () => {
    const settlementModes = ['SVC_DEDUCT', 'CHANNEL_COLLECT'] as const;
    await sell(on, {
      productCode: 'BARE',
      productName: 'Plain service',
      settlementModes: [...settlementModes],
      benefits: [],
    });
    const seen: string[] = [];
    const look = async (path: string) => {
      seen.push(textOf(await on.get(path)));
      expect(await chineseOf({ path })).not.toMatch(/权益|兑换码|领取/);
    };
    const billed = await on.order({ productCode: 'BARE' });
    await look(billed.path);
    await look(on.link(billed, { exp: Math.floor(on.service.clock.now() / 1000) }));
    const request = sharedRequest(on.channel, { productCode: 'BARE' });
    const { orderNo } = (await on.channel.call('orders/create', request)).data;
    const path = on.link({ ...billed, ...request, orderNo });
    for (const outcome of ['FAIL_RETRY', 'FAIL']) {
      const to = { FAIL_RETRY: { to: '2026-02-28 12:00:00' }, FAIL: { cycles: 1 } }[outcome];
      await on.channel.call('sandbox/orders/advance', { orderNo, outcomes: [outcome], ...to });
      for (const page of [path, at(path, 'payments'), at(path, 'unsubscribe')]) await look(page);
    }
    await on.channel.call('orders/unsubscribe', { orderNo });
    for (const page of [path, at(path, 'ended'), at(path, 'unsubscribe')]) await look(page);
    expect(seen.join(' ')).toContain('Back to your subscription');
    expect(seen.filter((text) => /benefit|codes|claim/i.test(text))).toEqual([]);
  });
});

describe('a terminated order', () => {
  it('offers no new link, because the seller can get none', async () => {
    const { data } = await on.channel.call('orders/create', sharedRequest(on.channel));
    const path = data.redeemUrl.replace(/^.*(?=\/redeem)/, '');
    const { orderNo } = data;
    await on.query(`update orders set status = 'TERMINATED', next_due_at = null where order_no = $1`, [orderNo]);
    await on.query('delete from benefits where order_no = $1', [orderNo]);
    expect((await on.channel.call('orders/query', { orderNo })).data.redeemUrl).toBeNull();
    const read = async () => textOf(await on.get(path));
    expect(await read()).toContain('Your link to this page works until 7 Feb 2026, 12:00.');
    expect(await read()).not.toMatch(/new link|Started on/);
    expect(await chineseOf({ path })).toContain('下单日期 2026年1月31日');
    await setBranding(on.service.operator, { appId: 'test_demo', shopUrl: 'https://shop.example/' });
    const branded = await read();
    await setBranding(on.service.operator, { appId: 'test_demo', shopUrl: null });
    expect(branded).not.toMatch(/new link/);
  });
});

describe('the time until which the page can be opened', () => {
  it('is shown once everything was claimed: the end of this link', async () => {
    const order = await on.order();
    let page = await on.get(order.path);
    for (const what of claimsOf(page).keys()) ({ page } = await claim(on, page, what));
    const { data } = await on.channel.call('orders/query', { orderNo: order.orderNo });
    expect(data.redeemUrl).toBeNull();
    expect(textOf(page)).toContain('This page can be opened until 7 Feb 2026, 12:00. Save your codes before then.');
    expect(textOf(await on.get(on.link(order)))).toContain('until 31 Jan 2026, 13:00. Save');
    expect(await chineseOf(order)).toContain('本页面可打开至 2026年2月7日 12:00，请记下您的兑换码。');
  });

  it('after an unsubscribe by the user: the next URL is the link to keep, and each deadline is its own', async () => {
    const order = await on.order();
    let page = await on.get(order.path);
    for (const what of claimsOf(page).keys()) ({ page } = await claim(on, page, what));
    expect(page.text).not.toContain('to keep');
    const question = await on.get(at(order.path, 'unsubscribe'));
    const asked = textOf(question);
    expect(asked).toContain('Codes that you have claimed stay yours.');
    expect(asked).not.toContain('while this page can be opened');
    expect(asked).toContain(
      'You then get a link that works until 1 May 2026, 12:00. Please keep it: your current one works until 7 Feb 2026, 12:00.',
    );
    const answered = { ...formOf(question), digits: mobileOf(order.channelUserId).slice(-4) };
    const ended = await post(on.service.baseUrl, '/redeem/unsubscribe', answered);
    const kept = ended.headers.location ?? '';
    expect([ended.status, kept]).toEqual([303, expect.stringMatching(/^\/redeem\/ended\?/)]);
    // A second press of the button leads to the same page. So does the URL of this page that has the earlier link's
    // signature.
    const again = await post(on.service.baseUrl, '/redeem/unsubscribe', answered);
    const former = await on.get(at(order.path, 'ended'));
    expect([again.headers.location, former.status, former.headers.location]).toEqual([kept, 303, kept]);

    const start = on.service.clock.now();
    on.service.clock.advance(60 * 86_400_000);
    const [confirmed, late] = [await on.get(kept), await on.get(order.path)];
    on.service.clock.set(start);
    expect([confirmed.status, late.status]).toEqual([200, 410]);
    expect(textOf(confirmed)).toContain('Your codes can be seen until 1 May 2026, 12:00');
    expect(textOf(confirmed)).toContain('This is the link to keep. It works until 1 May 2026, 12:00');
    const codes = await on.get(linkIn(confirmed, 'See your codes'));
    expect(textOf(codes)).toContain('It works until 1 May 2026, 12:00');
  });

  it('a link to keep is offered while a code is pending; a completed order may have further ones', async () => {
    const order = await on.order();
    await on.query(`update benefits set status = 'CLAIMED', claimed_at = now() where order_no = $1`, [order.orderNo]);
    const active = textOf(await on.get(order.path));
    expect(active).toContain('Your code is on its way');
    expect(active).toContain('You can save a link that works until 1 May 2026, 12:00.');
    const other = await on.order();
    await on.query(`update orders set status = 'COMPLETED', next_due_at = null where order_no = $1`, [other.orderNo]);
    const completed = textOf(await on.get(other.path));
    expect(completed).toContain('You can save a link that works until');
    expect(completed).not.toContain('You will get no new link');
  });
});

describe('a benefit without a value', () => {
  it('is not shown as worth nothing', async () => {
    const productCode = 'FREE_EXTRA';
    await sell(on, { productCode, benefits: [{ benefitCode: 'EXTRA', name: 'Extra', faceValueCent: 0 }] });
    const page = await on.get((await on.order({ productCode })).path);
    expect(textOf(page)).toContain('Claim by 1 May 2026, 12:00 Extra Claim');
    expect([...claimsOf(page).keys()]).toEqual(['Extra 1']);
  });
});
