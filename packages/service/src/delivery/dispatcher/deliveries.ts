import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChannelRegistry } from '../../catalog/channels/registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import type { BusinessCounts, CountedPush } from '../../platform/metrics/counts.js';
import { findTracing } from '../../platform/tracing.js';
import { type EventKey, keyOf } from '../queue/due-sql.js';
import type { DeliveryOutcome } from '../queue/finish-sql.js';
import {
  type Balance,
  balanceShards,
  findHeld,
  giveBack,
  LEASE_SECONDS,
  leave,
  renewLease,
} from '../queue/shards-sql.js';
import { type Message, signPush } from '../receivers/message.js';
import { type Receiver, receiverRegistry } from '../receivers/receivers.js';
import { DEADLINE_MS } from '../schedule.js';
import type { Connections, PushResult } from '../transport/connections.js';
import { pushSpans } from '../transport/push-spans.js';
import { runningOut } from '../transport/running-out.js';
import { filling } from './filling.js';
import { ended, isFull, type Lane, start } from './lane.js';
import { outcomes } from './outcomes.js';
import { shardReading } from './reading.js';
import { dropIdle, type Ended, forget, isStuck, leadsTo, leaveShard, newShard, type Shard } from './shard.js';

export interface DeliveryDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: BusinessCounts | undefined;
  /** Due times by this clock instead of the database's: for tests. */
  readonly dueBy?: Clock;
}

/** Pushes under way from this node, over all addresses, but for those that have taken longer than SLOW_MS. */
const MOST_UNDER_WAY = 256;
const SLOW_MS = 1_000;
/** With those: a connection each. */
const MOST_CONNECTIONS = 2_048;
/** Outcomes that are not written down yet: with more, nothing new is sent. */
const MOST_UNWRITTEN = 2_000;
const COUNTED: Readonly<Record<DeliveryOutcome, CountedPush>> = {
  ACCEPTED: 'accepted',
  REFUSED: 'refused',
  TIMEOUT: 'timeout',
  UNREACHABLE: 'unreachable',
  FORBIDDEN: 'forbidden',
};
/** Before its lease ends, a node stops sending early enough for a push and for writing down how it ended. */
const QUIET_MS = DEADLINE_MS + 1_000;
/** For a lease that was renewed at this moment or a little later. */
const lastSend = (renewedAt: number) => renewedAt + LEASE_SECONDS * 1000 - QUIET_MS;

/**
 * Sends what is due in the shards that this node holds. Rows are read without a lock, since nobody else reads them; what
 * came of a push is written down only while the shard is still held under the same epoch.
 */
