import { beforeEach, describe, expect, it } from 'vitest';
import { refundAlone } from '../../src/operator/approvals/request-refund.js';
import { ofFile } from '../orders/stage-of-file.js';
import { eventsOf } from '../orders/support.js';
import { periodNo } from '../refunds/support.js';
import { operatorStage, refusal } from './operators.js';
import { type ConsoleClient, consoleClient } from './support.js';

const LIMITS = { refundApprovalCent: 1000, refundDailyCent: 0 };
const on = ofFile(() => operatorStage(LIMITS));
beforeEach(() => on.bank.reset());

const ask = (who: ConsoleClient, orderNo: string, more: object = {}) =>
  who.post(`/orders/${orderNo}/periods/1/refund`, { note: 'late delivery', key: 'k1', ...more });
const approvalsOf = async (who: ConsoleClient, orderNo: string) =>
  (await who.get('/approvals')).body.approvals.filter((one: { orderNo: string }) => one.orderNo === orderNo);
const booked = () => [...on.bank.booked.values()].reduce((sum, { amountCent }) => sum + amountCent, 0);
const auditOf = (orderNo: string) =>
  on.sql<{ actor: string; action: string }>(
    'select actor, action from audit_log where subject = $1 order by audit_id',
    [orderNo],
  );

describe('a refund up to the limit', () => {
  it('is made immediately, and once per key', async () => {
    const orderNo = await on.paidOrder();
    const first = await ask(on.ann, orderNo, { amountCent: 1000 });
    expect(first.body).toEqual({
      status: 'SUCCESS',
      refundNo: `R${periodNo(orderNo)}01`,
      approvalId: null,
      amountCent: 1000,
      paymentStatus: 'REFUND_PART',
      changed: true,
    });
    expect((await ask(on.ann, orderNo, { amountCent: 1000 })).body).toEqual({ ...first.body, changed: false });
    expect(refusal(await ask(on.ann, orderNo, { amountCent: 5 }))).toEqual([
      409,
      `the key "k1" was already used for refund R${periodNo(orderNo)}01 of 10.00 CNY`,
    ]);
    expect(booked()).toBe(1000);
  });

  it('never exceeds the payment, if two operators refund concurrently with a key each', async () => {
    const orderNo = await on.paidOrder();
    const asked = Array.from({ length: 12 }, (_, n) =>
      ask(n % 2 === 0 ? on.ann : on.bob, orderNo, { amountCent: 300, key: `key-${n}` }),
    );
    const replies = await Promise.all(asked);
    const made = replies.filter(({ body }) => body.status === 'SUCCESS');
    const waiting = replies.filter(({ body }) => body.status === 'WAITING');
    // Three refunds (900) are within the limit of 1000. Three more (900) wait for an approval and also reduce what is
    // left of the payment. Of its 1990 only 190 are left, so the other six requests are refused.
    expect(made).toHaveLength(3);
    expect(waiting).toHaveLength(3);
    const refused = replies.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(6);
    for (const { body } of refused) expect(body.code).toBe('refund-waits-already');
    expect(booked()).toBe(900);
    const decided = await Promise.all(
      waiting.map(async ({ body }) => {
        const [own] = (await approvalsOf(on.ann, orderNo)).filter(
          (one: { approvalId: string }) => one.approvalId === body.approvalId,
        );
        return (own.mayDecide ? on.ann : on.bob).post(`/approvals/${body.approvalId}/approve`);
      }),
    );
    const results = decided.map(({ body }) => body.result as string);
    for (const result of results) expect(result).toMatch(/^R\d+$/);
    expect(booked()).toBe(1800);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1800 });
  });

  it('needs no second operator if the limit is 0', async () => {
    const without = await operatorStage({ refundApprovalCent: 0 });
    const orderNo = await without.paidOrder();
    expect((await ask(without.ann, orderNo)).body).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    await without.close();
  });
});

