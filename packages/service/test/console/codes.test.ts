import { describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { createCodeHashing } from '../../src/engine/housekeeping/code-hashes.js';
import { ofFile } from '../orders/stage-of-file.js';
import { claimsOf, codesOf, formOf, get, post } from '../redeem/support.js';
import { until } from '../support/processes.js';
import { operatorStage } from './operators.js';
import { consoleClient } from './support.js';

const on = ofFile(operatorStage);
const HOST = 'https://pay.example';

/** Creates an order and claims its first benefit on the redemption page. Returns the code that the user sees. */
async function claimedOrder() {
  const orderNo = await on.collectedOrder();
  const path = String((await on.query(orderNo))['redeemUrl']).slice(HOST.length);
  const page = await get(on.service.baseUrl, path);
  const [[, claim = ''] = []] = claimsOf(page);
  const answer = await post(on.service.baseUrl, '/redeem/claim', { ...formOf(page), claim });
  expect(answer.status).toBe(303);
  const [row] = await on.sql<{ no: string }>(
    'select claim_no as no from benefits where order_no = $1 and claim_no is not null',
    [orderNo],
  );
  const shown = async () => codesOf(await get(on.service.baseUrl, path))[0];
  return { orderNo, path, claimNo: row?.no ?? '', shown };
}
const benefitOf = async (orderNo: string) =>
  (await on.support.get(`/orders/${orderNo}`)).body.order.payments[0].benefits.find(
    ({ claimNo }: { claimNo: string | null }) => claimNo !== null,
  );
const auditOf = (orderNo: string, action: string) =>
  on.sql('select actor, audit_detail(audit_log) as detail from audit_log where subject = $1 and action = $2', [
    orderNo,
    action,
  ]);

describe('a code', () => {
  it('shows on the order when it was issued and shown to the user', async () => {
    const { orderNo, shown } = await claimedOrder();
    expect(await benefitOf(orderNo)).toMatchObject({
      codeStatus: 'FULFILLED',
      codeSource: 'GENERATED',
      codeIssuedAt: expect.any(String),
      codeFirstShownAt: null,
      codeLastShownAt: null,
      codesReplaced: 0,
    });
    await shown();
    const first = await until('a stored time', async () => (await benefitOf(orderNo)).codeFirstShownAt ?? undefined);
    expect((await benefitOf(orderNo)).codeLastShownAt).toBe(first);
    // Within the hour, the page stores nothing. Later it stores the last time.
    await shown();
    on.service.clock.advance(3_700_000);
    await shown();
    await until('a later time', async () => (await benefitOf(orderNo)).codeLastShownAt !== first || undefined);
    expect((await benefitOf(orderNo)).codeFirstShownAt).toBe(first);
    on.service.clock.set(Date.now());
  });

  it('is revealed to support for a reason, which is on the timeline, without the code', async () => {
    const { orderNo, claimNo, shown } = await claimedOrder();
    const path = `/orders/${orderNo}/claims/${claimNo}/reveal`;
    expect((await on.viewer.post(path, { reason: 'curious' })).status).toBe(403);
    expect((await on.ann.post(path, { reason: 'curious' })).status).toBe(403);
    expect((await on.support.post(path, {})).status).toBe(400);
    const { body } = await on.support.post(path, { reason: 'the shop refuses it' });
    expect(body).toEqual({ claimNo, code: await shown() });
    expect(await auditOf(orderNo, 'code.reveal')).toEqual([
      { actor: on.support.name, detail: { claimNo, cycleNo: 1, reason: 'the shop refuses it' } },
    ]);
    const timeline = JSON.stringify((await on.support.get(`/orders/${orderNo}`)).body.timeline);
    expect(timeline).toContain('the shop refuses it');
    expect(timeline).not.toContain(body.code);
    const other = await on.collectedOrder();
    expect((await on.support.post(`/orders/${other}/claims/${claimNo}/reveal`, { reason: 'x' })).status).toBe(404);
    expect((await on.support.post(`/orders/${orderNo}/claims/C1/reveal`, { reason: 'x' })).status).toBe(404);
  });

  it('is revealed sixty times an hour at most, also concurrently', async () => {
    const { orderNo, claimNo } = await claimedOrder();
    const client = await consoleClient(on.service, 'support');
    await on.sql(
      `insert into audit_log (at, actor, action, subject, detail)
       select now(), $1, 'code.reveal', $2, '{}' from generate_series(1, 58) n`,
      [client.name, orderNo],
    );
    const reveal = () => client.post(`/orders/${orderNo}/claims/${claimNo}/reveal`, { reason: 'the shop refuses it' });
    const replies = await Promise.all([reveal(), reveal(), reveal(), reveal()]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429]);
    for (const { status, body } of replies) if (status === 429) expect(body.code).toBe('reads-used-up');
  });

  it('is replaced: the user sees the new code under the same link, and the former is found as replaced', async () => {
    const { orderNo, claimNo, shown } = await claimedOrder();
    const former = (await shown()) ?? '';
    await until('a stored time', async () => (await benefitOf(orderNo)).codeFirstShownAt ?? undefined);
    const path = `/orders/${orderNo}/claims/${claimNo}/replace`;
    const input = { replaced: 0, reason: 'the shop refuses it' };
    expect((await on.ann.post(path, input)).status).toBe(403);
    const done = await on.support.post(path, input);
    expect(done.body).toEqual({ claimNo, status: 'FULFILLED', replaced: 1, changed: true });
    expect((await on.support.post(path, input)).body).toMatchObject({ replaced: 1, changed: false });
    expect(await auditOf(orderNo, 'code.replace')).toEqual([
      {
        actor: on.support.name,
        detail: { claimNo, cycleNo: 1, nth: 1, source: 'GENERATED', reason: 'the shop refuses it' },
      },
    ]);
    expect(await benefitOf(orderNo)).toMatchObject({ codesReplaced: 1, codeReplacedAt: expect.any(String) });
    const current = (await shown()) ?? '';
    expect(current).not.toBe(former);
    const found = async (q: string, who = on.support) =>
      (await who.get(`/search?q=${q}`)).body.results.map(({ id, matched }: Record<string, string>) => [id, matched]);
    expect(await found(current)).toEqual([[orderNo, 'benefit-code']]);
    expect(await found(current.toLowerCase())).toEqual([[orderNo, 'benefit-code']]);
    expect(await found(`${current.slice(0, 4)} ${current.slice(4)}`)).toEqual([[orderNo, 'benefit-code']]);
    expect(await found(former)).toEqual([[orderNo, 'replaced-benefit-code']]);
    expect(await found(current, on.viewer)).toEqual([]);
  });

  it('is confirmed sixty times an hour by the search, which then answers as if there were none', async () => {
    const { shown } = await claimedOrder();
    const code = (await shown()) ?? '';
    const client = await consoleClient(on.service, 'support');
    const found = async () => {
      const { status, body } = await client.get(`/search?q=${code}`);
      return [status, body.results.length];
    };
    await on.sql(
      `insert into audit_log (at, actor, action, subject, detail)
       select now(), $1, 'search.code', 'code', jsonb_build_object('hash', n) from generate_series(1, 59) n`,
      [client.name],
    );
    expect(await found()).toEqual([200, 1]);
    await on.sql(`update audit_log set at = at - interval '11 minutes' where actor = $1`, [client.name]);
    expect(await found()).toEqual([200, 0]);
  });

  it('that an earlier release has stored is found after housekeeping', async () => {
    const { orderNo, shown } = await claimedOrder();
    const code = (await shown()) ?? '';
    await on.sql('update claims set code_hash = null where order_no = $1', [orderNo]);
    const find = async () => (await on.support.get(`/search?q=${code}`)).body.results;
    expect(await find()).toEqual([]);
    const { fresh, vault } = on.service;
    const { database } = fresh;
    const hash = createCodeHashing(database, createChannelRegistry(database, vault));
    expect(await hash()).toBe(1);
    expect(await find()).toMatchObject([{ id: orderNo, matched: 'benefit-code' }]);
    expect(await hash()).toBe(0);
  });
});

