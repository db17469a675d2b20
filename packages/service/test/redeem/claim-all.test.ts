import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { gate } from '../agreements/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import type { Reply } from '../support/channel-client.js';
import { listen } from '../support/listen.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import {
  at,
  claim,
  claimAllsOf,
  claimsOf,
  codesOf,
  FOREIGN,
  follow,
  formOf,
  linkIn,
  noticeOf,
  type Ordered,
  openSixShop,
  post,
  stage,
  textOf,
  titleOf,
} from './support.js';

/** Tests the button that claims all benefits of a period. */

const on = ofFile(stage);
beforeAll(async () => {
  await openSixShop(on);
});

const six = () => on.order({ productCode: 'SIX' });

/** Returns the fields that a period's button sends. */
async function pressOf(order: Ordered, period = '1'): Promise<Record<string, string>> {
  const page = await on.get(order.path);
  return { ...formOf(page), period: claimAllsOf(page).get(period) ?? '' };
}

const untouched = Array.from({ length: 6 }, () => 'ISSUED');

describe('all of a period', () => {
  it('303: each benefit has its code, and another period is not affected', async () => {
    const order = await six();
    await on.advance(order, 1);
    const { answer, page } = await follow(on, '/redeem/claim-all', await pressOf(order));
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/redeem\?.*&done=1#done$/),
    ]);
    expect(textOf(page)).toContain('All 6 claimed Number 1 Period 1 · Claimed');
    expect(new Set(codesOf(page)).size).toBe(6);
    expect(await on.benefitsOf(order, 2)).toEqual(untouched);
    expect([...claimsOf(page).keys()][0]).toBe('Number 1 2');
    const { data } = await on.channel.call('payments/query', { paymentOrderNo: `${order.orderNo}0001` });
    expect(data.claimRecords).toHaveLength(6);
    const chinese = await on.get((answer.headers.location ?? '').replace(/#.*/, ''), { 'accept-language': 'zh' });
    expect(textOf(chinese)).toContain('6 项全部领取成功');
  });

  it('303: pressed twice, concurrently and on two nodes: the same codes, and one claim each', async () => {
    const order = await six();
    const fields = await pressOf(order);
    const node = await anotherNode(on.service);
    const answers = await Promise.all(
      [0, 1, 2, 3].map((n) => post(n % 2 ? node.baseUrl : on.service.baseUrl, '/redeem/claim-all', fields)),
    );
    await node.close();
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    const { page } = await follow(on, '/redeem/claim-all', fields);
    expect(new Set(codesOf(page)).size).toBe(6);
    expect(await on.query('select 1 from claims where order_no = $1', [order.orderNo])).toHaveLength(6);
  });

  it('303: an expired, a revoked and a pending benefit do not affect the others', async () => {
    const order = await six();
    const fields = await pressOf(order);
    await on.query(`insert into benefit_fulfilments (benefit_code, kind) values ('SIX_3', 'POOL')`);
    const change = (name: string, what: string) =>
      on.query(`update benefits set ${what} where order_no = $1 and name = $2`, [order.orderNo, name]);
    await change('Number 1', `status = 'REVOKED'`);
    await change('Number 2', `expires_at = issued_at`);
    const { page } = await follow(on, '/redeem/claim-all', fields);
    await on.query('delete from benefit_fulfilments');
    const text = textOf(page);
    expect(text).toContain('4 of 6 claimed');
    expect(text).toMatch(/Number 3 Period 1 · Claimed 31 Jan 2026, 12:00 Your code is on its way/);
    expect(text).toContain('Number 1 Withdrawn after a refund');
    expect(text).toContain('Number 2 Expired 31 Jan 2026, 12:00');
    expect(text).toContain('Check again');
    expect([codesOf(page).length, claimsOf(page).size]).toEqual([3, 0]);
  });

  it('303: a slow supplier does not delay the others', async () => {
    const order = await six();
    const fields = await pressOf(order);
    const held = gate();
    const supplier = createServer(async (_request, response) => {
      await held.passed;
      response.writeHead(500).end();
    });
    const supplierUrl = `http://127.0.0.1:${await listen(supplier)}`;
    const supplied = { benefitCode: 'SIX_1', kind: 'supplier' as const, supplierUrl, supplierKey: Buffer.alloc(32, 9) };
    await setFulfilment(on.service.operator, supplied);
    const pressed = follow(on, '/redeem/claim-all', fields);
    await until('five codes while the first is still asked for', async () => {
      const codes = await on.query('select 1 from claims where order_no = $1 and code is not null', [order.orderNo]);
      return codes.length === 5 ? codes : undefined;
    });
    held.open();
    const { answer, page } = await pressed;
    await setFulfilment(on.service.operator, { benefitCode: 'SIX_1', kind: 'generated' });
    expect([answer.status, codesOf(page).length]).toEqual([303, 5]);
    expect(textOf(page)).toMatch(
      /All 6 claimed Number 1 Period 1 · Claimed 31 Jan 2026, 12:00 Your code is on its way/,
    );
  });
});

