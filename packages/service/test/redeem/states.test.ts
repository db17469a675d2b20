import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { sharedRequest } from '../support/demo.js';
import { claim, claimsOf, type Ordered, type Stage, stage, textOf } from './support.js';

/** What the page says of an order that does not simply go on. */

let on: Stage;
beforeAll(async () => {
  on = await stage();
});
afterAll(() => on.close());

const query = (text: string, values: unknown[]) => on.service.fresh.database.query(text, values);
const chineseOf = async ({ path }: Pick<Ordered, 'path'>) => textOf(await on.get(path, { 'accept-language': 'zh' }));

describe('a payment that failed', () => {
  /** A debited order whose second period came to this. */
  async function after(outcome: string): Promise<{ readonly path: string }> {
    const { data } = await on.channel.call('orders/create', sharedRequest(on.channel));
    const path = data.redeemUrl.replace(/^.*(?=\/redeem)/, '');
    const to = outcome === 'FAIL' ? { cycles: 1 } : { to: '2026-02-28 12:00:00' };
    const advanced = await on.channel.call('sandbox/orders/advance', {
      orderNo: data.orderNo,
      outcomes: [outcome],
      ...to,
    });
    expect(advanced.code, advanced.text).toBe('0');
    return { path };
  }

  it('for good: says so, and which period has nothing', async () => {
    const order = await after('FAIL');
    const page = textOf(await on.get(order.path));
    expect(page).toContain('Active Monthly membership Period 2 of 12');
    expect(page).toContain('The payment for period 2 failed, so this period has no benefits.');
    expect(page).toContain('Next payment 31 Mar 2026');
    expect(await chineseOf(order)).toContain('第 2 期扣款失败，该期没有权益。');
  });

  it('for now: says so, and when the next try is', async () => {
    const order = await after('FAIL_RETRY');
    const page = textOf(await on.get(order.path));
    expect(page).toContain(
      'The payment for period 2 failed. The next try is on 1 Mar 2026, and its benefits come once it succeeds.',
    );
    expect(page).toContain('Next try 1 Mar 2026');
    const chinese = await chineseOf(order);
    expect(chinese).toContain('第 2 期扣款失败，将于 2026年3月1日 再次扣款，成功后发放该期权益。');
    expect(chinese).toContain('下次重试 2026年3月1日');
  });

  it('is not spoken of where none did', async () => {
    expect(textOf(await on.get((await on.order()).path))).not.toContain('failed');
  });
});

describe('the first payment', () => {
  it('while it is under way, that is what the page says of payments', async () => {
    const order = await on.order();
    await query(`update orders set status = 'INITIALIZING', next_due_at = null where order_no = $1`, [order.orderNo]);
    expect(textOf(await on.get(order.path))).toContain('Next payment First payment under way');
    expect(await chineseOf(order)).toContain('下次扣款 首期扣款处理中');
  });
});

describe('up to when the page can be opened', () => {
  it('is not said while the channel gets fresh links', async () => {
    const order = await on.order();
    const { page } = await claim(on, await on.get(order.path), 'VIP pass 1');
    expect(textOf(page)).not.toContain('can be opened until');
  });

  it('is said once everything was claimed: by the end of this link', async () => {
    const order = await on.order();
    let page = await on.get(order.path);
    for (const what of claimsOf(page).keys()) ({ page } = await claim(on, page, what));
    const { data } = await on.channel.call('orders/query', { orderNo: order.orderNo });
    expect(data.redeemUrl).toBeNull();
    expect(textOf(page)).toContain('This page can be opened until 7 Feb 2026, 12:00. Please note your codes.');
    expect(textOf(await on.get(on.link(order)))).toContain('until 31 Jan 2026, 12:01. Please');
    expect(await chineseOf(order)).toContain('付款后发放。本页面可打开至 2026年2月7日 12:00，请记下您的兑换码。');
  });

  it('is said of an order that was ended, with what is left to do', async () => {
    const order = await on.order();
    await on.channel.call('orders/unsubscribe', { orderNo: order.orderNo });
    const page = await on.get(order.path);
    expect(textOf(page)).toContain(
      'This page can be opened until 7 Feb 2026, 12:00. Please claim what is left before then, and note your codes.',
    );
    expect(claimsOf(page).size).toBe(2);
    expect(await chineseOf(order)).toContain('请在此之前领取剩余权益，并记下您的兑换码。');
  });
});

describe('a benefit without a value', () => {
  it('is not said to be worth nothing', async () => {
    const { operator } = on.service;
    const productCode = 'FREE_EXTRA';
    await createProduct(operator, {
      productCode,
      productName: 'Free extra',
      settlementModes: ['CHANNEL_COLLECT'],
      periodType: 'MONTH',
      period: 1,
      totalCycles: 3,
      amountCent: 100,
      benefits: [{ benefitCode: 'EXTRA', name: 'Extra', faceValueCent: 0 }],
    });
    await authorizeProduct(operator, { appId: on.channel.credentials.appId, productCode });
    const page = await on.get((await on.order({ productCode })).path);
    expect(textOf(page)).toContain('Extra Period 1 Until');
    expect([...claimsOf(page).keys()]).toEqual(['Extra 1']);
  });
});
