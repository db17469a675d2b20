import { describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { createUserDeletion } from '../../src/engine/housekeeping/personal-data.js';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { hashTexts } from '../../src/operator/audit/audit.js';
import { sealAudit, verifyAudit } from '../../src/operator/audit/audit-chain.js';
import { readUserData } from '../../src/operator/orders/users/export-user.js';
import type { Database, Queryable, Statement, Transaction } from '../../src/platform/db/database.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { lockWaits } from '../support/database.js';
import {
  bindCard,
  collectRequest,
  encrypted,
  encryptedCard,
  sharedAgreement,
  sharedRequest,
  unique,
} from '../support/demo.js';

const { on, service, channel, create, sql } = stageOfFile();

/** Runs all chores as of the next day, with the default retention times. */
async function tidy(): Promise<Readonly<Record<string, number>>> {
  await sql(`update job_marks set reached_at = reached_at - interval '1 day'`);
  const { database } = service.fresh;
  const channels = createChannelRegistry(database, service.vault);
  return createHousekeeping({ database, channels, log: capturedLog().log })();
}

/** Moves all times of agreements into the past. */
const daysLater = (days: number) =>
  sql(
    `update agreements set changed_at = changed_at - $1 * interval '1 day',
       data_deleted_at = data_deleted_at - $1 * interval '1 day', unused_since = unused_since - $1 * interval '1 day'`,
    [days],
  );
/** Sets the last change of agreements to the database's time, because the clock of the service is months behind. */
const asOfNow = () => sql('update agreements set changed_at = now() where data_deleted_at is null');

const REAL = {
  bankCardNo: '6222020000001234567',
  certificateNo: '110101199001011234',
  realName: '张三',
  bankMobile: '13800000001',
};
const MASKED = { bankCardNo: '****4567', certificateNo: '****', realName: '****', bankMobile: '****' };

const cardsOf = async (channelUserId: string) =>
  (await readUserData(service.operator, { appId: 'test_demo', channelUserId })).agreements.map(
    ({ bankCardNo, certificateNo, realName, bankMobile }) => ({ bankCardNo, certificateNo, realName, bankMobile }),
  );

describe('card, document, name and bank mobile', () => {
  it('of a canceled or replaced agreement are masked 30 days after its end; last digits, hash and status stay', async () => {
    const channelUserId = unique('user');
    const orderNo = (await create(sharedRequest(channel, { channelUserId }))).orderNo;
    await channel.call('agreements/replace', { orderNo, newSharedAgreement: sharedAgreement(channel, channelUserId) });
    const bindOrderNo = await bindCard(channel, unique('user'));
    await asOfNow();
    await daysLater(29);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([REAL, REAL]);
    await daysLater(2);
    expect(await tidy()).toMatchObject({ agreementsMasked: 1 });
    expect(await cardsOf(channelUserId)).toEqual([MASKED, REAL]);

    const found = await channel.call('agreements/user-data', {
      bankCardNoEncrypted: encryptedCard(channel).bankCardNoEncrypted,
    });
    const statuses = found.data.bankDataList.map((one: { agreementStatus: string }) => one.agreementStatus);
    expect(statuses.toSorted()).toEqual(['BIND_SUCCESS', 'BIND_SUCCESS', 'REPLACED']);
    const [row] = await sql(
      'select card_tail, status from agreements where channel_user_id = $1 order by agreement_id',
      [channelUserId],
    );
    expect(row).toEqual({ card_tail: '4567', status: 'REPLACED' });
    // A further run masks nothing more, and a binding in force is not masked.
    expect(await tidy()).not.toHaveProperty('agreementsMasked');
    await daysLater(1000);
    await tidy();
    const [bound] = await sql<{ id: string }>('select channel_user_id as id from agreements where agreement_id = $1', [
      bindOrderNo,
    ]);
    expect(await cardsOf(bound?.id ?? '')).toEqual([REAL]);
    expect(await cardsOf(channelUserId)).toEqual([MASKED, REAL]);
  });

  it('of a shared agreement are masked 30 days after the job found that its order had ended', async () => {
    const channelUserId = unique('user');
    const { orderNo } = await create(sharedRequest(channel, { channelUserId }));
    await daysLater(400);
    await tidy();
    await daysLater(400);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([REAL]);
    await sql(`update orders set status = 'COMPLETED', next_due_at = null where order_no = $1`, [orderNo]);
    await tidy();
    await daysLater(29);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([REAL]);
    await daysLater(2);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([MASKED]);
  });

  it('of a binding that failed are masked, and those of its next attempt are kept', async () => {
    const channelUserId = unique('user');
    on.institution.onConfirm = async () => ({ kind: 'refused', reason: 'no' });
    const login = { channelUserId, mobileEncrypted: encrypted(channel, '13900000077') };
    const { data } = await channel.call('agreements/bind-sms', { ...login, ...encryptedCard(channel) });
    const confirm = { bindOrderNo: data.bindOrderNo, smsCodeEncrypted: encrypted(channel, '123456') };
    await channel.call('agreements/bind-confirm', confirm);
    await asOfNow();
    await daysLater(31);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([MASKED]);
    await channel.call('agreements/bind-sms', { ...login, ...encryptedCard(channel), bindOrderNo: data.bindOrderNo });
    await sql('update agreements set changed_at = now() where agreement_id = $1', [data.bindOrderNo]);
    expect(await cardsOf(channelUserId)).toEqual([REAL]);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([REAL]);
    await daysLater(31);
    await tidy();
    expect(await cardsOf(channelUserId)).toEqual([MASKED]);
  });
});

describe('users without orders', () => {
  it('are deleted after 90 days, unless they have a binding', async () => {
    const [ordered, bound, failed] = [unique('user'), unique('user'), unique('user')];
    await create(collectRequest(channel, { channelUserId: ordered }));
    await bindCard(channel, bound);
    const bindOrderNo = await bindCard(channel, failed);
    await sql(`update agreements set status = 'CANCELED' where agreement_id = $1`, [bindOrderNo]);
    const ids = async () =>
      (
        await sql<{ id: string }>('select channel_user_id as id from channel_users where channel_user_id = any($1)', [
          [ordered, bound, failed],
        ])
      ).map(({ id }) => id);
    await sql(`update channel_users set bound_at = now() - interval '89 days'`);
    await tidy();
    expect(await ids()).toHaveLength(3);
    await sql(`update channel_users set bound_at = now() - interval '91 days'`);
    await tidy();
    expect((await ids()).toSorted()).toEqual([ordered, bound].toSorted());
  });
});

/** The advisory lock that the deletion of users waits for while it reads them. */
const READING = 77;

/** Returns the database with a deletion of users that waits for READING when it has begun to read. */
function slowed(database: Database): Database {
  const slow = (one: Queryable) =>
    ({
      ...one,
      query: (statement: Statement, ...values: [never]) => {
        const text = statement.text.replace(
          'u.bound_at',
          `pg_advisory_xact_lock_shared(${READING}) is not null and $&`,
        );
        return one.query({ ...statement, text }, ...values);
      },
    }) as Transaction;
  return {
    ...database,
    ...slow(database),
    transaction: (work, ...options) => database.transaction((tx) => work(slow(tx)), ...options),
  };
}

it('a user whose first order is stored while users are deleted is kept', async () => {
  const channelUserId = unique('user');
  const request = collectRequest(channel, { channelUserId });
  await create(request);
  await sql('delete from external_orders');
  await sql(`update channel_users set bound_at = now() - interval '91 days'`);
  await sql(`delete from job_marks where job = 'users-deleted'`);
  const { database } = service.fresh;
  let deletion: Promise<unknown> | undefined;
  await database.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${READING})`);
    deletion = createUserDeletion(slowed(database))();
    await expect.poll(() => lockWaits(database)).toBe(1);
    await create({ ...request, externalOrderNo: unique('order') });
  });
  await deletion;
  expect(await sql('select from channel_users where channel_user_id = $1', [channelUserId])).toHaveLength(1);
});

it('notes and comments are deleted after two years, texts of audit entries after three, and the chain verifies', async () => {
  const texts = '{"reason":"asked by phone"}';
  await sql(
    `with entry as (
       insert into audit_log (at, actor, action, subject, detail)
       values (now() - interval '1096 days', 'test', 'order.unmask', 'old', jsonb_build_object('textsHash', $1::text))
       returning audit_id)
     insert into audit_texts (audit_id, at, salt, texts) select audit_id, now() - interval '1094 days', '', $2 from entry`,
    [hashTexts(Buffer.alloc(0), texts), texts],
  );
  await sealAudit(service.operator);
  await sql(`insert into order_notes (order_no, author, at, text) values
    (1, 'ann', now() - interval '729 days', 'kept'), (1, 'ann', now() - interval '731 days', 'old')`);
  await sql(`insert into alert_comments (kind, subject, author, at, text) values
    ('x', '1', 'ann', now() - interval '729 days', 'kept'), ('x', '1', 'ann', now() - interval '731 days', 'old')`);
  expect(await tidy()).toMatchObject({ notesDeleted: 1, commentsDeleted: 1 });
  await sql(`update audit_texts set at = now() - interval '1096 days' where texts = $1`, [texts]);
  expect(await tidy()).toHaveProperty('auditTextsDeleted');
  expect(await sql('select text from order_notes union all select text from alert_comments')).toEqual([
    { text: 'kept' },
    { text: 'kept' },
  ]);
  expect(await sql('select from audit_texts where texts = $1', [texts])).toEqual([]);
  expect(await verifyAudit(service.operator)).toMatchObject({ brokenAt: null });
});
