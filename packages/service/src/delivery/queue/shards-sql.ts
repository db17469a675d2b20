import {
  columns,
  declareHas,
  declareList,
  declareWrite,
  type Queryable,
  statement,
} from '../../platform/db/database.js';
import { epochMs } from '../../platform/db/time-sql.js';

/**
 * The number of shards. All events of a channel are in one shard, so that one node limits the channel's pushes in
 * flight. The trigger `queue_events` uses the same number of shards.
 */
export const SHARDS = 16;

/**
 * The duration of a node's lease, longer than a push and the storing of its outcome together. If a node dies, other
 * nodes can take its shards after this time.
 */
export const LEASE_SECONDS = 10;

export interface HeldShard {
  readonly shard: number;
  readonly epoch: number;
}

export interface Balance {
  /** The shards that were kept or newly taken. */
  readonly held: readonly HeldShard[];
  /**
   * Held shards beyond this node's share, to release when they have no unfinished push. Undefined if the shards were
   * only read and not balanced.
   */
  readonly surplus: readonly number[] | undefined;
  /** The database's clock, Unix milliseconds. */
  readonly now: number;
}

const FIND_HELD = statement({
  text: `select s.shard, s.epoch, t.now from (select ${epochMs('now()')} as now) t left join delivery_shards s on s.owner = $1`,
  parameters: ['uuid'],
  columns: columns({ shard: 'smallint', epoch: 'bigint', now: 'bigint' }),
});

/** Returns the shards of this node without balancing. */
export async function findHeldShards(db: Queryable, node: string): Promise<Balance> {
  const rows = await db.query(FIND_HELD, [node]);
  return { held: rows.filter(({ shard }) => shard !== null), surplus: undefined, now: rows[0]?.now ?? 0 };
}

const TAKE_TURN = statement({
  text: 'select pg_try_advisory_xact_lock($1) as taken',
  parameters: ['bigint'],
  columns: columns({ taken: 'boolean' }),
});

const REMOVE_ENDED_NODES = statement({
  text: `with ended as (select node from delivery_nodes where lease_until <= now() and node <> $1 for update skip locked)
     delete from delivery_nodes n using ended where n.node = ended.node`,
  parameters: ['uuid'],
});

const TAKE_FREE_SHARDS = statement({
  text: `with fair as (
       select ceil($2::integer / count(*)::numeric)::integer as share from delivery_nodes
     ), mine as (
       select shard, epoch, row_number() over (order by shard) as place from delivery_shards where owner = $1
     ), free as materialized (
       select s.shard from delivery_shards s
       where s.owner is distinct from $1 and not exists (select from delivery_nodes n where n.node = s.owner)
       order by s.shard for update of s skip locked
     ), taken as (
       update delivery_shards s set owner = $1, epoch = s.epoch + 1
       from (select shard, row_number() over (order by shard) as place from free) f, fair
       where s.shard = f.shard and f.place <= fair.share - (select count(*) from mine)
       returning s.shard, s.epoch, false as surplus
     )
     select m.shard, m.epoch, m.place > fair.share as surplus from mine m, fair
     union all select * from taken`,
  parameters: ['uuid', 'integer'],
  columns: columns({ shard: 'smallint', epoch: 'bigint', surplus: 'boolean' }),
});

/**
 * Takes free shards up to this node's share. Leases are compared with the database's clock. Returns undefined while
 * another node is balancing. Does not wait for row locks of shards: a shard that is locked, for example while outcomes
 * are stored, is left for the next call. A node whose lease has ended keeps the shards that no other node has taken.
 * The epoch of these shards is unchanged, so the node can still store outcomes of its pushes. Shortens leases that end
 * too late: they were written before the database's clock was set back.
 */
export async function balanceShards(tx: Queryable, node: string): Promise<Balance | undefined> {
  // Waits at most a second, even if the whole table is locked: the node must renew its lease in time.
  await tx.query(`set local lock_timeout = '1s'`);
  const [turn] = await tx.query(TAKE_TURN, [LOCK]);
  if (!turn?.taken) return undefined;
  await tx.query(SHORTEN_LATE_LEASES, [node]);
  await tx.query(REMOVE_ENDED_NODES, [node]);
  const [renewed] = await tx.query(ENTER_NODE, [node]);
  const rows = await tx.query(TAKE_FREE_SHARDS, [node, SHARDS]);
  return {
    held: rows.map(({ shard, epoch }) => ({ shard, epoch })),
    surplus: rows.filter(({ surplus }) => surplus).map(({ shard }) => shard),
    now: renewed?.now ?? 0,
  };
}

/** Releases shards and returns those that were released. Skips shards whose row is locked. */
export const releaseShards = declareList({
  text: `with mine as (
       select shard from delivery_shards where owner = $1 and shard = any($2::smallint[]) for update skip locked
     )
     update delivery_shards s set owner = null from mine where s.shard = mine.shard returning s.shard`,
  parameters: ['uuid', 'smallint[]'],
  columns: columns({ shard: 'smallint' }),
  value: ({ shard }) => shard,
});

/** Releases all shards of a node that is stopping. Deleting the node's row frees even shards whose row is locked. */
export const releaseNode = declareWrite({
  text: `with gone as (
       delete from delivery_nodes where node = $1
     ), mine as (
       select shard from delivery_shards where owner = $1 for update skip locked
     )
     update delivery_shards s set owner = null from mine where s.shard = mine.shard`,
  parameters: ['uuid'],
});

const LEASE_END = `now() + interval '${LEASE_SECONDS} s'`;

/**
 * Renews the lease of this node. Updates only the node's own row, so that locks on other rows do not stop it from
 * sending. Returns false if the lease has ended, because other nodes may have taken the shards.
 */
export const renewLease = declareHas({
  name: 'renew-delivery-lease',
  text: `update delivery_nodes set lease_until = ${LEASE_END} where node = $1 and lease_until > now() returning 1`,
  parameters: ['uuid'],
});

const SHORTEN_LATE_LEASES = statement({
  text: `with late as (select node from delivery_nodes where lease_until > ${LEASE_END} and node <> $1 for update skip locked)
     update delivery_nodes n set lease_until = ${LEASE_END} from late where n.node = late.node`,
  parameters: ['uuid'],
});

const ENTER_NODE = statement({
  text: `insert into delivery_nodes (node, lease_until) values ($1, ${LEASE_END})
     on conflict (node) do update set lease_until = excluded.lease_until returning ${epochMs('now()')} as now`,
  parameters: ['uuid'],
  columns: columns({ now: 'bigint' }),
});

/** Key of the advisory lock, which nothing else uses. */
const LOCK = 5_700_001;
