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
 * Plans the settlement of a first debit, assuming that nothing has changed since this node stored the order. Returns
 * undefined if the outcome ends the agreement, because other orders depend on that.
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

/** Resolves to false, with nothing written, if a row has changed or is locked by another transaction. */
export type SettleKnown = (settlement: KnownSettlement, answer: OwedAnswer | null, caller: Caller) => Promise<boolean>;

/**
 * Settles debits whose outcomes arrive at the same time in one statement (docs/decisions/0034). Callers settle the
 * others with `settleDebits`: those that have changed, and all if the statement fails.
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
        // An error of one must not fail the others. An unreachable database fails all of them.
        if (isDatabaseAway(error)) throw error;
        return rows.map(() => false);
      }
    },
  });
  return (settlement, answer, caller) => settle({ settlement, answer }, caller);
}
