import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ALERT_KINDS, type AlertKind, raiseAlert, raiseAlertOnce } from '../../src/alerts/alerts-sql.js';
import { resolveEndedAlerts, SELF_ENDING_KINDS } from '../../src/alerts/resolve-sql.js';
import { importCodes } from '../../src/operator/provisioning/benefits.js';
import { updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import type { Database } from '../../src/platform/db/database.js';
import { readPage, rowsUnder } from '../docs/pages.js';
import { claimStage, fileOf } from '../fulfilment/support.js';
import { anotherChannel, type Stage, stage } from '../orders/support.js';
import { CODE, DAY, type Desk, desk, line, putAttempt, putRefund, run } from '../reconciliation/support.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { whileAddressed } from '../webhooks/outcomes.js';

/** Alerts end automatically once their cause is gone, and not before. */
let on: Stage;
let database: Database;
let books: Desk;
beforeAll(async () => {
  on = await stage();
  ({ database } = on.service.fresh);
  books = await desk();
});
afterAll(async () => {
  await on.close();
  await books.close();
});
beforeEach(async () => {
  await database.query('truncate alerts');
  await books.fresh.database.query('truncate alerts, debit_attempts, refunds, payments, orders');
  on.institution.reset();
});

const open = async (db: Database) =>
  (
    await db.query<{ alert: string }>(
      `select kind || ' ' || subject as alert from alerts where resolved_at is null order by 1`,
    )
  ).map(({ alert }) => alert);

/** Checks that the only open alert stays open while its cause exists, and ends after the cause is removed. */
async function endsWith(db: Database, alert: string, removeCause: () => Promise<unknown>): Promise<void> {
  await resolveEndedAlerts(db);
  expect(await open(db)).toEqual([alert]);
  await removeCause();
  expect(await resolveEndedAlerts(db)).toBe(1);
  expect(await open(db)).toEqual([]);
  expect(await db.query('select resolved_because from alerts')).toEqual([{ resolved_because: expect.any(String) }]);
}

const ORDER = 100000001000;

describe('a debit', () => {
  it('without a result for a day, once it has one', async () => {
    const { database: db } = books.fresh;
    const number = await putAttempt(db, { orderNo: ORDER, status: 'STARTED' });
    await raiseAlertOnce(db, 'debit-unknown-for-a-day', number, 'x');
    await endsWith(db, `debit-unknown-for-a-day ${number}`, () => putAttempt(db, { orderNo: ORDER, status: 'FAIL' }));
  });

  it('with a wrong amount, once a later report settles it', async () => {
    const { database: db } = books.fresh;
    const number = await putAttempt(db, { orderNo: ORDER, status: 'STARTED' });
    await db.query(`update debit_attempts set settled_at = now() - interval '1 minute'`);
    await raiseAlert(db, 'debit-wrong-amount', number, 'x');
    await endsWith(db, `debit-wrong-amount ${number}`, () =>
      db.query(`update debit_attempts set status = 'SUCCESS', settled_at = now() + interval '1 minute'`),
    );
  });

  it('after an unsubscribe, once it was refunded in full', async () => {
    const { database: db } = books.fresh;
    const number = await putAttempt(db, { orderNo: ORDER });
    await db.query(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent)
       values ($1, 1, 1, 'REFUND_PART', now(), 1990)`,
      [ORDER],
    );
    await raiseAlert(db, 'debit-after-unsubscribe', number, 'x');
    await endsWith(db, `debit-after-unsubscribe ${number}`, () =>
      db.query(`update payments set status = 'REFUND_FULL'`),
    );
    await db.query(`update payments set status = 'REFUND_PART'`);
    await putRefund(db, { orderNo: ORDER, amountCent: 990 });
    await putRefund(db, { orderNo: ORDER, refundSeq: 2, amountCent: 1000, status: 'FAIL' });
    await db.query('truncate alerts');
    await raiseAlert(db, 'debit-after-unsubscribe', number, 'x');
    await endsWith(db, `debit-after-unsubscribe ${number}`, () =>
      putRefund(db, { orderNo: ORDER, refundSeq: 3, amountCent: 1000, status: 'OUTSIDE' }),
    );
  });
});

describe('a refund', () => {
  it('without a result for a day, or with a wrong amount, once it has one', async () => {
    const { database: db } = books.fresh;
    const number = await putRefund(db, { orderNo: ORDER, status: 'STARTED' });
    await raiseAlertOnce(db, 'refund-unknown-for-a-day', number, 'x');
    await raiseAlert(db, 'refund-wrong-amount', number, 'x');
    expect(await resolveEndedAlerts(db)).toBe(0);
    await db.query(`update refunds set status = 'SUCCESS', settled_at = now() + interval '1 minute'`);
    expect(await resolveEndedAlerts(db)).toBe(2);
  });

  it.each(['SUCCESS', 'OUTSIDE'] as const)('that was refused, once another of that amount is %s', async (status) => {
    const { database: db } = books.fresh;
    const number = await putRefund(db, { orderNo: ORDER, status: 'FAIL' });
    await putRefund(db, { orderNo: ORDER, refundSeq: 2, amountCent: 499 });
    await raiseAlert(db, 'refund-refused', number, 'x');
    await endsWith(db, `refund-refused ${number}`, () => putRefund(db, { orderNo: ORDER, refundSeq: 3, status }));
    const because = 'a later refund of the period has succeeded, or was made outside the service';
    expect(await db.query('select resolved_because from alerts')).toEqual([{ resolved_because: because }]);
  });
});

it('a period that could not be billed, once the order has continued', async () => {
  const reply = await on.channel.call('orders/create', sharedRequest(on.channel));
  const { orderNo } = reply.data;
  await database.query('update orders set next_due_at = now() where order_no = $1', [orderNo]);
  await raiseAlertOnce(database, 'billing-failed', orderNo, 'x');
  await endsWith(database, `billing-failed ${orderNo}`, () =>
    database.query(`update orders set next_due_at = now() + interval '1 day' where order_no = $1`, [orderNo]),
  );
});

describe('an agreement', () => {
  it('that the institution did not cancel, once it has', async () => {
    const reply = await on.channel.call('orders/create', sharedRequest(on.channel));
    await on.channel.call('orders/unsubscribe', { orderNo: reply.data.orderNo });
    on.institution.onCancel = async () => ({ kind: 'unknown' });
    await on.cancelAgreements();
    await resolveEndedAlerts(database);
    expect(await open(database)).toEqual([expect.stringMatching(/^agreement-cancel-failed /)]);
    on.institution.onCancel = async () => ({ kind: 'canceled' });
    await on.cancelAgreements();
    expect(await open(database)).toEqual([]);
  });

  it('number of another channel, once that channel no longer has it, or once it may be shared', async () => {
    const other = await anotherChannel(on.service);
    const share = (by: typeof other, sharedAgreementNo: string) => {
      const channelUserId = unique('user');
      return by.call(
        'orders/create',
        sharedRequest(by, {
          channelUserId,
          sharedAgreement: sharedAgreement(by, channelUserId, { sharedAgreementNo }),
        }),
      );
    };
    for (const removeCause of [
      (orderNo: string) => on.channel.call('orders/unsubscribe', { orderNo }),
      () => updatePaymentChannel(on.service.operator, { code: 'MOCKPAY', commonNumbers: true }),
    ]) {
      await database.query('truncate alerts');
      const number = unique('N');
      const { orderNo } = (await share(on.channel, number)).data;
      expect((await share(other, number)).code).toBe('403004');
      const [alert = ''] = await open(database);
      expect(alert).toMatch(/^agreement-number-of-another-channel /);
      await endsWith(database, alert, () => removeCause(orderNo));
    }
  });
});

it('events that were given up, once they were replayed and accepted', async () => {
  const { appId } = on.channel.credentials;
  await whileAddressed(database, on.channel, () => on.channel.call('orders/create', sharedRequest(on.channel)));
  // Moves the event to the undelivered events, as if it was given up after its last push.
  const [event] = await database.query<{ eventId: string }>(
    `with given_up as (delete from due_events returning *)
     insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
     select channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, 10, 'GIVE_UP' from given_up
     order by event_no desc limit 1 returning event_no::text as "eventId"`,
  );
  await database.query(
    `insert into delivery_attempts (channel_id, event_no, recorded_at, at, cycle_no, outcome, retry_no, latency_ms, is_payment)
     select channel_id, event_no, recorded_at, now(), cycle_no, 'REFUSED', retry_no, 1, is_payment from undelivered_events`,
  );
  await raiseAlert(database, 'webhook-given-up', appId, 'x');
  expect((await on.channel.call('events/replay', { eventIds: [event?.eventId] })).code).toBe('0');
  await endsWith(database, `webhook-given-up ${appId}`, () => database.query('delete from due_events'));
});

describe('a claim', () => {
  it('that waits for codes, once it has one', async () => {
    const claims = await claimStage();
    try {
      await claims.import('COUPON', 'first\n');
      await claims.database.query(`insert into benefit_fulfilments (benefit_code, kind) values ('COUPON', 'POOL')
        on conflict (benefit_code) do update set kind = 'POOL'`);
      for (let n = 0; n < 2; n += 1) await claims.node.claim(claims.node.channel, await claims.benefit(2));
      await endsWith(claims.database, 'pool-empty COUPON', async () => {
        await importCodes(claims.operator, { benefitCode: 'COUPON', file: fileOf('second\n') });
        await claims.node.serve();
      });
    } finally {
      await claims.close();
    }
  });

  it.each(['claim-refused', 'claim-unknown-for-a-day'] as const)('%s, once it has its code', async (kind) => {
    const { database: db } = books.fresh;
    await db.query('truncate claims');
    await db.query(
      `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at)
       values ($1, 3, 2, 1, 'COUPON', 'SUPPLIER', 'PENDING', now())`,
      [ORDER],
    );
    await raiseAlertOnce(db, kind, `C${ORDER}000302`, 'x');
    await endsWith(db, `${kind} C${ORDER}000302`, () =>
      db.query(`update claims set status = 'FULFILLED', code = 'sealed'`),
    );
  });
});

describe('a day of a payment channel', () => {
  it('with differences, once all are closed', async () => {
    const { database: db } = books.fresh;
    await run(books, [line('100000001000000199')]);
    // Closed without the step that resolves the alert.
    await endsWith(db, `reconciliation-difference ${CODE} ${DAY}`, () =>
      db.query(`update reconciliation_differences set closed_by = 'ann', closed_at = now()`),
    );
  });

  it('that could not be reconciled, once it was', async () => {
    const { database: db } = books.fresh;
    await raiseAlert(db, 'reconciliation-failed', `${CODE} ${DAY}`, 'x');
    await endsWith(db, `reconciliation-failed ${CODE} ${DAY}`, async () => {
      books.clock.set(Date.now() + 60_000);
      await run(books, []);
    });
  });
});

it('kinds that only an operator can judge stay, whatever their subject', async () => {
  const { database: db } = books.fresh;
  const staying = ALERT_KINDS.filter((kind) => !SELF_ENDING_KINDS.includes(kind));
  for (const kind of staying) await raiseAlert(db, kind as AlertKind, 'x', 'x');
  // An alert with an unreadable subject stays open, and the check does not fail.
  for (const kind of ['debit-unknown-for-a-day', 'reconciliation-failed', 'billing-failed'] as const) {
    await raiseAlert(db, kind, 'not a number', 'x');
  }
  expect(await resolveEndedAlerts(db)).toBe(0);
  expect(staying).toEqual([
    'debit-late-success',
    'debit-contradiction',
    'refund-contradiction',
    'notice-for-unknown-attempt',
    'notice-for-unknown-agreement',
    'order-number-of-another-channel',
    'undecryptable-fields',
    'sign-in-failures',
    'no-second-admin',
    'peer-refused',
    'audit-chain-broken',
  ]);
});

it('an alert raised during the check of its cause stays open', async () => {
  const { database: db } = books.fresh;
  await raiseAlert(db, 'pool-empty', 'COUPON', 'x');
  await db.transaction(async (tx) => {
    await raiseAlert(tx, 'pool-empty', 'COUPON', 'again');
    expect(await resolveEndedAlerts(db)).toBe(0);
  });
  expect(await open(db)).toEqual(['pool-empty COUPON']);
});

it('docs/alerts.md says of each kind whether it ends automatically', async () => {
  const rows = rowsUnder(await readPage('docs/alerts.md'), '## All alerts');
  const ending = rows.filter((cells) => cells.at(-1) !== 'acknowledged').map(([kind]) => kind);
  expect(ending).toEqual(SELF_ENDING_KINDS);
});
