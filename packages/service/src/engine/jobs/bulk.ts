import type { Logger } from 'pino';
import type { Gateways } from '../../gateways/gateway-registry.js';
import { finishApprovals } from '../../operator/approvals/carry-out.js';
import { followItems } from '../../operator/bulk/follow-items.js';
import { workOffRuns } from '../../operator/bulk/work-off.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import type { Vault } from '../../platform/secrets/vault.js';
import type { Environment } from '../../platform/settings.js';

export interface OperatorsWorkDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly gateways: Gateways;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly log: Logger;
  readonly stopping?: () => boolean;
}

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
