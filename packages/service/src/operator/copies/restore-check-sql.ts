import { columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { declareList, declareRequire, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/** One kind of pending engine work, with its oldest item. */
export type WaitingWork = RowOf<typeof WAITING_WORK_COLUMNS>;

const selectWaiting =
  (what: string, from: string, oldest: string, amount = 'null::bigint') =>
  (place: number) =>
    `select ${place} as place, '${what}' as what, count(*) as count, ${shanghaiText(`min(${oldest})`)} as oldest,
     sum(${amount})::bigint as "amountCent"
   from ${from}`;

const DUE_ORDERS = 'orders where next_due_at <= now() and settlement_mode';

const WAITING_WORK = [
  selectWaiting('renewals to debit', `${DUE_ORDERS} = 'SVC_DEDUCT'`, 'next_due_at', 'amount_cent'),
  selectWaiting(
    'of these, overdue for more than a day',
    `${DUE_ORDERS} = 'SVC_DEDUCT' and next_due_at <= now() - interval '1 day'`,
    'next_due_at',
    'amount_cent',
  ),
  selectWaiting('periods to bill', `${DUE_ORDERS} = 'CHANNEL_COLLECT'`, 'next_due_at', 'amount_cent'),
  selectWaiting(
    'of these, overdue for more than a day',
    `${DUE_ORDERS} = 'CHANNEL_COLLECT' and next_due_at <= now() - interval '1 day'`,
    'next_due_at',
    'amount_cent',
  ),
  selectWaiting('debits without a result', `debit_attempts where status = 'STARTED'`, 'started_at', 'amount_cent'),
  selectWaiting('refunds without a result', `refunds where status = 'STARTED'`, 'started_at', 'amount_cent'),
  selectWaiting('claims without a code', `claims where status = 'PENDING'`, 'claimed_at'),
  selectWaiting('agreements to cancel', 'agreements where cancel_at is not null', 'cancel_at'),
  selectWaiting('requests without an answer', `idempotency where state = 'RUNNING'`, 'created_at'),
  selectWaiting('events to send', 'due_events', 'recorded_at'),
  selectWaiting('alert messages to send', 'alert_messages where send_at is not null', 'written_at'),
];

const WAITING_WORK_COLUMNS = columns({
  what: 'text',
  count: 'bigint',
  oldest: 'text?',
  /**
   * The sum of the amounts that the work would debit, bill or refund. Null for work that moves no money, and if no work
   * waits.
   */
  amountCent: 'bigint?',
});

/** Returns the pending engine work, in the order in which it is shown. */
export const findWaitingWork: Query<[], WaitingWork[]> = declareList({
  text: `select what, count, oldest, "amountCent"
     from (${WAITING_WORK.map((select, place) => select(place)).join(' union all ')}) w order by place`,
  parameters: [],
  byIndex: false,
  columns: WAITING_WORK_COLUMNS,
});

/**
 * Returns the number of erasures in this database and the time of the latest. Erasures made after that time must be
 * repeated.
 */
export const findErasures = declareRequire({
  text: `select count(*) as count, ${shanghaiText('max(erased_at)')} as "latestAt" from erased_users`,
  parameters: [],
  columns: columns({ count: 'bigint', latestAt: 'text?' }),
});

const FIND_LAST_WRITE = statement({
  text: `select ${shanghaiText('max(at)')} as at, floor(extract(epoch from now() - max(at)))::bigint as "secondsAgo" from (
       select max(at) as at from audit_log where action not in ('restore', 'numbers.skip', 'installation.adopt')
       union all select max(created_at) from orders
       union all select greatest(max(started_at), max(settled_at)) from debit_attempts
       union all select greatest(max(started_at), max(settled_at)) from refunds
       union all select max(created_at) from idempotency
       union all select max(recorded_at) from events
       union all select max(at) from delivery_attempts) w`,
  parameters: [],
  byIndex: false,
  columns: columns({ at: 'text?', secondsAgo: 'bigint?' }),
});

/**
 * Returns the time of the service's last write to its main tables. Writes that belong to a restore do not count. Null
 * in an empty database.
 */
export async function findLastWrite(db: Queryable): Promise<{ at: string | null; secondsAgo: number | null }> {
  return (await queryOne(db, FIND_LAST_WRITE)) ?? { at: null, secondsAgo: null };
}
