import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChannelRegistry } from '../channels/registry.js';
import type { Clock } from '../clock.js';
import { type Database, Unavailable } from '../db/database.js';
import { gather } from '../db/gather.js';
import { raiseAlert } from '../payments/alerts-sql.js';
import type { Connections } from './connections.js';
import { type DueEvent, keyOf, readChannel, readEvents, readShards } from './due-sql.js';
import { expandRange, finishPushes, type Pushed, putAside } from './finish-sql.js';
import { ended, isIdle, type Lane, newLane, offer, start } from './lane.js';
import { type Message, messageOf, signPush } from './message.js';
import { type Receiver, receiverRegistry } from './receivers.js';
import { DEADLINE_MS, RETRY_DELAYS_SECONDS } from './schedule.js';
import { type ShardReader, shardReader } from './shard-reader.js';
import { balanceShards, giveBack, type HeldShard, LEASE_SECONDS, leave } from './shards-sql.js';

export interface DeliveryDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Logger;
  /** Due times by this clock instead of the database's: for tests. */
  readonly dueBy?: Clock;
}

/** Pushes under way from this node, over all addresses. */
const MOST_UNDER_WAY = 256;
/** Outcomes that are not written down yet: with more, nothing new is sent. */
const MOST_UNWRITTEN = 2_000;
/** Rows of one shard in one reading. */
const PAGE = 1_000;
/** Events of a lane that are read in full together. */
const LOAD = 64;
/** Voided periods that become events of their own at a time. */
const EXPAND = 100;
/** Before its lease ends, a node stops sending early enough for a push and for writing down how it ended. */
const QUIET_MS = DEADLINE_MS + 1_000;

interface Shard extends HeldShard {
  readonly reader: ShardReader;
  readonly lanes: Map<string, Lane>;
  leaving: boolean;
}

/**
 * Sends what is due in the shards that this node holds. Rows are read without a lock, since nobody else reads them; what
 * came of a push is written down only while the shard is still held under the same epoch.
 */
