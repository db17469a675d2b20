import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { commentOnAlert } from '../../src/operator/alerts.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import { verifyAudit } from '../../src/operator/audit/audit-chain.js';
import { closeDifference } from '../../src/operator/books/reconciliation.js';
import { cancelRun, prepareRun, startRun } from '../../src/operator/bulk/bulk-runs.js';
import { checkRestoredDatabase } from '../../src/operator/copies/restore-check.js';
import { cancelAgreement } from '../../src/operator/orders/agreements.js';
import { addNote } from '../../src/operator/orders/notes.js';
import { unsubscribeOrder } from '../../src/operator/orders/orders.js';
import { eraseUser } from '../../src/operator/orders/users/erase-user.js';
import { listErasures, repeatErasures } from '../../src/operator/orders/users/erasures.js';
import { readUserData, recordExport } from '../../src/operator/orders/users/export-user.js';
import { unmaskUser } from '../../src/operator/orders/users/unmask.js';
import type { Transaction } from '../../src/platform/db/database.js';
import { person } from '../agreements/support.js';
import { consoleClient } from '../console/support.js';
import { dump, dumpWithout } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { eventsOf } from '../orders/support.js';
import { refundStage } from '../refunds/support.js';
import { lockWaits } from '../support/database.js';
import { collectRequest, encrypted, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';

const on = ofFile(refundStage);
beforeEach(() => {
  on.institution.reset();
  on.bank.reset();
});
const sql = <Row>(text: string, values: readonly unknown[] = []) => on.service.fresh.database.query<Row>(text, values);

/** A user with unique data, and words that name the user in free texts. */
function somebody() {
  const who = person();
  return { ...who, channelUserId: `${who.channelUserId} "名"`, said: unique('told-by-Zhang-San') };
}
type Somebody = ReturnType<typeof somebody>;

const card = (who: Somebody) => ({
  bankCardNoEncrypted: encrypted(on.channel, who.bankCardNo),
  certificateNoEncrypted: encrypted(on.channel, who.certificateNo),
  realNameEncrypted: encrypted(on.channel, who.realName),
  bankMobileEncrypted: encrypted(on.channel, who.bankMobile),
});
const login = (who: Somebody) => ({
  channelUserId: who.channelUserId,
  mobileEncrypted: encrypted(on.channel, who.mobile),
});

async function call(name: string, body: object, idempotencyKey = unique('key')) {
  const reply = await on.channel.call(name, body, { idempotencyKey });
  expect(reply.code, reply.text).toBe('0');
  return reply.data;
}

/** Creates a user who has ordered in all three ways, with texts of operators about the user. All orders have ended. */
async function endedUser(who = somebody()) {
  const { channelUserId, said } = who;
  const shared = sharedRequest(on.channel, {
    ...login(who),
    sharedAgreement: sharedAgreement(on.channel, channelUserId, card(who)),
  });
  const sharedKey = unique('key');
  const { orderNo } = await call('orders/create', shared, sharedKey);
  const collected = await call(
    'orders/create',
    collectRequest(on.channel, { ...login(who), channelAgreementRef: said }),
  );
  const { bindOrderNo } = await call('agreements/bind-sms', { ...login(who), ...card(who) });
  await call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted: encrypted(on.channel, '123456') });
  const bound = { settlementMode: 'SVC_DEDUCT', productCode: 'TEST_SPU_001', bindOrderNo };
  const { orderNo: boundNo } = await call('orders/create', { ...bound, externalOrderNo: unique('order') });
  // This binding is never confirmed, so that only the agreement has this card.
  await call('agreements/bind-sms', { ...login(who), ...card({ ...who, bankCardNo: person().bankCardNo }) });

  await addNote(on.operator, { orderNo, text: said });
  await on.refund({ orderNo, cycleNo: 1, amountCent: 100, note: said });
  await unmaskUser(on.operator, { orderNo, reason: said });
  await sql(`insert into alerts (kind, subject, detail) values ('debit-contradiction', $1, 'x')`, [`${orderNo}000101`]);
  await commentOnAlert(on.operator, { kind: 'debit-contradiction', subject: `${orderNo}000101`, text: said });
  await unsubscribeOrder(on.operator, { orderNo, reason: said });
  await call('orders/unsubscribe', { orderNo: collected.orderNo, reason: said });
  await cancelAgreement(on.operator, { agreementNo: `AG${bindOrderNo}`, reason: said });
  await on.cancelAgreements();
  // Stores the answers of a receiver that names the user.
  await sql(
    `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, answer,
       recorded_at, is_payment)
     select channel_id, event_no, now(), 0, o.outcome::delivery_outcome, 0, 500, 1, $2, recorded_at,
       event_type = 'payment.status.changed'
     from events, (values ('REFUSED'), ('ACCEPTED')) o(outcome) where order_no = $1`,
    [orderNo, said],
  );
  return { who, orderNo, orderNos: [orderNo, collected.orderNo, boundNo], bindOrderNo, shared, sharedKey };
}

