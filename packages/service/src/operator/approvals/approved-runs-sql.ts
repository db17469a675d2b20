import { type Queryable, statement } from '../../platform/db/database.js';

const START_APPROVED_RUN = statement({
  text: `update bulk_runs set status = 'RUNNING', started_at = now() where run_id = $1 and status = 'WAITING' returning 1`,
  parameters: ['bigint'],
});

/** False when it was canceled while it waited. */
export async function startApprovedRun(tx: Queryable, runId: number): Promise<boolean> {
  return (await tx.query(START_APPROVED_RUN, [runId])).length === 1;
}

const END_WAITING_RUN = statement({
  text: `with ended as (
       update bulk_runs set status = $2, finished_at = now(), skipped = items where run_id = $1 and status = 'WAITING'
       returning run_id)
     update bulk_items i set status = 'SKIPPED', result = 'the run was ' || lower($2), finished_at = now()
     from ended where i.run_id = ended.run_id and i.status = 'WAITING'`,
  parameters: ['bigint', 'text'],
});

/** Declined, or canceled by who asked for it. */
export async function endWaitingRun(tx: Queryable, runId: number, status: 'DECLINED' | 'CANCELED'): Promise<void> {
  await tx.query(END_WAITING_RUN, [runId, status]);
}
