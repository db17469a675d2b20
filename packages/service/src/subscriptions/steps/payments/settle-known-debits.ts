import { type Database, isDatabaseAway } from '../../../platform/db/database.js';
import { createBatcher } from '../../../platform/db/sharing/batcher.js';
import type { Caller } from '../../../platform/db/sharing/caller.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import {
  type KnownDebitRow,
  type OwedAnswer,
  settleKnownDebits,
} from '../../store/payments/settle-known-debits-sql.js';
import { type AppliedOutcome, applyOutcome, type FinalOutcome } from './apply-outcome.js';
import { endsAgreement, toSettledRow } from './settle-debits.js';

/** The first debit of an order, as the node that has stored it knows both. */
export interface KnownFirstDebit {
  readonly order: Order;
  readonly payment: Payment;
  readonly agreementId: number;
}

export type KnownSettlement = Omit<KnownDebitRow, 'answer'>;

/**
 * What the outcome of a first debit comes to, if nothing has changed since the order was stored. Undefined when more than the
 * order depends on it: an agreement that has ended, with all that runs on it.
 */
export function planKnownSettlement(
  { order: before, payment, agreementId }: KnownFirstDebit,
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
    ...toSettledRow(attempt, outcome, after),
    before,
    now,
    agreementInForce: agreementId,
    releasesNumber: before.shared && after.order.status === 'TERMINATED',
  };
}

/** False when something was not as it was known, or was held by somebody else: then nothing was written. */
export type SettleKnown = (settlement: KnownSettlement, answer: OwedAnswer | null, caller: Caller) => Promise<boolean>;

/**
 * Settles debits whose outcomes arrive at the same time in one statement (docs/decisions/0034). Whatever is not settled here,
 * because it has changed or because the statement has failed, its caller settles by itself with `settleDebits`.
 */
export function createKnownDebitSettler(database: Database): SettleKnown {
  const settle = createBatcher<KnownDebitRow, boolean>({
    maxBatch: 32,
    slots: 3,
    channelOf: ({ order }) => order.channelId,
    async run(rows) {
      try {
        const settled = await settleKnownDebits(database, rows);
        return rows.map(({ order }) => settled.has(order.orderNo));
      } catch (error) {
        // An error of one must not fail the others; a database that cannot be reached fails all of them.
        if (isDatabaseAway(error)) throw error;
        return rows.map(() => false);
      }
    },
  });
  return (settlement, answer, caller) => settle({ ...settlement, answer }, caller);
}
