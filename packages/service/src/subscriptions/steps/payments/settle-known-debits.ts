import { type Database, isDatabaseAway } from '../../../platform/db/database.js';
import { createBatcher } from '../../../platform/db/sharing/batcher.js';
import type { Caller } from '../../../platform/db/sharing/caller.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import {
  type KnownDebitRow,
  type KnownSettlement,
  type OwedAnswer,
  settleKnownDebits,
} from '../../store/payments/settle-known-debits-sql.js';
import { type AppliedOutcome, applyOutcome, type FinalOutcome } from './apply-outcome.js';
import { endsAgreement, toSettledRow } from './settle-debits.js';

/**
 * Plans the settlement of a first debit, assuming that the order is as this node has stored it. Returns undefined if
 * the outcome ends the agreement, because that affects other orders too.
 */
export function planKnownSettlement(
  before: Order,
  payment: Payment,
  agreementId: number,
  outcome: FinalOutcome,
  now: number,
): KnownSettlement | undefined {
  if (endsAgreement(outcome)) return undefined;
  const attempt = {
    orderNo: before.orderNo,
    cycleNo: payment.cycleNo,
    tryNo: 1,
    status: 'STARTED',
    agreementId,
    payment,
    retryDelays: [],
    agreementEnded: false,
    retryBySchedule: false,
  } as const;
  const after: AppliedOutcome = applyOutcome(before, attempt, outcome, now);
  return {
    settled: toSettledRow(attempt, outcome, after),
    before,
    now,
    agreementInForce: agreementId,
    releasesNumber: before.shared && after.order.status === 'TERMINATED',
  };
}

/**
 * Resolves to false, and writes nothing, if one of the rows has changed or is locked by a different transaction, or if
 * the statement failed.
 */
export type SettleKnown = (settlement: KnownSettlement, answer: OwedAnswer | null, caller: Caller) => Promise<boolean>;

/**
 * Settles in one statement the debits whose outcomes arrive at the same time (docs/decisions/0034). Resolves to false
 * for a debit whose rows have changed or are locked, and if the statement failed. The caller then settles the debit
 * with `settleDebits`.
 */
export function createKnownDebitSettler(database: Database): SettleKnown {
  const settle = createBatcher<KnownDebitRow, boolean>({
    maxBatch: 32,
    slots: 3,
    channelOf: ({ settlement }) => settlement.before.channelId,
    async run(rows) {
      try {
        const settled = await settleKnownDebits(database, rows);
        return rows.map(({ settlement }) => settled.has(settlement.before.orderNo));
      } catch (error) {
        // An error of one debit must not fail the others, so the callers settle each debit on its own. If the database
        // is down, all fail.
        if (isDatabaseAway(error)) throw error;
        return rows.map(() => false);
      }
    },
  });
  return (settlement, answer, caller) => settle({ settlement, answer }, caller);
}
