import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DUE_COLUMNS, type DueEvent } from '../../src/delivery/queue/due-sql.js';
import { expandRange, finishPushes, setAsideWithoutAddress } from '../../src/delivery/queue/finish-sql.js';
import { findVersions } from '../../src/delivery/queue/receivers-sql.js';
import { LEASE_SECONDS, SHARDS } from '../../src/delivery/queue/shards-sql.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { later, ofEachTest } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { DELIVERY_NODE, type Running, start, until } from '../support/processes.js';
import { testService } from '../support/service.js';
import { createSendingNode, registerReceiver, type SendingNode } from './sending.js';

const key = randomBytes(32);
const service = ofEachTest(async () => {
  const vault = openVault([key]);
  const made = await testService({ vault });
  return { ...made, vault, operator: { ...made.operator, vault } };
});
let demo: ChannelClient;
beforeEach(async () => {
  demo = await demoChannel(service);
});
const channel = later(() => demo);
const receiver = ofEachTest(() => registerReceiver(service, channel));
const nodes: SendingNode[] = [];
const children: Running[] = [];
afterEach(async () => {
  for (const { child, exited } of children.splice(0)) {
    child.kill('SIGKILL');
    await exited;
  }
  for (const node of nodes.splice(0)) await node.close();
});

function aNode(): SendingNode {
  const node = createSendingNode(service);
  nodes.push(node);
  return node;
}

function aProcess(): Running {
  const running = start(DELIVERY_NODE, {
    DATABASE_URL: service.fresh.url,
    MASTER_KEY: key.toString('base64'),
    LOG_LEVEL: 'error',
  });
  children.push(running);
  return running;
}

const query = <Row>(sql: string, values: unknown[] = []) => service.fresh.database.query<Row>(sql, values);
const shards = () =>
  query<{ shard: number; owner: string | null; epoch: number }>(
    'select shard, owner, epoch from delivery_shards order by shard',
  );
const heldBy = async (owner: string | null) => (await shards()).filter((one) => one.owner === owner).length;
const epochs = async () => (await shards()).map(({ epoch }) => epoch);
/** Ends the lease of a node, as if the node had not renewed it. */
const leaseEnds = (node: string) => query(`update delivery_nodes set lease_until = now() where node = $1`, [node]);
const create = async () => (await channel.call('orders/create', collectRequest(channel))).data.orderNo;
const attempts = () => query<{ outcome: string }>('select outcome from delivery_attempts');
const idsPushed = () => receiver.pushes.map(({ eventId }) => eventId);

describe('leases', () => {
  it('a single node holds all shards, for ten seconds at a time, and keeps them under the same epoch', async () => {
    const node = aNode();
    await node.balance();
    await node.balance();
    expect(await heldBy(node.node)).toBe(SHARDS);
    expect(await epochs()).toEqual(Array.from({ length: SHARDS }, () => 1));
    const [lease] = await query<{ seconds: number }>(
      'select extract(epoch from lease_until - now())::float as seconds from delivery_nodes',
    );
    // Every node balances every two seconds, so the shards of a dead node are taken over within twelve seconds.
    expect(lease?.seconds).toBeGreaterThan(0);
    expect(lease?.seconds).toBeLessThanOrEqual(LEASE_SECONDS);
    expect(LEASE_SECONDS).toBe(10);
  });

  it('a second node takes its half when the first releases it, and so does a third', async () => {
    const [one, two, three] = [aNode(), aNode(), aNode()];
    const all = [one, two, three];
    await one.balance();
    await two.balance();
    expect(await heldBy(two.node)).toBe(0);
    await one.balance();
    await two.balance();
    expect([await heldBy(one.node), await heldBy(two.node)]).toEqual([8, 8]);
    for (const node of [...all, ...all]) await node.balance();
    expect((await Promise.all(all.map(({ node }) => heldBy(node)))).toSorted()).toEqual([4, 6, 6]);
    expect(await heldBy(null)).toBe(0);
  });

  it('another node takes the shards of a dead node after its lease has ended, and not before', async () => {
    const [dead, other] = [aNode(), aNode()];
    await dead.balance();
    await other.balance();
    expect(await heldBy(other.node)).toBe(0);
    await leaseEnds(dead.node);
    await other.balance();
    expect(await heldBy(other.node)).toBe(SHARDS);
    expect(await epochs()).toEqual(Array.from({ length: SHARDS }, () => 2));
  });

  it('a late node keeps the shards that no node has taken', async () => {
    const node = aNode();
    await node.balance();
    await leaseEnds(node.node);
    await node.balance();
    expect(await heldBy(node.node)).toBe(SHARDS);
    expect(await epochs()).toEqual(Array.from({ length: SHARDS }, () => 1));
  });

  it('a node that stops waits for pushes in flight, stores them, and releases its shards at once', async () => {
    receiver.answer('hang');
    const [ending, other] = [createSendingNode(service), aNode()];
    await create();
    await ending.balance();
    await ending.read();
    await receiver.until(1);
    await ending.stop();
    expect(await attempts()).toEqual([{ outcome: 'TIMEOUT' }]);
    expect(await heldBy(null)).toBe(SHARDS);
    expect(await query('select * from delivery_nodes')).toEqual([]);
    await other.balance();
    expect(await heldBy(other.node)).toBe(SHARDS);
  });
});

