import { orderStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { SHARDS } from '../../src/delivery/queue/shards-sql.js';
import { ENDED_ORDER_STATUSES } from '../../src/subscriptions/domain/orders/order-states.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofFile(freshDatabase);

async function readDefinition(query: string): Promise<string> {
  const [row] = await fresh.database.query<{ definition: string }>(`select ${query} as definition`);
  return row?.definition ?? '';
}

const quoted = (definition: string) => [...definition.matchAll(/'(\w+)'/g)].map(([, word]) => word).toSorted();

describe('the schema agrees with the code', () => {
  it.each(['orders_ended', 'orders_ended_of_channel'])(
    '%s is of the statuses of orders that have ended',
    async (index) => {
      const definition = await readDefinition(`pg_get_indexdef('${index}'::regclass)`);
      expect(quoted(definition)).toEqual(ENDED_ORDER_STATUSES.toSorted());
    },
  );

  it('orders accept each of the statuses, and no other', async () => {
    const definition = await readDefinition(
      `(select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'orders'::regclass and conname = 'orders_status_check')`,
    );
    expect(quoted(definition)).toEqual(orderStatuses.toSorted());
  });

  it('the trigger that queues events has as many shards as the dispatcher', async () => {
    const definition = await readDefinition(`pg_get_functiondef('queue_events'::regproc)`);
    expect([...definition.matchAll(/channel_id % (\d+)/g)].map(([, shards]) => Number(shards))).toEqual([SHARDS]);
  });
});
