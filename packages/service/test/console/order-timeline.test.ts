import { formatTime } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { retryPeriod } from '../../src/operator/orders/orders.js';
import { person, sentBinding } from '../agreements/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { agreementOf } from '../orders/support.js';
import { periodNo } from '../refunds/support.js';
import { mobileOf, sharedAgreement, unique } from '../support/demo.js';
import { whileAddressed } from '../webhooks/outcomes.js';
import { operatorStage } from './operators.js';
import type { Answer } from './reads.js';
import type { ConsoleClient } from './support.js';

const on = ofFile(operatorStage);

const timelineOf = async (orderNo: string): Promise<Answer[]> =>
  (await on.support.get(`/orders/${orderNo}`)).body.timeline;
const short = ({ kind, cycleNo, status, detail }: Answer) => [kind, cycleNo, status, detail];

describe('the timeline of an order', () => {
  it('has all events, latest first', async () => {
    const channelUserId = unique('user');
    const { database } = on.service.fresh;
    const orderNo = await whileAddressed(database, on.channel, async () => {
      const created = await on.paidOrder({ channelUserId });
      await on.renewNow(created, 'retryable');
      return created;
    });
    const { agreement_no: agreementNo } = await agreementOf(database, orderNo);
    // The first event was refused one time and then accepted, and a benefit was claimed.
    await on.sql(
      `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, answer,
         recorded_at, is_payment)
       select channel_id, event_no, recorded_at, 0, o::delivery_outcome, n, s, 12, a, recorded_at, true
       from (select * from events where order_no = $1 order by event_no limit 1) e,
         (values ('REFUSED', 0, 500, 'not now'), ('ACCEPTED', 1, 200, 'ok')) v(o, n, s, a)`,
      [orderNo],
    );
    await on.sql(
      `update benefits set status = 'CLAIMED', claim_no = 'C1', claimed_at = now() where order_no = $1 and position = 1`,
      [orderNo],
    );
    const refunded = await on.ann.post(`/orders/${orderNo}/periods/1/refund`, {
      amountCent: 490,
      note: 'half of it',
      key: 'k',
    });
    expect(refunded.body).toMatchObject({ status: 'SUCCESS', refundNo: `R${periodNo(orderNo)}01`, changed: true });
    const note = await on.bob.post(`/orders/${orderNo}/notes`, { text: 'called twice\nand again' });
    expect(note).toMatchObject({ status: 200, body: { author: 'bob', text: 'called twice\nand again' } });
    await raiseAlert(on.service.fresh.database, 'debit-wrong-amount', `${periodNo(orderNo)}01`, 'look');
    const retried = await on.support.post(`/orders/${orderNo}/periods/2/retry`);
    expect(retried.body).toEqual({ orderNo, cycleNo: 2, paymentStatus: 'FAIL_RETRY', changed: true });

    const { status, body } = await on.support.get(`/orders/${orderNo}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      order: { orderNo, orderStatus: 'ACTIVE', channelUserId, agreement: { agreementNo } },
      product: { productCode: 'TEST_SPU_001', productName: 'Monthly membership' },
      channel: { appId: 'test_demo' },
      mobile: `${mobileOf(channelUserId).slice(0, 3)}****${mobileOf(channelUserId).slice(-4)}`,
      timelineIsCut: false,
      next: { what: 'retry', cycleNo: 2, tryNo: 1, tries: 4, amountCent: 1990 },
    });
    const timeline = body.timeline as Answer[];
    const past = timeline.filter(({ when }) => when === 'past');
    expect(past.map(({ at }) => at)).toEqual(
      past
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
    for (const entry of [
      ['created', null, null, null],
      ['agreement', null, 'BIND_SUCCESS', null],
      ['period', 1, 'REFUND_PART', null],
      ['attempt', 1, 'SUCCESS', null],
      ['benefit', 1, 'CLAIMED', null],
      ['benefit', 1, 'REVOKED', null],
      ['claim', 1, null, 'C1'],
      ['period', 2, 'FAIL_RETRY', null],
      ['attempt', 2, 'FAIL', 'because retryable'],
      ['refund', 1, 'SUCCESS', 'half of it'],
      ['event', 1, 'DELIVERED', null],
      ['event', 2, 'PENDING', null],
      ['push', null, 'REFUSED', 'not now'],
      ['push', null, 'ACCEPTED', 'ok'],
      ['operator', 1, null, 'half of it'],
      ['operator', 2, null, null],
      ['note', null, null, 'called twice\nand again'],
      ['alert', null, 'OPEN', 'look'],
    ]) {
      expect(past.map(short)).toContainEqual(entry);
    }
    expect(past.filter(({ kind }) => kind === 'operator').map(({ title, actor }) => [title, actor])).toEqual(
      expect.arrayContaining([
        ['order.refund', 'ann'],
        ['order.note', 'bob'],
        ['order.retry', on.support.name],
      ]),
    );
    const future = timeline.slice(0, timeline.length - past.length);
    expect(future.every(({ when }) => when === 'future')).toBe(true);
    expect(future.map(({ kind, title }) => [kind, title])).toContainEqual([
      'next',
      'Period 2 is debited again, retry 1 of 4',
    ]);
    // The events that were not accepted yet are pushed next.
    expect(future.filter(({ kind }) => kind === 'push')).not.toHaveLength(0);
  });

  it('shows who unsubscribed and why, and the state of the agreement', async () => {
    const orderNo = await on.paidOrder();
    const { agreement_no: agreementNo } = await agreementOf(on.service.fresh.database, orderNo);
    const ended = await on.support.post(`/orders/${orderNo}/unsubscribe`, { reason: 'asked by phone' });
    expect(ended).toMatchObject({ status: 200, body: { orderNo, orderStatus: 'UNSUBSCRIBED', changed: true } });
    const { body } = await on.support.get(`/orders/${orderNo}`);
    expect(body.next).toBeNull();
    const entries = body.timeline.map(short);
    expect(entries).toContainEqual(['ended', null, 'UNSUBSCRIBED', 'asked by phone']);
    expect(entries).toContainEqual(['agreement', null, 'CANCELED', null]);
    expect(entries).toContainEqual(['operator', null, null, 'asked by phone']);
    expect(JSON.stringify(body.timeline)).toContain(agreementNo);
    expect(body.actions).toEqual([{ action: 'refund', cycleNo: 1, isAllowed: true, maxAmountCent: 1990 }]);
  });

  it('lists a request of an operator before its result, also in the same second', async () => {
    const orderNo = await on.paidOrder();
    await on.ann.post(`/orders/${orderNo}/periods/1/refund`, { note: 'all of it', key: 'k' });
    await on.sql(
      `update refunds set started_at = (select at from audit_log where action = 'order.refund' and subject = $1::text)
      where order_no = $1::bigint`,
      [orderNo],
    );
    const kinds = (await timelineOf(orderNo)).map(({ kind }) => kind).filter((kind) => /refund|operator/.test(kind));
    expect(kinds).toEqual(['refund', 'operator']);
  });

  it('lists the due times of all coming periods, and none of an ended order', async () => {
    const orderNo = await on.paidOrder();
    await on.sql(`update orders set created_at = '2027-01-31 10:00:00+08' where order_no = $1`, [orderNo]);
    const { body } = await on.support.get(`/orders/${orderNo}`);
    expect(body.product).toMatchObject({ version: 1 });
    expect(body.comingPeriods).toHaveLength(body.order.totalCycles - 1);
    expect(body.comingPeriods.slice(0, 2)).toEqual([
      { cycleNo: 2, expectPayTime: '2027-02-28 10:00:00' },
      { cycleNo: 3, expectPayTime: '2027-03-31 10:00:00' },
    ]);
    await on.support.post(`/orders/${orderNo}/unsubscribe`, { reason: 'asked by phone' });
    expect((await on.support.get(`/orders/${orderNo}`)).body.comingPeriods).toEqual([]);
  });

  it('names an institution that does not answer while it owes a result', async () => {
    const orderNo = await on.paidOrder();
    const alerts = async () =>
      (await on.support.get(`/orders/${orderNo}`)).body.order.alerts.map(({ kind }: Answer) => kind);
    const [debit] = await on.sql<{ code: string }>(
      'select payment_channel_code as code from debit_attempts where order_no = $1',
      [orderNo],
    );
    await raiseAlert(on.service.fresh.database, 'institution-silent', debit?.code ?? '', 'no answer');
    expect(await alerts()).toEqual([]);
    await on.sql(`update debit_attempts set status = 'STARTED' where order_no = $1`, [orderNo]);
    expect(await alerts()).toEqual(['institution-silent']);
    await on.sql(`update alerts set resolved_at = now() where kind = 'institution-silent'`);
    expect(await alerts()).toEqual([]);
    await on.sql(`update debit_attempts set status = 'SUCCESS' where order_no = $1`, [orderNo]);
  });

  it('names the empty pool from which a claimed code has to come', async () => {
    const [waiting, served] = [await on.paidOrder(), await on.paidOrder()];
    const claimed = (orderNo: string, status: string) =>
      on.sql(
        `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code, claimed_at)
         select order_no, 1, 1, channel_id, 'VIP_PASS', 'POOL', $2, nullif($2, 'PENDING'), now() from orders
         where order_no = $1`,
        [orderNo, status],
      );
    await claimed(waiting, 'PENDING');
    await claimed(served, 'FULFILLED');
    await raiseAlert(on.service.fresh.database, 'pool-empty', 'VIP_PASS', 'claims wait for codes to be imported');
    const alerts = async (orderNo: string) => (await on.support.get(`/orders/${orderNo}`)).body.order.alerts;
    expect(await alerts(waiting)).toMatchObject([{ kind: 'pool-empty', subject: 'VIP_PASS' }]);
    expect(await alerts(served)).toEqual([]);
    await on.sql(`update alerts set resolved_at = now() where kind = 'pool-empty'`);
    expect(await alerts(waiting)).toEqual([]);
  });

  it('is preceded by the bindings that the user has not finished, and by the messages to the login mobile', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(on.channel, who);
    await on.sql(`insert into sms_sends (bank_mobile_hash, sent_at)
      select mobile_hash, '2026-03-01 10:00:05+08' from channel_users where channel_user_id = '${who.channelUserId}'`);
    const { status, body, text } = await on.support
      .get(`/users?appId=test_demo&channelUserId=${who.channelUserId}`)
      .then((reply) => ({ ...reply, text: JSON.stringify(reply.body) }));
    expect(status).toBe(200);
    expect(body.bindings).toEqual([
      {
        bindOrderNo,
        agreementStatus: 'BIND_ING',
        paymentChannelCode: expect.any(String),
        bankCardTailNo: who.bankCardNo.slice(-4),
        bankMobile: `${who.bankMobile.slice(0, 3)}****${who.bankMobile.slice(-4)}`,
        createTime: expect.any(String),
        codeSentAt: expect.any(String),
        wrongCodes: 0,
      },
    ]);
    expect(body.messageTimes).toEqual(['2026-03-01 10:00:05']);
    for (const secret of [who.bankMobile, who.bankCardNo, who.certificateNo, who.realName]) {
      expect(text).not.toContain(secret);
    }
  });

  it('keeps the latest 500 of very many, and marks that', async () => {
    const orderNo = await on.paidOrder();
    await on.sql(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
       select order_no, n, channel_id, 'SUCCESS', expect_at + n * interval '1 s', paid_at, amount_cent
       from payments, generate_series(2, 600) n where order_no = $1`,
      [orderNo],
    );
    await on.sql('update orders set cycle_no = 600, total_cycles = 700 where order_no = $1', [orderNo]);
    await on.sql(
      `insert into order_notes (order_no, author, text) select $1::bigint, 'bob', 'note ' || n from generate_series(1, 300) n`,
      [orderNo],
    );
    const { body } = await on.support.get(`/orders/${orderNo}`);
    expect(body.timelineIsCut).toBe(true);
    expect(body.timeline.length).toBeLessThanOrEqual(510);
    const periods = body.timeline.filter(({ kind }: Answer) => kind === 'period').map(({ cycleNo }: Answer) => cycleNo);
    expect(periods[0]).toBe(600);
    expect(Math.min(...periods)).toBeGreaterThanOrEqual(401);
    expect(body.order.payments).toHaveLength(200);
    expect(body.timeline.map(short)).toContainEqual(['note', null, null, 'note 300']);
  });
});