describe('a refund that was made outside', () => {
  const outside = { amountCent: 900, outside: true, note: 'bank transfer 4711' };
  const seenByChannel = async (orderNo: string) => [
    await on.query(orderNo),
    await on.queryPeriod(orderNo),
    await eventsOf(on.service.fresh.database, orderNo),
    await on.sql('select position, status from benefits where order_no = $1', [orderNo]),
  ];

  it('is recorded: nothing is sent, and the channel sees no change', async () => {
    const orderNo = await on.paidOrder();
    const before = await seenByChannel(orderNo);
    const refundNo = `R${periodNo(orderNo)}01`;
    const recorded = { status: 'OUTSIDE', refundNo, amountCent: 900, paymentStatus: 'SUCCESS', changed: true };
    expect((await ask(on.ann, orderNo, outside)).body).toMatchObject(recorded);
    expect((await ask(on.ann, orderNo, outside)).body).toMatchObject({ ...recorded, changed: false });
    expect((await ask(on.ann, orderNo, { amountCent: 900 })).body.code).toBe('refund-key-differs');
    await on.askAll();
    expect([on.bank.asked, on.bank.queries]).toEqual([[], []]);
    expect(await seenByChannel(orderNo)).toEqual(before);

    const { timeline, actions } = (await on.viewer.get(`/orders/${orderNo}`)).body;
    expect(timeline.find(({ kind }: { kind: string }) => kind === 'refund')).toMatchObject({
      status: 'OUTSIDE',
      detail: 'bank transfer 4711',
      amountCent: 900,
      actor: 'ann',
    });
    // The recorded amount is not refunded again.
    expect(actions).toContainEqual({ action: 'refund', cycleNo: 1, isAllowed: false, maxAmountCent: 1090 });
    expect((await ask(on.ann, orderNo, { amountCent: 1091, key: 'k2' })).body.code).toBe('refund-too-much');
    expect(await auditOf(orderNo)).toEqual([{ actor: 'ann', action: 'order.record-refund' }]);
    const { refunds } = (await on.viewer.get('/refunds?status=OUTSIDE')).body;
    expect(refunds.map((one: { refundNo: string }) => one.refundNo)).toContain(refundNo);
    const { differences } = (await on.viewer.get('/differences')).body;
    expect(differences).toContainEqual(
      expect.objectContaining({ kind: 'OUTSIDE', number: refundNo, orderNo, hereAmountCent: 900, thereStatus: null }),
    );
  });

  it('never exceeds the payment together with a refund that is made at the same moment', async () => {
    const without = await operatorStage({ refundApprovalCent: 0 });
    const orderNo = await without.paidOrder();
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        ask(n % 2 === 0 ? without.ann : without.bob, orderNo, { amountCent: 300, outside: n % 4 < 2, key: `key-${n}` }),
      ),
    );
    const refused = replies.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(6);
    for (const { body } of refused) expect(body.code).toMatch(/^refund-too-much/);
    expect(await without.sql('select sum(amount_cent)::integer from refunds where order_no = $1', [orderNo])).toEqual([
      { sum: 1800 },
    ]);
    await without.close();
  });

  it('is counted by the database when a node of the previous version refunds', async () => {
    const orderNo = await on.paidOrder();
    await ask(on.ann, orderNo, outside);
    const refund = (refundSeq: number, amountCent: number) =>
      on.sql(
        `insert into refunds (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent,
           requested_by, started_at)
         values ($1, 1, $2, 1, 1, 'MOCKPAY', $3, 'test', now())`,
        [orderNo, refundSeq, amountCent],
      );
    await expect(refund(2, 1091)).rejects.toThrow(/exceed its payment/);
    const sent = await Promise.allSettled([refund(2, 600), refund(3, 600), refund(4, 600)]);
    expect(sent.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
    await on.sql(`update refunds set status = 'FAIL' where order_no = $1 and status = 'STARTED'`, [orderNo]);
    await refund(5, 1090);
    await on.sql('delete from refunds where order_no = $1', [orderNo]);
  });

  it('needs the second operator that a refund needs', async () => {
    const orderNo = await on.paidOrder();
    const support = await consoleClient(on.service, 'support');
    const { approvalId } = (await ask(support, orderNo, outside)).body;
    // A node of the previous version, which would send the refund, cannot approve it.
    await expect(
      on.sql(`update approvals set status = 'APPROVED', decided_by = 'bob' where approval_id = $1`, [approvalId]),
    ).rejects.toThrow(/approvals_outside_check/);
    expect(await approvalsOf(on.bob, orderNo)).toMatchObject([{ outside: true, status: 'WAITING' }]);
    const approved = await on.bob.post(`/approvals/${approvalId}/approve`);
    expect(approved.body).toMatchObject({ status: 'APPROVED', result: `R${periodNo(orderNo)}01` });
    expect((await ask(support, orderNo, outside)).body).toMatchObject({ status: 'OUTSIDE', changed: false });
    expect(on.bank.asked).toEqual([]);
    expect((await ask(on.viewer, orderNo, outside)).status).toBe(403);
    expect((await ask(on.ann, await on.paidOrder(), { ...outside, amountCent: 1001 })).body.status).toBe('WAITING');
  });
});

