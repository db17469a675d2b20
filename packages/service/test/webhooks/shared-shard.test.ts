import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readHorizon, readShards, START } from '../../src/delivery/queue/due-sql.js';
import { SHARDS } from '../../src/delivery/queue/shards-sql.js';
import { createPushClient } from '../../src/delivery/transport/push-client.js';
import { pauseEvents, resumeEvents } from '../../src/operator/events/events.js';
import { setIpAllowList } from '../../src/operator/provisioning/channel-settings.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { until } from '../support/processes.js';
import { manualClock, testService } from '../support/service.js';
import type { TestReceiver } from './receiver.js';
import {
  createSendingNode,
  type DatabaseFaults,
  localOperator,
  registerReceiver,
  type SendingNode,
} from './sending.js';

/**
 * The number of events of the hanging channel: twenty times the size of one read. It is more than the channel's lane
 * (its queue in the node's memory) holds, so that the lane reads more events itself.
 */
const MANY = 20_000;

const service = ofEachTest(() => testService());
let clock: ReturnType<typeof manualClock>;
let node: SendingNode;
let hung: Line;
let healthy: Line;
/** The number of rows that each read of the shards returned. */
let brought: number[];
let lease: ReturnType<SendingNode['keepLease']>;

interface Line {
  readonly channel: ChannelClient;
  readonly receiver: TestReceiver;
}

beforeEach(async () => {
  clock = manualClock(Date.now());
  brought = [];
  const faults: DatabaseFaults = {
    around: async (statement, run) => {
      const rows = await run();
      if (statement === 'read-due-events') brought.push((rows as unknown[]).length);
      return rows;
    },
  };
  node = createSendingNode(
    service,
    { pushClient: createPushClient({ allowLocalhost: true, deadlineMs: 300_000 }), dueBy: clock },
    faults,
  );
  const [one, other] = await twoOfOneShard();
  hung = { channel: one, receiver: await registerReceiver(service, one, { answer: 'hang' }) };
  healthy = { channel: other, receiver: await registerReceiver(service, other) };
  lease = node.keepLease();
});
afterEach(async () => {
  await lease.end();
  await hung.receiver.close();
  await node.stop();
  await healthy.receiver.close();
});

async function twoOfOneShard(): Promise<[ChannelClient, ChannelClient]> {
  const first = await service.channel();
  const shardOf = async ({ credentials }: ChannelClient) => {
    const [row] = await query<{ shard: number }>(
      `select (channel_id % ${SHARDS})::integer as shard from channels where app_id = $1`,
      [credentials.appId],
    );
    return row?.shard;
  };
  const shard = await shardOf(first);
  for (;;) {
    const next = await service.channel();
    if ((await shardOf(next)) === shard) return [first, next];
  }
}

const query = <Row>(sql: string, values: unknown[] = []) => service.fresh.database.query<Row>(sql, values);

/** SQL that inserts events of `count` orders, at a time of the node's clock. */
const RECORD = `insert into events (channel_id, order_no, event_type, recorded_at, occurred_at, data)
  select channel_id, n, 'order.status.changed', to_timestamp($3::double precision / 1000), now(),
    '{"orderNo":"' || n || '"}' from channels, generate_series(1, $2) n where app_id = $1`;
const values = ({ channel }: Line, count: number, agoMs: number) => [
  channel.credentials.appId,
  count,
  clock.now() - agoMs,
];
const record = (line: Line, count: number, agoMs: number) => query(RECORD, values(line, count, agoMs));

/** Reads all due events, and waits until the hanging channel has its eight pushes in flight. */
async function readAll(): Promise<void> {
  await readAllShards();
  await hung.receiver.until(8);
}

/**
 * Reads the shards until nothing is left. Renews the lease each time, because on a busy machine reading takes longer
 * than the lease lasts.
 */
async function readAllShards(): Promise<void> {
  do await node.balance();
  while (await node.read());
}

