import { redeemUrl } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { setBranding } from '../../src/operator/provisioning/branding.js';
import { consoleClient } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { refundStage } from '../refunds/support.js';
import { unique } from '../support/demo.js';
import { get, linkIn, textOf } from './support.js';

/** Tests how the redemption page shows payments, refunds, and the consequences of failures. */

const on = ofFile(() => refundStage({ redeemOpensPerMinute: 100_000 }));

interface Opened {
  readonly orderNo: string;
  readonly path: string;
}

async function debited(): Promise<Opened> {
  const channelUserId = unique('user');
  const orderNo = await on.paidOrder({ channelUserId });
  const { appId, callbackSecret } = on.channel.credentials;
  const exp = Math.floor(on.service.clock.now() / 1000) + 86_400;
  return {
    orderNo,
    path: redeemUrl({ host: '', orderNo, appId, channelUserId, exp }, Buffer.from(callbackSecret, 'base64')),
  };
}

async function advance(orderNo: string, more: object): Promise<void> {
  const { code, text } = await on.channel.call('sandbox/orders/advance', { orderNo, ...more });
  expect(code, text).toBe('0');
}

const open = (path: string, lang = 'en') => get(on.service.baseUrl, path, { 'accept-language': lang });
const read = async (path: string, lang?: string) => textOf(await open(path, lang));

