import { describe, expect, it } from 'vitest';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { createFormToken } from '../../src/redeem/form-token.js';
import { CLAIM_ACTION } from '../../src/redeem/page/parts/claimable-groups.js';
import { ofFile } from '../orders/stage-of-file.js';
import type { Reply } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { anotherNode } from '../support/second-node.js';
import {
  at,
  claim,
  claimsOf,
  codesOf,
  FOREIGN,
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

const UNTOUCHED = ['ISSUED', 'ISSUED'];

describe('claiming', () => {
  it('303: to the section of the claimed benefit, with its code; the channel sees it as claimed', async () => {
    const order = await on.order();
    const { answer, page } = await claim(on, await on.get(order.path), 'VIP pass 1');
    expect([answer.status, answer.text]).toEqual([303, '']);
    expect(answer.headers.location).toMatch(/^\/redeem\?.*&done=1-\d+#done$/);
    expect(textOf(page)).toMatch(
      /28 Feb 2026 It’s yours VIP pass Period 1 · Claimed 31 Jan 2026, 12:00 [A-Z0-9]{16} Copy/,
    );
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(codesOf(page)).toHaveLength(1);
    const { data } = await on.channel.call('payments/query', { paymentOrderNo: `${order.orderNo}0001` });
    const claimRecords = [{ claimNo: `C${order.orderNo}000101`, benefitCode: 'VIP_PASS', faceValueCent: 1500 }];
    expect(data).toMatchObject({ usedAmountCent: 1500, claimRecords });
  });

  it('the same code on every later visit, with every link, and after a second press', async () => {
    const order = await on.order();
    const before = await on.get(order.path);
    const { page } = await claim(on, before, 'VIP pass 1');
    const again = await claim(on, before, 'VIP pass 1');
    expect(again.answer.status).toBe(303);
    for (const later of [again.page, await on.get(order.path), await on.get(on.link(order))]) {
      expect(codesOf(later)).toEqual(codesOf(page));
    }
  });

  it('many phones concurrently on two nodes: one claim, one code', async () => {
    const order = await on.order();
    const node = await anotherNode(on.service);
    const hosts = [on.service.baseUrl, node.baseUrl];
    const presses = Array.from({ length: 16 }, async (_, index) => {
      const baseUrl = hosts[index % 2] ?? '';
      const page = await get(baseUrl, order.path);
      // If another request has already claimed the benefit, the page has no button any more.
      const value = claimsOf(page).get('VIP pass 1');
      if (value !== undefined)
        expect((await post(baseUrl, '/redeem/claim', { ...formOf(page), claim: value })).status).toBe(303);
      return codesOf(await get(baseUrl, order.path));
    });
    const codes = await Promise.all(presses);
    await node.close();
    expect(new Set(codes.flat()).size).toBe(1);
  });

  it('a pending code: the page says that it is on its way, then shows it', async () => {
    await on.query(`insert into benefit_fulfilments (benefit_code, kind) values ('COUPON', 'POOL')`);
    const order = await on.order();
    const { answer, page } = await claim(on, await on.get(order.path), 'Coupon 1');
    await on.query(`delete from benefit_fulfilments`);
    expect(answer.status).toBe(303);
    expect(page.text).toContain('Your code is on its way');
    expect(page.text).toContain('Your claim is saved');
    expect([codesOf(page), [...claimsOf(page).keys()]]).toEqual([[], ['VIP pass 1']]);
    const chinese = await on.get(order.path, { 'accept-language': 'zh' });
    expect(chinese.text).toContain('兑换码正在发放');
  });

  it.each([
    ['expired', `expires_at = issued_at`, 'This benefit expired before it was claimed', 'Expired 31 Jan 2026, 12:00'],
    ['revoked', `status = 'REVOKED'`, 'This benefit was withdrawn after a refund', 'Withdrawn after a refund'],
  ])('409: %s while the page was open; the page shows the reason', async (_what, change, notice, shown) => {
    const order = await on.order();
    const before = await on.get(order.path);
    await on.query(`update benefits set ${change} where order_no = $1 and name = 'VIP pass'`, [order.orderNo]);
    const { answer } = await claim(on, before, 'VIP pass 1');
    expect([answer.status, noticeOf(answer)]).toEqual([409, `${notice}, so it can no longer be claimed.`]);
    expect(textOf(await on.get(linkIn(answer, '1 benefit no longer available')))).toContain(shown);
    expect([...claimsOf(answer).keys()]).toEqual(['Coupon 1']);
  });

  it('303: unsubscribed while the page was open; paid benefits can still be claimed', async () => {
    const order = await on.order();
    const before = await on.get(order.path);
    await on.channel.call('orders/unsubscribe', { orderNo: order.orderNo });
    const { page } = await claim(on, before, 'VIP pass 1');
    expect(codesOf(page)).toHaveLength(1);
    expect(page.text).toContain('>Ended<');
    expect(page.text).not.toContain('End subscription');
  });

  it('410: with a link that expired while the page was open; nothing is claimed', async () => {
    const order = await on.order();
    const exp = Math.floor(on.service.clock.now() / 1000) + 1;
    const before = await on.get(on.link(order, { exp }));
    on.service.clock.advance(1000);
    const { answer } = await claim(on, before, 'VIP pass 1');
    expect([answer.status, titleOf(answer)]).toEqual([410, 'This link has expired · Demo channel']);
    expect(await on.benefitsOf(order)).toEqual(UNTOUCHED);
  });

  it("404: correctly signed for another user's order, or with a secret from before its reset; nothing is claimed", async () => {
    const own = await stage();
    try {
      const [order, others] = [await own.order(), await own.order()];
      const { callbackSecret } = own.channel.credentials;
      const before = await own.get(order.path);
      const strange = new URL(own.link(order, { channelUserId: others.channelUserId }), 'http://x').searchParams;
      const link = { sig: strange.get('sig') ?? '' } as Parameters<typeof createFormToken>[1];
      const token = createFormToken(Buffer.from(callbackSecret, 'base64'), link, CLAIM_ACTION);
      const stolen = await own.post('/redeem/claim', { ...Object.fromEntries(strange), claim: '1-1', token });
      const { appId } = own.channel.credentials;
      // This node's cache still has the old secret.
      await resetCredentials(own.service.operator, { appId, names: ['callbackSecret'] });
      const { answer: late } = await claim(own, before, 'VIP pass 1');
      expect([stolen.status, late.status]).toEqual([404, 404]);
      const { database } = own.service.fresh;
      expect(await database.query(`select 1 from benefits where status <> 'ISSUED'`)).toEqual([]);
      expect(await database.query('select 1 from claims')).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it('303: a claim whose row is locked waits, and no other waits with it', async () => {
    const [held, free] = [await on.order(), await on.order()];
    const pages = await Promise.all([held, free].map(({ path }) => on.get(path)));
    const [heldPage, freePage] = pages as [Reply, Reply];
    const { database } = on.service.fresh;
    let waiting: ReturnType<typeof claim> | undefined;
    await database.transaction(async (tx) => {
      await tx.query('select from benefits where order_no = $1 for update', [held.orderNo]);
      waiting = claim(on, heldPage, 'VIP pass 1');
      expect((await claim(on, freePage, 'VIP pass 1')).answer.status).toBe(303);
      // The claim of the locked order waits in its own statement, not in the batch of claims.
      await expect.poll(() => lockWaits(database, 'claim_no = $5')).toBe(1);
      expect((await claim(on, freePage, 'Coupon 1')).answer.status).toBe(303);
    });
    const { answer, page } = (await waiting) ?? {};
    expect([answer?.status, page && codesOf(page).length]).toEqual([303, 1]);
  });
});

describe('a post that does not come from the page', () => {
  /** Returns all fields that the first claim button sends. */
  async function press(order: Ordered): Promise<Record<string, string>> {
    const page = await on.get(order.path);
    return { ...formOf(page), claim: claimsOf(page).get('VIP pass 1') ?? '' };
  }

  it.each<[string, Record<string, string | undefined>, number?]>([
    ['cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['same-site', { 'sec-fetch-site': 'same-site' }],
    ['typed', { 'sec-fetch-site': 'none' }],
    ['older browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['older browser, look-alike', { 'sec-fetch-site': undefined, origin: 'https://pay.example.evil.example' }],
    ['JSON', { 'content-type': 'application/json' }],
    ['text', { 'content-type': 'text/plain' }],
    ['a file', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['a type that is none', { 'content-type': '@@@' }, 400],
    ['a type without a subtype', { 'content-type': 'application/' }, 400],
    ['a subtype without a type', { 'content-type': '/json' }, 400],
    ['a type with a space', { 'content-type': 'a b/c' }, 400],
    ['a type that is one word', { 'content-type': 'text' }, 400],
  ])('403, or 400 with an invalid content type: %s', async (_what, headers, status = 403) => {
    const order = await on.order();
    const answer = await on.post('/redeem/claim', await press(order), headers);
    expect([answer.status, titleOf(answer)]).toEqual([status, FOREIGN[1]]);
    expect(await on.benefitsOf(order)).toEqual(UNTOUCHED);
  });

  it.each([
    ['older browser that hides it', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['older browser', { 'sec-fetch-site': undefined, origin: 'https://pay.example' }],
    ['neither', { 'sec-fetch-site': undefined, origin: undefined }],
    ['host name', { 'sec-fetch-site': undefined, origin: 'http://h5.example:81', host: 'h5.example:81' }],
  ])('303: %s, with its token', async (_what, headers) => {
    const order = await on.order();
    expect((await on.post('/redeem/claim', await press(order), headers)).status).toBe(303);
  });

  it('403: with the token of another link or order, of unsubscribing, or none, and without a benefit', async () => {
    const order = await on.order();
    const other = await on.order();
    const fields = await press(order);
    const later = await on.get(on.link(order, { exp: Math.floor(on.service.clock.now() / 1000) + 9 }));
    const ask = await on.get(at(order.path, 'unsubscribe'));
    for (const wrong of [
      (await press(other))['token'] ?? '',
      formOf(later)['token'] ?? '',
      formOf(ask)['token'] ?? '',
      '',
      'A'.repeat(22),
      `${fields['token']}A`,
    ]) {
      const answer = await on.post('/redeem/claim', { ...fields, token: wrong });
      expect([answer.status, titleOf(answer)], wrong).toEqual(FOREIGN);
    }
    for (const value of ['', '1', 'x-y', '99999-1', '1-1-1']) {
      expect((await on.post('/redeem/claim', { ...fields, claim: value })).status, value).toBe(403);
    }
    expect(await on.benefitsOf(order)).toEqual(UNTOUCHED);
  });

  it('404: with another link in the form, a duplicate one, or none', async () => {
    const order = await on.order();
    const fields = await press(order);
    for (const changed of [
      { ...fields, sig: 'A'.repeat(43) },
      { ...fields, channelUserId: 'somebody' },
      `${new URLSearchParams(fields)}&orderNo=${order.orderNo}`,
      '',
    ]) {
      const answer = await on.post('/redeem/claim', changed);
      expect([answer.status, titleOf(answer)]).toEqual([404, 'This link does not work']);
    }
    expect(await on.benefitsOf(order)).toEqual(UNTOUCHED);
  });

  it('400: a body that is too long is not read completely', async () => {
    const answer = await on.post('/redeem/claim', `x=${'y'.repeat(20_000)}`);
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
  });
});