describe('a hanging channel with 20,000 events does not delay another one of its shard', () => {
  it('when a node takes the shard: rows that exceed its memory are skipped', async () => {
    await record(hung, MANY, 60_000);
    await record(healthy, 1, 1_000);
    await readAll();
    await healthy.receiver.until(1);
    expect(brought.length).toBeLessThan(10);
    // The waiting events are not read repeatedly either.
    clock.advance(500);
    await node.read();
    expect(brought.at(-1)).toBe(0);
    expect(hung.receiver.pushes).toHaveLength(8);
  });

  const appId = () => hung.channel.credentials.appId;

  it('when it is changed: it reads its own events again, and no other lane does', async () => {
    await record(hung, MANY, 60_000);
    await readAll();
    await setIpAllowList(localOperator(service), { appId: appId(), ranges: ['127.0.0.0/8'] });
    await seesTheChange();
    await bothAreSent();
  });

  it('when it is paused and resumed', async () => {
    await record(hung, MANY, 60_000);
    await readAll();
    await pauseEvents(localOperator(service), { appId: appId() });
    await seesTheChange();
    await node.read();
    await resumeEvents(localOperator(service), { appId: appId() });
    await bothAreSent();
  });

  it('when it is paused, and a node takes the shard', async () => {
    await pauseEvents(localOperator(service), { appId: appId() });
    await record(hung, MANY, 60_000);
    await record(healthy, 1, 1_000);
    await readAllShards();
    await healthy.receiver.until(1);
    expect(brought.length).toBeLessThan(5);
    await resumeEvents(localOperator(service), { appId: appId() });
    await bothAreSent();
  });

  /** Makes the hanging pushes fail, so that the node notices that the channel has changed. */
  async function seesTheChange(): Promise<void> {
    hung.receiver.answer('close');
    hung.receiver.server.closeAllConnections();
    await node.untilQuiet();
    hung.receiver.answer('hang');
  }

  async function bothAreSent(): Promise<void> {
    const [before, eight] = [healthy.receiver.pushes.length, hung.receiver.pushes.length + 8];
    brought = [];
    await record(healthy, 1, 0);
    await until('pushes to both', async () => {
      await node.balance();
      await node.read();
      return healthy.receiver.pushes.length > before && hung.receiver.pushes.length >= eight;
    });
    expect(brought.reduce((sum, count) => sum + count, 0)).toBe(1);
  }
});

describe('a late commit', () => {
  it('is found a second later, however much is in memory', async () => {
    await record(hung, 3_000, 4_000);
    await record(healthy, 1, 2_000);
    await readAll();
    await healthy.receiver.until(1);
    await service.fresh.database.transaction(async (tx) => {
      await tx.query(RECORD, values(healthy, 1, 1_000));
      await record(healthy, 1, 0);
      await node.read();
      await healthy.receiver.until(2);
      // Reading again from an earlier position, before the commit, neither finds nor loses the row.
      clock.advance(1_000);
      while (await node.read());
      expect(healthy.receiver.pushes).toHaveLength(2);
    });
    clock.advance(1_000);
    while (await node.read());
    await healthy.receiver.until(3);
  });

  it('is distinguished from older rows by its transaction', async () => {
    const { database } = service.fresh;
    const [row] = await query<{ shard: number }>(
      `select (channel_id % ${SHARDS})::integer as shard from channels where app_id = $1`,
      [hung.channel.credentials.appId],
    );
    const part = { shard: row?.shard ?? 0, after: START, until: null };
    const writtenSince = (since: string) => readShards(database, [{ ...part, since }], [], 100, clock.now());
    await record(hung, 50, 1_000);
    let horizon = '';
    await database.transaction(async (tx) => {
      await tx.query(RECORD, values(healthy, 1, 500));
      horizon = await readHorizon(database);
    });
    await record(healthy, 2, 0);
    expect((await writtenSince(horizon)).slice(-3).map(({ orderNo }) => orderNo)).toEqual([1, 1, 2]);
    // Polls, because all open transactions on the server count. The transactions of other tests end soon.
    await until('nothing that is new', async () => (await writtenSince(await readHorizon(database))).length === 0);
  });
});