describe('payments', () => {
  it('31 Jan to 30 Jun: latest first, each with its outcome; all of them one link away', async () => {
    const { orderNo, path } = await debited();
    await advance(orderNo, { cycles: 5 });
    await on.refund({ orderNo, cycleNo: 5 });
    await on.refund({ orderNo, cycleNo: 6, amountCent: 500 });
    on.service.clock.advance(86_400_000);
    await on.refund({ orderNo, cycleNo: 6, amountCent: 300 });
    on.service.clock.advance(-86_400_000);
    const page = await open(path);
    const text = textOf(page);
    expect(text).toContain('Payments 30 Jun 2026 Period 6 ¥19.90 Partly refunded ¥3.00 refunded on 1 Feb 2026');
    expect(text).toContain(
      '¥5.00 refunded on 31 Jan 2026 Receipt 31 May 2026 Period 5 ¥19.90 Refunded ¥19.90 refunded on',
    );
    expect(text).toContain(
      '30 Apr 2026 Period 4 ¥19.90 Paid Receipt 31 Mar 2026 Period 3 ¥19.90 Paid Receipt All 6 payments',
    );
    expect(text).toContain('Next payment ¥19.90 31 Jul 2026');
    expect(text).toContain('Last payment 30 Jun 2026 · ¥19.90');
    const all = textOf(await open(linkIn(page, 'All 6 payments')));
    expect(all).toMatch(
      /Payments 30 Jun 2026 .* 28 Feb 2026 Period 2 ¥19\.90 Paid Receipt 31 Jan 2026 Period 1 ¥19\.90 Paid/,
    );
    const chinese = await read(path, 'zh');
    expect(chinese).toContain('付款记录 2026年6月30日 第 6 期 ¥19.90 部分退款 已于 2026年2月1日退款 ¥3.00');
    expect(chinese).toContain('2026年5月31日 第 5 期 ¥19.90 已退款 已于 2026年1月31日退款 ¥19.90');
  });

  it('a paid period has a receipt in both languages, which loads nothing; support gets the same', async () => {
    const { orderNo, path } = await debited();
    await advance(orderNo, { cycles: 1 });
    await advance(orderNo, { outcomes: ['FAIL'], cycles: 1 });
    await on.refund({ orderNo, cycleNo: 2, amountCent: 500 });
    const page = await open(path);
    const receipt = linkIn(page, 'Receipt');
    const { status, headers, text } = await open(receipt);
    expect(status).toBe(200);
    const lines =
      'Receipt Seller Demo channel Product Monthly membership Period 2 of 12 28 Feb 2026 – 31 Mar 2026 Amount ¥19.90 ' +
      `Paid 28 Feb 2026, 12:00 Paid with Mock Pay •••• 4567 Payment order number ${orderNo}0002 Order number ${orderNo} ` +
      'Refund ¥5.00 refunded on 31 Jan 2026 After refunds ¥14.90 Times are Beijing time (UTC+8).';
    expect(textOf({ text })).toContain(`Back to your benefits 中文 ${lines}`);
    expect(text).not.toMatch(/<(?:link|script|img)/);
    expect(headers['content-security-policy']).toMatch(/style-src 'sha256-[\w+/=]+';/);
    const chinese = await read(receipt, 'zh');
    expect(chinese).toContain(`支付订单号 ${orderNo}0002`);
    expect(chinese).toContain('退款 已于 2026年1月31日退款 ¥5.00 退款后金额 ¥14.90');
    // A failed period, a period that has not begun, and a changed link have none.
    for (const none of [receipt.replace('from=2', 'from=3'), receipt.replace('from=2', 'from=9'), `${receipt}0`]) {
      expect((await open(none)).status, none).toBe(404);
    }
    const support = await consoleClient(on.service, 'support');
    const ofSupport = await support.send('GET', `/orders/${orderNo}/periods/2/receipt?lang=en`);
    expect(ofSupport.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(ofSupport.headers.get('content-disposition')).toBe('inline');
    expect(textOf({ text: ofSupport.body })).toContain(lines);
    expect((await support.get(`/orders/${orderNo}/periods/3/receipt?lang=en`)).status).toBe(404);
  });

  it('the subscription: the card, the start, the last payment, and what remains', async () => {
    const { path, orderNo } = await debited();
    await advance(orderNo, { cycles: 1 });
    await advance(orderNo, { outcomes: ['FAIL', 'FAIL', 'FAIL', 'FAIL'], cycles: 4 });
    const page = await read(path);
    expect(page).toContain('Price ¥19.90 a month Paid with Mock Pay •••• 4567 Started on 31 Jan 2026');
    // Even if the last payment is not among the periods shown.
    expect(page).toContain('Last payment 28 Feb 2026 · ¥19.90 Remaining 6 periods Runs until 31 Jan 2027');
    const chinese = await read(path, 'zh');
    expect(chinese).toContain('付款方式 Mock Pay（尾号 4567） 开通日期 2026年1月31日 上次扣款 2026年2月28日 · ¥19.90');
    expect(chinese).toContain('剩余期数 6 期 到期日期 2027年1月31日');
  });

  it('a failed payment says why in plain words, and what the user can do', async () => {
    const { path, orderNo } = await debited();
    await advance(orderNo, { outcomes: ['FAIL_RETRY'], to: '2026-02-28 12:00:00' });
    const { database } = on.service.fresh;
    const readWith = async (reason: string, lang = 'en', kind: string | null = null) => {
      const values = [orderNo, reason, kind];
      await database.query('update failed_payments set reason = $2, decline_kind = $3 where order_no = $1', values);
      return read(path, lang);
    };
    // The stored kind decides. Debits that an older node settled have none, so theirs follows from the reason.
    expect(await readWith('code 51', 'en', 'CARD_LOST')).toContain('The card was reported lost');
    const money = await readWith('code 51 insufficient funds');
    expect(money).toContain('There was not enough money on the card. We will try again on 1 Mar 2026.');
    expect(money).toContain('Please make sure by then that the card has enough money or a high enough limit.');
    expect(money).not.toContain('code 51');
    expect(await readWith('code 51', 'zh')).toContain('银行卡余额不足。将于 2026年3月1日再次扣款');
    expect(await readWith('timed out')).toContain('The bank could not be reached. We will try again');
    expect(await readWith('timed out')).toContain('You do not need to do anything.');
    const expired = await readWith('card expired');
    expect(expired).toContain('The card has expired.');
    expect(expired).toContain('Please contact Demo channel to pay with another card.');
    expect(await readWith('card expired', 'zh')).toContain('银行卡已过有效期。');
    // The channel can replace the card of a shared agreement. Its shop is then where the user does it.
    await setBranding(on.service.operator, {
      ...{ appId: 'test_demo', shopUrl: 'https://shop.example/', support: '400 820-1234' },
    });
    const branded = await open(path);
    await database.query('update orders set shared = false where order_no = $1', [orderNo]);
    const bound = textOf(await open(path));
    await setBranding(on.service.operator, { appId: 'test_demo', shopUrl: null, support: null });
    expect(textOf(branded)).toContain(
      'You get the benefits once it succeeds. Change the card at Demo channel Call 400 820-1234',
    );
    expect(branded.text).toContain('<a class="link" href="https://shop.example/"');
    // Nobody can replace the card of any other agreement.
    const again = 'To pay with another card, end the subscription and subscribe again at Demo channel.';
    expect(bound).toContain(`The card of this subscription cannot be changed. ${again}`);
    expect(bound).not.toMatch(/Change the card|contact Demo channel/);
    expect(await read(path, 'zh')).toContain('如需使用其他银行卡，请先退订，再前往 Demo channel 重新订阅。');
  });

  it('an ended subscription has no progress, and says from when to when it ran', async () => {
    const { path, orderNo } = await debited();
    expect((await open(path)).text).toContain('<progress ');
    await on.channel.call('orders/unsubscribe', { orderNo });
    const ended = await open(path);
    expect(ended.text).not.toContain('<progress ');
    expect(textOf(ended)).toContain('Ended Monthly membership 31 Jan 2026 Ready');
    expect(textOf(ended)).not.toMatch(/Remaining|Runs until|Period 1 of 12/);
  });

  it('a final failure stays, and shows what happens next', async () => {
    const { orderNo, path } = await debited();
    await advance(orderNo, { outcomes: ['FAIL'], cycles: 1 });
    const page = await read(path);
    expect(page).toContain(
      '28 Feb 2026 Period 2 ¥19.90 Failed The bank declined the payment. You were not charged, so this period has no benefits. ' +
        'There are no further attempts. The next period begins on 31 Mar 2026.',
    );
    expect(page).toContain('Active Monthly membership Period 2 of 12');
    expect(page).toContain(
      'The payment for period 2 failed The bank declined the payment. You were not charged, so this period has no benefits.',
    );
    expect(page).toContain('Next payment ¥19.90 31 Mar 2026');
    expect(page).toContain('End it before 31 Mar 2026 to avoid this payment.');
    expect(await read(path, 'zh')).toContain('第 2 期扣款失败 银行未通过此次扣款。未扣款，本期无权益。');
    await advance(orderNo, { cycles: 1 });
    const later = await read(path);
    expect(later).toContain(
      '31 Mar 2026 Period 3 ¥19.90 Paid Receipt 28 Feb 2026 Period 2 ¥19.90 Failed The bank declined',
    );
    expect(later).not.toContain('no further attempts');
    expect(await read(path, 'zh')).toContain(
      '2026年2月28日 第 2 期 ¥19.90 扣款失败 银行未通过此次扣款。 未扣款，本期无权益。',
    );
  });

  it('a retry shows its time; a period ended before shows that nothing was taken', async () => {
    const { orderNo, path } = await debited();
    await advance(orderNo, { outcomes: ['FAIL_RETRY'], to: '2026-02-28 12:00:00' });
    const page = await read(path);
    expect(page).toContain(
      'Not paid yet The bank declined the payment. We will try again on 1 Mar 2026. You get the benefits once it succeeds.',
    );
    expect(page).toContain(
      'The payment for period 2 failed The bank declined the payment. We will try again on 1 Mar 2026.',
    );
    expect(page).toContain('Next attempt ¥19.90 1 Mar 2026');
    const chinese = await read(path, 'zh');
    expect(chinese).toContain('第 2 期扣款失败 银行未通过此次扣款。将于 2026年3月1日再次扣款，成功后发放权益。');
    expect(chinese).toContain('下次重试 ¥19.90 2026年3月1日');
    await on.channel.call('orders/unsubscribe', { orderNo });
    expect(await read(path)).toContain(
      'Period 2 ¥19.90 Cancelled The subscription ended first. You were not charged. 31 Jan 2026 Period 1 ¥19.90 Paid',
    );
  });
});

describe('mode B', () => {
  /** Words that may be used only if the service takes the money itself. In mode B it does not. */
  const OURS = /debit|payment|will not be taken|was taken(?! back)|扣款|付款/i;

  it('names the biller, and never mentions a debit, on any page and in any state', async () => {
    const { database } = on.service.fresh;
    const states: readonly ((orderNo: string) => Promise<unknown>)[] = [
      async () => undefined,
      (orderNo) => database.query(`update benefits set status = 'REVOKED' where order_no = $1`, [orderNo]),
      (orderNo) =>
        database.query(`update orders set status = 'COMPLETED', next_due_at = null where order_no = $1`, [orderNo]),
      (orderNo) => on.channel.call('orders/unsubscribe', { orderNo }),
    ];
    const paths = ['', '/benefits', '/codes', '/past', '/payments', '/unsubscribe', '/ended'];
    const looked: string[] = [];
    for (const [state, change] of states.entries()) {
      const { data } = await on.channel.call('orders/query', { orderNo: await on.collectedOrder() });
      const { pathname, search } = new URL(data.redeemUrl);
      await change(data.orderNo);
      for (const path of paths) {
        for (const lang of ['en', 'zh']) {
          const address = `${pathname}${path}${search}`;
          const { headers } = await open(address, lang);
          const text = await read(headers.location ?? address, lang);
          expect(OURS.exec(text)?.[0], `${state} ${path} ${lang}`).toBeUndefined();
          looked.push(text);
        }
      }
    }
    const all = looked.join('\n');
    expect(all).toContain('Billing Billed by Demo channel. 31 Jan 2026 Period 1 ¥19.90 Billed');
    expect(all).toContain('计费记录 由 Demo channel 计费。 2026年1月31日 第 1 期 ¥19.90 已计费');
    expect(all).toContain('Next period ¥19.90 28 Feb 2026');
    expect(all).toContain('No further period begins. Demo channel, who bills you, has been notified.');
  });
});
