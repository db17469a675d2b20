import { columns } from '../../platform/db/database.js';
import { declareRequire } from '../../platform/db/declared.js';

/** The maximum of each count. A higher number would tell operators nothing more. */
const MAX_COUNTED = 1_000;

/** Counts the open tasks, for the menu of every page. Uses indexes on open rows, and the last count of orders. */
export const countWaiting = declareRequire({
  text: `select
      (select count(*)::integer from (
        select from alerts where acknowledged_at is null and resolved_at is null limit ${MAX_COUNTED}) a) as alerts,
      (select count(*)::integer from (
        (select from approvals where status = 'WAITING' limit ${MAX_COUNTED})
        union all
        (select from approvals where status in ('DECLINED', 'FAILED') and seen_at is null and requested_by = $1
         limit ${MAX_COUNTED})
        union all
        (select from approvals where tells_approval and status = 'APPROVED' and seen_at is null and result is not null
           and requested_by = $1 limit ${MAX_COUNTED})
        union all
        (select from approvals where kind = 'CHANGE' and status = 'APPROVED' and done_at is null and requested_by = $1
           and decided_at > now() - interval '24 hours' limit ${MAX_COUNTED})
        limit ${MAX_COUNTED}) w) as approvals,
      (select count(*)::integer from (
        select from mentions n where n.person_id = $2 and n.seen_at is null limit ${MAX_COUNTED}) n) as mentions,
      (select least(coalesce(sum(waiting_for_retry), 0), ${MAX_COUNTED})::integer from order_counts) as "failedPayments",
      (select count(*)::integer from (
        select from reconciliation_differences where closed_at is null limit ${MAX_COUNTED}) d) as differences`,
  parameters: ['text', 'bigint'],
  // Always uses indexes, because the planner's statistics may date from when the table was empty.
  byIndex: true,
  columns: columns({
    alerts: 'integer',
    /** Waiting approvals, and the operator's own requests with an unread outcome or that can be carried out. */
    approvals: 'integer',
    /** The notes that mention the operator, until the operator dismisses them. */
    mentions: 'integer',
    /** Orders whose latest period waits for a retry, as of the last count of all orders. */
    failedPayments: 'integer',
    differences: 'integer',
  }),
});
