import { columns, columnsOf, type Queryable, statement } from '../platform/db/database.js';
import { fromEpochMs, shanghaiText } from '../platform/db/time-sql.js';
import { orderStatusIs, paymentStatusIs } from '../subscriptions/store/statuses-sql.js';

/* What the tables themselves wrote down as the real time is put to the time of the story. */

const STAMP_PROVISIONING = [
  statement({
    text: 'update channels set created_at = now() where channel_id = any($1::bigint[])',
    parameters: ['bigint[]'],
  }),
  statement({
    text: 'update channel_products set authorized_at = now() where channel_id = any($1::bigint[])',
    parameters: ['bigint[]'],
  }),
  statement({
    text: 'update channel_payment_channels set authorized_at = now() where channel_id = any($1::bigint[])',
    parameters: ['bigint[]'],
  }),
];
const STAMP_PRODUCTS = statement({
  text: 'update products set created_at = now() where product_code = any($1::text[])',
  parameters: ['text[]'],
});
const STAMP_PAYMENT_CHANNELS = statement({
  text: 'update payment_channels set created_at = now() where code = any($1::text[])',
  parameters: ['text[]'],
});

export async function stampProvisioning(
  tx: Queryable,
  made: {
    readonly channelIds: readonly number[];
    readonly products: readonly string[];
    readonly codes: readonly string[];
  },
): Promise<void> {
  for (const stamp of STAMP_PROVISIONING) await tx.query(stamp, [made.channelIds]);
  await tx.query(STAMP_PRODUCTS, [made.products]);
  await tx.query(STAMP_PAYMENT_CHANNELS, [made.codes]);
}

/** An event is written a moment after what it tells, and never before an earlier one about the same order. */
const STAMP_EVENTS = statement({
  text: `with told as materialized (
       select event_no, recorded_at as was,
         max(occurred_at) over (partition by order_no order by event_no) + interval '180 ms' as at
       from events where channel_id = any($1::bigint[]))
     update events e set recorded_at = t.at from told t
     where e.channel_id = any($1::bigint[]) and e.event_no = t.event_no and e.recorded_at = t.was`,
  parameters: ['bigint[]'],
});
const STAMP_DUE_EVENTS = statement({
  text: `update due_events d set next_at = e.recorded_at, recorded_at = e.recorded_at from events e
     where d.channel_id = any($1::bigint[]) and e.channel_id = d.channel_id and e.event_no = d.event_no`,
  parameters: ['bigint[]'],
});
const STAMP_EVENTS_PUT_ASIDE = statement({
  text: `update undelivered_events u set recorded_at = e.recorded_at from events e
     where u.channel_id = any($1::bigint[]) and e.channel_id = u.channel_id and e.event_no = u.event_no`,
  parameters: ['bigint[]'],
});
const STAMP_USERS = statement({
  text: `update channel_users u set bound_at = f.at from (
       select channel_id, channel_user_id, min(at) as at from (
         select channel_id, channel_user_id, created_at as at from orders where channel_id = any($1::bigint[])
         union all select channel_id, channel_user_id, created_at from agreements
           where channel_id = any($1::bigint[]) and source = 'SELF_BINDING') x group by 1, 2) f
     where u.channel_id = f.channel_id and u.channel_user_id = f.channel_user_id`,
  parameters: ['bigint[]'],
});
const STAMP_SHARED_AGREEMENTS = statement({
  text: `update agreements a set created_at = f.at,
       changed_at = case when a.changed_at >= transaction_timestamp() then f.at else a.changed_at end
     from (select agreement_id, min(started_at) as at from debit_attempts where channel_id = any($1::bigint[]) group by 1) f
     where a.agreement_id = f.agreement_id and a.created_at >= transaction_timestamp()`,
  parameters: ['bigint[]'],
});

export async function stampHistory(tx: Queryable, channelIds: readonly number[]): Promise<void> {
  const stamps = [STAMP_EVENTS, STAMP_DUE_EVENTS, STAMP_EVENTS_PUT_ASIDE, STAMP_USERS, STAMP_SHARED_AGREEMENTS];
  for (const stamp of stamps) {
    await tx.query(stamp, [channelIds]);
  }
}