describe('the next step', () => {
  const nextOf = async (orderNo: string) => (await on.viewer.get(`/orders/${orderNo}`)).body.next;

  it('of a paid order is the next debit; in mode B the next billing', async () => {
    const orderNo = await on.paidOrder();
    const { nextPayTime } = await on.query(orderNo);
    const none = { tryNo: null, tries: null };
    expect(await nextOf(orderNo)).toEqual({ at: nextPayTime, what: 'debit', cycleNo: 2, ...none, amountCent: 1990 });
    const billed = await on.collectedOrder();
    expect(await nextOf(billed)).toMatchObject({ what: 'bill', cycleNo: 2, ...none });
  });

  it('of an order whose debit has no outcome is the query of the institution', async () => {
    const orderNo = await on.paidOrder();
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    await on.sql('update orders set next_due_at = now() where order_no = $1', [orderNo]);
    await on.renew();
    on.institution.reset();
    const [row] = await on.sql<{ at: Date }>(
      'select ask_at as at from debit_attempts where order_no = $1 and cycle_no = 2',
      [orderNo],
    );
    expect(await nextOf(orderNo)).toMatchObject({
      what: 'wait-for-institution',
      cycleNo: 2,
      at: formatTime(row?.at.getTime() ?? 0),
    });
  });

  it('of an order that waits for a retry is that retry, with their number; it fails once the next period is due', async () => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    expect(await nextOf(orderNo)).toMatchObject({ what: 'retry', cycleNo: 2, tryNo: 1, tries: 4 });
    await on.renewNow(orderNo, 'retryable');
    expect(await nextOf(orderNo)).toMatchObject({ what: 'retry', cycleNo: 2, tryNo: 2, tries: 4 });
    await on.sql(`update orders set created_at = created_at - interval '70 days' where order_no = $1`, [orderNo]);
    expect(await nextOf(orderNo)).toMatchObject({ what: 'expire', cycleNo: 2 });
  });
});

