import { finishApprovals } from '../../operator/approvals/carry-out.js';
import { followItems } from '../../operator/bulk/follow-items.js';
import { workOffRuns } from '../../operator/bulk/work-off.js';
import type { JobDeps } from '../job-deps.js';

export type OperatorsWorkDeps = Pick<
  JobDeps,
  'database' | 'vault' | 'gateways' | 'clock' | 'environment' | 'log' | 'stopping'
>;

/**
 * Processes the bulk runs of operators, item by item. A node that is stopping leaves the remaining items to another
 * node.
 */
export async function workOffBulkRuns(deps: OperatorsWorkDeps): Promise<number> {
  const { log, stopping } = deps;
  return workOffRuns(deps, {
    ...(stopping ? { stopping } : {}),
    onFault: (run, itemNo, err) =>
      log.warn({ err, runId: run.runId, itemNo }, 'an item of a bulk run failed unexpectedly; check the error'),
  });
}

/** Stores the final result of bulk items: the outcome of a refund, a debit or a push. */
export async function followBulkItems({ database }: OperatorsWorkDeps): Promise<number> {
  return followItems({ database });
}

/** Makes refunds that a second operator has approved, if the approving process was interrupted. */
export async function finishApprovedRefunds(deps: OperatorsWorkDeps): Promise<number> {
  const { log, stopping } = deps;
  const failed = (approvalId: number, err: unknown) =>
    log.warn({ err, approvalId }, 'an approved refund could not be made; it will be retried');
  return finishApprovals({ ...deps, actor: 'engine' }, failed, stopping);
}
