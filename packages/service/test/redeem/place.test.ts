import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reply } from '../support/channel-client.js';
import {
  at,
  claim,
  claimAllsOf,
  claimsOf,
  codesOf,
  follow,
  formOf,
  linkIn,
  noticeOf,
  type Ordered,
  openSixShop,
  type Stage,
  stage,
  textOf,
} from './support.js';

/** Whoever claims on a later page of the list stays there. */

let on: Stage;
let order: Ordered;
beforeAll(async () => {
  on = await stage();
  await openSixShop(on);
  order = await on.order({ productCode: 'SIX' });
  await on.advance(order, 6);
});
afterAll(() => on.close());

const firstOf = (page: Reply) => [...claimsOf(page).keys()][0];
/** The second page: periods 4 to 6 of seven. */
async function secondPage(): Promise<Reply> {
  const list = await on.get(at(order.path, 'benefits'));
  return on.get(linkIn(list, 'Show more'));
}

it('303: to the same page, with what was claimed and all that stood after it; the way to the start is there', async () => {
  const before = await secondPage();
  expect([...claimsOf(before).keys()]).toHaveLength(18);
  expect(firstOf(before)).toBe('Number 1 4');
  const middle = await claim(on, before, 'Number 2 5');
  expect(middle.answer.status).toBe(303);
  expect(middle.answer.headers.location).toMatch(/^\/redeem\/benefits\?.*&from=4-\d+&done=5-\d+#done$/);
  expect(textOf(middle.page)).toMatch(/It’s yours Number 2 Period 5 · Claimed 31 Jan 2026, 12:00 [A-Z0-9]{16} Copy/);
  expect([codesOf(middle.page).length, firstOf(middle.page)]).toEqual([1, 'Number 1 4']);

  // The one that the page began with.
  const first = await claim(on, middle.page, 'Number 1 4');
  expect(textOf(first.page)).toContain('It’s yours Number 1 Period 4');
  expect([...claimsOf(first.page).keys()].slice(0, 6)).toEqual([
    ...['Number 2 4', 'Number 3 4', 'Number 4 4', 'Number 5 4', 'Number 6 4'],
    'Number 1 5',
  ]);
  expect(textOf(await on.get(linkIn(first.page, 'Back to your benefits')))).toContain('Six at once');
  expect(firstOf(await on.get(linkIn(first.page, 'Back to the start')))).toBe('Number 1 1');

  // All of the period that it began with.
  const whole = await follow(on, '/redeem/claim-all', {
    ...formOf(first.page),
    period: claimAllsOf(first.page).get('4') ?? '',
  });
  expect(whole.answer.headers.location).toMatch(/^\/redeem\/benefits\?.*&from=4-\d+&done=4#done$/);
  expect(textOf(whole.page)).toContain('All 6 claimed Number 1 Period 4');
  expect([codesOf(whole.page).length, firstOf(whole.page)]).toEqual([6, 'Number 1 5']);
  expect(Buffer.byteLength(whole.page.text)).toBeLessThan(50_000);
});

it('409: refused on the same page, which says why', async () => {
  const before = await secondPage();
  const [what = ''] = [...claimsOf(before).keys()].slice(-1);
  const [name, period] = [what.slice(0, -2), Number(what.slice(-1))];
  await on.query(`update benefits set status = 'REVOKED' where order_no = $1 and name = $2 and cycle_no = $3`, [
    order.orderNo,
    name,
    period,
  ]);
  const { answer } = await claim(on, before, what);
  expect([answer.status, noticeOf(answer)]).toEqual([
    409,
    'This benefit was taken back with a refund, so it can no longer be claimed.',
  ]);
  expect([firstOf(answer), claimsOf(answer).has(what)]).toEqual([firstOf(before), false]);
});

it('303: a place that is none leads to the first page, and never elsewhere', async () => {
  const page = await secondPage();
  const value = claimsOf(page).get(firstOf(page) ?? '') ?? '';
  for (const from of [
    ...['', 'x', '1', '-1-1', '1-1-1', '99999-1', '1-1#x', '1-1&to=x', '1-1\r\nlocation: x', '１-１'],
    ...['//evil.example', 'https://evil.example/', '/\\evil.example', '../console', 'javascript:alert(1)'],
  ]) {
    const { headers } = await on.post('/redeem/claim', { ...formOf(page), from, claim: value });
    expect(headers.location, from).toMatch(/^\/redeem\?orderNo=\d+&[^?]*&done=\d-\d#done$/);
  }
  const { page: unknown } = await follow(on, '/redeem/claim', { ...formOf(page), from: '9999-99', claim: value });
  expect(firstOf(unknown)).toBe('Number 1 1');
});

it('the last page, when all of it is claimed, is that of what is left, and then says that nothing is', async () => {
  const short = await on.order({ productCode: 'SIX' });
  let page = await on.get(at(short.path, 'benefits'));
  for (const what of ['Number 6 1', 'Number 1 1']) ({ page } = await claim(on, page, what));
  expect(firstOf(page)).toBe('Number 2 1');
  const all = await follow(on, '/redeem/claim-all', { ...formOf(page), period: claimAllsOf(page).get('1') ?? '' });
  expect(textOf(all.page)).toContain('All 6 claimed');
  expect(textOf(all.page)).toContain('There is nothing left to claim');
});
