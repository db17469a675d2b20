import {
  columns,
  declareRequire,
  declareWrite,
  type Queryable,
  queryOne,
  type RowOf,
  statement,
} from '../platform/db/database.js';

/** The number of consecutive failures that starts a lock. */
const MAX_WRONG = 5;
/**
 * The time for which unsubscribing is refused after too many wrong tries. The database's clock counts, because all
 * nodes share it.
 */
const LOCKED_FOR = `interval '1 hour'`;

export type Tries = RowOf<typeof TRIES_COLUMNS>;

/** A lock that would last longer than LOCKED_FOR dates from before the clock was set back. It counts as expired. */
const LOCKED_SECONDS = `case when t.locked_until > clock_timestamp() and t.locked_until <= clock_timestamp() + ${LOCKED_FOR}
       then ceil(date_part('epoch', t.locked_until - clock_timestamp()))::integer end as "lockedSeconds"`;

const TRIES_COLUMNS = columns({
  /** The remaining seconds of the lock. Null if there is no lock. */
  lockedSeconds: 'integer?',
});

const FIND_TRIES = statement({
  name: 'redeem-tries',
  text: `select ${LOCKED_SECONDS} from unsubscribe_tries t where t.channel_id = $1 and t.user_key = key_of($2)`,
  parameters: ['bigint', 'text'],
  columns: TRIES_COLUMNS,
});

export async function findTries(db: Queryable, channelId: number, channelUserId: string): Promise<Tries> {
  return (await queryOne(db, FIND_TRIES, [channelId, channelUserId])) ?? { lockedSeconds: null };
}

/** Locks the user's row until the transaction ends. Creates the row if it does not exist. */
export const lockTries = declareRequire({
  text: `insert into unsubscribe_tries as t (channel_id, user_key, wrong) values ($1, key_of($2), 0)
     on conflict (channel_id, user_key) do update set wrong = t.wrong
     returning ${LOCKED_SECONDS}`,
  parameters: ['bigint', 'text'],
  columns: TRIES_COLUMNS,
});

const COUNT_WRONG = statement({
  text: `update unsubscribe_tries set wrong = (wrong + 1) % ${MAX_WRONG},
       locked_until = case when wrong + 1 >= ${MAX_WRONG} then clock_timestamp() + ${LOCKED_FOR} end
     where channel_id = $1 and user_key = key_of($2) returning wrong`,
  parameters: ['bigint', 'text'],
  columns: columns({ wrong: 'smallint' }),
});

/** Counts a failure and returns the number of attempts left. At 0, starts the lock and resets the count. */
export async function countWrongDigits(tx: Queryable, channelId: number, channelUserId: string): Promise<number> {
  const [row] = await tx.query(COUNT_WRONG, [channelId, channelUserId]);
  const wrong = row?.wrong ?? 0;
  return wrong === 0 ? 0 : MAX_WRONG - wrong;
}

export const forgetTries = declareWrite({
  text: 'delete from unsubscribe_tries where channel_id = $1 and user_key = key_of($2)',
  parameters: ['bigint', 'text'],
});
