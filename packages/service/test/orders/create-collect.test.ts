import { describe, expect, it } from 'vitest';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { PRODUCT } from '../operator/support.js';
import { collectRequest, encrypted } from '../support/demo.js';
import { stageOfFile } from './stage-of-file.js';
import { anotherChannel, eventsOf } from './support.js';

const { service, channel, sql } = stageOfFile();

const CREATED_AT = '2026-01-31 12:00:00';
/** The new order and its first period, as the answer and the events have them. */
const ORDER = {
  createTime: CREATED_AT,
  orderStatus: 'ACTIVE',
  orderSuccessTime: CREATED_AT,
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  totalPaidAmountCent: 1990,
  totalRefundAmountCent: 0,
  nextPayTime: '2026-02-28 12:00:00',
};
const FIRST_PERIOD = {
  cycleNo: 1,
  expectPayTime: CREATED_AT,
  paidAt: CREATED_AT,
  amountCent: 1990,
  refundAmountCent: 0,
  paymentStatus: 'BILLED',
};

const create = (body: object) => channel.call('orders/create', body);
const numberAlerts = () =>
  sql(`select subject, detail, seen from alerts where kind = 'order-number-of-another-channel'`);

describe('orders/create in mode B', () => {
  it('0: also with its cycle fields: active and billed at once, every period listed, with a link', async () => {
    const cycles = { periodType: 'MONTH', period: 1, totalCycles: 12 };
    const request = collectRequest(channel, { channelAgreementRef: 'their own reference', ...cycles });
    const reply = await create(request);
    expect(reply.code, reply.text).toBe('0');
    const { paymentRecords, redeemUrl, ...order } = reply.data;
    expect(order).toEqual({
      orderNo: expect.stringMatching(/^\d{12}$/),
      externalOrderNo: request.externalOrderNo,
      ...ORDER,
      unsubscribeTime: null,
    });
    expect(paymentRecords).toHaveLength(12);
    expect(paymentRecords[0]).toEqual({ paymentOrderNo: `${order.orderNo}0001`, ...FIRST_PERIOD });
    expect(paymentRecords[2]).toMatchObject({
      expectPayTime: '2026-03-31 12:00:00',
      paidAt: null,
      paymentStatus: 'WAIT',
    });
    expect(redeemUrl).toMatch(/^https:\/\/pay\.example\/redeem\?/);
  });

  it('0: two events, the payment first, with the payloads of the interface', async () => {
    const request = collectRequest(channel);
    const { orderNo } = (await create(request)).data;
    const events = await eventsOf(service.fresh.database, orderNo);
    expect(events.map((event) => event.event_type)).toEqual(['payment.status.changed', 'order.status.changed']);
    expect(events.map(({ data }) => data)).toEqual([
      {
        orderNo,
        externalOrderNo: request.externalOrderNo,
        paymentOrderNo: `${orderNo}0001`,
        channelUserId: request.channelUserId,
        ...FIRST_PERIOD,
        refundTime: null,
        agreementShareFlag: false,
      },
      {
        orderNo,
        externalOrderNo: request.externalOrderNo,
        ...ORDER,
        totalPaidCycles: 1,
        latestPaymentStatus: 'BILLED',
      },
    ]);
  });

  it('0: benefits of the product are issued for ninety days', async () => {
    const { orderNo } = (await create(collectRequest(channel))).data;
    const rows = await sql(
      `select benefit_code, face_value_cent, status, to_char(expires_at, 'YYYY-MM-DD HH24:MI:SS') as expires
       from benefits where order_no = $1 order by position`,
      [orderNo],
    );
    expect(rows).toEqual([
      { benefit_code: 'VIP_PASS', face_value_cent: 1500, status: 'ISSUED', expires: '2026-05-01 12:00:00' },
      { benefit_code: 'COUPON', face_value_cent: 490, status: 'ISSUED', expires: '2026-05-01 12:00:00' },
    ]);
  });

  it.each([
    ['mobileEncrypted is not a ciphertext', { mobileEncrypted: '13800000000' }, '400002', 'mobileEncrypted'],
    ['periodType is unknown', { periodType: 'WEEK' }, '420007', 'periodType must be MONTH'],
    ['periodType has another spelling', { periodType: 'month' }, '420007', 'periodType must be MONTH'],
    ['periodType is empty', { periodType: '' }, '420007', 'periodType must be MONTH'],
    ['the product does not exist', { productCode: 'NO_SUCH' }, '420005', 'productCode NO_SUCH: no such product'],
    ['the product is a card', { productCode: '6222020000001234567' }, '420005', 'productCode: no such product'],
    ['periodType differs', { periodType: 'DAY' }, '420007', 'periodType'],
    ['period differs', { period: 2 }, '420007', 'period'],
    ['totalCycles differs', { totalCycles: 11 }, '420007', 'totalCycles'],
  ])('%s', async (_what, change, code, words) => {
    const request = { ...collectRequest(channel), ...change };
    const reply = await create(request);
    expect(reply.code, reply.text).toBe(code);
    expect(reply.envelope.message).toContain(words);
    expect((await channel.call('orders/query', { externalOrderNo: String(request.externalOrderNo) })).code).toBe(
      '420001',
    );
  });

  it('400002: a ciphertext under another key; 400001: a ciphertext of text that is not a mobile', async () => {
    const other = await service.channel();
    expect((await create(collectRequest(channel, { mobileEncrypted: encrypted(other, '13800000000') }))).code).toBe(
      '400002',
    );
    const reply = await create(collectRequest(channel, { mobileEncrypted: encrypted(channel, 'call me') }));
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain('mobileEncrypted');
  });

  it('420006: a product of another channel', async () => {
    const other = await service.channel();
    const request = collectRequest(other);
    expect((await other.call('orders/create', request)).envelope).toMatchObject({
      code: '420006',
      message: `productCode ${request.productCode}: channel is not authorized for the product`,
    });
  });

  it('420002: the number is used by an order of this channel, whatever else is wrong', async () => {
    const first = collectRequest(channel);
    expect((await create(first)).code).toBe('0');
    expect((await create(collectRequest(channel, { externalOrderNo: first.externalOrderNo }))).code).toBe('420002');
    const again = collectRequest(channel, { externalOrderNo: first.externalOrderNo, productCode: 'NO_SUCH' });
    expect((await create(again)).code).toBe('420002');
    expect(await numberAlerts()).toEqual([]);
  });

  it('a number of another channel: 420002 and one alert per two channels, but first the refusals of the product', async () => {
    const { externalOrderNo } = (await create(collectRequest(channel))).data;
    const other = await anotherChannel(service);
    const codeOf = async (more: object) =>
      (await other.call('orders/create', collectRequest(other, { externalOrderNo, ...more }))).code;
    await createProduct(service.operator, { ...PRODUCT, productCode: 'NOT_OF_OTHER' });
    await createProduct(service.operator, { ...PRODUCT, productCode: 'DEDUCT_OF_OTHER' });
    const { appId } = other.credentials;
    await authorizeProduct(service.operator, { appId, productCode: 'DEDUCT_OF_OTHER' });
    expect(await codeOf({ productCode: 'NO_SUCH' })).toBe('420005');
    expect(await codeOf({ productCode: 'NOT_OF_OTHER' })).toBe('420006');
    expect(await codeOf({ productCode: 'DEDUCT_OF_OTHER' })).toBe('420009');
    expect(await numberAlerts()).toEqual([]);
    expect([await codeOf({}), await codeOf({ totalCycles: 11 })]).toEqual(['420002', '420002']);
    expect(await numberAlerts()).toEqual([
      {
        subject: `${appId} test_demo`,
        detail: 'both channels use the same externalOrderNo: the second order was refused',
        seen: 2,
      },
    ]);
  });

  it('420009: a product that is sold only in the other mode', async () => {
    await createProduct(service.operator, { ...PRODUCT, productCode: 'DEDUCT_ONLY' });
    await authorizeProduct(service.operator, { appId: 'test_demo', productCode: 'DEDUCT_ONLY' });
    expect((await create(collectRequest(channel, { productCode: 'DEDUCT_ONLY' }))).code).toBe('420009');
  });

  it('0: channelAgreementRef is stored, even if empty; if absent it is null', async () => {
    for (const [given, kept] of [
      [{ channelAgreementRef: '合同 7' }, '合同 7'],
      [{ channelAgreementRef: '' }, ''],
      [{}, null],
    ] as const) {
      const { orderNo } = (await create(collectRequest(channel, given))).data;
      expect(await sql('select channel_agreement_ref as ref from orders where order_no = $1', [orderNo])).toEqual([
        { ref: kept },
      ]);
    }
  });

  it('0: times are whole seconds, from the moment of creation', async () => {
    const before = service.clock.now();
    service.clock.advance(999);
    const { data } = await create(collectRequest(channel));
    service.clock.set(before);
    expect((await channel.call('orders/query', { orderNo: data.orderNo })).data).toEqual(data);
    const [row] = await sql<{ ms: number }>(
      'select (extract(epoch from created_at) * 1000)::bigint as ms from orders where order_no = $1',
      [data.orderNo],
    );
    expect(row?.ms).toBe(before);
  });
});

