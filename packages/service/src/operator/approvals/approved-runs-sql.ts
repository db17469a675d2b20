import { type Queryable, statement } from '../../platform/db/database.js';

const START_APPROVED_RUN = statement({
  text: `update bulk_runs set status = 'RUNNING', started_at = now() where run_id = $1 and status = 'WAITING' returning 1`,
  parameters: ['bigint'],
});

/** False when it was canceled while it waited. */
export async function startApprovedRun(tx: Queryable, runId: number): Promise<boolean> {
  return (await tx.query(START_APPROVED_RUN, [runId])).length === 1;
}

const DECLINE_RUN = statement({
  text: `update bulk_runs set status = 'DECLINED', finished_at = now() where run_id = $1 and status = 'WAITING'`,
  parameters: ['bigint'],
});

export async function declineRun(tx: Queryable, runId: number): Promise<void> {
  await tx.query(DECLINE_RUN, [runId]);
}
