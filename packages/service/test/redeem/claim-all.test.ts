import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import {
  claimAllsOf,
  claimsOf,
  codesOf,
  follow,
  formOf,
  type Ordered,
  openSixShop,
  post,
  type Stage,
  stage,
  textOf,
  titleOf,
} from './support.js';

/** One press for all that a period grants. */

let on: Stage;
beforeAll(async () => {
  on = await stage();
  await openSixShop(on);
});
afterAll(() => on.close());

const query = (text: string, values: unknown[] = []) => on.service.fresh.database.query(text, values);
const six = () => on.order({ productCode: 'SIX' });

/** What the button of a period sends. */
async function pressOf(order: Ordered, period = '1'): Promise<Record<string, string>> {
  const page = await on.get(order.path);
  return { ...formOf(page), period: claimAllsOf(page).get(period) ?? '' };
}

const statusesOf = async ({ orderNo }: Ordered, cycleNo = 1) =>
  (
    await query('select status from benefits where order_no = $1 and cycle_no = $2 order by position', [
      orderNo,
      cycleNo,
    ])
  ).map((row) => (row as { status: string }).status);

const untouched = Array.from({ length: 6 }, () => 'ISSUED');

describe('all of a period', () => {
  it('303: each has its code, and another period is not concerned', async () => {
    const order = await six();
    await on.advance(order, 1);
    const { answer, page } = await follow(on, '/redeem/claim-all', await pressOf(order));
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/redeem\?.*&done=1#done$/),
    ]);
    expect(textOf(page)).toContain('All 6 claimed Number 1 Period 1 · Claimed');
    expect(new Set(codesOf(page)).size).toBe(6);
    expect(await statusesOf(order, 2)).toEqual(untouched);
    expect([...claimsOf(page).keys()][0]).toBe('Number 1 2');
    const { data } = await on.channel.call('payments/query', { paymentOrderNo: `${order.orderNo}0001` });
    expect(data.claimRecords).toHaveLength(6);
    const chinese = await on.get((answer.headers.location ?? '').replace(/#.*/, ''), { 'accept-language': 'zh' });
    expect(textOf(chinese)).toContain('6 项全部领取成功');
  });

  it('303: pressed twice, at once and on two nodes: the same codes, and one claim each', async () => {
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
    expect(await query('select 1 from claims where order_no = $1', [order.orderNo])).toHaveLength(6);
  });

  it('303: one that has expired, one that was taken back and one without a code take nothing from the others', async () => {
    const order = await six();
    const fields = await pressOf(order);
    await query(`insert into benefit_fulfilments (benefit_code, kind) values ('SIX_3', 'POOL')`);
    const change = (name: string, what: string) =>
      query(`update benefits set ${what} where order_no = $1 and name = $2`, [order.orderNo, name]);
    await change('Number 1', `status = 'REVOKED'`);
    await change('Number 2', `expires_at = issued_at`);
    const { page } = await follow(on, '/redeem/claim-all', fields);
    await query('delete from benefit_fulfilments');
    const text = textOf(page);
    expect(text).toContain('4 of 6 claimed');
    expect(text).toMatch(/Number 3 Period 1 · Claimed 31 Jan 2026, 12:00 Your code is on its way/);
    expect(text).toContain('Number 1 Taken back with a refund');
    expect(text).toContain('Number 2 Expired 31 Jan 2026, 12:00');
    expect(text).toContain('Check again');
    expect([codesOf(page).length, claimsOf(page).size]).toEqual([3, 0]);
  });

  it('303: a supplier that is slow holds up none of the others', async () => {
    const order = await six();
    const fields = await pressOf(order);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const supplier = createServer(async (_request, response) => {
      await released;
      response.writeHead(500).end();
    }).listen(0, '127.0.0.1');
    await once(supplier, 'listening');
    onTestFinished(() => void supplier.close());
    const supplierUrl = `http://127.0.0.1:${(supplier.address() as AddressInfo).port}`;
    const supplied = { benefitCode: 'SIX_1', kind: 'supplier' as const, supplierUrl, supplierKey: Buffer.alloc(32, 9) };
    await setFulfilment(on.service.operator, supplied);
    const pressed = follow(on, '/redeem/claim-all', fields);
    await until('five codes while the first is still asked for', async () => {
      const codes = await query('select 1 from claims where order_no = $1 and code is not null', [order.orderNo]);
      return codes.length === 5 ? codes : undefined;
    });
    release();
    const { answer, page } = await pressed;
    await setFulfilment(on.service.operator, { benefitCode: 'SIX_1', kind: 'generated' });
    expect([answer.status, codesOf(page).length]).toEqual([303, 5]);
    expect(textOf(page)).toMatch(
      /All 6 claimed Number 1 Period 1 · Claimed 31 Jan 2026, 12:00 Your code is on its way/,
    );
  });
});

describe('a press that does not come from the page', () => {
  it('403: with the token of another period, benefit, link or order, of unsubscribing, or none', async () => {
    const order = await six();
    await on.advance(order, 1);
    const fields = await pressOf(order);
    const tokenOf = (text = '') => text.replace(/^\d+-(\d-)?/, '');
    const page = await on.get(order.path);
    const ask = await on.get(order.path.replace('/redeem', '/redeem/unsubscribe'));
    for (const wrong of [
      tokenOf((await pressOf(order, '2'))['period']),
      tokenOf(claimsOf(page).get('Number 1 1')),
      tokenOf((await pressOf(await six()))['period']),
      tokenOf(claimAllsOf(await on.get(on.link(order))).get('1')),
      formOf(ask)['token'] ?? '',
      '',
      'A'.repeat(22),
    ]) {
      const answer = await on.post('/redeem/claim-all', { ...fields, period: `1-${wrong}` });
      expect([answer.status, titleOf(answer)], wrong).toEqual([403, 'That did not come from this page']);
    }
    for (const period of ['', '1', '0-x', '1-1', '99999-x', 'x']) {
      expect((await on.post('/redeem/claim-all', { ...fields, period })).status, period).toBe(403);
    }
    expect((await on.post('/redeem/claim-all', fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await on.post('/redeem/claim-all', { ...fields, sig: 'A'.repeat(43) })).status).toBe(404);
    expect([...(await statusesOf(order)), ...(await statusesOf(order, 2))]).toEqual([...untouched, ...untouched]);
  });

  it('a page that names a period or a benefit as just claimed claims nothing', async () => {
    const order = await six();
    expect(textOf(await on.get(`${order.path}&done=1-1`))).not.toContain('yours');
    expect(textOf(await on.get(`${order.path}&done=1`))).not.toContain('could be claimed');
    for (const done of ['9', '1-9', 'x', '0', '1-1-1']) {
      expect((await on.get(`${order.path}&done=${done}`)).status, done).toBe(200);
    }
    expect(await statusesOf(order)).toEqual(untouched);
  });
});