describe('the allowed actions', () => {
  it('depend on the state and on the role', async () => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    await on.refund({ orderNo, cycleNo: 1, amountCent: 90 });
    const actions = async (who: ConsoleClient) =>
      (await who.get(`/orders/${orderNo}`)).body.actions.map(
        ({ action, isAllowed, cycleNo, maxAmountCent }: Record<string, unknown>) => [
          action,
          isAllowed,
          cycleNo,
          maxAmountCent,
        ],
      );
    const expected = (support: boolean, refund: boolean) => [
      ['unsubscribe', support, null, null],
      ['retry', support, 2, null],
      ['cancel-agreement', support, null, null],
      ['refund', refund, 1, 1900],
    ];
    expect(await actions(on.viewer)).toEqual(expected(false, false));
    expect(await actions(on.support)).toEqual(expected(true, true));
    expect(await actions(on.ann)).toEqual(expected(false, true));
    expect(await actions(on.admin)).toEqual(expected(true, true));
  });
});

describe('a retry', () => {
  it('is made by one of several concurrent requests, even one that began later; the others change nothing', async () => {
    const orderNo = await on.paidOrder();
    await on.renewNow(orderNo, 'retryable');
    const late = await on.service.fresh.database.transaction(async (tx) => {
      // Begins this transaction before the next request makes the retry. In a transaction, now() always returns the
      // time at which the transaction began.
      await tx.query('select now()');
      const first = await on.support.post(`/orders/${orderNo}/periods/2/retry`);
      expect(first.body).toMatchObject({ changed: true });
      const database = { query: tx.query, transaction: <T>(work: (of: typeof tx) => Promise<T>) => work(tx) };
      return retryPeriod({ ...on.operator, database }, { orderNo, cycleNo: 2 });
    });
    expect(late).toMatchObject({ changed: false });
    expect((await timelineOf(orderNo)).filter(({ title }) => title === 'order.retry')).toHaveLength(1);
  });
});