describe('a refund with an unsubscribe', () => {
  const both = { amountCent: 900, unsubscribe: true };
  const statusOf = async (orderNo: string) => (await on.query(orderNo))['orderStatus'];

  it('ends the order before the refund is sent, so that a crash in between loses neither', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => {
      expect(await statusOf(orderNo)).toBe('UNSUBSCRIBED');
      throw new Error('the node dies');
    };
    expect((await ask(on.admin, orderNo, both)).body).toMatchObject({ status: 'STARTED' });
    on.bank.reset();
    await on.askAll();
    expect(await on.queryPeriod(orderNo)).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 900 });
    expect((await auditOf(orderNo)).map(({ action }) => action)).toEqual(['order.unsubscribe', 'order.refund']);
    expect((await ask(on.admin, orderNo, both)).body).toMatchObject({ status: 'SUCCESS', changed: false });
  });

  it('changes nothing if the refund cannot be stored', async () => {
    const orderNo = await on.paidOrder();
    await on.sql(
      `insert into refunds (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent, status,
         requested_by, started_at)
       values ($1, 1, 99, 1, 1, 'MOCKPAY', 1, 'FAIL', 'test', now())`,
      [orderNo],
    );
    expect((await ask(on.admin, orderNo, both)).body.code).toBe('refunds-used-up');
    expect(await statusOf(orderNo)).toBe('ACTIVE');
    expect((await ask(on.admin, orderNo, { ...both, amountCent: 1991, key: 'k2' })).status).toBe(409);
    expect(await statusOf(orderNo)).toBe('ACTIVE');
  });

  it('ends the order at once if the refund waits for an approval, and needs the role support', async () => {
    const orderNo = await on.paidOrder();
    expect((await ask(on.ann, orderNo, both)).body).toMatchObject({ code: 'unsubscribe-by-support' });
    expect(await statusOf(orderNo)).toBe('ACTIVE');
    const { status, approvalId } = (await ask(await consoleClient(on.service, 'support'), orderNo, both)).body;
    expect([status, await statusOf(orderNo)]).toEqual(['WAITING', 'UNSUBSCRIBED']);
    expect((await on.bob.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
    expect(await on.queryPeriod(orderNo)).toMatchObject({ refundAmountCent: 900 });
  });

  it('is another request than one without: its key is refused, and the order does not end', async () => {
    const orderNo = await on.paidOrder();
    const first = await ask(on.admin, orderNo, { amountCent: 900 });
    expect(first.body).toMatchObject({ status: 'SUCCESS', changed: true });
    const again = await ask(on.admin, orderNo, both);
    expect([again.status, again.body.code]).toEqual([409, 'refund-key-differs']);
    await expect(on.refund({ orderNo, cycleNo: 1, ...both, key: 'k1' })).rejects.toThrow(/other options/);
    expect(await statusOf(orderNo)).toBe('ACTIVE');
    expect(booked()).toBe(900);
  });

  it.each([
    ['waits', 1001, undefined],
    ['was declined', 1001, (id: string) => on.bob.post(`/approvals/${id}/decline`)],
    ['was refused by the institution', 900, undefined],
  ])('is another request than one without that %s', async (_what, amountCent, decide) => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'refused', reason: 'account closed' });
    const { approvalId } = (await ask(on.admin, orderNo, { amountCent })).body;
    if (decide) expect((await decide(approvalId)).status).toBe(200);
    const again = await ask(on.admin, orderNo, { amountCent, unsubscribe: true });
    expect([again.status, again.body.code]).toEqual([409, 'refund-key-differs']);
    expect(await statusOf(orderNo)).toBe('ACTIVE');
  });

  it('whose approval was declined is refused as declined when it is repeated', async () => {
    const orderNo = await on.paidOrder();
    const asked = { amountCent: 1001, unsubscribe: true };
    const { approvalId } = (await ask(on.admin, orderNo, asked)).body;
    expect((await ask(on.admin, orderNo, asked)).body).toMatchObject({ status: 'WAITING', changed: false });
    await on.bob.post(`/approvals/${approvalId}/decline`);
    expect((await ask(on.admin, orderNo, asked)).body.code).toBe('refund-declined');
  });
});

