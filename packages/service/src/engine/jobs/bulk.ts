import { finishApprovals } from '../../operator/approvals/carry-out.js';
import { followItems } from '../../operator/bulk/follow-items.js';
import { workOffRuns } from '../../operator/bulk/work-off.js';
import type { JobDeps } from '../job-deps.js';

export type OperatorsWorkDeps = Pick<
  JobDeps,
  'database' | 'vault' | 'gateways' | 'clock' | 'environment' | 'log' | 'stopping'
>;

/** Does what operators have started for many, item by item. A node that is stopping leaves the rest to another. */
export async function workOffBulkRuns(deps: OperatorsWorkDeps): Promise<number> {
  const { log, stopping } = deps;
  return workOffRuns(deps, {
    ...(stopping ? { stopping } : {}),
    onFault: (run, itemNo, err) =>
      log.warn({ err, runId: run.runId, itemNo }, 'an item of a bulk run failed by a fault'),
  });
}

/** Gives items of bulk runs their final result: what became of a refund, of a debit, of a push. */
export async function followBulkItems({ database }: OperatorsWorkDeps): Promise<number> {
  return followItems({ database });
}

/** Makes refunds that a second person has approved, where whoever approved them was interrupted before. */
export async function finishApprovedRefunds(deps: OperatorsWorkDeps): Promise<number> {
  const { log, stopping } = deps;
  const failed = (approvalId: number, err: unknown) =>
    log.warn({ err, approvalId }, 'an approved refund could not be made and will be tried again');
  return finishApprovals({ ...deps, actor: 'engine' }, failed, stopping);
}