const STAMP_UNDELIVERED = statement({
  text: `update undelivered_events u set since = coalesce((
       select max(t.at) from delivery_attempts t where t.channel_id = u.channel_id and t.event_no = u.event_no
         and t.cycle_no = u.cycle_no), u.recorded_at)
     where u.channel_id = any($1::bigint[])`,
  parameters: ['bigint[]'],
});
const STAMP_PAUSES = statement({
  text: 'update delivery_pauses set paused_at = now() where channel_id = any($1::bigint[])',
  parameters: ['bigint[]'],
});

export async function stampUndelivered(tx: Queryable, channelIds: readonly number[]): Promise<void> {
  await tx.query(STAMP_UNDELIVERED, [channelIds]);
}

export async function stampPauses(tx: Queryable, channelIds: readonly number[]): Promise<void> {
  await tx.query(STAMP_PAUSES, [channelIds]);
}

/** As housekeeping does once a day with those of everybody. */
const EXPIRE_BENEFITS = statement({
  text: `update benefits set status = 'EXPIRED'
     where channel_id = any($1::bigint[]) and status = 'ISSUED' and expires_at <= now() - interval '1 hour'`,
  parameters: ['bigint[]'],
});

export async function expireBenefits(tx: Queryable, channelIds: readonly number[]): Promise<void> {
  await tx.query(EXPIRE_BENEFITS, [channelIds]);
}

const FIND_SHARD = statement({
  text: 'select shard, epoch from delivery_shards where shard = $1 for share',
  parameters: ['smallint'],
  columns: columns({ shard: 'smallint', epoch: 'bigint' }),
});

/** It stays whose it is until the commit. */
export async function findShard(tx: Queryable, shard: number): Promise<{ shard: number; epoch: number }> {
  const [found] = await tx.query(FIND_SHARD, [shard]);
  if (!found) throw new Error(`there is no shard ${shard}`);
  return found;
}

/** Without a password, and without the link by which a new person sets one. */
const INSERT_PERSON = statement({
  text: `insert into people (name, role, last_sign_in_at, created_by, created_at)
     values ($1, $2, ${fromEpochMs('$3')}, $4, now()) on conflict do nothing`,
  parameters: ['text', 'text', 'double precision', 'text'],
});

export async function insertPerson(
  tx: Queryable,
  person: { readonly name: string; readonly role: string; readonly lastSignInAt: number; readonly createdBy: string },
): Promise<void> {
  await tx.query(INSERT_PERSON, [person.name, person.role, person.lastSignInAt, person.createdBy]);
}

/** Rows that this transaction has written. It has no savepoints, so it has one number. */
const IS_OWN = 'xmin = pg_current_xact_id()::xid';

export interface StoryAlert {
  readonly kind: string;
  readonly subject: string;
}

const FIND_OPEN_ALERTS = statement({
  text: `select kind, subject from alerts
     where ${IS_OWN} and acknowledged_at is null and resolved_at is null and last_seen_at <= ${fromEpochMs('$1')}
     order by first_seen_at, kind, subject`,
  parameters: ['double precision'],
  columns: columnsOf<StoryAlert>({ kind: 'text', subject: 'text' }),
});

/** Those of the story that are open and were last raised before this time. */
export async function findOpenAlerts(tx: Queryable, before: number): Promise<StoryAlert[]> {
  return tx.query(FIND_OPEN_ALERTS, [before]);
}

const SILENCE_ALERTS = statement({
  text: `update alerts set logged = seen, to_tell = null where ${IS_OWN}`,
  parameters: [],
});

/** Nobody is called about what is made up, and no log has a line about it. */
export async function silenceAlerts(tx: Queryable): Promise<void> {
  await tx.query(SILENCE_ALERTS);
}

const HAS_OTHER_RUNS = statement({
  text: `select from bulk_runs where status = 'RUNNING' and not (${IS_OWN}) limit 1`,
  parameters: [],
});

/** Whether somebody else's run is being worked off: whoever works off runs takes any. */
export async function hasOtherRuns(tx: Queryable): Promise<boolean> {
  return (await tx.query(HAS_OTHER_RUNS)).length > 0;
}

export interface WaitingPeriod {
  readonly orderNo: number;
  readonly cycleNo: number;
}

