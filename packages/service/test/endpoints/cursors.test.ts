import { beforeAll, describe, expect, it } from 'vitest';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { boundBinding, person } from '../agreements/support.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { collectRequest, encrypted, mobileOf, sharedRequest, unique } from '../support/demo.js';

const { on } = stageOfFile();
let channel: ChannelClient;
beforeAll(async () => {
  channel = await anotherChannel(on.service);
  for (const { credentials } of [channel, on.channel]) {
    await setCallback(on.service.operator, { appId: credentials.appId, url: 'https://shop.example/events' });
  }
});

/** A list endpoint: a query, a way to add a record, and the ids of the records in an answer. */
interface Listed {
  readonly name: string;
  readonly body: (by: ChannelClient) => Record<string, unknown>;
  readonly add: () => Promise<unknown>;
  readonly ids: (data: Reply['data']) => string[];
  /** A different query of the same list, for which a cursor of `body` must be refused. */
  readonly otherBody?: Record<string, unknown>;
}

const user = unique('user');
const code = () => unique('CODE').replaceAll('-', '_').toUpperCase();
const owner = person({ channelUserId: user, mobile: mobileOf(user), certificateNo: '110101199001011234' });

const product = {
  productName: 'A product',
  settlementModes: ['CHANNEL_COLLECT'] as const,
  periodType: 'DAY' as const,
  period: 1,
  totalCycles: 2,
  amountCent: 100,
  benefits: [],
};

const LISTS: readonly Listed[] = [
  {
    name: 'products/list',
    body: () => ({}),
    async add() {
      const productCode = code();
      await createProduct(on.service.operator, { productCode, ...product });
      await authorizeProduct(on.service.operator, { appId: channel.credentials.appId, productCode });
    },
    ids: (data) => data.items.map((one: { productCode: string }) => one.productCode),
  },
  {
    name: 'payment-channels/list',
    body: () => ({}),
    async add() {
      const input = { code: code(), displayName: 'Pay', gateway: 'sandbox', supportedBanks: ['*'] } as const;
      await createPaymentChannel(on.service.operator, input);
      await authorizePaymentChannel(on.service.operator, { appId: channel.credentials.appId, code: input.code });
    },
    ids: (data) => data.items.map((one: { code: string }) => one.code),
  },
  {
    name: 'agreements/user-data',
    // Encrypts the certificate number again for each call, as a channel does.
    body: (by) => ({ channelUserId: user, certificateNoEncrypted: encrypted(by, '110101199001011234') }),
    add: () => boundBinding(channel, { ...owner, bankCardNo: person().bankCardNo }),
    ids: (data) => data.bankDataList.map((one: { agreementNo: string }) => one.agreementNo),
    otherBody: { channelUserId: user },
  },
  {
    name: 'orders/list',
    body: () => ({ channelUserId: user }),
    // All orders have the same creation time, because the service's clock stands still.
    add: () => channel.call('orders/create', collectRequest(channel, { channelUserId: user })),
    ids: (data) => data.orders.map((one: { orderNo: string }) => one.orderNo),
    otherBody: { channelUserId: user, cycleType: 'MULTIPLE' },
  },
  {
    name: 'events/list',
    body: () => ({ deliveryStatus: 'PENDING' }),
    add: () => channel.call('orders/create', collectRequest(channel)),
    ids: (data) => data.events.map((one: { eventId: string }) => one.eventId),
    otherBody: {},
  },
];

const call = ({ name, body }: Listed, more: object) => channel.call(name, { ...body(channel), ...more });

async function atLeast(list: Listed, count: number): Promise<string[]> {
  for (;;) {
    const { data } = await call(list, {});
    const ids = list.ids(data);
    if (ids.length >= count) return ids;
    await list.add();
  }
}

/** Reads all pages of a list, beginning with the query `first`. Runs `between` before each further page. */
async function walk(list: Listed, first: object, rest: object, between = async (): Promise<unknown> => undefined) {
  const replies = [await call(list, first)];
  for (let cursor = replies[0]?.data.nextCursor; cursor !== null; cursor = replies.at(-1)?.data.nextCursor) {
    await between();
    replies.push(await call(list, { ...rest, cursor }));
  }
  return replies.map(({ data }) => data);
}