const erase = ({ channelUserId }: Pick<Somebody, 'channelUserId'>, operator = on.operator) =>
  eraseUser(operator, { appId: 'test_demo', channelUserId, reason: 'asked for by letter' });

/** Returns the values by which a reader of the database could find the user, and hashes of these values. */
async function tracesOf(who: Somebody): Promise<Record<string, string>> {
  const { database } = on.service.fresh;
  const channel = await createChannelRegistry(database, on.service.vault).get('test_demo');
  const hash = (text: string, purpose: 'mobile' | 'card' | 'certificate') =>
    channel?.sealing.hash(text, purpose).toString('hex') ?? '';
  const { channelUserId, mobile, bankCardNo, certificateNo, realName, bankMobile, said } = who;
  return {
    // The id as it appears in JSON within the JSON of the dump, and its first word as plain text.
    id: JSON.stringify(JSON.stringify(channelUserId).slice(1, -1)).slice(1, -1),
    plainId: channelUserId.split(' ')[0] ?? '',
    idHash: createHash('sha256').update(channelUserId).digest('hex'),
    said,
    ...{ mobile, bankCardNo, certificateNo, realName, bankMobile },
    mobileHash: hash(mobile, 'mobile'),
    cardHash: hash(bankCardNo, 'card'),
    certificateHash: hash(certificateNo, 'certificate'),
  };
}

async function foundIn(text: string, who: Somebody): Promise<string[]> {
  return Object.entries(await tracesOf(who)).flatMap(([what, value]) => (text.includes(value) ? [what] : []));
}

/** Returns everything about money, which must not change. */
const books = (orderNos: readonly string[]) =>
  sql(
    `select o.order_no, o.external_order_no, o.product_code, o.status, o.created_at, o.unsubscribed_at, o.paid_amount_cent,
       o.refund_amount_cent, (select json_agg(p order by cycle_no) from payments p where p.order_no = o.order_no) as periods,
       (select json_agg(to_jsonb(d) order by cycle_no, try_no) from debit_attempts d where d.order_no = o.order_no) as debits,
       (select json_agg(to_jsonb(r) - 'note' order by cycle_no, refund_seq) from refunds r where r.order_no = o.order_no) as refunds
     from orders o where o.order_no = any($1::bigint[]) order by o.order_no`,
    [orderNos],
  );

