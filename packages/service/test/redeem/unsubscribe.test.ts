import { beforeEach, describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { toldAbout } from '../orders/support.js';
import { mobileOf } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';
import {
  at,
  FOREIGN,
  type Form,
  formOf,
  get,
  linkIn,
  noticeOf,
  type Ordered,
  post,
  stage,
  textOf,
  titleOf,
} from './support.js';

const on = ofFile(stage);
const node = ofFile(() => anotherNode(on.service, { redeemOpensPerMinute: 100_000 }));
let order: Ordered;
beforeEach(async () => {
  order = await on.order();
});

const pathOf = ({ path }: Ordered) => at(path, 'unsubscribe');
const rightFor = ({ channelUserId }: Ordered) => mobileOf(channelUserId).slice(-4);
const wrongFor = (of: Ordered) => (rightFor(of) === '0000' ? '1111' : '0000');

/** Opens the form and submits it, to the first node or another one. */
async function answer(of: Ordered, digits: string, baseUrl = on.service.baseUrl) {
  return answerTo(formOf(await get(baseUrl, pathOf(of))), digits, baseUrl);
}

/** Submits a form whose fields were read before. */
function answerTo(fields: Form, digits: string, baseUrl = on.service.baseUrl) {
  return post(baseUrl, '/redeem/unsubscribe', { ...fields, digits });
}

async function statusOf({ orderNo }: Ordered) {
  return (await on.channel.call('orders/query', { orderNo })).data.orderStatus;
}

describe('the confirmation page', () => {
  it('200: shows the consequences, in both languages', async () => {
    const page = await on.get(pathOf(order));
    expect([page.status, titleOf(page)]).toEqual([200, 'End this subscription? · Demo channel']);
    const text = textOf(page);
    expect(text).toContain('End Monthly membership\u2060?');
    expect(text).toContain('The 2 benefits that you have not claimed stay yours, until 1 May 2026, 12:00.');
    // Nothing was claimed yet.
    expect(text).not.toContain('Codes that you have claimed');
    expect(text).toContain('Last four digits of your mobile number');
    expect(text).not.toContain(rightFor(order));
    const chinese = textOf(await on.get(pathOf(order), { 'accept-language': 'zh' }));
    expect(chinese).toContain('确定要退订 Monthly membership 吗？');
    expect(chinese).toContain('您尚未领取的 2 项权益仍归您所有，可领取至 2026年5月1日 12:00。');
    expect(chinese).toContain('手机号后四位');
  });
});

describe('the right digits', () => {
  it('303: the order ends once for the channel too, with its events and the user as the source', async () => {
    const fields = formOf(await on.get(pathOf(order)));
    const presses = await Promise.all([1, 2].map(() => answerTo(fields, rightFor(order))));
    const ended = await answerTo(fields, wrongFor(order));
    for (const { status, headers } of [...presses, ended]) {
      expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/redeem\/ended\?/)]);
    }
    expect(await statusOf(order)).toBe('UNSUBSCRIBED');
    expect(await toldAbout(on.service.fresh.database, order.orderNo)).toEqual([
      ...['BILLED', 'ACTIVE'],
      ...['UNSUBSCRIBED', 'CANCELED'],
    ]);
    const [row] = await on.query('select unsubscribe_source from orders where order_no = $1', [order.orderNo]);
    expect(row).toEqual({ unsubscribe_source: 'USER' });
    const page = await on.get(ended.headers.location ?? '');
    expect([page.status, titleOf(page)]).toEqual([200, 'Your subscription has ended · Demo channel']);
    const text = textOf(page);
    expect(text).toContain('Monthly membership ended on 31 Jan 2026. No further period begins.');
    expect(text).toContain('2 benefits are still yours to claim, until 1 May 2026, 12:00.');
    expect(text).toContain(`If you have a question, quote this number ${order.orderNo}`);
    const chinese = textOf(await on.get(ended.headers.location ?? '', { 'accept-language': 'zh' }));
    expect(chinese).toContain('Monthly membership 已于 2026年1月31日 结束。');
    const benefits = await on.get(linkIn(page, 'Claim your benefits'));
    expect(textOf(benefits)).toContain('Ended Monthly membership');
    expect(textOf(benefits)).toContain('Ended on 31 Jan 2026');
  });

  it('303: an order that has not ended has no confirmation', async () => {
    const asked = await on.get(at(order.path, 'ended'));
    expect([asked.status, asked.headers.location]).toEqual([303, expect.stringMatching(/^\/redeem\?/)]);
  });

  it.each([
    ['spaces', (digits: string) => ` ${digits} `],
    [
      'a Chinese keyboard',
      (digits: string) => [...digits].map((one) => String.fromCodePoint(0xff10 + Number(one))).join(''),
    ],
  ])('303: typed with %s', async (_what, typed) => {
    expect((await answer(order, typed(rightFor(order)))).status).toBe(303);
  });

  it('reset the count of wrong ones', async () => {
    const second = await on.order({ channelUserId: order.channelUserId });
    for (let n = 0; n < 4; n += 1) await answer(order, wrongFor(order));
    expect((await answer(order, rightFor(order))).status).toBe(303);
    const next = await answer(second, wrongFor(order));
    expect(noticeOf(next)).toContain('4 attempts are left.');
  });
});

