import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizeProduct, createProduct, withdrawProduct } from '../../src/operator/provisioning/products.js';
import type { ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type TestService, testService } from '../support/service.js';

let service: TestService;
let node: Node;
let channel: ChannelClient;
let elsewhere: ChannelClient;
beforeAll(async () => {
  service = await testService();
  node = await anotherNode(service);
});
beforeEach(async () => {
  channel = await service.channel();
  elsewhere = node.client(channel);
});
afterAll(async () => {
  await node.close();
  await service.close();
});

const MONTHLY = {
  productName: 'Monthly membership',
  settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
  periodType: 'MONTH',
  period: 3,
  totalCycles: 12,
  amountCent: 1990,
  benefits: [
    { benefitCode: 'VIP_PASS', name: 'VIP pass', faceValueCent: 1500 },
    { benefitCode: 'COUPON', name: '优惠券 "十元"', faceValueCent: 0 },
  ],
};
let made = 0;
async function product(): Promise<string> {
  made += 1;
  const productCode = `PRODUCT_${String(made).padStart(4, '0')}`;
  await createProduct(service.operator, { productCode, ...MONTHLY });
  return productCode;
}
const authorize = (productCode: string, by = channel) =>
  authorizeProduct(service.operator, { appId: by.credentials.appId, productCode });
const withdraw = (productCode: string) =>
  withdrawProduct(service.operator, { appId: channel.credentials.appId, productCode });
async function authorizedProducts(count: number): Promise<string[]> {
  const codes: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const code = await product();
    await authorize(code);
    codes.push(code);
  }
  return codes;
}

const list = (body: object = {}, by = channel) => by.call('products/list', body);
const codesOf = async (body: object = {}, by = channel): Promise<string[]> =>
  (await list(body, by)).data.items.map((item: { productCode: string }) => item.productCode);

describe('products/list', () => {
  it('0: nothing is authorized yet', async () => {
    const reply = await list();
    expect(reply.status).toBe(200);
    expectEnvelope(reply.envelope, '0');
    expect(reply.data).toEqual({ items: [], page: 1, size: 100, hasMore: false, nextCursor: null });
  });

  it('0: every field of a product', async () => {
    const productCode = await product();
    await authorize(productCode);
    expect((await list()).data).toEqual({
      items: [{ productCode, ...MONTHLY }],
      page: 1,
      size: 100,
      hasMore: false,
      nextCursor: null,
    });
  });

  it('0: a product without benefits, with the largest amount', async () => {
    const amountCent = 100_000_000_000;
    await createProduct(service.operator, { productCode: 'LARGEST', ...MONTHLY, benefits: [], amountCent });
    await authorize('LARGEST');
    expect((await list()).data.items).toEqual([{ productCode: 'LARGEST', ...MONTHLY, benefits: [], amountCent }]);
  });

  it('0: the newest authorization first', async () => {
    const [first = '', second = ''] = [await product(), await product()];
    await authorize(second);
    await authorize(first);
    expect(await codesOf()).toEqual([first, second]);
    await withdraw(second);
    await authorize(second);
    expect(await codesOf()).toEqual([second, first]);
  });

  it('0: authorizations of the same moment have a fixed order, across pages too', async () => {
    const codes = await authorizedProducts(5);
    await service.fresh.database.query(`update channel_products set authorized_at = '2026-01-01'`);
    const pages = [1, 2, 3, 4, 5].map((page) => codesOf({ page, size: 1 }));
    expect((await Promise.all(pages)).flat()).toEqual(codes);
  });

  it('0: pages', async () => {
    const codes = (await authorizedProducts(5)).reverse();
    const page = async (body: object) => (await list(body)).data;
    expect(await codesOf({ size: 2 })).toEqual(codes.slice(0, 2));
    expect(await page({ size: 2 })).toMatchObject({ page: 1, size: 2, hasMore: true });
    expect(await codesOf({ page: 2, size: 2 })).toEqual(codes.slice(2, 4));
    expect(await page({ page: 2, size: 2 })).toMatchObject({ page: 2, size: 2, hasMore: true });
    expect(await codesOf({ page: 3, size: 2 })).toEqual(codes.slice(4));
    expect(await page({ page: 3, size: 2 })).toMatchObject({ page: 3, size: 2, hasMore: false });
    expect(await page({ page: 4, size: 2 })).toEqual({ items: [], page: 4, size: 2, hasMore: false, nextCursor: null });
    expect(await page({ page: 1, size: 5 })).toMatchObject({ hasMore: false });
    expect(await page({ page: 5, size: 1 })).toMatchObject({ hasMore: false });
    expect(await page({ page: 2_147_483_647, size: 100 })).toMatchObject({ items: [], hasMore: false });
  });

  it('0: a hundred at most without being asked for less', async () => {
    const codes = (await authorizedProducts(101)).reverse();
    expect(await codesOf()).toEqual(codes.slice(0, 100));
    expect((await list()).data).toMatchObject({ page: 1, size: 100, hasMore: true });
    expect(await codesOf({ page: 2 })).toEqual(codes.slice(100));
    expect((await list({ page: 2 })).data).toMatchObject({ page: 2, size: 100, hasMore: false });
  });

  it.each([
    ['page is 0', { page: 0 }, 'page'],
    ['page is negative', { page: -1 }, 'page'],
    ['page is a string', { page: '1' }, 'page'],
    ['page is a fraction', { page: 1.5 }, 'page'],
    ['page is beyond 32 bits', { page: 2_147_483_648 }, 'page'],
    ['page is beyond every number', { page: 1e300 }, 'page'],
    ['size is 0', { size: 0 }, 'size'],
    ['size is 101', { size: 101 }, 'size'],
    ['size is a string', { size: '10' }, 'size'],
  ])('400001: %s', async (_what, body, field) => {
    const reply = await list(body);
    expect(reply.status).toBe(200);
    expectEnvelope(reply.envelope, '400001');
    expect(reply.envelope.message).toMatch(new RegExp(`^${field} `));
  });

  it('0: what operators change is seen at once, on every node', async () => {
    const clients = [channel, elsewhere];
    const seen = () => Promise.all(clients.map((client) => codesOf({}, client)));
    const [first = '', second = ''] = [await product(), await product()];
    expect(await seen()).toEqual([[], []]);
    await authorize(first);
    expect(await seen()).toEqual([[first], [first]]);
    await authorize(second);
    expect(await seen()).toEqual([
      [second, first],
      [second, first],
    ]);
    await withdraw(first);
    expect(await seen()).toEqual([[second], [second]]);
  });

  it("0: one channel does not see another's", async () => {
    const other = await service.channel();
    const [mine = '', theirs = ''] = [await product(), await product()];
    await authorize(mine);
    await authorize(theirs, other);
    expect(await codesOf()).toEqual([mine]);
    expect(await codesOf({}, other)).toEqual([theirs]);
  });
});