describe('an erasure', () => {
  it('leaves no trace of the user in any table, keeps everything about money, and the audit chain verifies', async () => {
    const { who, orderNo, orderNos } = await endedUser();
    const before = await books(orderNos);
    const present = await foundIn(await dump(on.service.fresh.database), who);
    expect(present).toEqual(['id', 'plainId', 'idHash', 'said', 'mobileHash', 'cardHash', 'certificateHash']);

    expect(await erase(who)).toMatchObject({ orders: 3, agreements: 3, auditTextsKept: 0, changed: true });
    expect(await foundIn(await dump(on.service.fresh.database), who)).toEqual([]);
    expect(await books(orderNos)).toEqual(before);
    const ids = await sql<{ id: string }>(
      'select distinct channel_user_id as id from orders where order_no = any($1)',
      [orderNos],
    );
    expect(ids).toEqual([{ id: expect.stringMatching(/^erased-[0-9a-f]{32}$/) }]);
    expect(await verifyAudit(on.operator, { all: true })).toMatchObject({ brokenAt: null });
    const entries = await listAudit(on.operator, { subject: orderNo });
    expect(entries.map(({ action }) => action)).toEqual([
      'order.unsubscribe',
      'order.unmask',
      'order.refund',
      'order.note',
    ]);
    expect(entries[1]?.detail).toEqual({ textsHash: expect.any(String) });
  });

  it('removes the texts of bulk runs about this user alone, and of closed differences, which an export has', async () => {
    const { who, orderNo } = await endedUser();
    const other = await on.paidOrder();
    const shared = unique('reason-of-several-users');
    const prepare = (items: string[], reason: string) =>
      prepareRun(on.operator, { kind: 'REFUND', key: unique('run'), items, reason }, 'finance');
    const { runId } = await prepare([`${orderNo}-1`], who.said);
    const several = await prepare([`${orderNo}-1`, `${other}-1`], shared);
    await startRun(on.operator, { runId, confirmation: 'REFUND 1' }, 'finance');
    await expect(erase(who)).rejects.toThrow(
      `a debit or a refund of period ${orderNo}-1 of this user has no result yet`,
    );
    await cancelRun(on.operator, { runId }, 'finance');
    const [difference] = await sql<{ differenceNo: string }>(
      `insert into reconciliation_differences (payment_channel_code, day, kind, line_kind, number)
       values ('MOCKPAY', '2026-01-01', 'MISSING_HERE', 'debit', $1 || '000101') returning difference_no::text as "differenceNo"`,
      [orderNo],
    );
    await closeDifference(on.operator, { differenceNo: difference?.differenceNo ?? '', note: who.said });
    const { channelUserId } = who;
    const { differences, bulkItems, approvals } = await readUserData(on.operator, {
      appId: 'test_demo',
      channelUserId,
    });
    expect(differences).toMatchObject([{ number: `${orderNo}000101`, closingNote: who.said }]);
    expect(bulkItems).toMatchObject([
      { runId: Number(runId), reason: who.said },
      { runId: Number(several.runId), reason: shared },
    ]);
    expect(approvals).toMatchObject([{ kind: 'BULK', note: who.said }]);
    await erase(who);
    const left = await dump(on.service.fresh.database);
    expect(await foundIn(left, who)).toEqual([]);
    expect(left).toContain(shared);
    expect(await verifyAudit(on.operator, { all: true })).toMatchObject({ brokenAt: null });
    await cancelRun(on.operator, { runId: several.runId }, 'finance');
  });

  it('is final: neither a resend, an event, a link nor a query returns the data', async () => {
    const { who, orderNo, shared, sharedKey } = await endedUser();
    await erase(who);
    const replies = [
      await on.channel.call('orders/create', shared, { idempotencyKey: sharedKey }),
      await on.channel.call('orders/query', { orderNo }),
      await on.channel.call('orders/list', { channelUserId: who.channelUserId }),
      await on.channel.call('agreements/user-data', { channelUserId: who.channelUserId }),
      await on.channel.call('agreements/user-data', { bankCardNoEncrypted: encrypted(on.channel, who.bankCardNo) }),
    ];
    expect(replies.map(({ code }) => code)).toEqual(['0', '0', '0', '0', '0']);
    expect(replies[0]?.data.orderNo).toBe(orderNo);
    for (const { text } of replies) {
      expect(await foundIn(text, who)).toEqual([]);
      expect(decodeURIComponent(text)).not.toContain(who.channelUserId);
    }
    expect(replies[3]?.data.bankDataList).toEqual([]);
    const told = await eventsOf(on.service.fresh.database, orderNo);
    expect(new Set(told.flatMap(({ data }) => data['channelUserId'] ?? []))).toEqual(
      new Set([expect.stringMatching(/^erased-/)]),
    );
    expect(await foundIn(await dump(on.service.fresh.database), who)).toEqual([]);
  });

  it('interrupted at any statement changes nothing, and can be repeated', async () => {
    const { who } = await endedUser();
    const { database } = on.service.fresh;
    const before = await dumpWithout(database, /^job_marks/);
    let failAt = 1;
    const interrupted = {
      ...on.operator,
      database: {
        query: database.query,
        transaction: <T>(work: (tx: Transaction) => Promise<T>) =>
          database.transaction((tx) => {
            let statements = 0;
            const query = ((...args: Parameters<Transaction['query']>) => {
              statements += 1;
              if (statements === failAt) throw new Error('killed');
              return tx.query(...args);
            }) as Transaction['query'];
            return work({ ...tx, query });
          }),
      },
    };
    for (; ; failAt += 1) {
      const killed = await erase(who, interrupted).then(
        () => false,
        (error: Error) => error.message === 'killed',
      );
      if (!killed) break;
      if (failAt % 5 === 0) expect(await dumpWithout(database, /^job_marks/)).toBe(before);
    }
    expect(failAt).toBeGreaterThan(20);
    expect(await foundIn(await dump(database), who)).toEqual([]);
    expect(await erase(who)).toMatchObject({ orders: 0, changed: false });
  });

  it('by two operators at once happens once', async () => {
    const { who } = await endedUser();
    const both = await Promise.all([erase(who), erase(who)]);
    expect(both.map(({ changed }) => changed).toSorted()).toEqual([false, true]);
  });

  it('does not affect other users, or a user who returns under the same id', async () => {
    const { who } = await endedUser();
    const other = await endedUser();
    await erase(who);
    expect(
      (await readUserData(on.operator, { appId: 'test_demo', channelUserId: other.who.channelUserId })).orders,
    ).toHaveLength(3);
    // The user returns, with the same mobile.
    const { orderNo } = await call('orders/create', collectRequest(on.channel, login(who)));
    const again = await readUserData(on.operator, { appId: 'test_demo', channelUserId: who.channelUserId });
    expect(again).toMatchObject({ mobile: who.mobile, orders: [{ orderNo: Number(orderNo) }] });
  });
});

