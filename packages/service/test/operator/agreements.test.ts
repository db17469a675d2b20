import { beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import { cancelAgreement } from '../../src/operator/orders/agreements.js';
import { ofFile } from '../orders/stage-of-file.js';
import { agreementOf, toldAbout } from '../orders/support.js';
import { refundStage } from '../refunds/support.js';
import { lockWaits } from '../support/database.js';
import { bindCard, sharedAgreement, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { dump } from './support.js';

const on = ofFile(refundStage);
beforeEach(async () => {
  await on.cancelAgreements();
  on.institution.reset();
});

const statusOf = async (orderNo: string) => (await on.query(orderNo))['orderStatus'];
const agreementNoOf = async (orderNo: string) => (await agreementOf(on.service.fresh.database, orderNo)).agreement_no;

async function boundOrder(bindOrderNo: string): Promise<string> {
  const reply = await on.channel.call('orders/create', {
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: unique('order'),
    productCode: 'TEST_SPU_001',
    bindOrderNo,
  });
  return reply.data.orderNo;
}

async function refused(agreementNo: string, reason: RegExp): Promise<void> {
  const before = await dump(on.service.fresh.database);
  await expect(cancelAgreement(on.operator, { agreementNo })).rejects.toThrow(reason);
  expect(await dump(on.service.fresh.database)).toBe(before);
}

describe('cancelling an agreement', () => {
  it('unsubscribes every active order on it, and asks the institution once', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const orders = [await boundOrder(bindOrderNo), await boundOrder(bindOrderNo), await boundOrder(bindOrderNo)];
    const [first = '', ...others] = orders;
    await on.channel.call('orders/unsubscribe', { orderNo: first });
    const agreementNo = `AG${bindOrderNo}`;

    const canceled = await cancelAgreement(on.operator, { agreementNo, reason: 'card stolen' });
    expect(canceled).toMatchObject({ agreementNo, agreementStatus: 'CANCELED', unsubscribed: others, changed: true });
    for (const orderNo of others) {
      expect(await statusOf(orderNo)).toBe('UNSUBSCRIBED');
      const told = await toldAbout(on.service.fresh.database, orderNo);
      expect(told).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED']);
    }
    const rows = await on.service.fresh.database.query(
      'select distinct unsubscribe_source as source, unsubscribe_reason as reason from orders where order_no = any($1)',
      [others],
    );
    expect(rows).toEqual([{ source: 'OPERATIONS', reason: 'card stolen' }]);
    expect(await on.cancelAgreements()).toBe(1);
    expect(on.institution.cancellations).toEqual([
      { appId: 'test_demo', agreementNo, institutionNo: `inst-${bindOrderNo}` },
    ]);
    expect(await listAudit(on.operator, { subject: agreementNo })).toMatchObject([
      { action: 'agreement.cancel', detail: { reason: 'card stolen', unsubscribed: others } },
    ]);
  });

  it('ends all orders on the same institution number, also in another row', async () => {
    const channelUserId = unique('user');
    const shared = sharedAgreement(on.channel, channelUserId);
    const one = await on.paidOrder({ channelUserId, sharedAgreement: shared });
    const other = await on.paidOrder({ channelUserId, sharedAgreement: shared });
    expect(await agreementNoOf(one)).not.toBe(await agreementNoOf(other));
    const canceled = await cancelAgreement(on.operator, { agreementNo: await agreementNoOf(one) });
    expect(canceled.unsubscribed).toEqual([one, other]);
    expect(await agreementOf(on.service.fresh.database, other)).toMatchObject({ status: 'CANCELED' });
    await on.cancelAgreements();
    expect(on.institution.cancellations).toHaveLength(1);
  });

  it('is refused as a whole while a first debit on it is in flight', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const active = await boundOrder(bindOrderNo);
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const waiting = await boundOrder(bindOrderNo);
    await refused(`AG${bindOrderNo}`, new RegExp(`order ${waiting} .* waits for the result of its first debit`));
    expect(await statusOf(active)).toBe('ACTIVE');
  });

  it('is refused for an agreement that was replaced or does not exist', async () => {
    const channelUserId = unique('user');
    const orderNo = await on.paidOrder({ channelUserId });
    const former = await agreementNoOf(orderNo);
    const newSharedAgreement = sharedAgreement(on.channel, channelUserId);
    await on.channel.call('agreements/replace', { orderNo, newSharedAgreement });
    await refused(former, /is REPLACED: there is nothing to cancel/);
    expect(await statusOf(orderNo)).toBe('ACTIVE');
    for (const none of ['', 'AG', 'AG1', 'AG01', 'ag200000000001', 'AG99999999999999999', former.slice(2)]) {
      await refused(none, /there is no agreement/);
    }
  });

  it('leaves an order alone that was just moved to another agreement', async () => {
    const { database } = on.service.fresh;
    const [orderNo, other] = [await on.paidOrder(), await on.paidOrder()];
    const agreementNo = await agreementNoOf(orderNo);
    const { agreement_id: another } = await agreementOf(database, other);
    let canceling: ReturnType<typeof cancelAgreement> | undefined;
    await database.transaction(async (tx) => {
      await tx.query('update orders set agreement_id = $2 where order_no = $1', [orderNo, another]);
      canceling = cancelAgreement(on.operator, { agreementNo });
      await until('the cancellation waits', async () => (await lockWaits(database)) > 0);
    });
    expect(await canceling).toMatchObject({ unsubscribed: [], agreementStatus: 'CANCELED' });
    expect(await statusOf(orderNo)).toBe('ACTIVE');
  });

  it('does not deadlock with concurrent unsubscribes of the same orders', async () => {
    const bindOrderNo = await bindCard(on.channel, unique('user'));
    const orders = await Promise.all(Array.from({ length: 8 }, () => boundOrder(bindOrderNo)));
    await Promise.all([
      ...orders.toReversed().map((orderNo) => on.channel.call('orders/unsubscribe', { orderNo })),
      cancelAgreement(on.operator, { agreementNo: `AG${bindOrderNo}` }),
      cancelAgreement(on.operator, { agreementNo: `AG${bindOrderNo}` }),
    ]);
    for (const orderNo of orders) {
      expect(await statusOf(orderNo)).toBe('UNSUBSCRIBED');
      const told = await toldAbout(on.service.fresh.database, orderNo);
      expect(told.filter((status) => status === 'UNSUBSCRIBED')).toHaveLength(1);
    }
  });
});