describe('a refund above the limit', () => {
  it('waits for a second operator, whatever part is left; then it is made once', async () => {
    const orderNo = await on.paidOrder();
    const asked = await ask(on.ann, orderNo);
    expect(asked.body).toEqual({
      status: 'WAITING',
      refundNo: null,
      approvalId: expect.stringMatching(/^\d+$/),
      amountCent: 1990,
      paymentStatus: null,
      changed: true,
    });
    expect((await ask(on.ann, orderNo)).body).toEqual({ ...asked.body, changed: false });
    expect(on.bank.asked).toEqual([]);
    const { approvalId } = asked.body;
    expect(await approvalsOf(on.ann, orderNo)).toEqual([
      {
        approvalId,
        kind: 'REFUND',
        status: 'WAITING',
        subject: `${orderNo}-1`,
        orderNo,
        runId: null,
        changes: null,
        decider: 'finance',
        amountCent: 1990,
        note: 'late delivery',
        keepBenefits: false,
        outside: false,
        requestedBy: 'ann',
        requestedAt: expect.any(String),
        decidedBy: null,
        decidedAt: null,
        decisionNote: null,
        result: null,
        said: null,
        mayDecide: false,
        mayWithdraw: true,
        mayCarryOut: false,
        isUnseen: false,
      },
    ]);
    expect(await approvalsOf(on.bob, orderNo)).toMatchObject([{ mayDecide: true, mayWithdraw: false }]);
    expect(await approvalsOf(on.support, orderNo)).toMatchObject([{ mayDecide: false }]);

    expect(refusal(await on.ann.post(`/approvals/${approvalId}/approve`))).toEqual([
      409,
      'ann has requested this: another operator must decide',
    ]);
    expect((await on.support.post(`/approvals/${approvalId}/approve`)).status).toBe(403);
    const approved = await on.bob.post(`/approvals/${approvalId}/approve`, { note: 'seen' });
    const refundNo = `R${periodNo(orderNo)}01`;
    expect(approved.body).toMatchObject({
      status: 'APPROVED',
      decidedBy: 'bob',
      decisionNote: 'seen',
      result: refundNo,
      mayDecide: false,
    });
    const again = await on.bob.post(`/approvals/${approvalId}/approve`);
    expect(again.body).toMatchObject({ status: 'APPROVED', result: refundNo });
    expect(refusal(await on.bob.post(`/approvals/${approvalId}/decline`))).toEqual([
      409,
      `approval ${approvalId} is APPROVED: it was decided by bob`,
    ]);
    expect(on.bank.asked).toHaveLength(1);
    // The requester repeats the request with the same key and gets the refund.
    expect((await ask(on.ann, orderNo)).body).toMatchObject({ status: 'SUCCESS', refundNo, changed: false });
    const [refund] = await on.sql('select requested_by, note, request_key from refunds where order_no = $1', [orderNo]);
    expect(refund).toEqual({ requested_by: 'ann', note: 'late delivery', request_key: 'k1' });
    expect(await auditOf(orderNo)).toEqual([
      { actor: 'ann', action: 'approval.request' },
      { actor: 'bob', action: 'approval.approve' },
      { actor: 'bob', action: 'order.refund' },
    ]);
  });

  it('keeps the benefits if that was requested, also if the approver dies before the refund is made', async () => {
    const orderNo = await on.paidOrder();
    const goodwill = { amountCent: 1500, keepBenefits: true };
    const { approvalId } = (await ask(on.ann, orderNo, goodwill)).body;
    expect(await approvalsOf(on.bob, orderNo)).toMatchObject([{ keepBenefits: true }]);
    expect((await ask(on.ann, orderNo, { amountCent: 1500 })).body.code).toBe('refund-key-differs');
    await on.sql(
      `update approvals set status = 'APPROVED', decided_by = 'bob', decided_at = now() where approval_id = $1`,
      [approvalId],
    );
    await on.finishApproved();
    const benefits = await on.sql('select status from benefits where order_no = $1', [orderNo]);
    expect(benefits).toEqual([{ status: 'ISSUED' }, { status: 'ISSUED' }]);
    expect((await ask(on.ann, orderNo, goodwill)).body).toMatchObject({ status: 'SUCCESS', changed: false });
  });

  it('is not reported as failed if a node of the previous version has made it without keeping the benefits', async () => {
    const orderNo = await on.paidOrder();
    const { approvalId } = (await ask(on.ann, orderNo, { amountCent: 1500, keepBenefits: true })).body;
    await on.sql(
      `update approvals set status = 'APPROVED', decided_by = 'bob', decided_at = now() where approval_id = $1`,
      [approvalId],
    );
    const { refundNo } = await on.refund({ orderNo, cycleNo: 1, amountCent: 1500, key: 'k1' });
    await on.finishApproved();
    expect(await approvalsOf(on.ann, orderNo)).toMatchObject([{ status: 'APPROVED', result: refundNo }]);
    expect(booked()).toBe(1500);
  });

  it('that is approved ten times concurrently is made once', async () => {
    const orderNo = await on.paidOrder();
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => on.bob.post(`/approvals/${approvalId}/approve`)),
    );
    for (const { body } of replies) expect(body.result).toBe(`R${periodNo(orderNo)}01`);
    expect(booked()).toBe(1990);
    expect((await auditOf(orderNo)).filter(({ action }) => action === 'approval.approve')).toHaveLength(1);
  });

  it('that is declined refunds nothing, and uses up its key', async () => {
    const orderNo = await on.paidOrder();
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    expect((await on.ann.post(`/approvals/${approvalId}/decline`)).status).toBe(409);
    const declined = await on.bob.post(`/approvals/${approvalId}/decline`, { note: 'not ours' });
    expect(declined.body).toMatchObject({
      status: 'DECLINED',
      decidedBy: 'bob',
      decisionNote: 'not ours',
      result: null,
    });
    expect((await on.bob.post(`/approvals/${approvalId}/approve`)).status).toBe(409);
    expect(refusal(await ask(on.ann, orderNo))).toEqual([409, 'bob has declined this refund']);
    expect((await ask(on.ann, orderNo, { key: 'k2' })).body.status).toBe('WAITING');
    expect(on.bank.asked).toEqual([]);
  });

  it('counts while it waits: the same money is not offered again, and a preview names the requester', async () => {
    const orderNo = await on.paidOrder();
    const preview = async (query: string) =>
      (await on.bob.get(`/orders/${orderNo}/periods/1/refund/preview${query}`)).body;
    const offered = async () =>
      (await on.bob.get(`/orders/${orderNo}`)).body.actions
        .filter(({ action }: { action: string }) => action === 'refund')
        .map(({ maxAmountCent }: { maxAmountCent: number }) => maxAmountCent);
    const { approvalId } = (await ask(on.ann, orderNo, { amountCent: 1500 })).body;
    const waits = { approvalId, runId: null, amountCent: 1500, requestedBy: 'ann', requestedAt: expect.any(String) };
    expect(await preview('?amountCent=490')).toMatchObject({ refusal: null, refundCent: 490, waiting: [waits] });
    expect(await preview('')).toMatchObject({ refundCent: 490 });
    expect(await preview('?amountCent=491')).toMatchObject({ refusal: { code: 'refund-waits-already' } });
    expect(await preview(`?amountCent=1500&approvalId=${approvalId}`)).toMatchObject({ refusal: null, waiting: [] });
    expect(await offered()).toEqual([490]);
    const waitsOf = async () => (await on.bob.get(`/orders/${orderNo}`)).body.waitingRefunds;
    expect(await waitsOf()).toEqual([{ cycleNo: 1, ...waits }]);
    expect(refusal(await ask(on.bob, orderNo, { amountCent: 491, key: 'k2' }))).toEqual([
      409,
      `period 1 of order ${orderNo} has 4.90 CNY left to request: 15.00 CNY requested by ann is waiting`,
    ]);
    expect((await ask(on.bob, orderNo, { key: 'k2' })).body).toMatchObject({ status: 'SUCCESS', amountCent: 490 });
    expect(await offered()).toEqual([]);
    const alone = { orderNo, cycleNo: 1, amountCent: 1500 };
    await expect(refundAlone(on.operator, alone, LIMITS)).rejects.toThrow('15.00 CNY requested by ann is waiting');
    expect((await on.bob.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'APPROVED' });
    expect(booked()).toBe(1990);
    expect(await waitsOf()).toEqual([]);
  });

  it('can be withdrawn by the requester only, while it is undecided', async () => {
    const orderNo = await on.paidOrder();
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    const path = `/approvals/${approvalId}`;
    expect(refusal(await on.bob.post(`${path}/withdraw`))).toEqual([409, 'this was requested by ann, not by bob']);
    expect((await on.viewer.post(`${path}/withdraw`)).status).toBe(403);
    expect((await on.support.post(`${path}/withdraw`)).body.code).toBe('request-not-yours');
    expect((await on.support.post(`${path}/approve`)).body.code).toBe('finance-decides');
    const withdrawn = { status: 'WITHDRAWN', decidedBy: 'ann', result: null, mayWithdraw: false, isUnseen: false };
    expect((await on.ann.post(`${path}/withdraw`)).body).toMatchObject({ ...withdrawn, changed: true });
    expect((await on.ann.post(`${path}/withdraw`)).body).toMatchObject({ ...withdrawn, changed: false });
    expect((await on.viewer.get(path)).body).toMatchObject(withdrawn);
    expect((await on.bob.post(`${path}/approve`)).status).toBe(409);
    expect(refusal(await ask(on.ann, orderNo))).toEqual([409, 'ann has withdrawn the request for this refund']);
    expect((await ask(on.bob, orderNo, { key: 'k2' })).body.status).toBe('WAITING');
    expect((await auditOf(orderNo)).map(({ actor, action }) => `${actor} ${action}`)).toContain(
      'ann approval.withdraw',
    );
    const [other] = await approvalsOf(on.bob, orderNo);
    await on.ann.post(`/approvals/${other.approvalId}/approve`);
    expect((await on.bob.post(`/approvals/${other.approvalId}/withdraw`)).status).toBe(409);
  });

  it('is either approved or withdrawn, if both happen concurrently', async () => {
    for (let round = 0; round < 3; round += 1) {
      on.bank.reset();
      const { approvalId } = (await ask(on.ann, await on.paidOrder())).body;
      const [approved, withdrawn] = await Promise.all([
        on.bob.post(`/approvals/${approvalId}/approve`),
        on.ann.post(`/approvals/${approvalId}/withdraw`),
      ]);
      expect([approved.status, withdrawn.status].toSorted()).toEqual([200, 409]);
      expect(booked()).toBe(approved.status === 200 ? 1990 : 0);
    }
  });

  it('fails if nothing is left or the institution refuses; the requester is notified until they acknowledge it', async () => {
    const waitingFor = async (who: ConsoleClient) => (await who.get('/waiting')).body.approvals;
    const unseen = async (who: ConsoleClient) =>
      (await who.get('/approvals?unseen=true')).body.approvals.map((one: { approvalId: string }) => one.approvalId);
    for (const seen of await unseen(on.ann)) await on.ann.post(`/approvals/${seen}/seen`);
    const orderNo = await on.paidOrder();
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    await on.refund({ orderNo, cycleNo: 1 });
    const late = await on.bob.post(`/approvals/${approvalId}/approve`);
    expect(late.body).toMatchObject({
      status: 'FAILED',
      result: `not refunded: period 1 of order ${orderNo} was already refunded in full`,
      said: { code: 'period-refunded', values: ['1', orderNo] },
      isUnseen: false,
    });
    expect((await on.bob.post(`/approvals/${approvalId}/approve`)).body).toMatchObject({ status: 'FAILED' });
    expect(refusal(await ask(on.ann, orderNo))).toEqual([
      409,
      `bob has approved this refund, but it was not refunded: period 1 of order ${orderNo} was already refunded in full`,
    ]);
    expect((await auditOf(orderNo)).slice(-2)).toEqual([
      { actor: 'bob', action: 'approval.approve' },
      { actor: 'bob', action: 'approval.fail' },
    ]);
    expect([await unseen(on.ann), await unseen(on.bob)]).toEqual([[approvalId], []]);
    expect((await waitingFor(on.ann)) - (await waitingFor(on.bob))).toBe(1);
    expect((await on.bob.post(`/approvals/${approvalId}/seen`)).status).toBe(409);
    expect((await on.ann.post(`/approvals/${approvalId}/seen`)).body).toMatchObject({ isUnseen: false, changed: true });
    expect(await unseen(on.ann)).toEqual([]);

    const refused = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'refused', reason: 'account closed' });
    const second = (await ask(on.ann, refused)).body;
    const reply = await on.bob.post(`/approvals/${second.approvalId}/approve`);
    expect(reply.body.status).toBe('FAILED');
    expect(reply.body.result).toMatch(/^not refunded: the institution refused refund R\d+: account closed$/);
    expect(await unseen(on.ann)).toEqual([second.approvalId]);
  });

  it('cannot be decided by the requester, even in the database', async () => {
    const orderNo = await on.paidOrder();
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    await expect(
      on.sql(`update approvals set status = 'APPROVED', decided_by = requested_by where approval_id = $1`, [
        approvalId,
      ]),
    ).rejects.toThrow(/check constraint/);
  });
});

