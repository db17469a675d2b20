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

/** The tests name the address of a visitor as a proxy does. */
const trustedProxies = ['127.0.0.1'];
const on = ofFile(() => stage({ trustedProxies }));
const node = ofFile(() => anotherNode(on.service, { redeemOpensPerMinute: 100_000, trustedProxies }));
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
function answerTo(fields: Form, digits: string, baseUrl = on.service.baseUrl, address = '192.0.2.1') {
  return post(baseUrl, '/redeem/unsubscribe', { ...fields, digits }, { 'x-forwarded-for': address });
}

/** Ends all locks, as if the time had passed. */
const waitForLocks = ({ channelUserId }: Ordered) =>
  on.query(
    `update unsubscribe_tries set visitors = (select jsonb_object_agg(key, value || '{"until": 0}') from jsonb_each(visitors))
     where user_key = key_of($1)`,
    [channelUserId],
  );

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
    // Typing can begin at once.
    expect(page.text).toMatch(/<input id="digits" name="digits"[^>]* autofocus /);
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
    expect(chinese).toContain('Monthly membership 已于 2026年1月31日结束。');
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
    for (let n = 0; n < 2; n += 1) await answer(order, wrongFor(order));
    expect((await answer(order, rightFor(order))).status).toBe(303);
    const next = await answer(second, wrongFor(order));
    expect(noticeOf(next)).toContain('2 attempts are left.');
  });
});

describe('wrong digits', () => {
  it('422: shows the number of attempts left, and ends nothing', async () => {
    const tried = await answer(order, wrongFor(order));
    expect([tried.status, noticeOf(tried)]).toEqual([422, 'These are not the last four digits. 2 attempts are left.']);
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

  it('429: the third locks the visitor for a minute, with every link, on every node, but nobody else', async () => {
    const second = await on.order({ channelUserId: order.channelUserId });
    const hosts = [on.service.baseUrl, node.baseUrl];
    for (let n = 0; n < 2; n += 1) {
      expect((await answer(n % 2 === 0 ? order : second, wrongFor(order), hosts[n % 2])).status).toBe(422);
    }
    const fields = formOf(await on.get(pathOf(second)));
    const third = await answer(order, wrongFor(order));
    expect([third.status, third.headers['retry-after']]).toEqual([429, '60']);
    const forwarded = { 'x-forwarded-for': '192.0.2.1' };
    const opened = await get(node.baseUrl, pathOf(order), forwarded);
    expect(opened.status).toBe(200);
    for (const page of [third, opened]) {
      expect(titleOf(page)).toBe('Too many wrong attempts · Demo channel');
      expect(noticeOf(page)).toContain('please wait before you type the digits again: 1 minute.');
      expect(page.text).not.toMatch(/<form|End this subscription|Keep it/);
      expect(textOf(page)).toContain('You can also ask Demo channel to end the subscription.');
      expect(page.text).toContain('Back to your benefits');
    }
    const chinese = await on.get(pathOf(order), { 'accept-language': 'zh', ...forwarded });
    expect([titleOf(chinese), chinese.text.includes('1 分钟后再输入')]).toEqual(['错误次数过多 · Demo channel', true]);
    for (const baseUrl of hosts) {
      const right = await answerTo(fields, rightFor(order), baseUrl);
      expect([right.status, titleOf(right)]).toEqual([429, 'Too many wrong attempts · Demo channel']);
    }
    expect(await statusOf(second)).toBe('ACTIVE');

    // The lock affects neither another user of the same address, nor the user at another address.
    expect((await answer(await on.order(), '0000')).status).not.toBe(429);
    expect((await answerTo(fields, rightFor(order), node.baseUrl, '192.0.2.2')).status).toBe(303);
  });

  it('429: each further one locks for longer, and the tenth for good', async () => {
    const fields = formOf(await on.get(pathOf(order)));
    const waits: unknown[] = [];
    for (let n = 1; n <= 10; n += 1) {
      const { headers } = await answerTo(fields, wrongFor(order));
      waits.push(headers['retry-after']);
      await waitForLocks(order);
    }
    const locks = ['60', '300', '900', '3600', '21600', '86400', '86400'];
    expect(waits).toEqual([undefined, undefined, ...locks, undefined]);
    const closed = await answerTo(fields, rightFor(order));
    expect([closed.status, noticeOf(closed)]).toEqual([
      429,
      'For your safety, the digits can no longer be typed here.',
    ]);
    expect(await statusOf(order)).toBe('ACTIVE');
  });

  it('429: all visitors together have fifty', async () => {
    const fields = formOf(await on.get(pathOf(order)));
    await answerTo(fields, wrongFor(order));
    await on.query('update unsubscribe_tries set guesses = 49 where user_key = key_of($1)', [order.channelUserId]);
    const last = await answerTo(fields, wrongFor(order), node.baseUrl, '192.0.2.3');
    const right = await answerTo(fields, rightFor(order), on.service.baseUrl, '192.0.2.4');
    expect([last.status, right.status]).toEqual([429, 429]);
    expect(noticeOf(right)).toBe('For your safety, the digits can no longer be typed here.');
    expect(await statusOf(order)).toBe('ACTIVE');
  });

  it('a visitor with IPv6 is the whole /64', async () => {
    const fields = formOf(await on.get(pathOf(order)));
    const guess = (address: string) => answerTo(fields, wrongFor(order), on.service.baseUrl, address);
    for (const host of ['1', '2']) await guess(`2001:db8::${host}`);
    expect((await guess('2001:db8::3')).status).toBe(429);
    expect((await guess('2001:db8:0:1::3')).status).toBe(422);
  });

  it('concurrent attempts on two nodes are counted one by one', async () => {
    const hosts = [on.service.baseUrl, node.baseUrl];
    const fields = formOf(await on.get(pathOf(order)));
    const tries = await Promise.all(
      Array.from({ length: 12 }, (_, index) => answerTo(fields, wrongFor(order), hosts[index % 2])),
    );
    expect(tries.filter(({ status }) => status === 422)).toHaveLength(2);
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(10);
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
