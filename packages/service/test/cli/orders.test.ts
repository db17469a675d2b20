import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { ofFile } from '../orders/stage-of-file.js';
import { agreementOf } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel, sharedRequest, unique } from '../support/demo.js';
import { testService } from '../support/service.js';
import { perennial } from './perennial.js';
import { commandLine } from './support.js';

/** Orders are created over HTTP, and changed by commands. */
const masterKey = randomBytes(32);
const service = ofFile(() => testService({ vault: openVault([masterKey]) }));
const { text, json, settings, expectRefusals } = commandLine(() => service.fresh, {
  MASTER_KEY: masterKey.toString('base64'),
});
let channel: ChannelClient;
beforeAll(async () => {
  service.clock.set(Date.now());
  channel = await demoChannel(service);
});

async function order(request: (channel: ChannelClient, more?: Record<string, unknown>) => object, more = {}) {
  const reply = await channel.call('orders/create', request(channel, more));
  expect(reply.data, reply.text).toMatchObject({ orderStatus: 'ACTIVE' });
  return reply.data.orderNo as string;
}

describe('order', () => {
  it('show, by either number, as JSON and as text', async () => {
    const externalOrderNo = unique('order');
    const orderNo = await order(sharedRequest, { externalOrderNo });
    const shown = await json('order', 'show', orderNo);
    expect(shown).toMatchObject({
      orderNo,
      externalOrderNo,
      orderStatus: 'ACTIVE',
      payments: [{ cycleNo: 1, paymentStatus: 'SUCCESS', amountCent: 1990 }],
      alerts: [],
    });
    expect(await json('order', 'show', '--external', externalOrderNo)).toEqual(shown);
    const forPeople = await text('order', 'show', orderNo);
    for (const part of [
      /^Order +\d+$/m,
      /^Cycle +12 x 1 MONTH, 19\.90 CNY each$/m,
      /^Paid +19\.90 CNY$/m,
      /^Card +…4567 through MOCKPAY$/m,
      /^Periods\nPERIOD +NUMBER/m,
      /^1 +\d{16} +SUCCESS .* 19\.90 CNY +0\.00 CNY$/m,
      /^Attempts\n/m,
      /^1 +VIP_PASS +.* 15\.00 CNY +ISSUED/m,
      /^Latest events\n/m,
    ]) {
      expect(forPeople).toMatch(part);
    }
    expect(forPeople).not.toMatch(/Refunds|Alerts/);
  });

  it('show, with the notice before a debit, which has no status', async () => {
    await text('channel', 'set', 'test_demo', '--upcoming-notices', '5');
    const orderNo = await order(collectRequest);
    await text('order', 'advance', orderNo, '--cycles', '1');
    expect(await text('order', 'show', orderNo)).toMatch(/ payment\.upcoming +2 *$/m);
  });

  it('refund: a part, the same again with its key, then the rest', async () => {
    const orderNo = await order(sharedRequest);
    const part = ['order', 'refund', orderNo, '1', '--amount-cent', '490', '--key', 'k-1', '--note', 'half'];
    const refunded = await json(...part);
    expect(refunded).toMatchObject({
      refundNo: `R${orderNo}000101`,
      amountCent: 490,
      status: 'SUCCESS',
      requestedBy: `cli:${os.userInfo().username}@${os.hostname()}`,
      payment: {
        paymentStatus: 'REFUND_PART',
        amountCent: 1990,
        refundAmountCent: 490,
        benefits: [
          { benefitCode: 'VIP_PASS', faceValueCent: 1500, status: 'ISSUED' },
          { benefitCode: 'COUPON', faceValueCent: 490, status: 'REVOKED' },
        ],
      },
      changed: true,
    });
    expect(await text(...part)).toBe(
      `refund R${orderNo}000101: 4.90 CNY was refunded\nperiod 1 is REFUND_PART, 4.90 CNY of 19.90 CNY refunded in total\n` +
        'benefits revoked: COUPON (4.90 CNY)\nbenefits left: VIP_PASS ISSUED (15.00 CNY)\nNothing changed.\n',
    );
    expect(await text('order', 'refund', orderNo, '1')).toBe(
      `refund R${orderNo}000102: 15.00 CNY was refunded\nperiod 1 is REFUND_FULL, 19.90 CNY of 19.90 CNY refunded in total\n` +
        'benefits revoked: VIP_PASS (15.00 CNY), COUPON (4.90 CNY)\n',
    );
    const query = await channel.call('orders/query', { orderNo });
    expect(query.data).toMatchObject({ totalRefundAmountCent: 1990, redeemUrl: null });
    expect(await text('order', 'show', orderNo)).toMatch(/^1 +R\d{18} +SUCCESS +4\.90 CNY .* k-1 +half$/m);
    const { items } = await json('audit', 'list', '--subject', orderNo);
    expect(items).toMatchObject([{ action: 'order.refund' }, { action: 'order.refund' }]);
  });

  it('refund: a part that keeps the benefits', async () => {
    const orderNo = await order(sharedRequest);
    const part = ['order', 'refund', orderNo, '1', '--amount-cent', '490', '--keep-benefits'];
    expect(await text(...part)).toContain(
      'benefits revoked: none\nbenefits left: VIP_PASS ISSUED (15.00 CNY), COUPON ISSUED (4.90 CNY)\n',
    );
    const full = await perennial(['order', 'refund', orderNo, '1', '--keep-benefits'], settings());
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('revokes its unclaimed benefits')]);
  });

  it('refund: made outside, with an unsubscribe', async () => {
    const orderNo = await order(sharedRequest);
    const outside = ['order', 'refund', orderNo, '1', '--amount-cent', '490', '--outside', '--unsubscribe'];
    expect(await text(...outside)).toBe(
      `refund R${orderNo}000101: 4.90 CNY was recorded as refunded outside the service; nothing was sent\n` +
        'period 1 is SUCCESS, 0.00 CNY of 19.90 CNY refunded in total\n' +
        'benefits revoked: none\nbenefits left: VIP_PASS ISSUED (15.00 CNY), COUPON ISSUED (4.90 CNY)\n' +
        'the order is unsubscribed\n',
    );
    expect((await channel.call('orders/query', { orderNo })).data).toMatchObject({
      orderStatus: 'UNSUBSCRIBED',
      totalRefundAmountCent: 0,
    });
    expect(await json('order', 'refund', orderNo, '1')).toMatchObject({ amountCent: 1500, status: 'SUCCESS' });
  });

  it('refund: above a limit only with a reason for skipping approval, which the audit log contains', async () => {
    const orderNo = await order(sharedRequest);
    const refundWith = (limits: object, ...more: readonly string[]) =>
      perennial(['order', 'refund', orderNo, '1', '--json', ...more], { ...settings(), ...limits });
    const refund = (...more: readonly string[]) => refundWith({ CONSOLE_REFUND_APPROVAL_CENT: '1000' }, ...more);
    expect((await refund('--amount-cent', '600', '--key', 'a', '--without-approval', 'not needed')).code).toBe(0);
    // The sum of both refunds is above the limit.
    const refused = await refund('--amount-cent', '600', '--key', 'b');
    expect([refused.code, JSON.parse(refused.stderr).error]).toEqual([
      1,
      expect.stringMatching(/above 10\.00 CNY of one period \(\w+\) need a second operator.*--without-approval/),
    ]);
    const ofDay = { CONSOLE_REFUND_APPROVAL_CENT: '0', CONSOLE_REFUND_DAILY_CENT: '1000' };
    expect((await refundWith(ofDay, '--amount-cent', '600', '--key', 'b')).stderr).toMatch(
      /refunds above 10\.00 CNY of one operator in 24 hours \(\w+\) need a second operator/,
    );
    // The key is that of the first refund, so no second refund is made.
    expect((await refund('--amount-cent', '600', '--key', 'a')).code).toBe(0);
    expect((await refund('--amount-cent', '600', '--key', 'b', '--without-approval', 'ann is away')).code).toBe(0);
    const { items } = await json('audit', 'list', '--subject', orderNo);
    expect(items.map(({ detail }: { detail: object }) => detail)).toEqual([
      expect.objectContaining({ key: 'b', withoutApproval: 'ann is away' }),
      expect.not.objectContaining({ withoutApproval: expect.anything() }),
    ]);
  });

  it('unsubscribe', async () => {
    const orderNo = await order(collectRequest);
    expect(await text('order', 'unsubscribe', orderNo, '--reason', 'by phone')).toBe(
      `order ${orderNo} is UNSUBSCRIBED\n`,
    );
    expect(await text('order', 'unsubscribe', orderNo)).toBe(`order ${orderNo} was already UNSUBSCRIBED\n`);
    expect(await json('order', 'unsubscribe', orderNo)).toMatchObject({ orderStatus: 'UNSUBSCRIBED', changed: false });
    expect(await text('order', 'show', orderNo)).toMatch(/^Unsubscribed .* by OPERATIONS: by phone$/m);
    expect((await channel.call('orders/query', { orderNo })).data).toMatchObject({ orderStatus: 'UNSUBSCRIBED' });
  });
});