describe('a decision whose process ended before the refund was made', () => {
  /** Returns an approval in the state between the decision's transaction and the refund. */
  async function decidedOnly(orderNo: string): Promise<string> {
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    await on.sql(
      `update approvals set status = 'APPROVED', decided_by = 'bob', decided_at = now() where approval_id = $1`,
      [approvalId],
    );
    return approvalId;
  }

  it('is finished by the engine, in the name of the approver', async () => {
    const orderNo = await on.paidOrder();
    await decidedOnly(orderNo);
    expect(await on.finishApproved()).toBe(1);
    expect(await on.finishApproved()).toBe(0);
    expect(booked()).toBe(1990);
    expect(await approvalsOf(on.ann, orderNo)).toMatchObject([{ result: `R${periodNo(orderNo)}01` }]);
    expect((await auditOf(orderNo)).at(-1)).toEqual({ actor: 'bob', action: 'order.refund' });
  });

  it('is finished by a second approval, or by a repeated request', async () => {
    const first = await on.paidOrder();
    const approvalId = await decidedOnly(first);
    expect((await on.bob.post(`/approvals/${approvalId}/approve`)).body.result).toBe(`R${periodNo(first)}01`);
    const second = await on.paidOrder();
    await decidedOnly(second);
    expect((await ask(on.ann, second)).body).toMatchObject({ status: 'SUCCESS', refundNo: `R${periodNo(second)}01` });
    expect(booked()).toBe(2 * 1990);
    expect(await on.finishApproved()).toBe(0);
  });
});