describe('wrong digits', () => {
  it('422: shows the number of attempts left, and ends nothing', async () => {
    const tried = await answer(order, wrongFor(order));
    expect([tried.status, noticeOf(tried)]).toEqual([422, 'These are not the last four digits. 4 attempts are left.']);
    expect(tried.text).toContain('aria-invalid="true"');
    expect(await statusOf(order)).toBe('ACTIVE');
  });

  it.each(['', '123', '12345', 'abcd', '1 2', '-123', '12.4'])(
    '422: "%s" does not count as an attempt',
    async (digits) => {
      const tried = await answer(order, digits);
      expect([tried.status, noticeOf(tried)]).toEqual([422, 'Please type exactly four digits.']);
      expect(
        await on.query('select 1 from unsubscribe_tries where user_key = key_of($1)', [order.channelUserId]),
      ).toEqual([]);
    },
  );

  it('429: the fifth locks the user for an hour, with every link, on every node, also for the right digits', async () => {
    const second = await on.order({ channelUserId: order.channelUserId });
    const hosts = [on.service.baseUrl, node.baseUrl];
    for (let n = 0; n < 4; n += 1) {
      expect((await answer(n % 2 === 0 ? order : second, wrongFor(order), hosts[n % 2])).status).toBe(422);
    }
    const fields = formOf(await on.get(pathOf(second)));
    const fifth = await answer(order, wrongFor(order));
    expect([fifth.status, fifth.headers['retry-after']]).toEqual([429, '3600']);
    const opened = await get(node.baseUrl, pathOf(order));
    expect(opened.status).toBe(200);
    for (const page of [fifth, opened]) {
      expect(titleOf(page)).toBe('Locked for now · Demo channel');
      expect(noticeOf(page)).toContain('please try again in 60 minutes');
      expect(page.text).not.toMatch(/<form|End this subscription|Keep it/);
      expect(page.text).toContain('Back to your benefits');
    }
    const chinese = await on.get(pathOf(order), { 'accept-language': 'zh' });
    expect([titleOf(chinese), chinese.text.includes('分钟后再试')]).toEqual(['已暂时锁定 · Demo channel', true]);
    for (const baseUrl of hosts) {
      const right = await answerTo(fields, rightFor(order), baseUrl);
      expect([right.status, noticeOf(right)?.includes('Too many wrong attempts')]).toEqual([429, true]);
    }
    expect(await statusOf(second)).toBe('ACTIVE');

    // The limit does not affect another user.
    expect((await answer(await on.order(), '0000')).status).not.toBe(429);

    const whose = [order.channelUserId];
    await on.query(
      `update unsubscribe_tries set locked_until = locked_until - interval '59 minutes' where user_key = key_of($1)`,
      whose,
    );
    expect((await answerTo(fields, rightFor(order))).status).toBe(429);
    await on.query(
      `update unsubscribe_tries set locked_until = locked_until - interval '1 minute' where user_key = key_of($1)`,
      whose,
    );
    const later = await answer(order, wrongFor(order));
    expect(noticeOf(later)).toContain('4 attempts are left.');
    expect((await answer(second, rightFor(order), node.baseUrl)).status).toBe(303);
  });

  it('concurrent attempts on two nodes are counted one by one', async () => {
    const hosts = [on.service.baseUrl, node.baseUrl];
    const fields = formOf(await on.get(pathOf(order)));
    const tries = await Promise.all(
      Array.from({ length: 12 }, (_, index) => answerTo(fields, wrongFor(order), hosts[index % 2])),
    );
    expect(tries.filter(({ status }) => status === 422)).toHaveLength(4);
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(8);
  });
});