describe('the user of an order', () => {
  it('is masked for viewers everywhere; a mobile number is masked for every role', async () => {
    const channelUserId = unique('customer');
    const mobile = mobileOf(channelUserId);
    const orderNo = await on.paidOrder({ channelUserId });
    await on.channel.call('agreements/replace', {
      orderNo,
      newSharedAgreement: sharedAgreement(on.channel, channelUserId),
    });
    const seen = JSON.stringify((await on.viewer.get(`/orders/${orderNo}`)).body);
    expect(seen).not.toContain(channelUserId);
    expect(seen).toContain(`${channelUserId.slice(0, 2)}****${channelUserId.slice(-2)}`);
    const all = JSON.stringify((await on.admin.get(`/orders/${orderNo}`)).body);
    expect(all).toContain(channelUserId);
    for (const text of [seen, all]) expect(text).not.toContain(mobile);
  });

  it('is revealed to support for a reason, which is in the audit log, without the number', async () => {
    const channelUserId = unique('user');
    const orderNo = await on.paidOrder({ channelUserId });
    expect((await on.ann.post(`/orders/${orderNo}/unmask`, { reason: 'curious' })).status).toBe(403);
    expect((await on.support.post(`/orders/${orderNo}/unmask`, {})).status).toBe(400);
    const reply = await on.support.post(`/orders/${orderNo}/unmask`, { reason: 'user calls back' });
    expect(reply.body).toEqual({ mobile: mobileOf(channelUserId), channelUserId });
    const [entry] = await on.sql<{ actor: string; detail: object }>(
      `select actor, audit_detail(audit_log) as detail from audit_log where action = 'order.unmask' and subject = $1`,
      [orderNo],
    );
    expect(entry).toEqual({ actor: on.support.name, detail: { reason: 'user calls back' } });
  });
});

