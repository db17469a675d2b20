import { describe, expect, it } from 'vitest';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { bind, bridged, cardOf } from '../agreements/bridged.js';
import { control, ledgerOf } from '../institution/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { boundRequest, later, ofFile } from './stage-of-file.js';
import { anotherChannel } from './support.js';

/**
 * Tests the service with its engine and the reference institution, over real connections in both directions.
 * crash/creates-over-bridge.test.ts has the other outcomes of a first debit: declined, pending, lost, broken, forged,
 * never arrived.
 */
const on = ofFile(() => bridged({ engine: true }));
const [service, channel, institution] = [later(() => on.service), later(() => on.channel), later(() => on.institution)];
const sql = <Row>(text: string, values: readonly unknown[] = []) => service.fresh.database.query<Row>(text, values);

async function createWith(tail: string) {
  const channelUserId = unique('user');
  const shared = sharedAgreement(channel, channelUserId, {
    paymentChannelCode: 'BRIDGE',
    sharedAgreementNo: `${unique('shared')}-${tail}`,
  });
  const reply = await channel.call('orders/create', sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
  expect(reply.code, reply.text).toBe('0');
  return reply.data;
}
const query = async (orderNo: string) => (await channel.call('orders/query', { orderNo })).data;
const statusOf = async (orderNo: string) => (await query(orderNo)).orderStatus;
const debitOf = async (orderNo: string) =>
  (await ledgerOf(institution)).debits.find((debit) => debit.attemptNo === `${orderNo}000101`);

describe('a first debit over the bridge', () => {
  it('succeeds, and the institution has the same debit', async () => {
    const order = await createWith('8888');
    expect(order).toMatchObject({ orderStatus: 'ACTIVE', totalPaidAmountCent: 1990 });
    expect(await debitOf(order.orderNo)).toMatchObject({ status: 'SUCCESS', debitedCent: 1990, arrivals: 1 });
  });

  it('is declined because the agreement is invalid (0003): FAIL, terminated, nothing debited', async () => {
    const order = await createWith('0003');
    expect(order).toMatchObject({ orderStatus: 'TERMINATED', paymentRecords: [{ paymentStatus: 'FAIL' }] });
    expect((await debitOf(order.orderNo))?.debitedCent ?? 0).toBe(0);
  });

  it('is pending (0012) until a notice settles it; a forged notice before that is refused', async () => {
    const order = await createWith('0012');
    expect(order).toMatchObject({ orderStatus: 'INITIALIZING', paymentRecords: [{ paymentStatus: 'PROCESSING' }] });
    await control(institution, { action: 'settle', attemptNo: `${order.orderNo}000101` });
    await until('the notice', async () => (await statusOf(order.orderNo)) === 'ACTIVE');
    expect(await sql('select from events where order_no = $1', [order.orderNo])).toHaveLength(2);
  });

  it('with a wrong amount (0014) stays open and raises an alert', async () => {
    const order = await createWith('0014');
    expect(order.orderStatus).toBe('INITIALIZING');
    const alerts = await sql<{ kind: string }>('select kind from alerts where subject = $1', [
      `${order.orderNo}000101`,
    ]);
    expect(alerts).toEqual([{ kind: 'debit-wrong-amount' }]);
  });
});

it('binding over the bridge: sends a code, confirms it, debits on the agreement', async () => {
  const card = { channelUserId: unique('user'), bankCardNo: cardOf('8888'), paymentChannelCode: 'BRIDGE' };
  const order = await channel.call('orders/create', boundRequest(await bind(channel, card)));
  expect(order.data, order.text).toMatchObject({ orderStatus: 'ACTIVE' });
});

describe('notices and endings', () => {
  it('an agreement that another channel used first: the institution gets the channel and may refuse', async () => {
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', commonNumbers: true });
    const other = await anotherChannel(service);
    const { appId } = other.credentials;
    await authorizePaymentChannel(service.operator, { appId, code: 'BRIDGE', shareEnabled: true });
    const sharedAgreementNo = `${unique('shared')}-0025`;
    const share = (by: ChannelClient) => {
      const channelUserId = unique('user');
      const shared = sharedAgreement(by, channelUserId, { paymentChannelCode: 'BRIDGE', sharedAgreementNo });
      return by.call('orders/create', sharedRequest(by, { channelUserId, sharedAgreement: shared }));
    };
    const [mine, theirs, again] = [await share(channel), await share(other), await share(channel)];
    expect([mine, theirs, again].map(({ data }) => data.orderStatus)).toEqual(['ACTIVE', 'TERMINATED', 'ACTIVE']);
    expect(await debitOf(mine.data.orderNo)).toMatchObject({ appId: 'test_demo', debitedCent: 1990 });
    expect(await debitOf(theirs.data.orderNo)).toMatchObject({ appId, debitedCent: 0 });
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', commonNumbers: false });
  });

  it('the institution ends an agreement: its order is unsubscribed, with the event', async () => {
    const order = await createWith('0021');
    await until('the notice', async () => (await statusOf(order.orderNo)) === 'UNSUBSCRIBED');
    const rows = await sql(
      `select o.unsubscribe_source, a.status from orders o join agreements a using (agreement_id) where o.order_no = $1`,
      [order.orderNo],
    );
    expect(rows).toEqual([{ unsubscribe_source: 'AGREEMENT_INVALID', status: 'CANCELED' }]);
    const events = await sql<{ data: string }>(
      `select data from events where order_no = $1 and event_type = 'order.status.changed' order by event_no`,
      [order.orderNo],
    );
    expect(events.map(({ data }) => JSON.parse(data).orderStatus)).toEqual(['ACTIVE', 'UNSUBSCRIBED']);
  });

  it('an unsubscribe cancels the agreement at the institution, in the background', async () => {
    const order = await createWith('8888');
    expect((await channel.call('orders/unsubscribe', { orderNo: order.orderNo })).code).toBe('0');
    const [row] = await sql<{ agreement_id: number }>('select agreement_id from orders where order_no = $1', [
      order.orderNo,
    ]);
    await until('the cancellation', async () => {
      const [state] = await sql<{ open: boolean }>(
        'select cancel_at is not null as open from agreements where agreement_id = $1',
        [row?.agreement_id],
      );
      return state?.open === false;
    });
    expect((await ledgerOf(institution)).canceledAgreements.length).toBeGreaterThan(0);
  });
});