describe('agreement', () => {
  it('show has the number at the institution, and writes the reason to the audit log', async () => {
    const request = sharedRequest(channel);
    const { orderNo } = (await channel.call('orders/create', request)).data;
    const { agreement_no: agreementNo } = await agreementOf(service.fresh.database, orderNo);
    const { channelUserId, sharedAgreementNo } = request.sharedAgreement;
    expect(await text('agreement', 'show', agreementNo, '--reason', 'ticket 4711')).toBe(
      `${agreementNo} is BIND_SUCCESS\nnumber at MOCKPAY: ${sharedAgreementNo}\nuser ${channelUserId} of test_demo\n`,
    );
    expect(await json('audit', 'list', '--subject', agreementNo)).toMatchObject({
      items: [{ action: 'agreement.show', detail: { reason: 'ticket 4711' } }],
    });
    await service.fresh.database.query('update agreements set institution_no = null where agreement_no = $1', [
      agreementNo,
    ]);
    expect(await text('agreement', 'show', agreementNo, '--reason', 'ticket 4711')).toContain('MOCKPAY: erased\n');
  });

  it('cancel', async () => {
    const orderNo = await order(sharedRequest);
    const { agreement_no: agreementNo } = await agreementOf(service.fresh.database, orderNo);
    expect(await text('agreement', 'cancel', agreementNo, '--reason', 'card stolen')).toBe(
      `${agreementNo} is canceled; its institution is notified in the background\nunsubscribed: ${orderNo}\n`,
    );
    expect(await text('agreement', 'cancel', agreementNo)).toBe(`${agreementNo} was canceled already\n`);
    expect(await json('agreement', 'cancel', agreementNo)).toMatchObject({
      agreementStatus: 'CANCELED',
      changed: false,
    });
    expect((await channel.call('orders/query', { orderNo })).data).toMatchObject({ orderStatus: 'UNSUBSCRIBED' });
  });
});