describe('a note', () => {
  it("shows no mobile number to a viewer, nor does a receiver's answer", async () => {
    const orderNo = await on.paidOrder();
    const text = 'calls from 13812345678, or +86 139-1234-5678; order 138123456789 and 1381234567 are no mobiles';
    await on.support.post(`/orders/${orderNo}/notes`, { text });
    await on.sql(
      `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, answer,
         recorded_at, is_payment)
       select channel_id, event_no, recorded_at, 0, 'REFUSED', 0, 200, 1, '{"phone":"13812345678"}', recorded_at, true
       from events where order_no = $1 order by event_no limit 1`,
      [orderNo],
    );
    const seen = JSON.stringify((await on.viewer.get(`/orders/${orderNo}`)).body);
    expect(seen).not.toMatch(/13812345678\b|139-1234-5678/);
    expect(seen).toContain('138****5678, or +86 139****5678; order 138123456789 and 1381234567 are');
    expect(seen).toContain('{\\"phone\\":\\"138****5678\\"}');
    const all = JSON.stringify((await on.support.get(`/orders/${orderNo}`)).body);
    expect(all).toContain(text);
  });

  it.each([
    ['+8619991000061', '+86199****0061'],
    ['008619991000061', '0086199****0061'],
    ['8619991000061', '86199****0061'],
    ['（+86）199 9100 0061', '（+86）199****0061'],
    ['电话１９９９１００００６１。', '电话１９９****００６１。'],
    ['＋８６　１９９－９１００－００６１', '＋８６　１９９****００６１'],
    ['199.9100.0061', '199****0061'],
    ['199-9100 0061', '199****0061'],
    ['2026-01-15 19:30 paid 1990, order 100000001000', '2026-01-15 19:30 paid 1990, order 100000001000'],
    ['8719991000061', '8719991000061'],
  ])('with %s shows a viewer %s', async (written, shown) => {
    const orderNo = await on.paidOrder();
    await on.support.post(`/orders/${orderNo}/notes`, { text: written });
    const texts = async (who: typeof on.viewer) => JSON.stringify((await who.get(`/orders/${orderNo}`)).body.timeline);
    expect(await texts(on.viewer)).toContain(`"${shown}"`);
    expect(await texts(on.support)).toContain(`"${written}"`);
  });

  it('is written by support, not by a viewer, and is never empty', async () => {
    const orderNo = await on.paidOrder();
    expect((await on.viewer.post(`/orders/${orderNo}/notes`, { text: 'x' })).status).toBe(403);
    expect((await on.support.post(`/orders/${orderNo}/notes`, { text: '   ' })).status).toBe(400);
    expect((await on.support.post('/orders/1/notes', { text: 'x' })).status).toBe(404);
    expect((await on.support.post(`/orders/${orderNo}/notes`, { text: ' ok ' })).body.text).toBe('ok');
  });
});