describe('a refund that support requests', () => {
  const waitingFor = async (who: ConsoleClient) => (await who.get('/waiting')).body.approvals;
  const outcomes = async (who: ConsoleClient) => (await who.get('/approvals?unseen=true')).body.approvals;

  it('waits for finance, whatever the amount, and its requester is notified of the approval', async () => {
    const orderNo = await on.paidOrder();
    const preview = await on.support.get(`/orders/${orderNo}/periods/1/refund/preview?amountCent=1`);
    expect(preview.body).toMatchObject({ refundCent: 1, needsApproval: true, refusal: null });
    const before = await waitingFor(on.support);
    const asked = await ask(on.support, orderNo, { amountCent: 1 });
    expect(asked.body).toMatchObject({ status: 'WAITING', refundNo: null, amountCent: 1 });
    expect(on.bank.asked).toEqual([]);
    const { approvalId } = asked.body;
    expect((await on.bob.get(`/orders/${orderNo}/periods/1/refund/preview`)).body).toMatchObject({ refundCent: 1989 });
    expect((await on.support.post(`/approvals/${approvalId}/approve`)).body.code).toBe('decides-own-request');
    const colleague = await consoleClient(on.service, 'support');
    for (const verb of ['approve', 'decline']) {
      const refused = await colleague.post(`/approvals/${approvalId}/${verb}`);
      expect([refused.status, refused.body.code]).toEqual([403, 'finance-decides']);
    }
    expect((await on.support.get(`/approvals/${approvalId}`)).body).toMatchObject({
      mayDecide: false,
      mayWithdraw: true,
      isUnseen: false,
    });
    expect((await on.bob.post(`/approvals/${approvalId}/approve`, { note: 'fine' })).body.status).toBe('APPROVED');
    expect(booked()).toBe(1);
    expect(await outcomes(on.support)).toMatchObject([
      { approvalId, status: 'APPROVED', result: `R${periodNo(orderNo)}01`, decidedBy: 'bob', isUnseen: true },
    ]);
    expect(await outcomes(on.ann)).not.toContainEqual(expect.objectContaining({ approvalId }));
    expect(await waitingFor(on.support)).toBe(before + 1);
    expect((await on.ann.post(`/approvals/${approvalId}/seen`)).status).toBe(409);
    expect((await on.support.post(`/approvals/${approvalId}/seen`)).body).toMatchObject({ changed: true });
    expect(await outcomes(on.support)).toEqual([]);
    expect(await waitingFor(on.support)).toBe(before);
  });

  it('can be declined or withdrawn, and then refunds nothing', async () => {
    const orderNo = await on.paidOrder();
    const first = (await ask(on.support, orderNo)).body.approvalId;
    await on.ann.post(`/approvals/${first}/decline`, { note: 'not ours' });
    expect(await outcomes(on.support)).toMatchObject([
      { approvalId: first, status: 'DECLINED', decisionNote: 'not ours' },
    ]);
    await on.support.post(`/approvals/${first}/seen`);
    const second = (await ask(on.support, orderNo, { key: 'k2' })).body.approvalId;
    expect((await on.support.post(`/approvals/${second}/withdraw`)).body).toMatchObject({ status: 'WITHDRAWN' });
    expect(await outcomes(on.support)).toEqual([]);
    expect(booked()).toBe(0);
  });

  it('is refused to a viewer, and tells finance nothing about their own approvals', async () => {
    const orderNo = await on.paidOrder();
    expect((await ask(on.viewer, orderNo)).status).toBe(403);
    const { approvalId } = (await ask(on.ann, orderNo)).body;
    await on.bob.post(`/approvals/${approvalId}/approve`);
    expect(await outcomes(on.ann)).not.toContainEqual(expect.objectContaining({ approvalId }));
  });
});