describe('an erasure is refused, and changes nothing,', () => {
  async function refused(channelUserId: string, reason: RegExp): Promise<void> {
    const before = await dump(on.service.fresh.database);
    await expect(erase({ channelUserId })).rejects.toThrow(reason);
    expect(await dump(on.service.fresh.database)).toBe(before);
  }

  it('while an order is active', async () => {
    const who = somebody();
    const { orderNo } = await call('orders/create', collectRequest(on.channel, login(who)));
    await refused(who.channelUserId, new RegExp(`order ${orderNo} of this user is ACTIVE: end it`));
  });

  it('while a debit or a refund has no result, or a refund waits for approval', async () => {
    const who = somebody();
    const orderNo = await on.paidOrder({
      ...login(who),
      sharedAgreement: sharedAgreement(on.channel, who.channelUserId, card(who)),
    });
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 100 });
    await call('orders/unsubscribe', { orderNo });
    await on.cancelAgreements();
    const reason = new RegExp(`a debit or a refund of period ${orderNo}-1 of this user has no result yet`);
    await refused(who.channelUserId, reason);
    await sql(`update refunds set status = 'SUCCESS' where order_no = $1`, [orderNo]);
    await sql(`update debit_attempts set status = 'STARTED' where order_no = $1`, [orderNo]);
    await refused(who.channelUserId, reason);
    await sql(`update debit_attempts set status = 'SUCCESS' where order_no = $1`, [orderNo]);
    await sql(
      `insert into approvals (kind, subject, request_key, amount_cent, note, requested_by)
       values ('REFUND', $1 || '-1', 'x', 100, 'x', 'ann')`,
      [orderNo],
    );
    await refused(who.channelUserId, reason);
  });

  it('while a binding is in force, is being made or is being canceled', async () => {
    const who = somebody();
    const { bindOrderNo } = await call('agreements/bind-sms', { ...login(who), ...card(who) });
    await sql('update agreements set changed_at = now() where agreement_id = $1', [bindOrderNo]);
    await refused(who.channelUserId, /is being bound; try again later/);
    await call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted: encrypted(on.channel, '123456') });
    await refused(who.channelUserId, new RegExp(`agreement AG${bindOrderNo} of this user is in force: cancel it`));
    await cancelAgreement(on.operator, { agreementNo: `AG${bindOrderNo}` });
    await refused(who.channelUserId, /is being canceled at its institution; try again later/);
    await on.cancelAgreements();
    expect(await erase(who)).toMatchObject({ orders: 0, agreements: 1, changed: true });
  });

  it('for unknown users and channels', async () => {
    await refused(unique('nobody'), /has no such user/);
    await expect(eraseUser(on.operator, { appId: 'test_none', channelUserId: 'x', reason: 'x' })).rejects.toThrow(
      /there is no channel "test_none"/,
    );
  });
});

