import { pino } from 'pino';
import { expect } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { type RenewalDeps, renewDueOrders } from '../../src/engine/jobs/renewals.js';
import type { DebitOutcome } from '../../src/gateways/gateway.js';
import { openDatabase } from '../../src/platform/db/database.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { ofFile } from '../orders/stage-of-file.js';
import { paid, type Stage } from '../orders/support.js';
import { databaseClock } from '../support/database-clock.js';
import { sharedRequest } from '../support/demo.js';

export type EngineNode = ReturnType<typeof engineNode>;

/** Creates the engine of a second node, with its own connections and memory. */
export function engineNode({ service, institution }: Stage, more: Partial<RenewalDeps> = {}, url = service.fresh.url) {
  const { vault, clock } = service;
  const database = more.database ?? openDatabase({ url, pool: 8, name: 'test engine' });
  const deps: RenewalDeps = {
    database,
    clock,
    gateways: { of: async () => institution },
    channels: createChannelRegistry(database, vault),
    settle: createBatchSettler(database, clock),
    log: pino({ level: 'silent' }),
    debitDeadlineMs: 200,
    ...more,
  };
  let closed: Promise<void> | undefined;
  return {
    deps,
    /** Debits the orders that are due now. Takes one lease and waits for all its debits. */
    async renewOnce(debitsPerSecond?: number) {
      let leases = 0;
      const stopping = () => {
        leases += 1;
        return leases > 1;
      };
      return renewDueOrders({ ...deps, stopping }, { code: 'MOCKPAY', debitsPerSecond: debitsPerSecond ?? null });
    },
    async close(): Promise<void> {
      closed ??= database.close();
      await closed;
    },
  };
}

/** Creates the engine of a second node for the tests of a file. */
export const engineOfFile = (on: Stage, more: Partial<RenewalDeps> = {}): EngineNode =>
  ofFile(async () => engineNode(on, more));

/** Creates the engine of a second node for the tests of a file. Its database has a clock that begins at `time`. */
export const clockedEngineOfFile = (on: Stage, time: number, more: Partial<RenewalDeps> = {}) =>
  ofFile(async () => {
    const clock = await databaseClock(on.service.fresh, time);
    return { ...engineNode(on, more, clock.url), clock };
  });

export async function created({ channel }: Stage, more: Record<string, unknown> = {}): Promise<string> {
  const reply = await channel.call('orders/create', sharedRequest(channel, more));
  expect(reply.data?.orderStatus, reply.text).toBe('ACTIVE');
  return reply.data.orderNo;
}

export const attemptNoOf = (orderNo: string, cycleNo: number, tryNo: number) =>
  `${orderNo}${String(cycleNo).padStart(4, '0')}${String(tryNo).padStart(2, '0')}`;

export const unknown: DebitOutcome = { kind: 'unknown' };

export const declined = (decline: 'retryable' | 'final' | 'agreement-invalid'): DebitOutcome => ({
  kind: 'declined',
  decline,
  reason: `because ${decline}`,
});

/** Returns a successful outcome for an attempt on an order of TEST_SPU_001. */
export const success = (attemptNo: string, paidAt: number, more: object = {}): DebitOutcome =>
  paid(
    {
      appId: 'test_demo',
      attemptNo,
      amountCent: 1990,
      orderNo: '',
      cycleNo: 0,
      externalOrderNo: '',
      startedAt: paidAt,
    },
    more,
  );