export function deliveries(deps: DeliveryDeps) {
  const { database, channels, connections, clock, log, counts, dueBy } = deps;
  const node = randomUUID();
  const tracing = findTracing();
  const spans = tracing && pushSpans(tracing);
  const receivers = receiverRegistry(database, channels);
  const shards = new Map<number, Shard>();
  /** Lanes with something to send, each in its turn. */
  let waiting: Lane[] = [];
  /** What was finished since each reading that is under way began: it may still show it. */
  const readings = new Set<Set<EventKey>>();
  /** Under way for longer than SLOW_MS. */
  const slow = new Set<Message>();
  const quick = runningOut<Message>(SLOW_MS, (message) => {
    slow.add(message);
    pump();
  });
  let sendUntil = 0;
  let clockAhead = 0;
  let underWay = 0;
  let fillings = 0;
  let unwritten = 0;
  let stopped = false;

  const mayBegin = () =>
    !stopped &&
    underWay - slow.size < MOST_UNDER_WAY &&
    underWay < MOST_CONNECTIONS &&
    unwritten < MOST_UNWRITTEN &&
    performance.now() < sendUntil;

  const now = () => dueBy?.now();
  const reads = shardReading({ database, receivers, log, shards, queueUp, reading, now });
  const fill = filling({ database, receivers, log, record, reading, now });
  const written = outcomes<Ended>({
    database,
    log,
    counts,
    over: writtenDown,
    heldUp,
    givingUp: () => stopped && performance.now() > sendUntil + QUIET_MS,
  });

  /** Renews the lease; what was lost is dropped, what is too much is given back once nothing of it is under way. */
  async function balance(): Promise<void> {
    const began = performance.now();
    const isRenewed = await renewLease(database, node);
    if (isRenewed) sendUntil = lastSend(began);
    const beganAnew = performance.now();
    const balanced = await database.transaction((tx) => balanceShards(tx, node));
    if (balanced) sendUntil = lastSend(beganAnew);
    if (balanced) take(balanced);
    else if (isRenewed) take(await findHeld(database, node));
    await giveBackIdle();
    await reads.lookAtHeldBack();
  }

  function take(balanced: Balance): void {
    const { held, surplus } = balanced;
    // Rather behind the database's clock than ahead of it: a look back then begins a little earlier.
    clockAhead = balanced.now - performance.now();
    for (const [number, { epoch }] of shards) {
      if (!held.some((one) => one.shard === number && one.epoch === epoch)) shards.delete(number);
    }
    for (const one of held) if (!shards.has(one.shard)) shards.set(one.shard, newShard(one));
    for (const shard of surplus === undefined ? [] : shards.values()) {
      if (surplus?.includes(shard.shard) === shard.leaving) continue;
      if (shard.leaving) stay(shard);
      else leaveShard(shard);
    }
  }

  function stay(shard: Shard): void {
    shard.leaving = false;
    for (const lane of shard.lanes.values()) queueUp(lane);
  }

  async function giveBackIdle(): Promise<void> {
    const idle = [...shards.values()].filter(({ leaving, busy }) => leaving && busy === 0);
    if (idle.length === 0) return;
    const numbers = idle.map(({ shard }) => shard);
    for (const number of numbers) shards.delete(number);
    // One that could not be given back is found to be held the next time.
    await giveBack(database, node, numbers);
  }

  /** What is finished while `read` runs is in the set that it is given: its rows may be older than that. */
  async function reading<T>(read: (finished: ReadonlySet<EventKey>) => Promise<T>): Promise<T> {
    const finished = new Set<EventKey>();
    readings.add(finished);
    try {
      return await read(finished);
    } finally {
      readings.delete(finished);
    }
  }

  /** Reads what has become due. True when there may be more at once. What cannot be read is asked for again. */
  async function read(): Promise<boolean> {
    if (stopped || performance.now() > sendUntil) return false;
    try {
      return await reads.next(now() ?? performance.now() + clockAhead);
    } finally {
      pump();
    }
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
        if (!shard || shard.leaving || isStuck(shard) || shard.lanes.get(lane.key) !== lane) continue;
        const message = start(lane);
        fillUp(shard, lane);
        if (message) {
          if (!isFull(lane)) queueUp(lane);
          push(shard, lane, message);
        } else dropIdle(shard, lane);
      }
    }
  }

  function fillUp(shard: Shard, lane: Lane): void {
    if (!fill.isWanted(lane)) return;
    fillings += 1;
    void fill.next(shard, lane).finally(() => {
      fillings -= 1;
      queueUp(lane);
      pump();
    });
  }

  /** By callbacks from here on: this is done for every single event. */
  function push(shard: Shard, lane: Lane, message: Message): void {
    underWay += 1;
    shard.busy += 1;
    const receiver = receivers.remembered(lane.channelId);
    if (receiver) send(shard, lane, message, receiver);
    else {
      receivers.get(lane.channelId).then(
        (found) => send(shard, lane, message, found),
        (err: unknown) => notBegun(shard, lane, message, err),
      );
    }
  }

  function send(shard: Shard, lane: Lane, message: Message, receiver: Receiver): void {
    const began = performance.now();
    const isHeld = began <= sendUntil && shards.get(shard.shard) === shard;
    // It was held up for too long, or the channel is not what it was: it is not to be sent as it stands.
    if (!isHeld || receiver.version !== message.version || !leadsTo(receiver, lane)) {
      queueMicrotask(() => notBegun(shard, lane, message));
      return;
    }
    let sent: Promise<PushResult>;
    const sign = () => signPush(receiver, lane.path, message, clock.now());
    try {
      sent = spans
        ? spans.push(message, lane.url, sign, (traced) => connections.push(lane.url, traced))
        : connections.push(lane.url, sign);
    } catch (err) {
      queueMicrotask(() => notBegun(shard, lane, message, err));
      return;
    }
    quick.add(message);
    sent.then((result) => {
      quick.delete(message);
      slow.delete(message);
      pushed(shard, lane, message, result, began);
    });
  }

  function pushed(shard: Shard, lane: Lane, message: Message, result: PushResult, began: number): void {
    const { due } = message;
    const { outcome, httpStatus, answer } = result;
    const endedAt = performance.now();
    const latencyMs = Math.round(endedAt - began);
    counts?.push(COUNTED[outcome]);
    free(shard, lane, message);
    record({ shard, due, outcome, httpStatus, answer, latencyMs, endedAt, at: dueBy?.now() });
    pump();
  }

  function notBegun(shard: Shard, lane: Lane, message: Message, err?: unknown): void {
    if (err) {
      const { eventId } = message;
      log.warn({ err, eventId, cause: 'beginning pushes' }, 'a push could not be begun and will be');
    }
    free(shard, lane, message);
    forget(shard, lane, [message.due]);
    pump();
  }

  function free(shard: Shard, lane: Lane, message: Message): void {
    underWay -= 1;
    shard.busy -= 1;
    ended(lane, message);
    queueUp(lane);
  }

  function record(one: Ended): void {
    unwritten += 1;
    one.shard.busy += 1;
    written.write(one);
  }

  function writtenDown(all: readonly Ended[], isWritten: boolean): void {
    unwritten -= all.length;
    for (const { shard, due } of all) {
      shard.busy -= 1;
      // One that cannot be written down stays known: it is still due, and would be sent over and over.
      if (!isWritten) continue;
      const key = keyOf(due);
      shard.known.delete(key);
      for (const finished of readings) finished.add(key);
    }
    pump();
  }

  /** Somebody else holds what is to be written down, or does not any more. */
  function heldUp(all: readonly Ended[], isHeldUp: boolean): void {
    for (const { shard } of all) {
      shard.heldUp += isHeldUp ? 1 : -1;
      if (!isHeldUp && shard.heldUp === 0) for (const lane of shard.lanes.values()) queueUp(lane);
    }
  }

  return {
    node,
    balance,
    read,
    /** Nothing is under way, and everything that was is written down. */
    isQuiet: () => underWay + unwritten + fillings + waiting.length === 0,
    /** Begins nothing more, and waits for what was begun. */
    async drain(): Promise<void> {
      stopped = true;
      while (underWay + unwritten + fillings > 0) await delay(20);
    },
    /** After the last balance: the shards are free at once. */
    async leave(): Promise<void> {
      connections.close();
      await leave(database, node);
    },
  };
}
