import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { openDatabase, type Queryable } from '../../src/platform/db/database.js';
import { demoOfEachTest, ofEachTest } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest } from '../support/demo.js';
import { until } from '../support/processes.js';
import { createSendingNode, localOperator, registerReceiver, type SendingNode } from './sending.js';

/** Tests that pushes continue on every node, whatever one session locks. Only pushes that need the locked rows wait. */
const { service, channel: held } = demoOfEachTest();
const foreign = ofEachTest(async () => openDatabase({ url: service.fresh.url, pool: 1, name: 'somebody else' }));
let free: ChannelClient;
beforeEach(async () => {
  free = await anotherChannel(service);
});
const heldReceiver = ofEachTest(() => registerReceiver(service, held));
const freeReceiver = ofEachTest(() => registerReceiver(service, free));
const nodes: SendingNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

function aNode(): SendingNode {
  const node = createSendingNode(service);
  nodes.push(node);
  return node;
}

const create = async (channel: ChannelClient) =>
  (await channel.call('orders/create', collectRequest(channel))).data.orderNo;
const query = <Row>(sql: string, values: unknown[] = []) => service.fresh.database.query<Row>(sql, values);
const due = async ({ credentials }: ChannelClient) =>
  (await query('select from due_events d join channels c using (channel_id) where c.app_id = $1', [credentials.appId]))
    .length;
const OF_CHANNEL = '(select channel_id from channels where app_id = $1)';

/** Runs the nodes' rounds during `work`: each round renews the lease and reads due events. */
async function running<T>(all: readonly SendingNode[], work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const rounds = all.map(async (node) => {
    while (!isOver) {
      await node.balance();
      await node.read();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  try {
    return await work();
  } finally {
    isOver = true;
    await Promise.all(rounds);
  }
}

/** Locks that another session holds during a test. */
const HOLDS: readonly [string, (tx: Queryable) => Promise<unknown>][] = [
  [
    'one event that is due',
    (tx) =>
      tx.query(`select from due_events where channel_id = ${OF_CHANNEL} limit 1 for update`, [held.credentials.appId]),
  ],
  [
    'all events of a channel that are due',
    (tx) => tx.query(`select from due_events where channel_id = ${OF_CHANNEL} for update`, [held.credentials.appId]),
  ],
  ['a channel', (tx) => tx.query('select from channels where app_id = $1 for update', [held.credentials.appId])],
  [
    'a shard',
    (tx) =>
      tx.query(`select from delivery_shards where shard = ${OF_CHANNEL} % 16 for update`, [held.credentials.appId]),
  ],
  ['the turn to take shards', (tx) => tx.query('select pg_advisory_xact_lock(5700001)')],
];

describe('another session locks', () => {
  it.each(HOLDS)('%s: other channels’ pushes continue and are stored', async (_what, hold) => {
    const [one, two] = [aNode(), aNode()];
    await create(held);
    for (const node of [one, two, one, two]) await node.balance();
    await foreign.transaction(async (tx) => {
      await hold(tx);
      await running([one, two], async () => {
        // Makes several rounds, each with its own read of the queue and its own statement that stores the outcomes.
        for (let round = 0; round < 3; round += 1) {
          await create(held);
          await create(free);
          const expected = (round + 1) * 2;
          await freeReceiver.until(expected);
          await until('written down', async () => (await due(free)) === 0);
        }
      });
    });
    await running([one, two], () => until('all of it', async () => (await due(held)) === 0));
    expect(freeReceiver.pushes).toHaveLength(6);
    expect(new Set(heldReceiver.pushes.map(({ eventId }) => eventId)).size).toBe(8);
    expect(heldReceiver.pushes).toHaveLength(8);
    expect(await query('select from delivery_attempts')).toHaveLength(14);
  });

  it('an event of a channel without an address: other channels’ events are read', async () => {
    const silent = await anotherChannel(service);
    const receiver = await registerReceiver(service, silent);
    await create(silent);
    await setCallback(localOperator(service), { appId: silent.credentials.appId });
    const node = aNode();
    await node.balance();
    await foreign.transaction(async (tx) => {
      await tx.query(`select from due_events where channel_id = ${OF_CHANNEL} for update`, [silent.credentials.appId]);
      await running([node], async () => {
        await create(free);
        await freeReceiver.until(2);
      });
    });
    await running([node], () => until('put aside', async () => (await due(silent)) === 0));
    expect(await query('select from undelivered_events')).toHaveLength(2);
    await receiver.close();
  });
});
