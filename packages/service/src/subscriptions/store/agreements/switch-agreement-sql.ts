import type { AgreementStatus } from '@perennial/wire';
import { column, columns, type Queryable, statement } from '../../../platform/db/database.js';
import { fromEpochMs } from '../../../platform/db/time-sql.js';
import { findAgreementTransition } from '../../domain/agreements/agreement-states.js';

export interface AgreementSwitch {
  readonly orderNo: number;
  readonly oldAgreementId: number;
  readonly newAgreementId: number;
  readonly paymentChannelCode: string;
  /**
   * The new time of the retry, if the latest period waits for a retry. An earlier due time is kept. Null: the due time
   * stays unchanged.
   */
  readonly retryAt: number | null;
  /** True: if the debit in flight fails, the retry follows the product's schedule. False: it is immediate. */
  readonly retryBySchedule: boolean;
}

const SWITCH_AGREEMENT_OF_ORDER = statement({
  text: `update orders set agreement_id = $2, payment_channel_code = $3, next_due_at = least(${fromEpochMs('$4')}, next_due_at)
     where order_no = $1`,
  parameters: ['bigint', 'bigint', 'text', 'double precision'],
});

const MARK_OPEN_ATTEMPTS = statement({
  text: `update debit_attempts a set retry_by_schedule = $2 from orders o
     where o.order_no = $1 and a.order_no = o.order_no and a.cycle_no = o.cycle_no and a.status = 'STARTED'`,
  parameters: ['bigint', 'boolean'],
});

const LOCK_AGREEMENT = statement({
  text: 'select agreement_no as "agreementNo", status from agreements where agreement_id = $1 for update',
  parameters: ['bigint'],
  columns: columns({ agreementNo: 'text', status: column<AgreementStatus>('text') }),
});

const STORE_AGREEMENT_STATUS = statement({
  text: 'update agreements set status = $2, changed_at = now() where agreement_id = $1',
  parameters: ['bigint', 'text'],
});

/**
 * Moves the order to a new agreement. An attempt in flight keeps its agreement. The old agreement becomes REPLACED,
 * unless it has ended already, for example because the institution reported its end during the first debit. Returns the
 * old agreement number.
 */
export async function switchAgreement(
  tx: Queryable,
  { orderNo, oldAgreementId, newAgreementId, paymentChannelCode, retryAt, retryBySchedule }: AgreementSwitch,
): Promise<string> {
  await tx.query(SWITCH_AGREEMENT_OF_ORDER, [orderNo, newAgreementId, paymentChannelCode, retryAt]);
  // Changes at most one attempt: the order is locked, so no further attempt can start.
  await tx.query(MARK_OPEN_ATTEMPTS, [orderNo, retryBySchedule]);
  const [row] = await tx.query(LOCK_AGREEMENT, [oldAgreementId]);
  if (!row) throw new Error(`there is no agreement ${oldAgreementId}`);
  const step = findAgreementTransition(row.status, 'replaced');
  if (step) {
    await tx.query(STORE_AGREEMENT_STATUS, [oldAgreementId, step.to]);
  }
  return row.agreementNo;
}