const FIND_WAITING_PERIODS = statement({
  text: `select order_no as "orderNo", cycle_no as "cycleNo" from orders
     where channel_id = any($1::bigint[]) and ${orderStatusIs('status', 'ACTIVE')}
       and ${paymentStatusIs('latest_payment_status', 'FAIL_RETRY')} and next_due_at > now()
     order by order_no`,
  parameters: ['bigint[]'],
  columns: columnsOf<WaitingPeriod>({ orderNo: 'bigint', cycleNo: 'integer' }),
});

/** Periods that wait for their next try. */
export async function findWaitingPeriods(tx: Queryable, channelIds: readonly number[]): Promise<WaitingPeriod[]> {
  return tx.query(FIND_WAITING_PERIODS, [channelIds]);
}

export interface BookedLine {
  readonly kind: string;
  readonly number: string;
  readonly amountCent: number;
  readonly bookedAt: string;
  readonly institutionRef: string;
}

const FIND_BOOKED = statement({
  text: `select 'DEBIT' as kind, order_no || lpad(cycle_no::text, 4, '0') || lpad(try_no::text, 2, '0') as number,
       amount_cent as "amountCent", ${shanghaiText('paid_at')} as "bookedAt", institution_ref as "institutionRef"
     from debit_attempts where payment_channel_code = $1 and status = 'SUCCESS'
       and paid_at >= ${fromEpochMs('$2')} and paid_at < ${fromEpochMs('$3')}
     union all
     select 'REFUND', 'R' || order_no || lpad(cycle_no::text, 4, '0') || lpad(refund_seq::text, 2, '0'), amount_cent,
       ${shanghaiText('refunded_at')}, 'refund-' || order_no || '-' || cycle_no || '-' || refund_seq
     from refunds where payment_channel_code = $1 and status = 'SUCCESS'
       and refunded_at >= ${fromEpochMs('$2')} and refunded_at < ${fromEpochMs('$3')}
     order by 4, 2`,
  parameters: ['text', 'double precision', 'double precision'],
  columns: columnsOf<BookedLine>({
    kind: 'text',
    number: 'text',
    amountCent: 'bigint',
    bookedAt: 'text',
    institutionRef: 'text',
  }),
});

/** What an institution would book between two times. */
export async function findBooked(
  tx: Queryable,
  paymentChannelCode: string,
  from: number,
  to: number,
): Promise<BookedLine[]> {
  return tx.query(FIND_BOOKED, [paymentChannelCode, from, to]);
}

const SET_ADDRESS = statement({ text: `select set_config('perennial.address', $1, true)`, parameters: ['text'] });

/** From where the person works who acts next, as the audit log has it. */
export async function setAddress(tx: Queryable, address: string): Promise<void> {
  await tx.query(SET_ADDRESS, [address]);
}

export interface FilledCounts {
  readonly orders: number;
  readonly periods: number;
  readonly refunds: number;
  readonly claims: number;
  readonly events: number;
  readonly pushes: number;
  readonly alerts: number;
  readonly differences: number;
}

const COUNT_FILLED = statement({
  text: `select (select count(*) from orders where channel_id = any($1::bigint[])) as orders,
       (select count(*) from payments where channel_id = any($1::bigint[])) as periods,
       (select count(*) from refunds where channel_id = any($1::bigint[])) as refunds,
       (select count(*) from claims where channel_id = any($1::bigint[])) as claims,
       (select count(*) from events where channel_id = any($1::bigint[])) as events,
       (select count(*) from delivery_attempts where channel_id = any($1::bigint[])) as pushes,
       (select count(*) from alerts where ${IS_OWN}) as alerts,
       (select count(*) from reconciliation_differences where payment_channel_code = any($2::text[])) as differences`,
  parameters: ['bigint[]', 'text[]'],
  columns: columnsOf<FilledCounts>({
    orders: 'bigint',
    periods: 'bigint',
    refunds: 'bigint',
    claims: 'bigint',
    events: 'bigint',
    pushes: 'bigint',
    alerts: 'bigint',
    differences: 'bigint',
  }),
});

export async function countFilled(
  tx: Queryable,
  filled: { readonly channelIds: readonly number[]; readonly codes: readonly string[] },
): Promise<FilledCounts> {
  const [counts] = await tx.query(COUNT_FILLED, [filled.channelIds, filled.codes]);
  if (!counts) throw new Error('a count has one row');
  return counts;
}
