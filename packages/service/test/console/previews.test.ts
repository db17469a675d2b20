import { describe, expect, it } from 'vitest';
import { setVoidedPeriodEvents } from '../../src/operator/provisioning/channel-settings.js';
import { dumpWithout } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel, eventsOf } from '../orders/support.js';
import { declined } from '../renewals/support.js';
import { sharedRequest } from '../support/demo.js';
import { operatorStage } from './operators.js';
import type { Answer } from './reads.js';

const on = ofFile(() => operatorStage({ refundApprovalCent: 1500 }));

const previewUnsubscribe = async (orderNo: string): Promise<Answer> =>
  (await on.viewer.get(`/orders/${orderNo}/unsubscribe/preview`)).body;
const previewRefund = async (orderNo: string, amountCent?: number, cycleNo = 1, client = on.viewer): Promise<Answer> =>
  (
    await client.get(
      `/orders/${orderNo}/periods/${cycleNo}/refund/preview${amountCent === undefined ? '' : `?amountCent=${amountCent}`}`,
    )
  ).body;

/** Returns the state of an order and its events, to compare before and after an action. */
async function look(orderNo: string) {
  const events = await eventsOf(on.service.fresh.database, orderNo);
  const counts: Record<string, number> = {};
  for (const { event_type, cycle_no, cycle_to } of events) {
    const count = cycle_to === null || cycle_no === null ? 1 : cycle_to - cycle_no + 1;
    counts[event_type] = (counts[event_type] ?? 0) + count;
  }
  const query = await on.query(orderNo);
  const records = query['paymentRecords'] as { paymentStatus: string; amountCent: number; cycleNo: number }[];
  const voided = records.filter(({ paymentStatus }) => paymentStatus === 'CANCELED');
  const revoked = await on.sql<{ name: string; cycleNo: number }>(
    `select name, cycle_no as "cycleNo" from benefits where order_no = $1 and status = 'REVOKED' order by cycle_no, position`,
    [orderNo],
  );
  return {
    counts,
    refunded: query['totalRefundAmountCent'] as number,
    voided: voided.length,
    voidedCent: voided.reduce((sum, { amountCent }) => sum + amountCent, 0),
    revoked,
  };
}

/** Carries out the previewed action and compares its effect with the preview. */
async function expectWhatWasPreviewed(orderNo: string, preview: Answer, act: () => Promise<unknown>) {
  const before = await look(orderNo);
  await act();
  const after = await look(orderNo);
  const told = Object.entries(after.counts)
    .map(([eventType, count]) => ({ eventType, count: count - (before.counts[eventType] ?? 0) }))
    .filter(({ count }) => count > 0);
  const byType = (a: { eventType: string }, b: { eventType: string }) => a.eventType.localeCompare(b.eventType);
  expect(preview['events'].toSorted(byType)).toEqual(told.toSorted(byType));
  expect(preview['refundCent']).toBe(after.refunded - before.refunded);
  expect(preview.periodsVoided).toBe(after.voided - before.voided);
  expect(preview.notCollectedCent).toBe(after.voidedCent - before.voidedCent);
  const isNew = (one: { name: string; cycleNo: number }) =>
    !before.revoked.some(({ name, cycleNo }) => name === one.name && cycleNo === one.cycleNo);
  expect(preview.benefitsRevoked).toEqual(after.revoked.filter(isNew).map(({ name }) => ({ name, count: 1 })));
}

describe('the preview of an unsubscribe', () => {
  const unsubscribe = (orderNo: string) => on.support.post(`/orders/${orderNo}/unsubscribe`, { reason: 'asked' });

  it('of a new order equals the effects', async () => {
    const orderNo = await on.paidOrder();
    const preview = await previewUnsubscribe(orderNo);
    expect(preview).toMatchObject({ periodsVoided: 11, notCollectedCent: 11 * 1990, refundCent: 0, refusal: null });
    await expectWhatWasPreviewed(orderNo, preview, () => unsubscribe(orderNo));
  });

  it('counts no events about voided periods for a channel that wants none', async () => {
    const another = await anotherChannel(on.service);
    const { appId } = another.credentials;
    await setVoidedPeriodEvents(on.operator, { appId, send: false });
    const made = await another.call('orders/create', sharedRequest(another));
    const { events } = await previewUnsubscribe(made.data.orderNo);
    expect(events).toEqual([{ eventType: 'order.status.changed', count: 1 }]);
  });

  it('has the refusal in words, and for an ended order no effects', async () => {
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    const pending = await on.channel.call('orders/create', sharedRequest(on.channel));
    on.institution.reset();
    const { orderNo } = pending.data;
    const { refusal } = await previewUnsubscribe(orderNo);
    expect(refusal).toMatchObject({
      detail: expect.stringContaining('waits for the result of its first debit'),
      code: 'order-in-first-debit',
    });
    const refused = await unsubscribe(orderNo);
    const { detail, code, values } = refused.body;
    expect([refused.status, { detail, code, values }]).toEqual([409, refusal]);

    const ended = await on.paidOrder();
    await unsubscribe(ended);
    expect(await previewUnsubscribe(ended)).toMatchObject({ periodsVoided: 0, events: [], refusal: null });
    expect((await unsubscribe(ended)).body.changed).toBe(false);
    expect((await on.viewer.get('/orders/1/unsubscribe/preview')).status).toBe(404);
  });
});

