import type { Queryable } from '../db/database.js';
import { ms } from '../db/time-sql.js';

/** All events of a channel are in one shard, so that one node alone decides how many of them are under way. */
export const SHARDS = 16;

/** Longer than a push and the writing down of its outcome; what a dead node held is free after it. */
export const LEASE_SECONDS = 10;

export interface HeldShard {
  readonly shard: number;
  readonly epoch: number;
}

export interface Balance {
  /** Kept or newly taken. */
  readonly held: readonly HeldShard[];
  /** Of those, more than this node's share: to be given back once nothing of them is under way. */
  readonly surplus: readonly number[];
  /** The database's clock, Unix milliseconds. */
  readonly now: number;
}

/**
 * Renews the lease of this node and takes what nobody holds, up to its share. By the database's clock, one node at a time.
 * A node that was late keeps what nobody has taken meanwhile, under the same epoch: what it still has to say is true.
 */
export async function balanceShards(tx: Queryable, node: string): Promise<Balance> {
  await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
  await tx.query('delete from delivery_nodes where lease_until <= now()');
  const [renewed] = await tx.query<{ now: number }>(
    `insert into delivery_nodes (node, lease_until) values ($1, now() + $2::integer * interval '1 s')
     on conflict (node) do update set lease_until = excluded.lease_until returning ${ms('now()')} as now`,
    [node, LEASE_SECONDS],
  );
  const rows = await tx.query<HeldShard & { surplus: boolean }>(
    `with fair as (
       select ceil($2::integer / count(*)::numeric) as share from delivery_nodes
     ), ranked as (
       select s.shard, s.epoch, s.owner is not distinct from $1 as mine,
         row_number() over (order by s.owner is not distinct from $1 desc, s.shard) as place
       from delivery_shards s
       where s.owner is null or s.owner = $1 or not exists (select from delivery_nodes n where n.node = s.owner)
     ), taken as (
       update delivery_shards s set owner = $1, epoch = s.epoch + 1
       from ranked r, fair f where s.shard = r.shard and not r.mine and r.place <= f.share
       returning s.shard, s.epoch, false as surplus
     )
     select r.shard, r.epoch, r.place > f.share as surplus from ranked r, fair f where r.mine
     union all select * from taken`,
    [node, SHARDS],
  );
  return {
    held: rows.map(({ shard, epoch }) => ({ shard, epoch })),
    surplus: rows.filter(({ surplus }) => surplus).map(({ shard }) => shard),
    now: renewed?.now ?? 0,
  };
}

export async function giveBack(db: Queryable, node: string, shards: readonly number[]): Promise<void> {
  await db.query('update delivery_shards set owner = null where owner = $1 and shard = any($2::smallint[])', [
    node,
    shards,
  ]);
}

/** Before a node ends: the others share what it had at once. */
export async function leave(db: Queryable, node: string): Promise<void> {
  await db.query(
    `with gone as (delete from delivery_nodes where node = $1)
     update delivery_shards set owner = null where owner = $1`,
    [node],
  );
}

/** Any number that no other advisory lock has. */
const LOCK = 5_700_001;