describe('an order that is created during an erasure', () => {
  class RolledBack extends Error {}

  it('before the commit of the erasure prevents the erasure', async () => {
    const { who } = await endedUser();
    const { database } = on.service.fresh;
    const key = unique('key');
    let creation: ReturnType<typeof call> | undefined;
    let erasure: Promise<unknown> | undefined;
    let isOver = false;
    // Holds the idempotency key until the order's statement waits for it, and the erasure waits for the order or is over.
    const held = database.transaction(async (tx) => {
      await tx.query(
        `insert into idempotency (channel_id, key, path, body_sha256, state)
         select channel_id, $1, 'x', 'x', 'DONE' from channels where app_id = 'test_demo'`,
        [key],
      );
      creation = call('orders/create', collectRequest(on.channel, login(who)), key);
      await until('the order waits', async () => (await lockWaits(database, 'with asked as')) === 1);
      erasure = erase(who).catch((error: Error) => error.message);
      void erasure.finally(() => {
        isOver = true;
      });
      await until('the erasure waits or is over', async () => isOver || (await lockWaits(database)) === 2);
      throw new RolledBack();
    });
    await expect(held).rejects.toThrow(RolledBack);
    const { orderNo } = (await creation) ?? {};
    expect(await erasure).toContain(`order ${orderNo} of this user is ACTIVE`);
    const kept = await readUserData(on.operator, { appId: 'test_demo', channelUserId: who.channelUserId });
    expect(kept).toMatchObject({ mobile: who.mobile, orders: { length: 4 } });
  });

  it('fails until the erasure has ended, and is then an order of a new user', async () => {
    const { who } = await endedUser();
    const request = collectRequest(on.channel, login(who));
    const key = unique('key');
    const create = () => on.channel.call('orders/create', request, { idempotencyKey: key });
    await on.service.fresh.database.transaction(async (tx) => {
      await erase(who, { ...on.operator, database: { query: tx.query, transaction: (work) => work(tx) } });
      expect((await create()).code).toBe('503001');
    });
    const { code, data } = await create();
    expect(code).toBe('0');
    const user = { appId: 'test_demo', channelUserId: who.channelUserId };
    expect(await readUserData(on.operator, user)).toMatchObject({
      mobile: who.mobile,
      orders: [{ orderNo: Number(data.orderNo) }],
    });
  });
});

describe('after a restore', () => {
  it('listed erasures are repeated, users who returned later stay, and refusals are reported', async () => {
    const [erased, returned, active] = [await endedUser(), await endedUser(), await endedUser()];
    const list: { appId: string; userHash: string; erasedAt: string }[] = [];
    for (const { who } of [erased, returned, active]) {
      // The erasure is rolled back, as if a backup was restored: it is in `list`, but nothing is erased in the
      // database.
      await on.service.fresh.database
        .transaction(async (tx) => {
          const { appId, userHash, erasedAt } = await erase(who, {
            ...on.operator,
            database: { query: tx.query, transaction: (work) => work(tx) },
          });
          list.push({ appId, userHash, erasedAt });
          throw new Error('restored');
        })
        .catch(() => undefined);
    }
    await sql(`update channel_users set bound_at = now() + interval '1 hour' where channel_user_id = $1`, [
      returned.who.channelUserId,
    ]);
    await sql(`update agreements set created_at = now() + interval '1 hour' where channel_user_id = $1`, [
      returned.who.channelUserId,
    ]);
    await call('orders/create', collectRequest(on.channel, login(active.who)));
    const known = (await listErasures(on.operator)).length;
    const repeated = await repeatErasures(on.operator, [
      ...list,
      { ...(list[0] as (typeof list)[0]), appId: 'test_later' },
    ]);
    expect(repeated).toMatchObject({
      listed: 4,
      erased: 1,
      refused: [{ userHash: list[2]?.userHash, reason: expect.stringMatching(/is ACTIVE/) }],
    });
    const text = await dump(on.service.fresh.database);
    expect(await foundIn(text, erased.who)).toEqual([]);
    expect(await foundIn(text, returned.who)).toContain('id');
    await sql(`insert into installation (environment, master_key_check) values ('sandbox', 'x')`);
    const { erasures } = await checkRestoredDatabase(on.operator);
    expect(erasures).toMatchObject({ count: known + 1, latestAt: expect.any(String) });
    expect((await repeatErasures(on.operator, list)).erased).toBe(0);
  });
});

