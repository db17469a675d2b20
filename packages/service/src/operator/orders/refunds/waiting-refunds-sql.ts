import { columns, type Queryable, type RowOf, statement } from '../../../platform/db/database.js';
import { shanghaiText } from '../../../platform/db/time-sql.js';

/** A requested refund that has not been made: it waits for approval, or is approved and about to be made. */
export type WaitingRefund = RowOf<typeof FIND_WAITING_REFUNDS>;

const FIND_WAITING_REFUNDS = statement({
  text: `select a.subject, a.amount_cent as "amountCent", a.request_key as key, a.approval_id::text as "approvalId",
       null::text as "runId", a.requested_by as "requestedBy", ${shanghaiText('a.requested_at')} as "requestedAt"
     from approvals a where a.kind = 'REFUND' and a.subject = any($1::text[])
       and (a.status = 'WAITING' or (a.status = 'APPROVED' and a.result is null))
     union all
     select i.subject, i.amount_cent, 'run-' || r.run_id || '-' || i.item_no,
       (select a.approval_id::text from approvals a where a.kind = 'BULK' and a.subject = r.run_id::text), r.run_id::text,
       r.requested_by, ${shanghaiText('r.requested_at')}
     from bulk_runs r join bulk_items i on i.run_id = r.run_id and i.subject = any($1::text[]) and i.status = 'WAITING'
     where r.kind = 'REFUND' and r.status in ('WAITING', 'RUNNING')
     order by "requestedAt", "approvalId"`,
  parameters: ['text[]'],
  columns: columns({
    /** `orderNo-cycleNo` */
    subject: 'text',
    amountCent: 'bigint',
    /** The idempotency key of the refund. */
    key: 'text',
    approvalId: 'text?',
    /** The bulk run that the refund belongs to. Null if it belongs to none. */
    runId: 'text?',
    requestedBy: 'text',
    requestedAt: 'text',
  }),
});

/** Returns the waiting refunds of the periods named by `subjects`, oldest request first. */
export async function findWaitingRefunds(db: Queryable, subjects: readonly string[]): Promise<WaitingRefund[]> {
  return subjects.length === 0 ? [] : db.query(FIND_WAITING_REFUNDS, [subjects]);
}