describe('an order that cannot be ended', () => {
  it.each([
    ['INITIALIZING', 'The first payment is still in progress.'],
    ['COMPLETED', 'All periods of this subscription are complete.'],
    ['UNSUBSCRIBED', 'This subscription has already ended.'],
    ['TERMINATED', 'The first payment failed'],
  ])('409: %s, and the page says so', async (status, says) => {
    const fields = formOf(await on.get(pathOf(order)));
    await on.query('update orders set status = $2, next_due_at = null where order_no = $1', [order.orderNo, status]);
    const page = await on.get(pathOf(order));
    expect([page.status, page.text.includes(says), page.text.includes('<form')]).toEqual([200, true, false]);
    expect(titleOf(page)).toBe('End subscription · Demo channel');
    const tried = await on.post('/redeem/unsubscribe', { ...fields, digits: rightFor(order) });
    // If the order has ended, a second press of the button leads to the same page as the first.
    if (status === 'UNSUBSCRIBED') expect(tried.status).toBe(303);
    else expect([tried.status, tried.text.includes(says)]).toEqual([409, true]);
    expect(await toldAbout(on.service.fresh.database, order.orderNo)).toEqual(['BILLED', 'ACTIVE']);
  });

  it('409: for a user without a login mobile; the page names whom to ask instead', async () => {
    const fields = formOf(await on.get(pathOf(order)));
    await on.query('delete from channel_users where key_of(channel_user_id) = key_of($1)', [order.channelUserId]);
    const says = 'so you cannot end it on this page. Please ask Demo channel.';
    const page = await on.get(pathOf(order));
    expect([textOf(page).includes(says), page.text.includes('<form')]).toEqual([true, false]);
    const tried = await on.post('/redeem/unsubscribe', { ...fields, digits: '0000' });
    expect([tried.status, textOf(tried).includes(says)]).toEqual([409, true]);
    expect(await statusOf(order)).toBe('ACTIVE');
  });
});

describe('a post that does not come from the page', () => {
  it.each([
    ['from another site', {}, { 'sec-fetch-site': 'cross-site' }],
    ['without its token', { token: '' }, {}],
    ['with the token of another order', { token: 'other' }, {}],
  ])('403: %s', async (_what, changed: { token?: string }, headers) => {
    const fields = { ...formOf(await on.get(pathOf(order))), ...changed };
    if (fields['token'] === 'other') fields['token'] = formOf(await on.get(pathOf(await on.order())))['token'] ?? '';
    const tried = await on.post('/redeem/unsubscribe', { ...fields, digits: rightFor(order) }, headers);
    expect([tried.status, titleOf(tried)]).toEqual(FOREIGN);
    expect(await statusOf(order)).toBe('ACTIVE');
  });
});
