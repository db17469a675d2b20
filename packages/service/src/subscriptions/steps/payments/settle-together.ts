import type { Clock } from '../../../platform/clock.js';
import { type Database, isDatabaseAway } from '../../../platform/db/database.js';
import { createBatcher } from '../../../platform/db/sharing/batcher.js';
import type { BusinessCounts } from '../../../platform/metrics/counts.js';
import { type Settled, type Settlement, settle } from './settle.js';

export interface SettlementOf extends Settlement {
  readonly attempt: Settlement['attempt'] & { readonly paymentChannelCode: string };
}

export type SettleTogether = (settlement: SettlementOf) => Promise<Settled>;

/** Outcomes that are known at the same time share a transaction. What is wrong with one is not the others' business. */
export function settleTogether(database: Database, clock: Clock, counts?: BusinessCounts): SettleTogether {
  const settleBatch = (settlements: readonly Settlement[]) =>
    database.transaction((tx) => settle(tx, settlements, clock.now()));
  const alone = async (settlement: Settlement): Promise<Settled | Error> => {
    try {
      const [settled] = await settleBatch([settlement]);
      return settled ?? new Error('one settlement has one result');
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const together = createBatcher<Settlement, Settled | Error>({
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
      // Two about one order, or one that fails: each by itself.
      const results: (Settled | Error)[] = [];
      for (const settlement of settlements) results.push(await alone(settlement));
      return results;
    },
  });
  return async (settlement) => {
    const result = await together(settlement);
    if (result instanceof Error) throw result;
    if (result.changed) counts?.countDebit(settlement.attempt.paymentChannelCode, settlement.outcome.kind);
    return result;
  };
}