export function deliveries(deps: DeliveryDeps) {
  const { database, channels, connections, clock, log, dueBy } = deps;
  const node = randomUUID();
  const receivers = receiverRegistry(database, channels);
  const shards = new Map<number, Shard>();
  /** Lanes with something to send, each in its turn. */
  let waiting: Lane[] = [];
  /** Channels of which something is held back, as they were when that was seen. */
  const heldBack = new Map<number, number>();
  let sendUntil = 0;
  let clockAhead = 0;
  let underWay = 0;
  let unwritten = 0;
  let stopped = false;

  /** Renews the leases; what was lost is dropped, what is too much is given back once nothing of it is under way. */
  async function balance(): Promise<void> {
    const began = performance.now();
    const { held, surplus, now } = await database.transaction((tx) => balanceShards(tx, node));
    sendUntil = began + LEASE_SECONDS * 1000 - QUIET_MS;
    clockAhead = now - began;
    for (const [number, { epoch }] of shards) {
      if (!held.some((one) => one.shard === number && one.epoch === epoch)) shards.delete(number);
    }
    for (const { shard, epoch } of held) {
      if (shards.has(shard)) continue;
      shards.set(shard, { shard, epoch, reader: shardReader(), lanes: new Map(), leaving: false });
    }
    for (const shard of shards.values()) shard.leaving = stopped || surplus.includes(shard.shard);
    await giveBackIdle();
    await lookAtHeldBack();
  }

  async function giveBackIdle(): Promise<void> {
    const idle = [...shards.values()].filter(
      ({ leaving, lanes }) => leaving && [...lanes.values()].every((lane) => lane.underWay === 0),
    );
    if (idle.length === 0 || unwritten > 0) return;
    const numbers = idle.map(({ shard }) => shard);
    for (const number of numbers) shards.delete(number);
    await giveBack(database, node, numbers);
  }

  /** An address that is not held back any more, or another one: what was passed over is read again. */
  async function lookAtHeldBack(): Promise<void> {
    for (const [channelId, version] of heldBack) {
      if ((await receivers.get(channelId)).version === version) continue;
      heldBack.delete(channelId);
      for (const { reader } of shards.values()) reader.rewind();
    }
  }

  /** Reads what has become due. True when there may be more at once. */
  async function read(): Promise<boolean> {
    const open = [...shards.values()].filter(({ leaving }) => !leaving);
    if (open.length === 0 || performance.now() > sendUntil) return false;
    const nowMs = dueBy?.now() ?? performance.now() + clockAhead;
    const positions = open.map(({ shard, reader }) => ({ shard, after: reader.position(nowMs) }));
    const rows = grouped(await readShards(database, positions, PAGE, dueBy?.now()), ({ shard }) => shard);
    let isMore = false;
    for (const shard of open) {
      const mine = rows.get(shard.shard) ?? [];
      isMore ||= mine.length === PAGE;
      await accept(shard, shard.reader.take(mine));
    }
    pump();
    return isMore;
  }

  async function accept(shard: Shard, rows: readonly DueEvent[]): Promise<void> {
    for (const [channelId, due] of grouped(rows, (row) => row.channelId)) {
      const receiver = await receivers.get(channelId);
      const { aside } = sort(shard, receiver, due);
      if (aside.length > 0) await putAside(database, shard, aside);
    }
  }

  function sort(shard: Shard, receiver: Receiver, due: readonly DueEvent[]): { aside: DueEvent[] } {
    const aside: DueEvent[] = [];
    for (const one of due) {
      const address = one.isPayment ? receiver.payments : receiver.orders;
      if (!address) aside.push(one);
      else if (address.paused) heldBack.set(receiver.channelId, receiver.version);
      else offer(laneFor(shard, receiver, one.isPayment, address.url), one);
    }
    return { aside };
  }

  /** One lane for each address: where both kinds of events go to the same one, they keep their order. */
  function laneFor(shard: Shard, receiver: Receiver, isPayment: boolean, url: string): Lane {
    const both = areOne(receiver);
    const key = `${receiver.channelId} ${both ? 'both' : isPayment} ${url}`;
    const existing = shard.lanes.get(key);
    if (existing) {
      queueUp(existing);
      return existing;
    }
    const { channelId } = receiver;
    const lane = newLane({ key, channelId, shard: shard.shard, isPayment: both ? undefined : isPayment, url });
    shard.lanes.set(key, lane);
    queueUp(lane);
    return lane;
  }

  function queueUp(lane: Lane): void {
    if (lane.isWaiting) return;
    lane.isWaiting = true;
    waiting.push(lane);
  }

  /** Lets every lane have its turn, one push at a time, until nothing more can be begun. */
  function pump(): void {
    while (waiting.length > 0 && mayBegin()) {
      const round = waiting;
      waiting = [];
      for (const [index, lane] of round.entries()) {
        if (!mayBegin()) {
          waiting.push(...round.slice(index));
          return;
        }
        lane.isWaiting = false;
        const shard = shards.get(lane.shard);
        if (!shard || shard.leaving || shard.lanes.get(lane.key) !== lane) continue;
        fillUp(shard, lane);
        const message = start(lane);
        if (!message) continue;
        queueUp(lane);
        void push(shard, lane, message);
      }
    }
  }

  const mayBegin = () =>
    !stopped && underWay < MOST_UNDER_WAY && unwritten < MOST_UNWRITTEN && performance.now() < sendUntil;

  function fillUp(shard: Shard, lane: Lane): void {
    if (lane.isFilling || lane.ready.length > LOAD / 2 || (lane.queue.length === 0 && !lane.restAfter)) return;
    lane.isFilling = true;
    fill(shard, lane)
      .catch((err: unknown) => {
        // Everything of it is still in the database.
        log.warn({ err }, 'events could not be read and will be read again');
        shard.lanes.delete(lane.key);
        shard.reader.rewind();
      })
      .finally(() => {
        lane.isFilling = false;
        queueUp(lane);
        pump();
      });
  }

  /** Reads the next events of a lane in full, and the keys that did not fit before. */
  async function fill(shard: Shard, lane: Lane): Promise<void> {
    if (lane.restAfter && lane.queue.length < LOAD) {
      const rows = await readChannel(database, { shard: lane.shard, after: lane.restAfter }, lane, PAGE, dueBy?.now());
      lane.restAfter = rows.length === PAGE ? rows.at(-1) : undefined;
      for (const row of rows) offer(lane, row);
    }
    const taken = lane.queue.splice(0, LOAD);
    const due = taken.filter(({ cycleTo }) => cycleTo === null);
    for (const range of taken.filter(({ cycleTo }) => cycleTo !== null)) {
      lane.known.delete(keyOf(range));
      for (const part of await expandRange(database, shard, range, EXPAND)) offer(lane, part);
    }
    if (due.length === 0) return;
    const events = await readEvents(database, lane.channelId, due);
    const [any] = events.values();
    const receiver = await receivers.get(lane.channelId, any?.version);
    if (!leadsTo(receiver, lane)) {
      shard.lanes.delete(lane.key);
      shard.reader.rewind();
      return;
    }
    for (const row of due) {
      const event = events.get(keyOf(row));
      if (event) lane.ready.push(messageOf(receiver, row, event));
      else void record(shard, lane, { ...GONE, due: row });
    }
  }

  async function push(shard: Shard, lane: Lane, message: Message): Promise<void> {
    const { due } = message;
    underWay += 1;
    const began = performance.now();
    const receiver = await receivers.get(lane.channelId);
    const result = await connections.push(lane.url, signPush(receiver, lane.path, message, clock.now()));
    const latencyMs = Math.round(performance.now() - began);
    underWay -= 1;
    ended(lane, message);
    queueUp(lane);
    const againIn = result.outcome === 'ACCEPTED' ? undefined : RETRY_DELAYS_SECONDS[due.step];
    void record(shard, lane, { ...result, due, latencyMs, at: dueBy?.now(), againIn });
    pump();
  }

  const finish = gather<Pushed, undefined>({ maxBatch: 512, slots: 2, run: writeDown });

  async function record(shard: Shard, lane: Lane, pushed: Pushed): Promise<void> {
    unwritten += 1;
    try {
      await finish(pushed);
    } catch (err) {
      // It is still due in the database, and will be sent again.
      log.warn({ err, eventId: keyOf(pushed.due) }, 'how a push ended could not be written down');
    } finally {
      unwritten -= 1;
      shard.reader.finished(pushed.due);
      lane.known.delete(keyOf(pushed.due));
      if (isIdle(lane) && shard.lanes.get(lane.key) === lane) shard.lanes.delete(lane.key);
      pump();
    }
  }

  async function writeDown(pushed: readonly Pushed[]): Promise<undefined[]> {
    for (;;) {
      try {
        const givenUp = await finishPushes(database, [...shards.values()], pushed);
        for (const { channelId, givenUp: count } of givenUp) {
          const { appId } = await receivers.get(channelId);
          await raiseAlert(database, 'webhook-given-up', appId, `${count} given up at once`);
        }
        return pushed.map(() => undefined);
      } catch (error) {
        // As long as the shards are this node's, nobody else sends these again.
        if (!(error instanceof Unavailable) || performance.now() > sendUntil + QUIET_MS) throw error;
        await delay(200);
      }
    }
  }

  return {
    balance,
    read,
    /** Nothing is under way, and everything that was is written down. */
    isQuiet: () => underWay === 0 && unwritten === 0,
    async stop(): Promise<void> {
      stopped = true;
      while (underWay > 0 || unwritten > 0) await delay(20);
      await giveBack(database, node, [...shards.keys()]);
      await leave(database, node);
      connections.close();
    },
  };
}

/** Past its retention: there is nothing left to tell. */
const GONE = {
  outcome: 'FORBIDDEN',
  httpStatus: null,
  latencyMs: 0,
  answer: 'the event is past its retention',
} as const;

function leadsTo({ payments, orders }: Receiver, lane: Lane): boolean {
  const address = lane.isPayment === false ? orders : payments;
  const both = areOne({ payments, orders });
  return address?.url === lane.url && !address.paused && (lane.isPayment === undefined) === both;
}

const areOne = ({ payments, orders }: Pick<Receiver, 'payments' | 'orders'>) =>
  payments?.url === orders?.url && payments?.paused === orders?.paused;

function grouped<Item, Key>(items: readonly Item[], key: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
