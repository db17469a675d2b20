import { columns, type Queryable, statement } from '../platform/db/database.js';
import { epochMs, fromEpochMs, shanghaiText } from '../platform/db/time-sql.js';
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
  for (const stamp of [STAMP_EVENTS, STAMP_DUE_EVENTS, STAMP_USERS, STAMP_SHARED_AGREEMENTS]) {
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
  columns: columns<{ shard: number; epoch: number }>({ shard: 'smallint', epoch: 'bigint' }),
});

/** It stays whose it is until the commit. */
export async function findShard(tx: Queryable, shard: number): Promise<{ shard: number; epoch: number }> {
  const [found] = await tx.query(FIND_SHARD, [shard]);
  if (!found) throw new Error(`there is no shard ${shard}`);
  return found;
}

/* What only the console's tables have. */

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

const INSERT_NOTE = statement({
  text: 'insert into order_notes (order_no, author, at, text) values ($1, $2, now(), $3)',
  parameters: ['bigint', 'text', 'text'],
});

export async function insertNote(tx: Queryable, orderNo: number, author: string, text: string): Promise<void> {
  await tx.query(INSERT_NOTE, [orderNo, author, text]);
}

const FIND_OPEN_ALERTS = statement({
  text: `select kind, subject from alerts
     where acknowledged_at is null and resolved_at is null and ${epochMs('first_seen_at')} between $1 and $2
     order by first_seen_at, kind, subject`,
  parameters: ['bigint', 'bigint'],
  columns: columns<{ kind: string; subject: string }>({ kind: 'text', subject: 'text' }),
});

/** Those that were first raised in this time. */
export async function findOpenAlerts(
  tx: Queryable,
  from: number,
  to: number,
): Promise<{ kind: string; subject: string }[]> {
  return tx.query(FIND_OPEN_ALERTS, [from, to]);
}

const SET_ALERT_OWNER = statement({
  text: 'update alerts set owner = $3 where kind = $1 and subject = $2',
  parameters: ['text', 'text', 'text'],
});
const INSERT_ALERT_COMMENT = statement({
  text: 'insert into alert_comments (kind, subject, author, at, text) values ($1, $2, $3, now(), $4)',
  parameters: ['text', 'text', 'text', 'text'],
});

export async function commentAlert(
  tx: Queryable,
  { kind, subject }: { readonly kind: string; readonly subject: string },
  author: string,
  text: string,
): Promise<void> {
  await tx.query(SET_ALERT_OWNER, [kind, subject, author]);
  await tx.query(INSERT_ALERT_COMMENT, [kind, subject, author, text]);
}

const SET_DIFFERENCE_OWNER = statement({
  text: 'update reconciliation_differences set owner = $2 where difference_no = $1',
  parameters: ['bigint', 'text'],
});

export async function setDifferenceOwner(tx: Queryable, differenceNo: string, owner: string): Promise<void> {
  await tx.query(SET_DIFFERENCE_OWNER, [differenceNo, owner]);
}

const SET_LOW_STOCK = statement({
  text: 'update benefit_fulfilments set low_stock = $2 where benefit_code = $1',
  parameters: ['text', 'integer'],
});

export async function setLowStock(tx: Queryable, benefitCode: string, codes: number): Promise<void> {
  await tx.query(SET_LOW_STOCK, [benefitCode, codes]);
}

export interface StoryApproval {
  readonly subject: string;
  readonly key: string;
  readonly amountCent: number;
  readonly note: string;
  readonly requestedBy: string;
}

const INSERT_APPROVAL = statement({
  text: `insert into approvals (kind, subject, request_key, amount_cent, note, requested_by, requested_at)
     values ('REFUND', $1, $2, $3, $4, $5, now()) returning approval_id as "approvalId"`,
  parameters: ['text', 'text', 'bigint', 'text', 'text'],
  columns: columns<{ approvalId: number }>({ approvalId: 'bigint' }),
});

export async function insertApproval(tx: Queryable, one: StoryApproval): Promise<number> {
  const [row] = await tx.query(INSERT_APPROVAL, [one.subject, one.key, one.amountCent, one.note, one.requestedBy]);
  if (!row) throw new Error('an approval that was stored has a number');
  return row.approvalId;
}

const DECIDE_APPROVAL = statement({
  text: `update approvals set status = $2, decided_by = $3, decided_at = now(), decision_note = $4, result = $5
     where approval_id = $1`,
  parameters: ['bigint', 'text', 'text', 'text', 'text'],
});

export async function decideApproval(
  tx: Queryable,
  approvalId: number,
  decision: {
    readonly status: 'APPROVED' | 'DECLINED';
    readonly by: string;
    readonly note: string;
    readonly result: string | null;
  },
): Promise<void> {
  await tx.query(DECIDE_APPROVAL, [approvalId, decision.status, decision.by, decision.note, decision.result]);
}

