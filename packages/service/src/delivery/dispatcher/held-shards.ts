import { randomUUID } from 'node:crypto';
import type { Database } from '../../platform/db/database.js';
import {
  type Balance,
  balanceShards,
  findHeldShards,
  LEASE_SECONDS,
  releaseNode,
  releaseShards,
  renewLease,
} from '../queue/shards-sql.js';
import { PUSH_DEADLINE_MS } from '../schedule.js';
import { Shard } from './shard.js';

/**
 * The time before the end of a lease in which a node begins no push. It is long enough for one push and for storing its
 * outcome.
 */
const QUIET_MS = PUSH_DEADLINE_MS + 1_000;

/** The shards on which this node has a lease. */
export class HeldShards {
  readonly node = randomUUID();
  readonly byNumber = new Map<number, Shard>();
  /** The time until which pushes may begin, by `performance.now()`. */
  private sendUntil = 0;
  /** The database's clock minus `performance.now()`. */
  private clockOffset = 0;

  /** `onKept` is called if a shard that this node was about to release is kept. */
  constructor(
    private readonly database: Database,
    private readonly onKept: (shard: Shard) => void,
    private readonly pushesPerAddress?: number,
  ) {}

  /** Renews the lease, takes free shards, drops lost shards, and releases surplus shards without unfinished pushes. */
  async renewAndBalance(): Promise<void> {
    const { database, node } = this;
    const renewedAt = performance.now();
    const isRenewed = await renewLease(database, node);
    if (isRenewed) this.extendSending(renewedAt);
    const balancedAt = performance.now();
    const balance = await database.transaction((tx) => balanceShards(tx, node));
    if (balance) this.extendSending(balancedAt);
    if (balance) this.apply(balance);
    else if (isRenewed) this.apply(await findHeldShards(database, node));
    await this.giveBackLeaving();
  }

  /** Returns true if the lease lasts long enough for another push. */
  maySend(): boolean {
    return performance.now() < this.sendUntil;
  }

  isHeld(shard: Shard): boolean {
    return this.byNumber.get(shard.shard) === shard;
  }

  isLeaseOver(): boolean {
    return performance.now() > this.sendUntil + QUIET_MS;
  }

  /** The database's clock, Unix milliseconds. */
  databaseNow(): number {
    return performance.now() + this.clockOffset;
  }

  /** Releases the shards to other nodes. Must be called after the last balance. */
  async release(): Promise<void> {
    await releaseNode(this.database, this.node);
  }

  /** `renewedAt` must be a time before the renewal, so that sending does not outlast the lease. */
  private extendSending(renewedAt: number): void {
    this.sendUntil = renewedAt + LEASE_SECONDS * 1000 - QUIET_MS;
  }

  private apply({ held, surplus, now }: Balance): void {
    // The computed time may be behind the database's clock but never ahead of it. So rereading for late rows begins a
    // little too early, and never too late.
    this.clockOffset = now - performance.now();
    for (const [number, { epoch }] of this.byNumber) {
      if (!held.some((one) => one.shard === number && one.epoch === epoch)) this.byNumber.delete(number);
    }
    for (const one of held) {
      if (!this.byNumber.has(one.shard)) this.byNumber.set(one.shard, new Shard(one, this.pushesPerAddress));
    }
    if (surplus === undefined) return;
    for (const shard of this.byNumber.values()) {
      const mustLeave = surplus.includes(shard.shard);
      if (mustLeave === shard.isLeaving) continue;
      if (mustLeave) shard.prepareToLeave();
      else {
        shard.isLeaving = false;
        this.onKept(shard);
      }
    }
  }

  private async giveBackLeaving(): Promise<void> {
    const ready = [...this.byNumber.values()].filter(
      ({ isLeaving, unfinishedPushes }) => isLeaving && unfinishedPushes === 0,
    );
    if (ready.length === 0) return;
    const numbers = ready.map(({ shard }) => shard);
    for (const number of numbers) this.byNumber.delete(number);
    // If this fails, the next balance finds that the node still holds the shard.
    await releaseShards(this.database, this.node, numbers);
  }
}
