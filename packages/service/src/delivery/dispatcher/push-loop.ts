import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.js';
import { findTracing } from '../../platform/tracing.js';
import type { CountedPush, DeliveryCounts, OnPush } from '../counts.js';
import type { DeliveryOutcome } from '../queue/finish-sql.js';
import { type Message, signPush } from '../receivers/message.js';
import type { Receiver, Receivers } from '../receivers/receivers.js';
import type { PushClient } from '../transport/push-client.js';
import type { PushResult } from '../transport/push-result.js';
import { pushWithTrace } from '../transport/push-trace.js';
import type { HeldShards } from './held-shards.js';
import type { Lane } from './lane.js';
import type { LaneLoader } from './lane-loader.js';
import type { OutcomeWriter } from './outcome-writer.js';
import { type PushSlot, PushSlots } from './push-slots.js';
import { leadsTo, type Shard } from './shard.js';

export interface PushLoopDeps {
  readonly shards: HeldShards;
  readonly receivers: Receivers;
  readonly loader: LaneLoader;
  readonly outcomes: OutcomeWriter;
  readonly pushClient: PushClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: DeliveryCounts | undefined;
  readonly onPush?: OnPush | undefined;
  readonly dueBy?: Clock | undefined;
}

interface Push {
  readonly shard: Shard;
  readonly lane: Lane;
  readonly message: Message;
  readonly slot: PushSlot;
}

const COUNTED: Readonly<Record<DeliveryOutcome, CountedPush>> = {
  ACCEPTED: 'accepted',
  REFUSED: 'refused',
  TIMEOUT: 'timeout',
  UNREACHABLE: 'unreachable',
  FORBIDDEN: 'forbidden',
};

/**
 * Gives the lanes their turns and starts pushes. Uses callbacks instead of async functions, because it runs for every
 * event.
 */
export class PushLoop {
  /** Lanes that may have something to push or to load. */
  private lanes: Lane[] = [];
  private readonly slots = new PushSlots(() => this.run());
  private readonly tracing = findTracing();
  private loadsRunning = 0;
  private isStopped = false;

  constructor(private readonly deps: PushLoopDeps) {}

  /** Adds the lane to the list. Must be called when the lane has something to push or to load. */
  addLane(lane: Lane): void {
    if (lane.isAwaitingTurn) return;
    lane.isAwaitingTurn = true;
    this.lanes.push(lane);
  }

  addLanesOf(shard: Shard): void {
    for (const lane of shard.lanes.values()) this.addLane(lane);
  }

  /** Gives every lane in turn one push at a time, until no further push can begin. */
  run(): void {
    while (this.lanes.length > 0 && this.mayBegin()) {
      const round = this.lanes;
      this.lanes = [];
      for (const [index, lane] of round.entries()) {
        if (!this.mayBegin()) {
          this.lanes.push(...round.slice(index));
          return;
        }
        lane.isAwaitingTurn = false;
        this.takeTurn(lane);
      }
    }
  }

  stop(): void {
    this.isStopped = true;
  }

  isIdle(): boolean {
    return this.slots.areAllFree() && this.loadsRunning === 0;
  }

  hasLanes(): boolean {
    return this.lanes.length > 0;
  }

  private mayBegin(): boolean {
    const { outcomes, shards } = this.deps;
    return !this.isStopped && this.slots.isFree() && outcomes.hasRoom() && shards.maySend();
  }

  private takeTurn(lane: Lane): void {
    const shard = this.deps.shards.byNumber.get(lane.shard);
    if (!shard?.mayPush(lane)) return;
    const message = lane.takeNext();
    this.loadIfNeeded(shard, lane);
    if (message) {
      if (!lane.isFull()) this.addLane(lane);
      this.beginPush(shard, lane, message);
    } else shard.removeIfIdle(lane);
  }

  private loadIfNeeded(shard: Shard, lane: Lane): void {
    const { loader } = this.deps;
    if (!loader.isNeeded(lane)) return;
    this.loadsRunning += 1;
    void loader.load(shard, lane).finally(() => {
      this.loadsRunning -= 1;
      this.addLane(lane);
      this.run();
    });
  }

  private beginPush(shard: Shard, lane: Lane, message: Message): void {
    const { receivers } = this.deps;
    const push: Push = { shard, lane, message, slot: this.slots.take() };
    shard.unfinishedPushes += 1;
    const receiver = receivers.getCached(lane.channelId);
    if (receiver) this.send(push, receiver);
    else {
      receivers.get(lane.channelId).then(
        (found) => this.send(push, found),
        (err: unknown) => this.cancelPush(push, err),
      );
    }
  }

  private send(push: Push, receiver: Receiver): void {
    const { shard, lane, message, slot } = push;
    const { shards, pushClient, clock } = this.deps;
    const beganAt = performance.now();
    const mayStillSend = shards.maySend() && shards.isHeld(shard);
    // Does not send if the lease or the shard is lost, or if the channel has changed since the message was loaded.
    if (!mayStillSend || receiver.version !== message.version || !leadsTo(receiver, lane)) {
      queueMicrotask(() => this.cancelPush(push));
      return;
    }
    let sent: Promise<PushResult>;
    const sign = () => signPush(receiver, lane.path, message, clock.now());
    try {
      sent = this.tracing
        ? pushWithTrace(this.tracing, pushClient, message, lane.url, sign)
        : pushClient.push(lane.url, sign);
    } catch (err) {
      queueMicrotask(() => this.cancelPush(push, err));
      return;
    }
    this.slots.watch(slot);
    void sent.then((result) => this.finishPush(push, receiver.appId, result, beganAt));
  }

  private finishPush(push: Push, appId: string, result: PushResult, beganAt: number): void {
    const { shard, lane, message } = push;
    const { counts, onPush, outcomes, dueBy } = this.deps;
    const { outcome, httpStatus, answer } = result;
    const endedAt = performance.now();
    const latencyMs = Math.round(endedAt - beganAt);
    counts?.countPush(COUNTED[outcome]);
    onPush?.({ channelId: lane.channelId, appId, url: lane.url, outcome, ms: latencyMs });
    this.release(push);
    outcomes.add({ shard, due: message.due, outcome, httpStatus, answer, latencyMs, endedAt, at: dueBy?.now() });
    this.run();
  }

  /** Makes the lane read the event again, because it was not sent. */
  private cancelPush(push: Push, err?: unknown): void {
    const { shard, lane, message } = push;
    if (err) {
      const { eventId } = message;
      this.deps.log.warn({ err, eventId, cause: 'beginning pushes' }, 'push could not be started; it will be retried');
    }
    this.release(push);
    shard.rereadLane(lane, [message.due]);
    this.run();
  }

  private release({ shard, lane, message, slot }: Push): void {
    this.slots.release(slot);
    shard.unfinishedPushes -= 1;
    lane.pushFinished(message);
    this.addLane(lane);
  }
}