export interface StoryBulkItem {
  readonly subject: string;
  readonly orderNo: number;
  readonly amountCent: number;
  readonly status: 'DONE' | 'FAILED' | 'SKIPPED' | 'WAITING';
  readonly result: string | null;
}

const INSERT_BULK_RUN = statement({
  text: `insert into bulk_runs (kind, status, request_key, filter, reason, items, amount_cent, done, failed, skipped,
       requested_by, requested_at, started_at, finished_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now(),
       case when $2 = 'DONE' then now() end, case when $2 = 'DONE' then now() + interval '12 s' end)
     returning run_id as "runId"`,
  parameters: ['text', 'text', 'text', 'jsonb', 'text', 'integer', 'bigint', 'integer', 'integer', 'integer', 'text'],
  columns: columns<{ runId: number }>({ runId: 'bigint' }),
});
const INSERT_BULK_ITEMS = statement({
  text: `insert into bulk_items (run_id, item_no, subject, order_no, amount_cent, status, result, finished_at)
     select $1, i.item_no, i.subject, i."orderNo", i."amountCent", i.status, i.result,
       case when i.status <> 'WAITING' then now() + interval '6 s' end
     from rows from (json_to_recordset($2::json) as (subject text, "orderNo" bigint, "amountCent" bigint, status text,
       result text)) with ordinality as i(subject, "orderNo", "amountCent", status, result, item_no)`,
  parameters: ['bigint', 'json'],
});

export async function insertBulkRun(
  tx: Queryable,
  run: {
    readonly kind: 'RETRY' | 'UNSUBSCRIBE';
    readonly status: 'DONE' | 'PREPARED' | 'CANCELED';
    readonly key: string;
    readonly filter: object;
    readonly reason: string;
    readonly by: string;
    readonly items: readonly StoryBulkItem[];
  },
): Promise<void> {
  const count = (status: string) => run.items.filter((one) => one.status === status).length;
  const [row] = await tx.query(INSERT_BULK_RUN, [
    run.kind,
    run.status,
    run.key,
    JSON.stringify(run.filter),
    run.reason,
    run.items.length,
    run.items.reduce((sum, { amountCent }) => sum + amountCent, 0),
    count('DONE'),
    count('FAILED'),
    count('SKIPPED'),
    run.by,
  ]);
  await tx.query(INSERT_BULK_ITEMS, [row?.runId ?? 0, JSON.stringify(run.items)]);
}

export interface WaitingPeriod {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly amountCent: number;
}

const FIND_WAITING_PERIODS = statement({
  text: `select order_no as "orderNo", cycle_no as "cycleNo", amount_cent as "amountCent" from orders
     where channel_id = any($1::bigint[]) and ${orderStatusIs('status', 'ACTIVE')}
       and ${paymentStatusIs('latest_payment_status', 'FAIL_RETRY')} and next_due_at > now()
     order by order_no`,
  parameters: ['bigint[]'],
  columns: columns<WaitingPeriod>({ orderNo: 'bigint', cycleNo: 'integer', amountCent: 'bigint' }),
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
  columns: columns<BookedLine>({
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

export interface StoryRequest {
  readonly at: string;
  readonly channelId: number;
  readonly endpoint: string;
  readonly code: string;
  readonly httpStatus: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly reason: string | null;
  readonly address: string;
}

const INSERT_REQUESTS = statement({
  text: `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, reason, address)
     select r.at, r."channelId", r.endpoint, r.code, r."httpStatus", r."durationMs", r."requestId", r.reason, r.address
     from json_to_recordset($1::json) as r(at timestamptz, "channelId" bigint, endpoint text, code text,
       "httpStatus" smallint, "durationMs" integer, "requestId" text, reason text, address text)`,
  parameters: ['json'],
});

export async function insertRequests(tx: Queryable, requests: readonly StoryRequest[]): Promise<void> {
  await tx.query(INSERT_REQUESTS, [JSON.stringify(requests)]);
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
       (select count(*) from alerts where ${epochMs('first_seen_at')} between $3 and $4) as alerts,
       (select count(*) from reconciliation_differences where payment_channel_code = any($2::text[])) as differences`,
  parameters: ['bigint[]', 'text[]', 'bigint', 'bigint'],
  columns: columns<FilledCounts>({
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
  filled: {
    readonly channelIds: readonly number[];
    readonly codes: readonly string[];
    readonly from: number;
    readonly to: number;
  },
): Promise<FilledCounts> {
  const [counts] = await tx.query(COUNT_FILLED, [filled.channelIds, filled.codes, filled.from, filled.to]);
  if (!counts) throw new Error('a count has one row');
  return counts;
}
