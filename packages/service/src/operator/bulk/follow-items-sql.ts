import type { PaymentStatus } from '@perennial/wire';
import { keyOfEvent } from '../../delivery/history/attempts-sql.js';
import { isDueRowOf } from '../../delivery/queue/replay-sql.js';
import { column, columns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { declareList, declareWrite, type Query } from '../../platform/db/declared.js';
import { paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';
import { resultText } from '../result-texts.js';

export interface ItemReference {
  readonly runId: number;
  readonly itemNo: number;
}

const ITEM = `i.run_id as "runId", i.item_no as "itemNo"`;
const ITEM_COLUMNS = { runId: 'bigint', itemNo: 'integer' } as const;

/**
 * Sets refunds back to pending if a node of an earlier release marked them as done before their result was known. The
 * index `bulk_items_undecided` has the same condition.
 */
export const reopenItems: Query<[], void> = declareWrite({
  text: `with reopened as (
       update bulk_items set status = 'PENDING', finished_at = null
       where status = 'DONE' and result like '${resultText('refund-is', '%', 'STARTED')}' returning run_id)
     update bulk_runs r set done = r.done - n.items
     from (select run_id, count(*)::integer as items from reopened group by run_id) n where r.run_id = n.run_id`,
  parameters: [],
});

const REOPEN_RUNS = statement({
  text: `update bulk_runs set status = 'PENDING', finished_at = null
     where status = 'DONE' and run_id in (select i.run_id from bulk_items i where i.status = 'PENDING')`,
  parameters: [],
});
const FINISH_PENDING_RUNS = statement({
  text: `update bulk_runs r set status = 'DONE', finished_at = now() where r.status = 'PENDING'
     and not exists (select from bulk_items i where i.run_id = r.run_id and i.status = 'PENDING')`,
  parameters: [],
});

/**
 * Updates the status of runs from the status of their items. Storing an item does not do this: two nodes that store the
 * last two items at the same time would each see the other's item as pending, and the run would never end.
 */
export async function alignRuns(tx: Queryable): Promise<void> {
  await tx.query(REOPEN_RUNS);
  await tx.query(FINISH_PENDING_RUNS);
}

export type DecidedRefund = RowOf<typeof DECIDED_REFUND_COLUMNS>;

const DECIDED_REFUND_COLUMNS = columns({
  ...ITEM_COLUMNS,
  orderNo: 'bigint',
  cycleNo: 'integer',
  refundSeq: 'integer',
  status: column<'SUCCESS' | 'FAIL'>('text'),
  reason: 'text?',
});

/**
 * Returns pending items of refund runs whose refund the institution has decided. An item's refund is found by the
 * idempotency key that `refundItem` has given it.
 */
export const findDecidedRefunds: Query<[limit: number], DecidedRefund[]> = declareList({
  text: `select ${ITEM}, f.order_no as "orderNo", f.cycle_no as "cycleNo", f.refund_seq as "refundSeq", f.status, f.reason
     from bulk_items i join bulk_runs r on r.run_id = i.run_id and r.kind = 'REFUND'
       join refunds f on f.order_no = i.order_no and f.request_key = 'run-' || i.run_id || '-' || i.item_no
     where i.status = 'PENDING' and f.status <> 'STARTED' limit $1`,
  parameters: ['bigint'],
  columns: DECIDED_REFUND_COLUMNS,
});

export type SettledRetry = RowOf<typeof SETTLED_RETRY_COLUMNS>;

const SETTLED_RETRY_COLUMNS = columns({
  ...ITEM_COLUMNS,
  orderNo: 'bigint',
  cycleNo: 'integer',
  paymentStatus: column<PaymentStatus>('text'),
  /** The result of the awaited attempt. Null if that attempt was not made and no further attempt follows. */
  attempt: column<'SUCCESS' | 'FAIL'>('text?'),
  reason: 'text?',
});

/** Returns pending retries whose attempt has a result, or whose period gets no further attempt. */
export const findSettledRetries: Query<[limit: number], SettledRetry[]> = declareList({
  text: `select ${ITEM}, p.order_no as "orderNo", p.cycle_no as "cycleNo", p.status as "paymentStatus", a.status as attempt, a.reason
     from bulk_items i
       join payments p on p.order_no = i.order_no
         and p.cycle_no = case when i.awaited_try is not null then split_part(i.subject, '-', 2)::integer end
       left join debit_attempts a on a.order_no = p.order_no and a.cycle_no = p.cycle_no and a.try_no = i.awaited_try
     where i.status = 'PENDING' and i.awaited_try is not null
       and case when a.status is null then not ${paymentStatusIs('p.status', 'FAIL_RETRY', 'PROCESSING')}
         else a.status <> 'STARTED' end
     limit $1`,
  parameters: ['bigint'],
  columns: SETTLED_RETRY_COLUMNS,
});

export type FinishedReplay = RowOf<typeof FINISHED_REPLAY_COLUMNS>;

/** SQL: true if the row's range of periods includes the item's period. An item without a period means all periods. */
const isMeant = (row: string) =>
  `(n.cycle_no is null or n.cycle_no between ${row}.cycle_no and coalesce(${row}.cycle_to, ${row}.cycle_no))`;

const FINISHED_REPLAY_COLUMNS = columns({
  ...ITEM_COLUMNS,
  subject: 'text',
  isGone: 'boolean',
  /** Why the event is no longer sent. Null if the channel has accepted it, or the event no longer exists. */
  reason: column<'GIVE_UP' | 'NO_CALLBACK'>('text?'),
});

/** Returns pending replays whose events are no longer waiting to be sent. */
export const findFinishedReplays: Query<[limit: number], FinishedReplay[]> = declareList({
  text: `select ${ITEM}, i.subject, e.event_no is null as "isGone",
       (select min(u.reason) from undelivered_events u
        where u.channel_id = e.channel_id and u.event_no = e.event_no and ${isMeant('u')}) as reason
     from bulk_items i join bulk_runs r on r.run_id = i.run_id and r.kind = 'REPLAY',
       lateral (select case when r.kind = 'REPLAY' then split_part(i.subject, '-', 1)::bigint end as event_no,
         case when r.kind = 'REPLAY' then nullif(split_part(i.subject, '-', 2), '')::integer end as cycle_no) n
       left join events e on e.event_no = n.event_no
     where i.status = 'PENDING' and not exists (
       select from due_events d where ${isDueRowOf('d', keyOfEvent('e'))} and ${isMeant('d')})
     limit $1`,
  parameters: ['bigint'],
  columns: FINISHED_REPLAY_COLUMNS,
});
