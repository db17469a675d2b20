import { verifyRedeemLink } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { stageOfFile } from './stage-of-file.js';
import { anotherChannel, dailyProduct, NO_NUMBERS } from './support.js';

const { service, channel, sql, create, found, told } = stageOfFile();

const query = (body: object) => channel.call('orders/query', body);

describe('orders/query', () => {
  it('0: the answer of orders/create, by either number', async () => {
    const request = sharedRequest(channel);
    const order = await create(request);
    expect((await query({ orderNo: order.orderNo })).data).toEqual(order);
    expect((await query({ externalOrderNo: request.externalOrderNo })).data).toEqual(order);
  });

  it('0: periods in every status are the same text as in orders/list, before the unstarted ones', async () => {
    const started = ['PROCESSING', 'SUCCESS', 'FAIL_RETRY', 'FAIL', 'BILLED', 'CANCELED', 'REFUND_PART', 'REFUND_FULL'];
    const externalOrderNo = `${unique('text')} "paymentRecords":[{}],"`;
    const request = collectRequest(channel, { externalOrderNo });
    const { orderNo } = await create(request);
    await sql('delete from payments where order_no = $1', [orderNo]);
    await sql(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, refund_amount_cent)
       select order_no, n, channel_id, s.status, created_at + n * interval '1 month',
         case when n % 2 = 0 then created_at + n * interval '40 days 0.9 s' end, 1990 * n, n
       from orders, unnest($2::text[]) with ordinality as s(status, n) where order_no = $1`,
      [orderNo, started],
    );
    await sql('update orders set cycle_no = $2 where order_no = $1', [orderNo, started.length]);
    const data = await found(orderNo);
    const statuses = data.paymentRecords.map((one: { paymentStatus: string }) => one.paymentStatus);
    expect(statuses).toEqual([...started, ...Array(4).fill('WAIT')]);
    expect(data.externalOrderNo).toBe(externalOrderNo);
    const [listed] = (await channel.call('orders/list', { channelUserId: request.channelUserId })).data.orders;
    expect(JSON.stringify(data)).toBe(JSON.stringify(listed));
  });

  it('many at once, of two channels, by either number: each gets its own order', async () => {
    const other = await anotherChannel(service);
    const made = async (by: ChannelClient) => {
      const request = collectRequest(by);
      const { data } = await by.call('orders/create', request);
      return { orderNo: data.orderNo as string, externalOrderNo: request.externalOrderNo };
    };
    const mine = await Promise.all(Array.from({ length: 8 }, () => made(channel)));
    const theirs = await Promise.all(Array.from({ length: 8 }, () => made(other)));
    const ask = async (by: ChannelClient, body: object) => {
      const reply = await by.call('orders/query', body);
      return reply.code === '0' ? reply.data.orderNo : reply.code;
    };
    const asked = [...mine, ...theirs].flatMap(({ orderNo, externalOrderNo }, index) => {
      const [owner, stranger] = index < 8 ? [channel, other] : [other, channel];
      return [
        ask(owner, { orderNo }),
        ask(stranger, { orderNo }),
        ask(owner, { externalOrderNo }),
        ask(stranger, { externalOrderNo }),
        ask(owner, { orderNo: '100000000001' }),
      ];
    });
    expect(await Promise.all(asked)).toEqual(
      [...mine, ...theirs].flatMap(({ orderNo }) => [orderNo, '420001', orderNo, '420001', '420001']),
    );
  });
});

describe('420001: unknown, foreign and impossible numbers get the same message, and the order is unchanged', () => {
  const ASKS: [string, (user: string, by: ChannelClient) => object][] = [
    ['orders/query', () => ({})],
    ['orders/unsubscribe', () => ({})],
    ['agreements/replace', (user, by) => ({ newSharedAgreement: sharedAgreement(by, user) })],
    ['sandbox/orders/advance', () => ({ cycles: 1 })],
  ];

  it.each(ASKS)('%s', async (name, rest) => {
    const request = sharedRequest(channel);
    const before = await create(request);
    const { orderNo } = before;
    const other = await anotherChannel(service);
    const ask = (reference: object, by: ChannelClient = channel) =>
      by.call(name, { ...reference, ...rest(request.channelUserId, by) });
    const replies = [
      await ask({ orderNo: '100000000001' }),
      await ask({ externalOrderNo: 'nobody has this' }),
      await ask({ orderNo }, other),
      await ask({ externalOrderNo: request.externalOrderNo }, other),
      await ask({ orderNo: `0${orderNo}` }),
      await ask({ orderNo: `${orderNo} ` }),
      await ask({ orderNo: `${orderNo}0001` }),
      // Swaps the two numbers: sends the service's number as externalOrderNo, and the channel's number as orderNo.
      await ask({ externalOrderNo: orderNo }),
      await ask({ orderNo: request.externalOrderNo }),
      ...(await Promise.all(NO_NUMBERS.map((text) => ask({ orderNo: text })))),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      expect({ ...reply.envelope, requestId: '' }).toEqual({
        code: '420001',
        message: 'no such order',
        data: null,
        requestId: '',
        timestamp: '2026-01-31 12:00:00',
        success: false,
      });
    }
    expect(await found(orderNo)).toEqual(before);
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
  });
});

describe('redeemUrl', () => {
  const DAY_S = 86_400;
  const linkOf = (url: string) => {
    const { origin, pathname, searchParams } = new URL(url);
    return { place: origin + pathname, names: [...searchParams.keys()], values: Object.fromEntries(searchParams) };
  };
  const isSigned = (values: Record<string, string>) =>
    verifyRedeemLink(
      {
        orderNo: values['orderNo'] ?? '',
        appId: values['appId'] ?? '',
        channelUserId: values['channelUserId'] ?? '',
        exp: Number(values['exp']),
      },
      values['sig'] ?? '',
      Buffer.from(channel.credentials.callbackSecret, 'base64'),
    );

  it.each(['plain', '张 三&x=1#?/+%\'"()'])('form and signature, for the user %s', async (name) => {
    const channelUserId = unique(name);
    const { orderNo } = await create(collectRequest(channel, { channelUserId }));
    const { place, names, values } = linkOf((await found(orderNo)).redeemUrl);
    expect(place).toBe('https://pay.example/redeem');
    expect(names).toEqual(['orderNo', 'appId', 'channelUserId', 'exp', 'sig']);
    expect(values).toMatchObject({ orderNo, appId: 'test_demo', channelUserId });
    expect(isSigned(values)).toBe(true);
    expect(isSigned({ ...values, orderNo: `${orderNo}1` })).toBe(false);
  });

  it('exp is seven days from each query; earlier links stay valid', async () => {
    const before = service.clock.now();
    const { orderNo, redeemUrl } = await create(collectRequest(channel));
    service.clock.advance(90_000);
    const again = (await found(orderNo)).redeemUrl;
    service.clock.set(before);
    expect(Number(linkOf(redeemUrl).values['exp'])).toBe(before / 1000 + 7 * DAY_S);
    expect(Number(linkOf(again).values['exp'])).toBe(before / 1000 + 90 + 7 * DAY_S);
    expect(isSigned(linkOf(redeemUrl).values)).toBe(true);
    expect(isSigned(linkOf(again).values)).toBe(true);
  });

  it.each(['CLAIMED', 'REVOKED', 'EXPIRED'])(
    'null once every benefit is %s, present while one is left',
    async (status) => {
      for (const request of [collectRequest(channel), sharedRequest(channel)]) {
        const { orderNo } = await create(request);
        await sql('update benefits set status = $2 where order_no = $1 and position = 1', [orderNo, status]);
        expect((await found(orderNo)).redeemUrl).not.toBeNull();
        await sql('update benefits set status = $2 where order_no = $1', [orderNo, status]);
        expect((await found(orderNo)).redeemUrl).toBeNull();
        await sql(
          `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
           expires_at) select order_no, 2, 1, channel_id, benefit_code, name, face_value_cent, issued_at, expires_at
         from benefits where order_no = $1 and position = 1`,
          [orderNo],
        );
        expect((await found(orderNo)).redeemUrl).not.toBeNull();
      }
    },
  );

  it('null from the moment the last benefit expires, 90 days after it was issued', async () => {
    const before = service.clock.now();
    const { orderNo } = await create(collectRequest(channel));
    const at = async (now: number) => {
      service.clock.set(now);
      const fresh = await channel.call('orders/query', { orderNo }, { token: await channel.getToken() });
      service.clock.set(before);
      return fresh.data.redeemUrl;
    };
    expect(await at(before + 90 * DAY_S * 1000 - 1)).not.toBeNull();
    expect(await at(before + 90 * DAY_S * 1000)).toBeNull();
  });

  it('mode B: orders/create always has one, even without benefits; a query then has none', async () => {
    await dailyProduct(service, 'NO_BENEFITS', 3, []);
    const { orderNo, redeemUrl } = await create(collectRequest(channel, { productCode: 'NO_BENEFITS' }));
    expect(linkOf(redeemUrl).values['orderNo']).toBe(orderNo);
    expect((await found(orderNo)).redeemUrl).toBeNull();
  });
});