describe('the preview of a refund', () => {
  it.each([490, 1500, undefined])('of %s equals the effects', async (amountCent) => {
    const orderNo = await on.paidOrder();
    const preview = await previewRefund(orderNo, amountCent);
    expect(preview).toMatchObject({ refundCent: amountCent ?? 1990, refusal: null });
    await expectWhatWasPreviewed(orderNo, preview, () =>
      on.refund({ orderNo, cycleNo: 1, ...(amountCent === undefined ? {} : { amountCent }) }),
    );
  });

  it('says whether a refund may keep the benefits, and revokes none if it does', async () => {
    const orderNo = await on.paidOrder();
    const path = `/orders/${orderNo}/periods/1/refund/preview`;
    const preview = async (query: string) => (await on.viewer.get(`${path}?${query}`)).body;
    expect(await preview('amountCent=490')).toMatchObject({
      mayKeepBenefits: true,
      benefitsRevoked: [{ name: 'Coupon', count: 1 }],
    });
    const kept = await preview('amountCent=490&keepBenefits=true');
    expect(kept).toMatchObject({ mayKeepBenefits: true, benefitsRevoked: [], refundCent: 490 });
    await expectWhatWasPreviewed(orderNo, kept, () =>
      on.refund({ orderNo, cycleNo: 1, amountCent: 490, keepBenefits: true }),
    );
    // A refund that keeps the benefits does not count towards the benefits that a later refund revokes.
    expect(await preview('amountCent=489')).toMatchObject({ mayKeepBenefits: false, benefitsRevoked: [] });
    expect(await preview('')).toMatchObject({ mayKeepBenefits: false, benefitsRevoked: [{}, {}] });
    expect((await preview('keepBenefits=true')).refusal).toMatchObject({ code: 'full-refund-revokes' });
  });

  it('with an unsubscribe equals the effects of both', async () => {
    const orderNo = await on.paidOrder();
    const path = `/orders/${orderNo}/periods/1/refund`;
    const { body: preview } = await on.viewer.get(`${path}/preview?amountCent=490&unsubscribe=true`);
    expect(preview).toMatchObject({ refundCent: 490, unsubscribes: true, periodsVoided: 11, benefitsRevoked: [{}] });
    await expectWhatWasPreviewed(orderNo, preview, () =>
      on.admin.post(path, { amountCent: 490, unsubscribe: true, note: 'asked', key: 'k' }),
    );
  });

  it('of a record of an outside refund shows that nothing changes', async () => {
    const orderNo = await on.paidOrder();
    const path = `/orders/${orderNo}/periods/1/refund`;
    const { body: preview } = await on.ann.get(`${path}/preview?amountCent=490&outside=true`);
    expect(preview).toMatchObject({ outside: true, refundCent: 490, needsApproval: false });
    await expectWhatWasPreviewed(orderNo, { ...preview, refundCent: 0 }, () =>
      on.ann.post(path, { amountCent: 490, outside: true, note: 'bank transfer', key: 'k' }),
    );
  });

  it('of a record of a full outside refund keeps the benefits, whether that is requested or not', async () => {
    const orderNo = await on.paidOrder();
    const path = `/orders/${orderNo}/periods/1/refund`;
    const asked = { outside: true, note: 'bank transfer', key: 'k' };
    const preview = async (query: string) => (await on.ann.get(`${path}/preview?outside=true${query}`)).body;
    expect(await preview('&amountCent=1500')).toMatchObject({ benefitsRevoked: [], mayKeepBenefits: false });
    expect((await on.ann.post(path, { ...asked, amountCent: 1500 })).body).toMatchObject({ status: 'OUTSIDE' });
    const kept = await preview('&amountCent=490&keepBenefits=true');
    expect(kept).toMatchObject({ refusal: null, benefitsRevoked: [], mayKeepBenefits: false });
    expect(kept).toEqual(await preview('&amountCent=490'));
    await expectWhatWasPreviewed(orderNo, { ...kept, refundCent: 0 }, async () => {
      const { body } = await on.ann.post(path, { ...asked, amountCent: 490, keepBenefits: true, key: 'k2' });
      await on.bob.post(`/approvals/${body.approvalId}/approve`);
    });
    expect(await on.sql('select sum(amount_cent)::integer from refunds where order_no = $1', [orderNo])).toEqual([
      { sum: 1990 },
    ]);
  });

  it.each([
    ['of all that an outside refund has left revokes all benefits', 700, 1290, 2],
    ['of less than an outside refund has left revokes what the amount covers', 700, 1289, 1],
  ])('%s', async (_what, outsideCent, amountCent, revoked) => {
    const orderNo = await on.paidOrder();
    const path = `/orders/${orderNo}/periods/1/refund`;
    await on.ann.post(path, { amountCent: outsideCent, outside: true, note: 'bank transfer', key: 'k' });
    const preview = await previewRefund(orderNo, amountCent);
    expect(preview.benefitsRevoked).toHaveLength(revoked);
    await expectWhatWasPreviewed(orderNo, preview, () => on.refund({ orderNo, cycleNo: 1, amountCent }));
    // What the channel sees does not count the outside refund.
    expect(await on.queryPeriod(orderNo)).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: amountCent });
  });

  it('counts earlier refunds', async () => {
    const orderNo = await on.paidOrder();
    await on.refund({ orderNo, cycleNo: 1, amountCent: 490 });
    const preview = await previewRefund(orderNo);
    expect(preview).toMatchObject({ refundCent: 1500, benefitsRevoked: [{ name: 'VIP pass' }] });
    await expectWhatWasPreviewed(orderNo, preview, () => on.refund({ orderNo, cycleNo: 1 }));
  });

  it('keeps a claimed benefit', async () => {
    const orderNo = await on.paidOrder();
    await on.sql(
      `update benefits set status = 'CLAIMED', claim_no = 'C2', claimed_at = now() where order_no = $1 and position = 1`,
      [orderNo],
    );
    const preview = await previewRefund(orderNo);
    expect(preview.benefitsRevoked).toHaveLength(1);
    await expectWhatWasPreviewed(orderNo, preview, () => on.refund({ orderNo, cycleNo: 1 }));
  });

  it('requires a second operator, also if only the sum of several exceeds the limit', async () => {
    const orderNo = await on.paidOrder();
    expect((await previewRefund(orderNo, 1500, 1, on.ann)).needsApproval).toBe(false);
    expect((await previewRefund(orderNo, 1501, 1, on.ann)).needsApproval).toBe(true);
    await on.refund({ orderNo, cycleNo: 1, amountCent: 1000 });
    expect((await previewRefund(orderNo, 500, 1, on.ann)).needsApproval).toBe(false);
    expect((await previewRefund(orderNo, 501, 1, on.ann)).needsApproval).toBe(true);
  });

  it('has the refusal in words', async () => {
    const orderNo = await on.paidOrder();
    expect((await previewRefund(orderNo, 1991)).refusal?.detail).toMatch(/19\.90 CNY left to refund/);
    expect((await previewRefund(orderNo, 100, 2)).refusal?.detail).toMatch(/WAIT: only a paid period/);
    expect((await previewRefund(orderNo, 100, 13)).refusal?.detail).toMatch(/has no period 13/);
    expect((await previewRefund(await on.collectedOrder())).refusal?.detail).toMatch(/collected by its channel/);
    expect((await on.viewer.get(`/orders/${orderNo}/periods/1/refund/preview?amountCent=1.5`)).status).toBe(400);
  });

  it('changes nothing', async () => {
    const orderNo = await on.paidOrder();
    on.institution.onDebit = async () => declined('retryable');
    const without = () => dumpWithout(on.service.fresh.database, /^console_sessions: /);
    const before = await without();
    await previewRefund(orderNo, 490);
    await previewUnsubscribe(orderNo);
    expect(await without()).toBe(before);
    on.institution.reset();
  });
});
