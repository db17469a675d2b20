import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/operator/people/roles.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, encrypted, mobileOf, sharedAgreement, sharedRequest } from '../support/demo.js';
import { type Answer, readStage } from './reads.js';

interface Found {
  readonly results: Answer[];
  readonly hasMore: boolean;
  readonly isMobileLeftOut: boolean;
}

const on = ofFile(readStage);
let other: ChannelClient;
let orderNo: string;
let external: string;
let agreementNo: string;
const USER = 'liu-er-7';

const search = async (q: string, role?: 'viewer') => (await on.ask<Found>('/search', { q }, role)).results;
const find = async (q: string, matched: string, role?: 'viewer') =>
  (await search(q, role)).filter((one) => one['matched'] === matched);

beforeAll(async () => {
  other = await anotherChannel(on.service);
  const request = sharedRequest(on.channel, {
    channelUserId: USER,
    externalOrderNo: 'EXT-2026-77',
    sharedAgreement: sharedAgreement(on.channel, USER, {
      bankCardNoEncrypted: encrypted(on.channel, '6222020000001239876'),
    }),
  });
  external = request.externalOrderNo;
  orderNo = (await on.channel.call('orders/create', request)).data.orderNo;
  await on.refund({ orderNo, cycleNo: 1, amountCent: 10 });
  await on.sql(
    `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at)
     select order_no, 1, 2, channel_id, 'COUPON', 'POOL', 'PENDING', now() from orders where order_no = $1`,
    [orderNo],
  );
  const [agreement] = await on.sql<{ no: string }>(
    `select agreement_no as no from agreements join orders using (agreement_id) where order_no = $1`,
    [orderNo],
  );
  agreementNo = agreement?.no ?? '';
  // Another user with the same id, in another channel.
  await other.call('orders/create', collectRequest(other, { channelUserId: USER }));
});

