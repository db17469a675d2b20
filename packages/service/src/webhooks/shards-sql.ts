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
  /** Renewed or newly taken. */
  readonly held: readonly HeldShard[];
  /** Of those, more than this node's share: to be given back once nothing of them is under way. */
  readonly surplus: readonly number[];
  /** The database's clock, Unix milliseconds. */
  readonly now: number;
}

/** Renews what this node holds and takes what nobody holds, up to its share. By the database's clock, one node at a time. */
export async function balanceShards(tx: Queryable, node: string): Promise<Balance> {
  await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
  await tx.query(
    `insert into delivery_nodes (node) values ($1) on conflict (node) do update set seen_at = excluded.seen_at`,
    [node],
  );
  await tx.query(`delete from delivery_nodes where seen_at < now() - $1::integer * interval '1 s'`, [LEASE_SECONDS]);
  const rows = await tx.query<HeldShard & { place: number; share: number; now: number }>(
    `with fair as (
       select ceil($2::integer / count(*)::numeric)::integer as share from delivery_nodes
     ), ranked as (
       select shard, owner = $1 and lease_until > now() as mine,
         row_number() over (order by (owner = $1 and lease_until > now()) is true desc, shard) as place
       from delivery_shards where owner = $1 or owner is null or lease_until <= now()
     )
     update delivery_shards s set owner = $1, lease_until = now() + $3::integer * interval '1 s',
       epoch = s.epoch + case when r.mine is true then 0 else 1 end
     from ranked r, fair f where s.shard = r.shard and (r.mine is true or r.place <= f.share)
     returning s.shard, s.epoch, r.place, f.share, ${ms('now()')} as now`,
    [node, SHARDS, LEASE_SECONDS],
  );
  return {
    held: rows.map(({ shard, epoch }) => ({ shard, epoch })),
    surplus: rows.filter(({ place, share }) => place > share).map(({ shard }) => shard),
    now: rows[0]?.now ?? 0,
  };
}

export async function giveBack(db: Queryable, node: string, shards: readonly number[]): Promise<void> {
  await db.query(
    `update delivery_shards set owner = null, lease_until = '-infinity' where owner = $1 and shard = any($2::smallint[])`,
    [node, shards],
  );
}

/** Before a node ends: the others share what it had at once. */
export async function leave(db: Queryable, node: string): Promise<void> {
  await db.query('delete from delivery_nodes where node = $1', [node]);
}

/** Any number that no other advisory lock has. */
const LOCK = 5_700_001;
