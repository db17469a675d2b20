import { columns, declareFind, declareList, declareWrite, type RowOf } from '../../platform/db/database.js';
import { agreementStatusIs } from './statuses-sql.js';

/**
 * A row with values that are sealed under a channel's data key. They are null if the row belongs to another channel or
 * has no such value.
 */
export type SealedRow = RowOf<typeof SEALED_ROW>;

const SEALED_ROW = columns({
  /** The position of the row in the order of the table. */
  key: 'text',
  /** The user whose mobile the row contains. Null in a table whose key identifies the owner. */
  userId: 'text?',
  first: 'text?',
  second: 'text?',
  /**
   * True for a binding in progress. It must not be sealed again yet, because its next write compares the sealed text.
   */
  isBusy: 'boolean',
});

/** Parameters: the channel, the key of the last row of the previous page, the number of rows. */
const PAGE = { parameters: ['bigint', 'text', 'bigint'], columns: SEALED_ROW } as const;

/** Parameters: the channel and, for each row, its key, the values found, and the same values sealed again. */
const RESEALED = {
  parameters: {
    channelId: 'bigint',
    keys: 'text[]',
    formerFirst: 'text[]',
    first: 'text[]',
    formerSecond: 'text[]',
    second: 'text[]',
  },
} as const;

/**
 * The tables in the order of a round. `list` reads a table by an index. If no index begins with the channel, it reads
 * the rows of all channels. `store` skips locked rows, because it must not wait while it holds locks itself. It also
 * skips rows that were changed since they were read.
 */
export const SEALED_TABLES = [
  {
    name: 'users',
    start: '',
    list: declareList({
      text: `select encode(mobile_hash, 'hex') as key, channel_user_id as "userId", mobile as first, null as second,
           false as "isBusy"
         from channel_users where channel_id = $1 and mobile_hash > decode($2, 'hex') order by mobile_hash limit $3`,
      ...PAGE,
    }),
    store: declareWrite({
      text: `with held as (
           select u.mobile_hash, n.first
           from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as n(key, former_first, first)
             join channel_users u on u.channel_id = $1 and u.mobile_hash = decode(n.key, 'hex') and u.mobile = n.former_first
           for no key update of u skip locked)
         update channel_users u set mobile = h.first from held h where u.channel_id = $1 and u.mobile_hash = h.mobile_hash`,
      ...RESEALED,
    }),
  },
  {
    name: 'agreements',
    start: '0',
    // A binding counts as in progress for 10 minutes after its last change. Its code is valid for only 5 minutes.
    list: declareList({
      text: `select agreement_id::text as key, null as "userId", case when channel_id = $1 then details end as first,
           case when channel_id = $1 then institution_no end as second,
           ${agreementStatusIs('status', 'BIND_ING')} and changed_at > now() - interval '10 minutes' as "isBusy"
         from agreements where agreement_id > $2::text::bigint order by agreement_id limit $3`,
      ...PAGE,
    }),
    store: declareWrite({
      text: `with held as (
           select a.agreement_id, n.first, n.second
           from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
               as n(key, former_first, first, former_second, second)
             join agreements a on a.agreement_id = n.key::bigint and a.channel_id = $1 and a.details = n.former_first
               and a.institution_no is not distinct from n.former_second
           for no key update of a skip locked)
         update agreements a set details = h.first, institution_no = h.second
         from held h where a.agreement_id = h.agreement_id`,
      ...RESEALED,
    }),
  },
  {
    name: 'claims',
    start: '0.0.0',
    list: declareList({
      text: `select order_no || '.' || cycle_no || '.' || position as key, null as "userId",
           case when channel_id = $1 then code end as first, null as second, false as "isBusy"
         from claims where (order_no, cycle_no, position) >
           (split_part($2, '.', 1)::bigint, split_part($2, '.', 2)::integer, split_part($2, '.', 3)::integer)
         order by order_no, cycle_no, position limit $3`,
      ...PAGE,
    }),
    store: declareWrite({
      text: `with held as (
           select c.order_no, c.cycle_no, c.position, n.first
           from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as n(key, former_first, first)
             join claims c on c.order_no = split_part(n.key, '.', 1)::bigint
               and c.cycle_no = split_part(n.key, '.', 2)::integer and c.position = split_part(n.key, '.', 3)::integer
               and c.channel_id = $1 and c.code = n.former_first
           for no key update of c skip locked)
         update claims c set code = h.first from held h
         where c.order_no = h.order_no and c.cycle_no = h.cycle_no and c.position = h.position`,
      ...RESEALED,
    }),
  },
] as const;

export type SealedTable = (typeof SEALED_TABLES)[number];

/**
 * Longer than the time for which a node may use a cached channel without the new key. Runs of renewals cache channels
 * for five minutes.
 */
const ANNOUNCED_FOR = `interval '10 minutes'`;
/** Longer than any request or job that is in flight at the switch can take. */
const FORMER_KEY_KEPT_FOR = `interval '1 day'`;
/** Longer than the time for which a binding counts as in progress. */
const BETWEEN_ROUNDS = `interval '15 minutes'`;

/** Announces a new data key. */
export const insertRotation = declareWrite({
  text: `insert into data_key_rotations (channel_id, other_key, not_before) values ($1, $2, now() + ${ANNOUNCED_FOR})`,
  parameters: ['bigint', 'text'],
});

export type Rotation = RowOf<typeof ROTATION>;

const ROTATION = columns({
  channelId: 'bigint',
  appId: 'text',
  isSwitched: 'boolean',
  isLast: 'boolean',
  stage: 'integer',
  afterRow: 'text?',
  found: 'boolean',
});

/** Locks the next rotation that has something to do. */
export const lockRotation = declareFind({
  text: `select r.channel_id as "channelId", c.app_id as "appId", r.switched_at is not null as "isSwitched",
       r.is_last as "isLast", r.stage::integer as stage, r.after_row as "afterRow", r.found
     from data_key_rotations r join channels c using (channel_id)
     where r.not_before <= now() order by r.not_before limit 1 for update of r skip locked`,
  parameters: [],
  columns: ROTATION,
});

export const storeSwitched = declareWrite({
  text: `update data_key_rotations set other_key = $2, switched_at = now(), not_before = now() where channel_id = $1`,
  parameters: ['bigint', 'text'],
});

export const storePosition = declareWrite({
  text: `update data_key_rotations set stage = $2::integer, after_row = $3, found = $4 where channel_id = $1`,
  parameters: ['bigint', 'integer', 'text?', 'boolean'],
});

/** Ends a round. If it found nothing, the next round is the last one and begins a day after the switch, or later. */
export const endRound = declareWrite({
  text: `update data_key_rotations set stage = 0, after_row = null, found = false, is_last = is_last or not $2,
       not_before = case when $2 then now() + ${BETWEEN_ROUNDS} else greatest(now(), switched_at + ${FORMER_KEY_KEPT_FOR}) end
     where channel_id = $1`,
  parameters: ['bigint', 'boolean'],
});

export const deleteRotation = declareWrite({
  text: 'delete from data_key_rotations where channel_id = $1',
  parameters: ['bigint'],
});
