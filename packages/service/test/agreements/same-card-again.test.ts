import { describe, expect, it } from 'vitest';
import { ledgerOf } from '../institution/support.js';
import { boundRequest, ofFile } from '../orders/stage-of-file.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { askForCode, bind, bridged, cardOf, confirm, debitedOn } from './bridged.js';

/**
 * Checks that only one agreement per card is in force. The reference institution's ledger shows which agreements were
 * debited and canceled.
 */
const on = ofFile(bridged);

const call = (name: string, body: object) => on.channel.call(name, body);
const card = () => ({
  channelUserId: unique('user'),
  bankCardNo: cardOf('8888'),
  paymentChannelCode: 'BRIDGE',
});
const create = async (bindOrderNo: string) => {
  const reply = await call('orders/create', boundRequest(bindOrderNo));
  expect(reply.code, reply.text).toBe('0');
  return reply.data;
};
const nextPeriod = async (orderNo: string) => {
  const reply = await call('sandbox/orders/advance', { orderNo, cycles: 1 });
  expect(reply.code, reply.text).toBe('0');
  return reply.data;
};
const cardsOf = async (channelUserId: string) => {
  const { data } = await call('agreements/user-data', { channelUserId });
  return (data.bankDataList as { bindOrderNo: string; agreementStatus: string }[]).map((one) => [
    one.bindOrderNo,
    one.agreementStatus,
  ]);
};
const canceled = async () => (await ledgerOf(on.institution)).canceledAgreements;

describe('the same user binds the same card at the same payment channel again', () => {
  it('the new agreement takes over: its orders are debited on the new number, the old one is canceled', async () => {
    const which = card();
    const first = await bind(on.channel, which);
    const orders = [await create(first), await create(first)];
    const second = await bind(on.channel, which);
    expect(await cardsOf(which.channelUserId)).toEqual([
      [second, 'BIND_SUCCESS'],
      [first, 'REPLACED'],
    ]);
    const later = await create(second);
    const [, newNo] = [await nextPeriod(later.orderNo), (await debitedOn(on.institution, later.orderNo))[0]];
    for (const { orderNo } of orders) {
      expect(await nextPeriod(orderNo)).toMatchObject({ orderStatus: 'ACTIVE', totalPaidAmountCent: 3980 });
      const [oldNo, debited, ...more] = await debitedOn(on.institution, orderNo);
      expect([debited, more]).toEqual([newNo, []]);
      expect(oldNo).not.toBe(newNo);
    }
    const [oldNo] = await debitedOn(on.institution, orders[0].orderNo);
    expect(await on.cancelAgreements()).toBe(1);
    expect(await canceled()).toEqual([oldNo]);
    // Further runs of the job do nothing.
    expect(await on.cancelAgreements()).toBe(0);
    expect(await nextPeriod(orders[0].orderNo)).toMatchObject({ totalPaidAmountCent: 5970 });
  });

  it('the earlier bindOrderNo leads to the last binding, over any number of replacements', async () => {
    const which = card();
    const first = await bind(on.channel, which);
    const second = await bind(on.channel, which);
    const third = await bind(on.channel, which);
    const [oldest, old, newest] = [await create(first), await create(second), await create(third)];
    const [number] = await debitedOn(on.institution, newest.orderNo);
    expect(await debitedOn(on.institution, oldest.orderNo)).toEqual([number]);
    expect(await debitedOn(on.institution, old.orderNo)).toEqual([number]);
    expect(await cardsOf(which.channelUserId)).toEqual([
      [third, 'BIND_SUCCESS'],
      [second, 'REPLACED'],
      [first, 'REPLACED'],
    ]);
    expect(await on.cancelAgreements()).toBe(2);
  });

  it('410003: another code or confirmation for the earlier bindOrderNo; 400001: another user', async () => {
    const which = card();
    const first = await bind(on.channel, which);
    await bind(on.channel, which);
    expect((await confirm(on.channel, first)).code).toBe('410003');
    expect((await askForCode(on.channel, which, { bindOrderNo: first })).code).toBe('410003');
    const foreign = await call('orders/create', { ...boundRequest(first), channelUserId: 'somebody else' });
    expect(foreign.code).toBe('400001');
    await on.cancelAgreements();
  });

  it('410002: the last binding has ended since', async () => {
    const which = card();
    const first = await bind(on.channel, which);
    const second = await bind(on.channel, which);
    const { orderNo } = await create(first);
    await call('orders/unsubscribe', { orderNo });
    for (const bindOrderNo of [first, second]) {
      expect((await call('orders/create', boundRequest(bindOrderNo))).code).toBe('410002');
    }
    // Binding the card again creates a new agreement: bindings that ended earlier stay ended.
    const third = await bind(on.channel, which);
    expect(await cardsOf(which.channelUserId)).toEqual([
      [third, 'BIND_SUCCESS'],
      [second, 'CANCELED'],
      [first, 'REPLACED'],
    ]);
    expect((await call('orders/create', boundRequest(first))).code).toBe('410002');
    await on.cancelAgreements();
  });

  it('another card, user or payment channel, or a shared agreement of the card: nothing is replaced', async () => {
    const which = card();
    const shared = sharedRequest(on.channel, {
      channelUserId: which.channelUserId,
      sharedAgreement: sharedAgreement(on.channel, which.channelUserId, { paymentChannelCode: 'BRIDGE' }),
    });
    expect((await call('orders/create', shared)).code).toBe('0');
    const bindings = [
      await bind(on.channel, { ...which, bankCardNo: '6222020000001234567' }),
      await bind(on.channel, which),
      await bind(on.channel, { ...which, channelUserId: unique('user') }),
      await bind(on.channel, { ...which, paymentChannelCode: 'MOCKPAY' }),
    ];
    for (const bindOrderNo of bindings) expect((await create(bindOrderNo)).orderStatus).toBe('ACTIVE');
    const statuses = (await cardsOf(which.channelUserId)).map(([, status]) => status);
    expect(statuses).toEqual(Array(4).fill('BIND_SUCCESS'));
    expect(await on.cancelAgreements()).toBe(0);
  });
});