describe('names as long as the interface allows', () => {
  const long = (mark: string) => `${mark}${'长'.repeat(1024 - mark.length)}`;

  it('0: 1,024 characters of three bytes each are unique and can be found', async () => {
    const request = collectRequest(channel, { externalOrderNo: long('a'), channelUserId: long('u') });
    const created = await create(request);
    expect(created.code, created.text).toBe('0');
    const found = await channel.call('orders/query', { externalOrderNo: request.externalOrderNo });
    expect(found.data.orderNo).toBe(created.data.orderNo);
    const listed = await channel.call('orders/list', { channelUserId: request.channelUserId });
    expect(listed.data.orders).toHaveLength(1);
    expect((await create(collectRequest(channel, { externalOrderNo: long('a') }))).code).toBe('420002');
    const other = { channelUserId: long('u'), mobileEncrypted: encrypted(channel, '19900000009') };
    expect((await create(collectRequest(channel, other))).code).toBe('410010');
  });
});

describe('orders/create in mode B, many at once', () => {
  it('a rejected order does not affect valid orders in the same batch', async () => {
    const used = collectRequest(channel);
    await create(used);
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        create(
          n % 3 === 0 ? collectRequest(channel, { externalOrderNo: used.externalOrderNo }) : collectRequest(channel),
        ),
      ),
    );
    expect(replies.map((reply) => reply.code)).toEqual(
      Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? '420002' : '0')),
    );
    const numbers = new Set(replies.map((reply) => reply.data?.orderNo).filter(Boolean));
    expect(numbers.size).toBe(40);
  });
});