describe('a press that does not come from the page', () => {
  it('403: with the token of another link or order, of unsubscribing, or none, and without a period', async () => {
    const order = await six();
    await on.advance(order, 1);
    const fields = await pressOf(order);
    const ask = await on.get(at(order.path, 'unsubscribe'));
    for (const wrong of [
      (await pressOf(await six()))['token'] ?? '',
      formOf(await on.get(on.link(order)))['token'] ?? '',
      formOf(ask)['token'] ?? '',
      '',
      'A'.repeat(22),
    ]) {
      const answer = await on.post('/redeem/claim-all', { ...fields, token: wrong });
      expect([answer.status, titleOf(answer)], wrong).toEqual(FOREIGN);
    }
    for (const period of ['', '0', '1-1', '99999', 'x']) {
      expect((await on.post('/redeem/claim-all', { ...fields, period })).status, period).toBe(403);
    }
    expect((await on.post('/redeem/claim-all', fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await on.post('/redeem/claim-all', { ...fields, sig: 'A'.repeat(43) })).status).toBe(404);
    expect([...(await on.benefitsOf(order)), ...(await on.benefitsOf(order, 2))]).toEqual([...untouched, ...untouched]);
  });
});

describe('a bookmarked URL', () => {
  const told = ({ text }: Reply) => /id="done-title">([^<]*)</.exec(text)?.[1];
  const opened = async ({ path }: Ordered, done: string) =>
    Promise.all([path, at(path, 'benefits')].map((one) => on.get(`${one}&done=${done}`)));

  it('claims nothing, and reports no claim that was not made, whatever it names', async () => {
    const order = await six();
    for (const done of ['1', '1-1', '1-6', '9', '1-9', 'x', '0', '1-1-1', '', '1-', '%00']) {
      for (const page of await opened(order, done)) {
        expect([page.status, told(page), page.text.includes('class="tick"')], done).toEqual([200, undefined, false]);
      }
    }
    expect(await on.benefitsOf(order)).toEqual(untouched);
  });
});

/** Tests that a user who claims on a later page of the list stays on that page. */

let order: Ordered;
beforeAll(async () => {
  order = await on.order({ productCode: 'SIX' });
  await on.advance(order, 6);
});

const firstOf = (page: Reply) => [...claimsOf(page).keys()][0];
/** Opens the second page, which has periods 4 to 6 of seven. */
async function secondPage(): Promise<Reply> {
  const list = await on.get(at(order.path, 'benefits'));
  return on.get(linkIn(list, 'Show more'));
}

it('303: to the same page, with the claimed benefits, those after it, and a link to the start', async () => {
  const before = await secondPage();
  expect([...claimsOf(before).keys()]).toHaveLength(18);
  expect(firstOf(before)).toBe('Number 1 4');
  const middle = await claim(on, before, 'Number 2 5');
  expect(middle.answer.status).toBe(303);
  expect(middle.answer.headers.location).toMatch(/^\/redeem\/benefits\?.*&from=4-\d+&done=5-\d+#done$/);
  expect(textOf(middle.page)).toMatch(/It’s yours Number 2 Period 5 · Claimed 31 Jan 2026, 12:00 [A-Z0-9]{16} Copy/);
  expect([codesOf(middle.page).length, firstOf(middle.page)]).toEqual([1, 'Number 1 4']);

  // Claims the first benefit of the page.
  const first = await claim(on, middle.page, 'Number 1 4');
  expect(textOf(first.page)).toContain('It’s yours Number 1 Period 4');
  expect([...claimsOf(first.page).keys()].slice(0, 6)).toEqual([
    ...['Number 2 4', 'Number 3 4', 'Number 4 4', 'Number 5 4', 'Number 6 4'],
    'Number 1 5',
  ]);
  expect(textOf(await on.get(linkIn(first.page, 'Back to your benefits')))).toContain('Six at once');
  expect(firstOf(await on.get(linkIn(first.page, 'Back to the start')))).toBe('Number 1 1');

  // Claims the rest of the page's first period.
  const whole = await follow(on, '/redeem/claim-all', {
    ...formOf(first.page),
    period: claimAllsOf(first.page).get('4') ?? '',
  });
  expect(whole.answer.headers.location).toMatch(/^\/redeem\/benefits\?.*&from=4-\d+&done=4#done$/);
  expect(textOf(whole.page)).toContain('All 6 claimed Number 1 Period 4');
  expect([codesOf(whole.page).length, firstOf(whole.page)]).toEqual([6, 'Number 1 5']);
  expect(Buffer.byteLength(whole.page.text)).toBeLessThan(50_000);
});

it('409: refused on the same page, with the reason', async () => {
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
    'This benefit was withdrawn after a refund, so it can no longer be claimed.',
  ]);
  expect([firstOf(answer), claimsOf(answer).has(what)]).toEqual([firstOf(before), false]);
});

it('303: an invalid place leads to the first page, and never elsewhere', async () => {
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

describe('everything', () => {
  it('303: claims the benefits of all periods, and says so', async () => {
    const order = await six();
    await on.advance(order, 2);
    const page = await on.get(order.path);
    expect(textOf(page)).toContain('Ready to claim 18 Claim everything (18) Period 1');
    expect(page.text).toContain('name="period" value="all"');
    const { answer, page: done } = await follow(on, '/redeem/claim-all', { ...formOf(page), period: 'all' });
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/redeem\?.*&done=all#done$/),
    ]);
    expect(textOf(done)).toContain('All claimed There is nothing left to claim');
    expect([claimsOf(done).size, linkIn(done, 'All 18 codes')]).toEqual([0, expect.stringContaining('/redeem/codes')]);
    expect(await on.query('select 1 from claims where order_no = $1', [order.orderNo])).toHaveLength(18);
  });

  it('more than one press can claim: the button says how many it claims', async () => {
    const order = await six();
    await on.query(
      `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, status, issued_at, expires_at)
       select order_no, n, position, channel_id, benefit_code, name, face_value_cent, status, issued_at, expires_at
       from benefits, generate_series(2, 40) n where order_no = $1`,
      [order.orderNo],
    );
    const page = await on.get(order.path);
    expect(textOf(page)).toContain('Ready to claim 240 Claim the first 200 of 240 Period 1');
    expect(textOf(await on.get(order.path, { 'accept-language': 'zh' }))).toContain('一键领取前 200 项（共 240 项）');
    const { page: done } = await follow(on, '/redeem/claim-all', { ...formOf(page), period: 'all' });
    expect(textOf(done)).toContain(
      '40 benefits are not claimed yet. Please press again. Ready to claim 40 Claim everything (40)',
    );
  });

  it('a benefit that is left is counted; a forged address claims nothing, and says nothing', async () => {
    const order = await six();
    await on.advance(order, 1);
    const forged = await on.get(`${order.path}&done=all`);
    expect([forged.text.includes('id="done"'), claimsOf(forged).size > 0]).toEqual([false, true]);
    await claim(on, forged, 'Number 1 1');
    const left = await on.get(`${order.path}&done=all`);
    expect(textOf(left)).toContain('11 benefits are not claimed yet. Please press again.');
  });
});