describe('a note that mentions operators', () => {
  const mentions = async (who: ConsoleClient) => (await who.get('/mentions')).body.mentions;
  const count = async (who: ConsoleClient) => (await who.get('/waiting')).body.mentions;
  const note = async (orderNo: string, text: string, by = on.support) =>
    (await by.post(`/orders/${orderNo}/notes`, { text })).body;

  it('by name or role is in their lists, until each dismisses it', async () => {
    const orderNo = await on.paidOrder();
    const text = `@ann, please call the user. @${on.viewer.name.toUpperCase()}: see above.`;
    const { noteId, mentioned } = await note(orderNo, text);
    expect(mentioned).toEqual(['ann', on.viewer.name]);
    const mention = { noteId, orderNo, author: on.support.name, at: expect.any(String), text };
    for (const who of [on.ann, on.viewer]) {
      expect(await mentions(who)).toEqual([mention]);
      expect(await count(who)).toBe(1);
    }
    expect(await mentions(on.bob)).toEqual([]);
    expect((await on.bob.post(`/mentions/${noteId}/seen`)).status).toBe(404);
    expect((await on.ann.post(`/mentions/${noteId}/seen`)).status).toBe(200);
    expect(await mentions(on.ann)).toEqual([]);
    expect(await count(on.ann)).toBe(0);
    expect(await count(on.viewer)).toBe(1);
    const second = await note(orderNo, 'the money is back? @finance');
    expect(second.mentioned).toEqual(['ann', 'bob']);
    expect((await mentions(on.bob))[0]).toMatchObject({ noteId: second.noteId });
  });

  it.each(['x@ann.example', 'ann', '@annabel', '@nobody', '@', '@@ann'])('does not mention ann as %s', async (text) => {
    expect((await note(await on.paidOrder(), text)).mentioned).toEqual([]);
  });

  it('does not mention its author or disabled operators', async () => {
    const orderNo = await on.paidOrder();
    await on.sql(`update people set status = 'DISABLED' where name = 'bob'`);
    expect((await note(orderNo, '@finance', on.ann)).mentioned).toEqual([]);
    expect((await note(orderNo, '@finance')).mentioned).toEqual(['ann']);
    await on.sql(`update people set status = 'ACTIVE' where name = 'bob'`);
  });

  it('is no longer in the lists once it is deleted', async () => {
    const orderNo = await on.paidOrder();
    const { noteId } = await note(orderNo, '@bob');
    await on.sql('delete from order_notes where note_id = $1', [noteId]);
    expect(await mentions(on.bob)).not.toContainEqual(expect.objectContaining({ noteId }));
    expect(await on.sql('select from mentions where note_id = $1', [noteId])).toEqual([]);
  });
});