describe('an export', () => {
  it('has everything about the user, decrypted, and leaves an audit entry without the id in the chain', async () => {
    const { who, orderNo, orderNos, bindOrderNo } = await endedUser();
    const { channelUserId, said } = who;
    const all = await readUserData(on.operator, await recordExport(on.operator, { appId: 'test_demo', channelUserId }));
    const { mobile, bankCardNo, certificateNo, realName, bankMobile } = who;
    expect(all).toMatchObject({ appId: 'test_demo', channelUserId, mobile });
    expect(all.agreements).toContainEqual(
      expect.objectContaining({
        ...{ bankCardNo, certificateNo, realName, bankMobile },
        agreementNo: `AG${bindOrderNo}`,
        institutionNo: `inst-${bindOrderNo}`,
      }),
    );
    expect(all.orders.map((order) => String(order['orderNo']))).toEqual(orderNos.toSorted());
    expect(all.orders[0]).toMatchObject({ channelUserId, unsubscribeReason: said });
    expect(all.periods.length).toBeGreaterThanOrEqual(3);
    expect(all.debits[0]).toMatchObject({ status: 'SUCCESS' });
    expect(all.refunds).toMatchObject([{ amountCent: 100, note: said }]);
    expect(all.benefits.length).toBeGreaterThan(0);
    expect(all.notes).toMatchObject([{ orderNo: Number(orderNo), text: said }]);
    expect(all.alertComments).toMatchObject([{ text: said }]);
    expect(all.events[0]?.data).toMatchObject({ orderNo });
    expect(all.audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['order.note', 'order.refund', 'order.unmask', 'agreement.cancel', 'user.export']),
    );
    expect(all.audit).toContainEqual(expect.objectContaining({ action: 'order.unmask', detail: { reason: said } }));
    const chained = await sql<{ text: string }>('select string_agg(a::text, chr(10)) as text from audit_log a');
    expect(await foundIn(chained[0]?.text ?? '', who)).toEqual([]);
  });
});

describe('in the console', () => {
  it('only an admin with a confirmed identity exports and erases a user’s data', async () => {
    const { who } = await endedUser();
    const [admin, support] = [await consoleClient(on.service, 'admin'), await consoleClient(on.service, 'support')];
    const user = { appId: 'test_demo', channelUserId: who.channelUserId };
    for (const [path, body] of [
      ['/users/export', user],
      ['/users/erase', { ...user, reason: 'asked for by letter' }],
    ] as const) {
      expect(await support.post(path, body)).toMatchObject({
        status: 403,
        body: { type: expect.stringMatching(/not-allowed$/) },
      });
      await sql(`update console_sessions set proven_at = now() - interval '6 minutes'`);
      expect(await admin.post(path, body)).toMatchObject({
        status: 403,
        body: { type: expect.stringMatching(/proof-needed$/) },
      });
      await sql('update console_sessions set proven_at = now()');
      const { status, headers, body: answer } = await admin.post(path, body);
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(answer).toMatchObject(path === '/users/export' ? { mobile: who.mobile } : { orders: 3, changed: true });
    }
    expect(await foundIn(await dump(on.service.fresh.database), who)).toEqual([]);
    expect((await admin.post('/users/export', user)).status).toBe(404);
  });
});