describe.each(LISTS.map((list) => [list.name, list] as const))('%s by page and by cursor', (_name, list) => {
  it('0: pages by number, newest first, with hasMore unless the page is the last', async () => {
    const all = await atLeast(list, 5);
    const last = Math.ceil(all.length / 2);
    for (const [page, size, ids, hasMore] of [
      [1, 2, all.slice(0, 2), true],
      [2, 2, all.slice(2, 4), true],
      [last, 2, all.slice(2 * last - 2), false],
      [last + 1, 2, [], false],
      [1, all.length, all, false],
      [2_147_483_647, 100, [], false],
    ] as const) {
      const { data } = await call(list, { page, size });
      expect([list.ids(data), data.page, data.size, data.hasMore]).toEqual([ids, page, size, hasMore]);
    }
  });

  it('0: cursors return each record once, in the order of the pages, but none that was added meanwhile', async () => {
    const all = await atLeast(list, 5);
    const pages = await walk(list, { size: 2 }, { size: 2 }, list.add);
    expect(pages.flatMap(list.ids)).toEqual(all);
    expect(pages.map(({ page, size, hasMore }) => [page, size, hasMore])).toEqual(
      pages.map((_, index) => [index === 0 ? 1 : null, 2, index < pages.length - 1]),
    );
    expect(pages.at(-1)?.nextCursor).toBeNull();
    expect(list.ids((await call(list, {})).data).length).toBeGreaterThan(all.length);
  });

  it('0: a cursor works after any page, and with another size', async () => {
    const all = await atLeast(list, 5);
    const pages = await walk(list, { page: 2, size: 1 }, { size: 3 });
    expect(pages.flatMap(list.ids)).toEqual(all.slice(1));
    const { data } = await call(list, { size: all.length });
    expect([data.hasMore, data.nextCursor]).toEqual([false, null]);
  });

  it('400001: a cursor of another list or query, a forged one, or one together with a page', async () => {
    await atLeast(list, 2);
    const cursorOf = async (one: Listed, body: object, by = channel): Promise<string> =>
      (await by.call(one.name, { ...body, size: 1 })).data.nextCursor;
    const own = await cursorOf(list, list.body(channel));
    const parts: unknown[] = JSON.parse(Buffer.from(own, 'base64url').toString());
    const rewritten = (changed: unknown) => Buffer.from(JSON.stringify(changed)).toString('base64url');
    const other = LISTS[(LISTS.indexOf(list) + 1) % LISTS.length] as Listed;
    await atLeast(other, 2);
    const stranger = on.channel;
    await stranger.call('orders/create', sharedRequest(stranger, { channelUserId: user }));
    await stranger.call('orders/create', sharedRequest(stranger, { channelUserId: user }));
    const wrong = [
      'x',
      '0',
      'null',
      `${own}A`,
      own.slice(0, -4),
      `${own}=`,
      ` ${own}`,
      Buffer.from(JSON.stringify(parts)).toString('hex'),
      Buffer.from(JSON.stringify(parts, null, 1)).toString('base64url'),
      rewritten({}),
      rewritten(null),
      rewritten([]),
      rewritten(parts.slice(0, -1)),
      rewritten([...parts, 1]),
      rewritten(parts.with(0, 'orders/query')),
      rewritten(parts.with(1, 'AAAAAAAAAAAA')),
      ...['-1.5', '1', null, true, 1.5, 1e300, {}, [], '\u0000', 'a'.repeat(65)].map((key) =>
        rewritten(parts.with(2, key)),
      ),
      rewritten(parts.with(-1, "' or 1=1")),
      await cursorOf(other, other.body(channel)),
      await cursorOf(list, list.body(stranger), stranger),
      ...(list.otherBody ? [await cursorOf(list, list.otherBody)] : []),
    ];
    for (const cursor of wrong.filter((one) => one !== null)) {
      const reply = await call(list, { cursor });
      expect([cursor, reply.code, reply.envelope.message]).toEqual([
        cursor,
        '400001',
        'cursor must be a nextCursor of the same query',
      ]);
    }
    for (const cursor of ['', 7, 'x'.repeat(1025)]) {
      const reply = await call(list, { cursor });
      expect([reply.code, reply.envelope.message]).toEqual(['400001', expect.stringContaining('cursor')]);
    }
    const both = await call(list, { page: 2, cursor: own });
    expect([both.code, both.envelope.message]).toEqual(['400001', 'page and cursor are mutually exclusive']);
    expect((await call(list, { cursor: own })).code).toBe('0');
  });
});

describe('orders/list by cursor', () => {
  it('0: orders with one period, with several, and both, created in any sequence', async () => {
    const { operator } = on.service;
    const [once, twice] = [code(), code()];
    for (const [productCode, totalCycles] of [
      [once, 1],
      [twice, 2],
    ] as const) {
      await createProduct(operator, { ...product, productCode, totalCycles });
      await authorizeProduct(operator, { appId: channel.credentials.appId, productCode });
    }
    const channelUserId = unique('user');
    const made: string[] = [];
    for (const productCode of [twice, once, once, 'TEST_SPU_001', twice, once]) {
      const { data } = await channel.call('orders/create', collectRequest(channel, { channelUserId, productCode }));
      made.unshift(data.orderNo);
      on.service.clock.advance(500);
    }
    const single = (index: number) => [0, 3, 4].includes(index);
    for (const [cycleType, expected] of [
      [undefined, made],
      ['SINGLE', made.filter((_, index) => single(index))],
      ['MULTIPLE', made.filter((_, index) => !single(index))],
    ] as const) {
      const list = { ...(LISTS[3] as Listed), body: () => ({ channelUserId, ...(cycleType ? { cycleType } : {}) }) };
      for (const size of [1, 2, 5]) expect((await walk(list, { size }, { size })).flatMap(list.ids)).toEqual(expected);
      const [first] = await walk(list, { size: 1 }, { size: 100 });
      expect(list.ids(first)).toEqual(expected.slice(0, 1));
      const { data } = await call(list, { size: 1, page: 2 });
      expect([list.ids(data), data.hasMore]).toEqual([expected.slice(1, 2), true]);
    }
  });
});

describe('a list that takes too long', () => {
  it('503001: has Retry-After and advice, and the database is free for other work', async () => {
    await on.service.fresh.database.transaction(async (tx) => {
      await tx.query('lock table events in access exclusive mode');
      const reply = await channel.call('events/list', { page: 7 });
      expect([reply.status, reply.headers['retry-after'], reply.envelope]).toMatchObject([
        503,
        '1',
        {
          code: '503001',
          message: 'the list could not be read within 3 s: use cursor, or a smaller size',
          data: null,
        },
      ]);
    });
    expect((await channel.call('events/list', { page: 7 })).code).toBe('0');
  });
});
