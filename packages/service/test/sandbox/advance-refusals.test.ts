import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anotherChannel, NO_NUMBERS } from '../orders/support.js';
import { send } from '../support/channel-client.js';
import { testService } from '../support/service.js';
import { type TimeMachine, timeMachine } from './support.js';

let machine: TimeMachine;
beforeAll(async () => {
  machine = await timeMachine();
});
afterAll(() => machine.close());

describe('sandbox/orders/advance is refused', () => {
  it.each([
    [{}, 'cycles or to is required'],
    [{ cycles: 1, to: '2026-03-31 12:00:00' }, 'cycles and to exclude each other'],
    [{ cycles: 1, externalOrderNo: 'x' }, 'orderNo and externalOrderNo exclude each other'],
    [{ cycles: 1, orderNo: undefined }, 'orderNo or externalOrderNo is required'],
    [{ cycles: 0 }, 'cycles must be >= 1'],
    [{ cycles: 10_000 }, 'cycles must be <= 9999'],
    [{ cycles: 1.5 }, 'cycles must be integer'],
    [{ cycles: '1' }, 'cycles must be integer'],
    [{ cycles: null }, 'cycles or to is required'],
    [{ to: 'tomorrow' }, 'to must be a time'],
    [{ to: '2026-02-29 00:00:00' }, 'to must be a time'],
    [{ to: '' }, 'to must NOT have fewer than 1 characters'],
    [{ to: 1_767_225_600_000 }, 'to must be string'],
    [{ cycles: 1, outcomes: 'FAIL' }, 'outcomes must be array'],
    [{ cycles: 1, outcomes: ['PENDING'] }, 'outcomes.0 must be one of SUCCESS, FAIL_RETRY, FAIL, AGREEMENT_INVALID'],
    [{ cycles: 1, outcomes: ['FAIL', 'FAIL'] }, 'outcomes are more than cycles'],
  ])('400001: %j', async (body, message) => {
    const orderNo = await machine.deducted();
    const before = await machine.everything(orderNo);
    const { envelope } = await machine.advance(orderNo, body);
    expect(envelope).toMatchObject({ code: '400001', message });
    expect(await machine.everything(orderNo)).toEqual(before);
  });

  it.each(['FAIL', 'FAIL_RETRY', 'AGREEMENT_INVALID'])(
    '400001: %s for an order that its channel collects',
    async (no) => {
      const orderNo = await machine.collected();
      const before = await machine.everything(orderNo);
      expect((await machine.advance(orderNo, { cycles: 2, outcomes: ['SUCCESS', no] })).code).toBe('400001');
      expect(await machine.everything(orderNo)).toEqual(before);
    },
  );

  it('420001: unknown, foreign and impossible numbers', async () => {
    const orderNo = await machine.deducted({ externalOrderNo: 'NOT-YOURS' });
    const before = await machine.everything(orderNo);
    const other = await anotherChannel(machine.service);
    const replies = [
      await machine.advance('100000000001', { cycles: 1 }),
      await machine.channel.call('sandbox/orders/advance', { externalOrderNo: 'nobody has this', cycles: 1 }),
      await other.call('sandbox/orders/advance', { orderNo, cycles: 1 }),
      await other.call('sandbox/orders/advance', { externalOrderNo: 'NOT-YOURS', cycles: 1 }),
      ...(await Promise.all(NO_NUMBERS.map((text) => machine.advance(text, { cycles: 1 })))),
    ];
    for (const { envelope } of replies) expect(envelope).toMatchObject({ code: '420001', message: 'no such order' });
    expect(await machine.everything(orderNo)).toEqual(before);
  });

  it('420008: the first debit has no result yet', async () => {
    machine.institution.onDebit = async () => ({ kind: 'pending' });
    const orderNo = await machine.deducted();
    machine.institution.reset();
    expect((await machine.advance(orderNo, { cycles: 1 })).code).toBe('420008');
  });

  it('420003: unsubscribed, and terminated likewise; 420004: completed', async () => {
    const unsubscribed = await machine.deducted();
    await machine.channel.call('orders/unsubscribe', { orderNo: unsubscribed });
    machine.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'no' });
    const terminated = await machine.deducted();
    machine.institution.reset();
    const completed = await machine.collected({ productCode: 'TEST_SPU_DAILY_7' });
    await machine.advance(completed, { cycles: 6 });
    for (const [orderNo, code] of [
      [unsubscribed, '420003'],
      [terminated, '420003'],
      [completed, '420004'],
    ] as const) {
      const before = await machine.everything(orderNo);
      expect((await machine.advance(orderNo, { cycles: 1 })).code).toBe(code);
      // The status says no before the outcomes do.
      expect((await machine.advance(orderNo, { cycles: 1, outcomes: ['FAIL'] })).code).toBe(code);
      expect(await machine.everything(orderNo)).toEqual(before);
    }
  });

  it('401005: without the token of the channel', async () => {
    const reply = await machine.advance('1', { cycles: 1 }, { token: 'nobody' });
    expect([reply.status, reply.code]).toEqual([401, '401005']);
  });
});

describe('in production', () => {
  it('404001: there is no such endpoint, whoever asks and however', async () => {
    const service = await testService({ environment: 'production' });
    try {
      const channel = await service.channel();
      const path = '/openapi/v1/sandbox/orders/advance';
      const replies = [
        await channel.call('sandbox/orders/advance', { orderNo: '1', cycles: 1 }),
        await send(service.baseUrl, 'POST', path, {}, Buffer.from('')),
        await send(service.baseUrl, 'GET', path, {}, Buffer.from('')),
      ];
      for (const { status, code } of replies) expect([status, code]).toEqual([404, '404001']);
      expect((await channel.call('orders/query', { orderNo: '1' })).code).toBe('420001');
    } finally {
      await service.close();
    }
  });
});
