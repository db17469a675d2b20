import { anyRow, noRows, type Query } from '../../platform/db/queries.js';

/** False when it was canceled while it waited. */
export const startApprovedRun: Query<[runId: number], boolean> = anyRow({
  text: `update bulk_runs set status = 'RUNNING', started_at = now() where run_id = $1 and status = 'WAITING' returning 1`,
  parameters: ['bigint'],
});

/** Declined, or canceled by who asked for it. */
export const endWaitingRun: Query<[runId: number, status: 'DECLINED' | 'CANCELED'], void> = noRows({
  text: `with ended as (
       update bulk_runs set status = $2, finished_at = now(), skipped = items where run_id = $1 and status = 'WAITING'
       returning run_id)
     update bulk_items i set status = 'SKIPPED', result = 'the run was ' || lower($2), finished_at = now()
     from ended where i.run_id = ended.run_id and i.status = 'WAITING'`,
  parameters: ['bigint', 'text'],
});
