import { finishApprovals } from '../../src/operator/approvals/carry-out.js';
import { followItems } from '../../src/operator/bulk/follow-items.js';
import { type WorkOffOptions, workOffRuns } from '../../src/operator/bulk/work-off.js';
import type { ServiceDeps } from '../../src/service.js';
import { refundStage } from '../refunds/support.js';
import { declined } from '../renewals/support.js';
import { consoleClient } from './support.js';

/** Starts a service at the real time, with operators of every role. Both ann and bob have the role finance. */
export async function operatorStage(more: Partial<ServiceDeps> = {}) {
  const on = await refundStage(more);
  const { service, operator, institution } = on;
  const { database } = service.fresh;
  service.clock.set(Date.now());
  const [ann, bob, support, viewer, admin] = await Promise.all([
    consoleClient(service, 'finance', 'ann'),
    consoleClient(service, 'finance', 'bob'),
    consoleClient(service, 'support'),
    consoleClient(service, 'viewer'),
    consoleClient(service, 'admin'),
  ]);
  return {
    ...on,
    ann,
    bob,
    support,
    viewer,
    admin,
    sql: <Row>(text: string, values: readonly unknown[] = []) => database.query<Row>(text, values),
    /** Makes the next period of the order due and debits it. With `decline`, the institution declines the debit. */
    async renewNow(orderNo: string, decline?: 'retryable' | 'final') {
      const usual = institution.onDebit;
      if (decline) institution.onDebit = async () => declined(decline);
      await database.query('update orders set next_due_at = now() where order_no = $1', [orderNo]);
      await on.renew();
      institution.onDebit = usual;
    },
    /** The engine's jobs. Each function runs its job one time. */
    workOff: (options?: WorkOffOptions) => workOffRuns(operator, options),
    follow: () => followItems(operator),
    finishApproved: () =>
      finishApprovals(
        operator,
        (_, error) => {
          throw error;
        },
        () => false,
        0,
      ),
  };
}

/** Returns the status and the message of a refusal. */
export const refusal = ({ status, body }: { status: number; body: { detail?: string } }) => [status, body.detail];