describe('finds by', () => {
  const order = { kind: 'order', status: 'ACTIVE', appId: 'test_demo' };

  it('the number of an order', async () => {
    expect(await find(orderNo, 'order-number')).toEqual([
      {
        ...order,
        id: orderNo,
        title: orderNo,
        subtitle: `${external} · TEST_SPU_001 · ${USER}`,
        orderNo,
        channelUserId: null,
        matched: 'order-number',
      },
    ]);
    expect(await find(` ${orderNo} `, 'order-number')).toHaveLength(1);
    expect(await find(`${orderNo.slice(0, 4)} ${orderNo.slice(4)}`, 'order-number')).toHaveLength(1);
  });

  it("a prefix of an order's number, while it is being typed", async () => {
    expect(await find(orderNo.slice(0, -1), 'order-number-prefix')).toContainEqual(
      expect.objectContaining({ ...order, id: orderNo }),
    );
    expect(await find(orderNo.slice(0, 4), 'order-number-prefix')).toContainEqual(
      expect.objectContaining({ id: orderNo }),
    );
    expect(await find(orderNo.slice(0, 3), 'order-number-prefix')).toEqual([]);
  });

  it('the external number', async () => {
    expect(await find(external, 'external-number')).toMatchObject([{ ...order, id: orderNo }]);
    expect(await find('EXT-2026-7', 'external-number')).toEqual([]);
  });

  it('the number of a period, of an attempt, of a refund and of a claim', async () => {
    const payment = { kind: 'payment', id: `${orderNo}0001`, status: 'REFUND_PART', orderNo, appId: 'test_demo' };
    expect(await find(`${orderNo}0001`, 'payment-number')).toMatchObject([payment]);
    expect(await find(`${orderNo}000101`, 'attempt-number')).toMatchObject([payment]);
    expect(await find(`${orderNo}000102`, 'attempt-number')).toEqual([]);
    const refund = { kind: 'refund', id: `R${orderNo}000101`, status: 'SUCCESS', orderNo, appId: 'test_demo' };
    expect(await find(`R${orderNo}000101`, 'refund-number')).toMatchObject([refund]);
    expect(await find(`r${orderNo}000101`, 'refund-number')).toMatchObject([refund]);
    expect(await find(`C${orderNo}000102`, 'claim-number')).toMatchObject([{ ...order, id: orderNo }]);
    expect(await find(`C${orderNo}000101`, 'claim-number')).toEqual([]);
  });

  it('the number of an agreement, and the last four digits of its card', async () => {
    const agreement = { kind: 'agreement', id: agreementNo, status: 'BIND_SUCCESS', channelUserId: USER };
    expect(await find(agreementNo, 'agreement-number')).toMatchObject([agreement]);
    expect(await find('9876', 'card-tail')).toMatchObject([agreement]);
    expect(await find('9875', 'card-tail')).toEqual([]);
  });

  it('the id of an event', async () => {
    const [event] = await on.sql<{ id: string }>(
      'select event_no::text as id from events where order_no = $1 order by event_no limit 1',
      [orderNo],
    );
    expect(await find(event?.id ?? '', 'event-id')).toMatchObject([{ kind: 'event', id: event?.id, orderNo }]);
    expect(await find('999999999', 'event-id')).toEqual([]);
  });

  it('the id of a user, in every channel that has it', async () => {
    const users = await find(USER, 'user-id');
    expect(users.map(({ appId }) => appId)).toEqual([other.credentials.appId, 'test_demo'].toSorted());
    expect(users[0]).toMatchObject({ kind: 'user', id: USER, channelUserId: USER });
  });

  it('a mobile number, in every channel and spelling', async () => {
    const mobile = mobileOf(USER);
    const appIds = (found: Answer[]) => found.map(({ appId }) => appId).toSorted();
    const both = [other.credentials.appId, 'test_demo'].toSorted();
    expect(appIds(await find(mobile, 'mobile'))).toEqual(both);
    expect(appIds(await find(`+86 ${mobile.slice(0, 3)}-${mobile.slice(3, 7)} ${mobile.slice(7)}`, 'mobile'))).toEqual(
      both,
    );
    // As phones copy a number from their contacts, with marks of the text's direction.
    expect(appIds(await find(`\u202d${mobile}\u202c`, 'mobile'))).toEqual(both);
    expect(appIds(await find(`(0086) ${mobile.slice(0, 3)}\u00a0${mobile.slice(3)}`, 'mobile'))).toEqual(both);
    expect(await find('19900000000', 'mobile')).toEqual([]);
  });

  it('a mobile number only for roles that may see it, because trials could reveal masked digits', async () => {
    const mobile = mobileOf(USER);
    const asked = (role: Role, q: string) => on.ask<Found>('/search', { q }, role);
    for (const role of ['viewer', 'finance'] as const) {
      const { results, isMobileLeftOut } = await asked(role, mobile);
      expect([role, results, isMobileLeftOut]).toEqual([role, [], true]);
      expect(await asked(role, '19900000000')).toEqual({ results: [], hasMore: false, isMobileLeftOut: true });
      expect(await asked(role, orderNo)).toMatchObject({ isMobileLeftOut: false });
    }
    for (const role of ['support', 'admin'] as const) {
      expect(await asked(role, mobile)).toMatchObject({ isMobileLeftOut: false, results: [{}, {}] });
    }
  });

  it("a prefix of a channel's name or app id, and of a product's name or code", async () => {
    // The other channel's random app id may have the same prefix.
    expect(await find('test_d', 'channel')).toContainEqual(
      expect.objectContaining({ kind: 'channel', id: 'test_demo' }),
    );
    expect(await find('another', 'channel')).toMatchObject([{ id: other.credentials.appId, title: 'Another channel' }]);
    expect(await find('test_spu', 'product')).toMatchObject([
      { id: 'TEST_SPU_001' },
      { id: 'TEST_SPU_DAILY_7' },
      { id: 'TEST_SPU_FOREIGN' },
      { id: 'TEST_SPU_ONCE' },
    ]);
    expect(await find('Seven', 'product')).toMatchObject([{ kind: 'product', id: 'TEST_SPU_DAILY_7' }]);
    expect(await find('%', 'product')).toEqual([]);
  });
});

it('finds nothing that does not exist', async () => {
  for (const q of [
    'nothing of the kind',
    '   ',
    `'; drop table orders; --`,
    '0',
    'R1',
    'C1',
    'AG',
    'AG0',
    '99999999999999999999',
  ]) {
    expect(await search(q)).toEqual([]);
  }
});

it('masks user ids for viewers', async () => {
  const masked = 'li****-7';
  expect(await find(orderNo, 'order-number', 'viewer')).toMatchObject([{ subtitle: expect.stringContaining(masked) }]);
  expect(await find(agreementNo, 'agreement-number', 'viewer')).toMatchObject([
    // The result leads to an order, because the viewer may not see the user.
    { channelUserId: null, orderNo },
  ]);
  expect(JSON.stringify(await search(orderNo, 'viewer'))).not.toContain(USER);
});

it('shows at most twenty, and marks that there are more', async () => {
  for (let n = 0; n < 21; n += 1) await on.collectedOrder();
  const { results, hasMore } = await on.ask<Found>('/search', { q: orderNo.slice(0, 6) });
  expect(results).toHaveLength(20);
  expect(hasMore).toBe(true);
  expect((await on.ask<Found>('/search', { q: external })).hasMore).toBe(false);
});
