import { columns } from '../../platform/db/database.js';
import { declareRequire } from '../../platform/db/declared.js';

/** Counting stops here: more says no more. */
const MAX_COUNTED = 1_000;

/** What waits for a person, for the menu of every page. Each number comes by an index of what is open, or was counted before. */
export const countWaiting = declareRequire({
  text: `select
      (select count(*)::integer from (
        select from alerts where acknowledged_at is null and resolved_at is null limit ${MAX_COUNTED}) a) as alerts,
      (select count(*)::integer from (
        (select from approvals where status = 'WAITING' limit ${MAX_COUNTED})
        union all
        (select from approvals where status in ('DECLINED', 'FAILED') and seen_at is null and requested_by = $1
         limit ${MAX_COUNTED})) w) as approvals,
      (select least(coalesce(sum(waiting_for_retry), 0), ${MAX_COUNTED})::integer from order_counts) as "failedPayments",
      (select count(*)::integer from (
        select from reconciliation_differences where closed_at is null limit ${MAX_COUNTED}) d) as differences`,
  parameters: ['text'],
  // What was empty when it was last analyzed may have grown since.
  byIndex: true,
  columns: columns({
    alerts: 'integer',
    /** What waits for a second person, and what the person who looks has asked for and nothing came of. */
    approvals: 'integer',
    /** Orders whose latest period is tried again, as of the last time that all were counted. */
    failedPayments: 'integer',
    differences: 'integer',
  }),
});
