import type { Clock } from '../../../platform/clock.js';
import { type Database, isDatabaseAway } from '../../../platform/db/database.js';
import { createBatcher } from '../../../platform/db/sharing/batcher.js';
import type { SubscriptionCounts } from '../../domain/counts.js';
import { type SettledDebit, type Settlement, settleDebits } from './settle-debits.js';

export interface SettlementOfAttempt extends Settlement {
  readonly attempt: Settlement['attempt'] & { readonly paymentChannelCode: string };
}

export type SettleInBatch = (settlement: SettlementOfAttempt) => Promise<SettledDebit>;

/**
 * Settles in one transaction the outcomes that arrive at the same time. If one outcome cannot be settled, the others
 * are settled nevertheless.
 */
export function createBatchSettler(database: Database, clock: Clock, counts?: SubscriptionCounts): SettleInBatch {
  const settleBatch = (settlements: readonly Settlement[]) =>
    database.transaction((tx) => settleDebits(tx, settlements, clock.now()));
  const settleAlone = async (settlement: Settlement): Promise<SettledDebit | Error> => {
    try {
      const [settled] = await settleBatch([settlement]);
      return settled ?? new Error('one settlement has one result');
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const settleGathered = createBatcher<Settlement, SettledDebit | Error>({
    maxBatch: 64,
    slots: 2,
    async run(settlements) {
      const orders = new Set(settlements.map(({ attempt }) => attempt.orderNo));
      if (orders.size === settlements.length && settlements.length > 1) {
        try {
          return await settleBatch(settlements);
        } catch (error) {
          if (isDatabaseAway(error)) throw error;
        }
      }
      // Settles the outcomes one by one after an error, or if an order has two outcomes in the batch.
      const results: (SettledDebit | Error)[] = [];
      for (const settlement of settlements) results.push(await settleAlone(settlement));
      return results;
    },
  });
  return async (settlement) => {
    const result = await settleGathered(settlement);
    if (result instanceof Error) throw result;
    if (result.changed) counts?.countDebit(settlement.attempt.paymentChannelCode, settlement.outcome.kind);
    return result;
  };
}
