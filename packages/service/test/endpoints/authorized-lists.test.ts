import { beforeEach, describe, expect, it } from 'vitest';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel, updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct, withdrawProduct } from '../../src/operator/provisioning/products.js';
import { anotherNodeOfFile, serviceOfFile } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';

const { service } = serviceOfFile();
const node = anotherNodeOfFile(service);
let channel: ChannelClient;
let elsewhere: ChannelClient;
beforeEach(async () => {
  channel = await service.channel();
  elsewhere = node.client(channel);
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
const ANY_BANK = { gateway: 'sandbox', displayName: '支付', supportedBanks: ['*'] };

let made = 0;
const nextCode = () => {
  made += 1;
  return `CODE_${String(made).padStart(4, '0')}`;
};
async function product(more: Partial<typeof MONTHLY> = {}): Promise<string> {
  const productCode = nextCode();
  await createProduct(service.operator, { productCode, ...MONTHLY, ...more });
  return productCode;
}
async function paymentChannel(more: Partial<typeof ANY_BANK> = {}): Promise<string> {
  const code = nextCode();
  await createPaymentChannel(service.operator, { code, ...ANY_BANK, ...more });
  return code;
}
const of = ({ credentials }: ChannelClient) => ({ appId: credentials.appId });
const authorizeBank = (code: string, flags: { isDefault?: boolean; shareEnabled?: boolean } = {}, by = channel) =>
  authorizePaymentChannel(service.operator, { ...of(by), code, ...flags });

const LISTS = [
  {
    name: 'products/list',
    table: 'channel_products',
    create: () => product(),
    authorize: (productCode: string, by = channel) =>
      authorizeProduct(service.operator, { ...of(by), productCode }) as Promise<unknown>,
    withdraw: (productCode: string) =>
      withdrawProduct(service.operator, { ...of(channel), productCode }) as Promise<unknown>,
  },
  {
    name: 'payment-channels/list',
    table: 'channel_payment_channels',
    create: () => paymentChannel(),
    authorize: (code: string, by = channel) => authorizeBank(code, {}, by) as Promise<unknown>,
    withdraw: (code: string) => withdrawPaymentChannel(service.operator, { ...of(channel), code }) as Promise<unknown>,
  },
];

// Paging is tested in cursors.test.ts, and refused fields in the tests of the schemas.
describe.each(LISTS)('$name', ({ name, table, create, authorize, withdraw }) => {
  const list = async (body: object = {}, by = channel) => (await by.call(name, body)).data;
  const codesOf = async (body: object = {}, by = channel): Promise<string[]> =>
    (await list(body, by)).items.map((item: { productCode?: string; code?: string }) => item.productCode ?? item.code);
  async function authorized(count: number): Promise<string[]> {
    const codes: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const code = await create();
      await authorize(code);
      codes.push(code);
    }
    return codes;
  }

  it('0: nothing is authorized yet', async () => {
    const reply = await channel.call(name, {});
    expect(reply.status).toBe(200);
    expectEnvelope(reply.envelope, '0');
    expect(reply.data).toEqual({ items: [], page: 1, size: 100, hasMore: false, nextCursor: null });
  });

  it("0: operators' changes are visible immediately on every node, newest authorization first", async () => {
    const seen = async () => {
      const [here, there] = [await codesOf(), await codesOf({}, elsewhere)];
      expect(there).toEqual(here);
      return here;
    };
    const [first, second] = [await create(), await create()];
    expect(await seen()).toEqual([]);
    await authorize(second);
    expect(await seen()).toEqual([second]);
    await authorize(first);
    expect(await seen()).toEqual([first, second]);
    await withdraw(second);
    expect(await seen()).toEqual([first]);
    await authorize(second);
    expect(await seen()).toEqual([second, first]);
  });

  it('0: authorizations of the same instant have a fixed order, also across pages', async () => {
    const codes = await authorized(3);
    await service.fresh.database.query(`update ${table} set authorized_at = '2026-01-01'`);
    const pages = await Promise.all([1, 2, 3].map((page) => codesOf({ page, size: 1 })));
    expect(pages.flat()).toEqual(codes);
  });

  it("0: one channel does not see another's", async () => {
    const other = await service.channel();
    const [mine, theirs] = [await create(), await create()];
    await authorize(mine);
    await authorize(theirs, other);
    expect(await codesOf()).toEqual([mine]);
    expect(await codesOf({}, other)).toEqual([theirs]);
  });
});

describe('products/list', () => {
  const list = async (body: object = {}) => (await channel.call('products/list', body)).data;
  const authorize = (productCode: string) => authorizeProduct(service.operator, { ...of(channel), productCode });

  it('0: every field of a product, also without benefits and with the largest amount', async () => {
    const largest = { ...MONTHLY, benefits: [], amountCent: 100_000_000_000 };
    const [monthly, large] = [await product(), await product(largest)];
    await authorize(monthly);
    await authorize(large);
    expect(await list()).toEqual({
      items: [
        { productCode: large, ...largest },
        { productCode: monthly, ...MONTHLY },
      ],
      page: 1,
      size: 100,
      hasMore: false,
      nextCursor: null,
    });
  });
});

describe('payment-channels/list', () => {
  const items = async (by = channel) => (await by.call('payment-channels/list', {})).data.items;

  it('0: every field of a payment channel, without operator-only fields', async () => {
    const [any, some] = [await paymentChannel(), await paymentChannel({ supportedBanks: ['ICBC', 'CCB'] })];
    await authorizeBank(any, { isDefault: true, shareEnabled: true });
    await authorizeBank(some);
    const { displayName } = ANY_BANK;
    expect(await items()).toEqual([
      { code: some, displayName, isDefault: false, shareEnabled: false, supportedBanks: ['ICBC', 'CCB'] },
      { code: any, displayName, isDefault: true, shareEnabled: true, supportedBanks: ['*'] },
    ]);
  });

  it('0: changed flags and fields are visible immediately on every node, and do not change the order', async () => {
    const [first, second] = [await paymentChannel(), await paymentChannel()];
    await authorizeBank(first, { isDefault: true });
    await authorizeBank(second);
    await items(elsewhere);
    await authorizeBank(first, { shareEnabled: true });
    await authorizeBank(second, { isDefault: true });
    await updatePaymentChannel(service.operator, { code: first, displayName: 'Renamed', supportedBanks: ['ICBC'] });
    for (const by of [channel, elsewhere]) {
      expect(await items(by)).toMatchObject([
        { code: second, isDefault: true, shareEnabled: false },
        { code: first, displayName: 'Renamed', supportedBanks: ['ICBC'], isDefault: false },
      ]);
    }
  });

  it("0: one channel does not see another's flags", async () => {
    const other = await service.channel();
    const shared = await paymentChannel();
    await authorizeBank(shared, { isDefault: true, shareEnabled: true });
    await authorizeBank(shared, {}, other);
    expect(await items(other)).toMatchObject([{ code: shared, isDefault: false, shareEnabled: false }]);
  });
});
