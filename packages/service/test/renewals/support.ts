import { pino } from 'pino';
import { expect } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { type RenewalDeps, renewDueOrders } from '../../src/engine/jobs/renewals.js';
import type { DebitOutcome } from '../../src/gateways/gateway.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { ofFile } from '../orders/stage-of-file.js';
import { paid, type Stage } from '../orders/support.js';
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
    close: () => database.close(),
  };
}

/** Creates the engine of a second node for the tests of a file. */
export const engineOfFile = (on: Stage, more: Partial<RenewalDeps> = {}): EngineNode =>
  ofFile(async () => engineNode(on, more));

export async function created({ channel }: Stage, more: Record<string, unknown> = {}): Promise<string> {
  const reply = await channel.call('orders/create', sharedRequest(channel, more));
  expect(reply.data?.orderStatus, reply.text).toBe('ACTIVE');
  return reply.data.orderNo;
}

/** Copies the order and all its rows `count` times. */
export async function copies(database: Database, orderNo: string, count: number, code = 'MOCKPAY'): Promise<void> {
  const columns = async (table: string, changed: Record<string, string>) => {
    const rows = await database.query<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped',
      [table],
    );
    const names = rows.map(({ name }) => name);
    const values = names.map((name) => changed[name] ?? `t.${name}`);
    await database.query(
      `insert into ${table} (${names.join()}) select ${values.join()} from ${table} t, generate_series(1, $2) as n
       where t.order_no = $1`,
      [orderNo, count],
    );
  };
  // Order numbers far above those that the sequence assigns.
  const number = 't.order_no * 1000 + n';
  await columns('payments', { order_no: number });
  await columns('orders', {
    order_no: number,
    external_order_no: `t.external_order_no || '-' || n`,
    payment_channel_code: `'${code}'`,
  });
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