describe('alert', () => {
  it('list and acknowledge', async () => {
    expect(await text('alert', 'list')).toBe('nothing yet\n');
    await raiseAlert(service.fresh.database, 'refund-refused', 'R1', 'the card is closed');
    expect(await text('alert', 'list')).toMatch(
      /^SEVERITY +KIND .*\nwarning +refund-refused +R1 +the card is closed +1 /,
    );
    expect(await text('alert', 'acknowledge', 'refund-refused', 'R1')).toBe(
      'refund-refused about R1 is acknowledged\n',
    );
    expect(await text('alert', 'acknowledge', 'refund-refused', 'R1')).toMatch(/^It was already acknowledged by cli:/);
    expect(await json('alert', 'list')).toEqual({ items: [] });
    expect(await json('alert', 'list', '--all')).toMatchObject({ items: [{ subject: 'R1', seen: 1 }] });
    await raiseAlert(service.fresh.database, 'refund-refused', 'R1', 'again');
    expect(await json('alert', 'list')).toMatchObject({ items: [{ subject: 'R1', seen: 2 }] });
    expect(await json('alert', 'acknowledge', 'refund-refused', 'R1')).toMatchObject({ changed: true });
  });
});

it('refusals have exit code 1 and one line, and write nothing', async () => {
  const paid = await order(sharedRequest);
  const collected = await order(collectRequest);
  await expectRefusals([
    [/either an order number or --external/, 'order', 'show'],
    [/either an order number or --external/, 'order', 'show', paid, '--external', 'x'],
    [/there is no order "1"/, 'order', 'show', '1'],
    [/external number "none"/, 'order', 'show', '--external', 'none'],
    [/missing required argument 'cycle-no'/, 'order', 'refund', paid],
    [/whole number/, 'order', 'refund', paid, 'first'],
    [/whole number/, 'order', 'refund', paid, '1', '--amount-cent', '19.90'],
    [/whole number from 1/, 'order', 'refund', paid, '1', '--amount-cent', '0'],
    [/19\.90 CNY left to refund/, 'order', 'refund', paid, '1', '--amount-cent', '1991'],
    [/is WAIT: only a paid period/, 'order', 'refund', paid, '2'],
    [/collected by its channel/, 'order', 'refund', collected, '1'],
    [/there is no order/, 'order', 'refund', 'x', '1'],
    [/the key must have/, 'order', 'refund', paid, '1', '--key', ''],
    [/there is no order/, 'order', 'unsubscribe', '1'],
    [/is SUCCESS: only FAIL_RETRY/, 'order', 'retry', paid, '1'],
    [/is BILLED: only FAIL_RETRY/, 'order', 'retry', collected, '1'],
    [/there is no agreement "AG1"/, 'agreement', 'cancel', 'AG1'],
    [/missing required argument 'subject'/, 'alert', 'acknowledge', 'refund-refused'],
    [/there is no alert "x" about "y"/, 'alert', 'acknowledge', 'x', 'y'],
  ]);
});