describe('a redemption link', () => {
  const check = async (link: string) => (await on.support.post('/redemption-links/check', { link })).body;

  it('is created for support, and opens the page of the order', async () => {
    const orderNo = await on.collectedOrder();
    expect((await on.ann.post(`/orders/${orderNo}/redemption-link`)).status).toBe(403);
    const { body } = await on.support.post(`/orders/${orderNo}/redemption-link`);
    expect((await get(on.service.baseUrl, body.url.slice(HOST.length))).status).toBe(200);
    expect(await auditOf(orderNo, 'link.create')).toEqual([
      { actor: on.support.name, detail: { expiresAt: body.expiresAt } },
    ]);
    expect(await check(`Please look: ${body.url}`)).toEqual({
      ...{ status: 'VALID', host: 'pay.example', orderNo, expiresAt: body.expiresAt },
    });
    expect((await on.viewer.post('/redemption-links/check', { link: body.url })).status).toBe(403);
  });

  it('is recognized if it has expired, was changed, is incomplete, or leads elsewhere', async () => {
    const orderNo = await on.collectedOrder();
    const { url, expiresAt } = (await on.support.post(`/orders/${orderNo}/redemption-link`)).body;
    const known = { host: 'pay.example', orderNo };
    expect(await check(url.replace(/exp=\d/, 'exp=9'))).toEqual({ ...known, status: 'CHANGED', expiresAt: null });
    const nothing = { orderNo: null, expiresAt: null };
    const cut = url.slice(0, url.indexOf('&exp'));
    expect(await check(cut)).toEqual({ status: 'INCOMPLETE', host: 'pay.example', ...nothing });
    expect(await check('https://pay.example/redeem')).toMatchObject({ status: 'INCOMPLETE' });
    const elsewhere = url.replace('pay.example', 'pay.example.evil.test');
    expect(await check(elsewhere)).toEqual({ status: 'OTHER_HOST', host: 'pay.example.evil.test', orderNo, expiresAt });
    const first = url.includes('sig=A') ? 'B' : 'A';
    expect(await check(elsewhere.replace(/sig=./, `sig=${first}`))).toMatchObject({ status: 'NOT_OURS', ...nothing });
    expect(await check(`Please look: ${url.slice('https://'.length)}`)).toMatchObject({ status: 'VALID', orderNo });
    expect(await check('no link at all')).toEqual({ status: 'NOT_OURS', host: null, ...nothing });
    on.service.clock.advance(8 * 86_400_000);
    const client = await consoleClient(on.service, 'support');
    expect((await client.post('/redemption-links/check', { link: url })).body).toMatchObject({
      ...{ status: 'EXPIRED', orderNo, expiresAt },
    });
    on.service.clock.set(Date.now());
  });
});

it('debits and refunds are found by their reference at the institution', async () => {
  const orderNo = await on.paidOrder();
  const reference = `REF-${orderNo}`;
  await on.sql('update debit_attempts set institution_ref = $2 where order_no = $1', [orderNo, reference]);
  const search = async (q: string, who = on.support) => (await who.get(`/search?q=${q}`)).body.results;
  expect(await search(reference, on.viewer)).toMatchObject([
    { kind: 'payment', id: `${orderNo}0001`, orderNo, matched: 'institution-reference' },
  ]);
  expect(await search(`${reference}x`)).toEqual([]);
  const { refundNo: id } = await on.refund({ orderNo, cycleNo: 1, amountCent: 500 });
  expect(await search(`ref-${id}`, on.viewer)).toMatchObject([
    { kind: 'refund', id, orderNo, matched: 'institution-reference' },
  ]);
});