describe('two nodes', () => {
  it('a shard that moves between nodes while much is to be sent: each event once', async () => {
    const [one, two] = [aNode(), aNode()];
    await Promise.all(Array.from({ length: 100 }, create));
    await one.balance();
    const reading = one.read();
    await two.balance();
    await one.balance();
    await reading;
    // Each node keeps its shards while the other sends, however slow the machine is.
    const leases = [one.keepLease(), two.keepLease()];
    await until('all of them', async () => {
      await one.turn();
      await two.turn();
      return receiver.pushes.length >= 200;
    });
    for (const lease of leases) await lease.end();
    expect(new Set(idsPushed()).size).toBe(200);
    expect(receiver.pushes).toHaveLength(200);
    expect([await heldBy(one.node), await heldBy(two.node)]).toEqual([8, 8]);
  });

  it('outcomes of a node that has lost its shard do not count', async () => {
    receiver.answer('hang');
    const [late, other] = [aNode(), aNode()];
    await create();
    await late.balance();
    await late.read();
    await receiver.until(1);
    await leaseEnds(late.node);
    await other.balance();
    receiver.answer('accept');
    await other.turn();
    // The payment's event was sent twice: by the node that lost the shard and by the node that took it over. Only one
    // of these two pushes counts.
    await until('the end of the first push', () => late.untilQuiet().then(() => true));
    expect(await attempts()).toEqual([{ outcome: 'ACCEPTED' }, { outcome: 'ACCEPTED' }]);
    expect(await query('select * from due_events')).toEqual([]);
    expect(receiver.pushes).toHaveLength(3);
  });

  it('outcomes under an old epoch do not count, those under the current one do', async () => {
    const node = aNode();
    const orderNo = await create();
    await channel.call('orders/unsubscribe', { orderNo });
    await node.balance();
    const { database } = service.fresh;
    const rows = await query<DueEvent>(`select ${DUE_COLUMNS('d')} from due_events d order by event_no`);
    const [first, second, , range] = rows as [DueEvent, DueEvent, DueEvent, DueEvent];
    const [version = 0] = await findVersions(database, [first.channelId]);
    const writeAll = async (epoch: number) => {
      const shard = { shard: first.shard, epoch };
      const ended = { httpStatus: 200, latencyMs: 1, endedAt: performance.now(), answer: '' };
      await finishPushes(database, [{ shard, due: first, outcome: 'ACCEPTED', ...ended }]);
      await setAsideWithoutAddress(database, shard, { channelId: first.channelId, version }, [second]);
      await expandRange(database, shard, range, 100);
    };
    const counts = async () => [
      (await query('select from due_events')).length,
      (await attempts()).length,
      (await query('select from undelivered_events')).length,
    ];
    for (const epoch of [0, 2]) {
      await writeAll(epoch);
      expect(await counts()).toEqual([4, 0, 0]);
    }
    await writeAll(1);
    expect(await counts()).toEqual([1 + 11, 1, 1]);
  });

  it('a shard whose outcomes are being stored is taken over only afterwards', async () => {
    const [late, other] = [aNode(), aNode()];
    await create();
    await late.turn();
    const [row] = await query<{ shard: number }>('select channel_id % 16 as shard from channels where app_id = $1', [
      channel.credentials.appId,
    ]);
    await service.fresh.database.transaction(async (tx) => {
      // Locks the shard in the same way as the statement that stores outcomes, as if such a statement were not
      // committed yet.
      await tx.query('select from delivery_shards where shard = $1 for share', [row?.shard]);
      await leaseEnds(late.node);
      await other.balance();
      expect(await heldBy(other.node)).toBe(SHARDS - 1);
    });
    await other.balance();
    expect(await heldBy(other.node)).toBe(SHARDS);
  });

  it('a lease that ends too late, because the clock was set back, is shortened', async () => {
    const [dead, other] = [aNode(), aNode()];
    await dead.balance();
    await query(`update delivery_nodes set lease_until = now() + interval '1 hour' where node = $1`, [dead.node]);
    await other.balance();
    const [lease] = await query<{ seconds: number }>(
      'select extract(epoch from lease_until - now())::float as seconds from delivery_nodes where node = $1',
      [dead.node],
    );
    expect(lease?.seconds).toBeLessThanOrEqual(LEASE_SECONDS);
  });
});

describe('two processes', () => {
  it('kill -9 of the sender: the other takes over, and only pushes in flight are sent twice', async () => {
    receiver.answer('hang');
    await Promise.all(Array.from({ length: 12 }, create));
    const first = aProcess();
    await receiver.until(8);
    const underWay = new Set(idsPushed());
    const [holder] = await query<{ owner: string }>('select distinct owner from delivery_shards');
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const [lease] = await query<{ seconds: number }>(
      'select extract(epoch from lease_until - now())::float as seconds from delivery_nodes',
    );
    expect(lease?.seconds).toBeLessThanOrEqual(LEASE_SECONDS);
    receiver.answer('accept');
    aProcess();
    await receiver.until(() => new Set(idsPushed()).size === 24 && receiver.pushes.length >= 24 + underWay.size);
    const [taken] = await query<{ owner: string; epoch: number }>('select distinct owner, epoch from delivery_shards');
    expect(taken?.owner).not.toBe(holder?.owner);
    expect(taken?.epoch).toBe(2);
    const twice = idsPushed().filter((id, index, all) => all.indexOf(id) !== index);
    expect(new Set(twice)).toEqual(underWay);
    // No node knows that the event was sent before, so the push has the same retryNo, as events/list shows.
    expect(new Set(receiver.pushes.map(({ retryNo }) => retryNo))).toEqual(new Set([0]));
    await until('what was sent is written down', async () => (await query('select from due_events')).length === 0);
    expect(await query('select distinct retry_no from delivery_attempts')).toEqual([{ retry_no: 0 }]);
    expect(receiver.forged).toEqual([]);
  });
});
