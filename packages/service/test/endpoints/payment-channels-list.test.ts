import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel, updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
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

let made = 0;
async function paymentChannel(supportedBanks: readonly string[] = ['*']): Promise<string> {
  made += 1;
  const code = `PAY_${String(made).padStart(4, '0')}`;
  await createPaymentChannel(service.operator, {
    code,
    gateway: 'sandbox',
    displayName: `支付 ${made}`,
    supportedBanks,
  });
  return code;
}
const authorize = (code: string, flags: { isDefault?: boolean; shareEnabled?: boolean } = {}, by = channel) =>
  authorizePaymentChannel(service.operator, { appId: by.credentials.appId, code, ...flags });
const withdraw = (code: string) => withdrawPaymentChannel(service.operator, { appId: channel.credentials.appId, code });

const list = (body: object = {}, by = channel) => by.call('payment-channels/list', body);
const itemsOf = async (by = channel, body: object = {}) => (await list(body, by)).data.items;
const codesOf = async (by = channel, body: object = {}): Promise<string[]> =>
  (await itemsOf(by, body)).map((item: { code: string }) => item.code);

describe('payment-channels/list', () => {
  it('0: nothing is authorized yet', async () => {
    const reply = await list();
    expectEnvelope(reply.envelope, '0');
    expect(reply.data).toEqual({ items: [], page: 1, size: 100, hasMore: false, nextCursor: null });
  });

  it('0: every field of a payment channel, and nothing that is for operators', async () => {
    const any = await paymentChannel();
    const some = await paymentChannel(['ICBC', 'CCB']);
    await authorize(any, { isDefault: true, shareEnabled: true });
    await authorize(some);
    expect((await list()).data).toEqual({
      items: [
        {
          code: some,
          displayName: `支付 ${made}`,
          isDefault: false,
          shareEnabled: false,
          supportedBanks: ['ICBC', 'CCB'],
        },
        {
          code: any,
          displayName: `支付 ${made - 1}`,
          isDefault: true,
          shareEnabled: true,
          supportedBanks: ['*'],
        },
      ],
      page: 1,
      size: 100,
      hasMore: false,
      nextCursor: null,
    });
  });

  it('0: the newest authorization first; a change of its flags does not make it newer', async () => {
    const [first, second] = [await paymentChannel(), await paymentChannel()];
    await authorize(second);
    await authorize(first);
    expect(await codesOf()).toEqual([first, second]);
    await authorize(second, { shareEnabled: true });
    expect(await codesOf()).toEqual([first, second]);
    await withdraw(second);
    await authorize(second);
    expect(await codesOf()).toEqual([second, first]);
  });

  it('0: authorizations of the same moment have a fixed order, across pages too', async () => {
    const codes = [await paymentChannel(), await paymentChannel(), await paymentChannel()];
    for (const code of codes) await authorize(code);
    await service.fresh.database.query(`update channel_payment_channels set authorized_at = '2026-01-01'`);
    const pages = await Promise.all([1, 2, 3].map((page) => codesOf(channel, { page, size: 1 })));
    expect(pages.flat()).toEqual(codes);
  });

  it('0: pages', async () => {
    const codes = [await paymentChannel(), await paymentChannel(), await paymentChannel()];
    for (const code of codes) await authorize(code);
    codes.reverse();
    expect((await list({ size: 2 })).data).toMatchObject({ page: 1, size: 2, hasMore: true });
    expect(await codesOf(channel, { size: 2 })).toEqual(codes.slice(0, 2));
    expect((await list({ page: 2, size: 2 })).data).toMatchObject({ page: 2, size: 2, hasMore: false });
    expect(await codesOf(channel, { page: 2, size: 2 })).toEqual(codes.slice(2));
    expect((await list({ page: 2_147_483_647 })).data).toMatchObject({ items: [], hasMore: false });
  });

  it.each([
    ['page is 0', { page: 0 }, 'page'],
    ['page is a string', { page: '1' }, 'page'],
    ['page is beyond 32 bits', { page: 2_147_483_648 }, 'page'],
    ['size is 0', { size: 0 }, 'size'],
    ['size is 101', { size: 101 }, 'size'],
    ['size is a fraction', { size: 0.5 }, 'size'],
  ])('400001: %s', async (_what, body, field) => {
    const reply = await list(body);
    expectEnvelope(reply.envelope, '400001');
    expect(reply.envelope.message).toMatch(new RegExp(`^${field} `));
  });

  it('0: what operators change is seen at once, on every node', async () => {
    const everywhere = async () => {
      const [here, there] = [await itemsOf(channel), await itemsOf(elsewhere)];
      expect(there).toEqual(here);
      return here;
    };
    const [first, second] = [await paymentChannel(), await paymentChannel()];
    expect(await everywhere()).toEqual([]);
    await authorize(first, { isDefault: true });
    expect(await everywhere()).toMatchObject([{ code: first, isDefault: true, shareEnabled: false }]);
    await authorize(second, { isDefault: true, shareEnabled: true });
    expect(await everywhere()).toMatchObject([
      { code: second, isDefault: true, shareEnabled: true },
      { code: first, isDefault: false },
    ]);
    await updatePaymentChannel(service.operator, { code: first, displayName: 'Renamed', supportedBanks: ['ICBC'] });
    expect(await everywhere()).toMatchObject([
      { code: second },
      { code: first, displayName: 'Renamed', supportedBanks: ['ICBC'] },
    ]);
    await withdraw(second);
    expect(await everywhere()).toMatchObject([{ code: first }]);
  });

  it("0: one channel does not see another's, nor its flags", async () => {
    const other = await service.channel();
    const [shared, mine] = [await paymentChannel(), await paymentChannel()];
    await authorize(shared, { isDefault: true, shareEnabled: true });
    await authorize(mine);
    await authorize(shared, {}, other);
    expect(await codesOf()).toEqual([mine, shared]);
    expect(await itemsOf(other)).toMatchObject([{ code: shared, isDefault: false, shareEnabled: false }]);
  });
});
