import {
  column,
  columns,
  declareFind,
  declareRequire,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../../platform/db/database.js';
import { epochMs } from '../../platform/db/time-sql.js';
import type { GuessCounts } from '../guesses.js';

/** The guesses of a user's visitors. The database's clock counts, because all nodes share it. */
export type Tries = RowOf<typeof findTries>;

const TRIES_FIELDS = `t.guesses, t.visitors, ${epochMs('clock_timestamp()')} as now`;
const TRIES_COLUMNS = columns({
  guesses: 'integer',
  visitors: column<GuessCounts['visitors']>('jsonb'),
  now: 'bigint',
});

export const findTries = declareFind({
  name: 'redeem-tries',
  text: `select ${TRIES_FIELDS} from unsubscribe_tries t where t.channel_id = $1 and t.user_key = key_of($2)`,
  parameters: ['bigint', 'text'],
  columns: TRIES_COLUMNS,
});

/** Locks the user's row until the transaction ends. Creates the row if it does not exist. */
export const lockTries = declareRequire({
  text: `insert into unsubscribe_tries as t (channel_id, user_key, wrong) values ($1, key_of($2), 0)
     on conflict (channel_id, user_key) do update set wrong = t.wrong
     returning ${TRIES_FIELDS}, t.code_hash as "codeHash", t.code_until > clock_timestamp() as "isCodeValid", t.code_wrong as "codeWrong"`,
  parameters: ['bigint', 'text'],
  columns: columns({
    guesses: 'integer',
    visitors: column<GuessCounts['visitors']>('jsonb'),
    now: 'bigint',
    codeHash: 'bytea?',
    isCodeValid: 'boolean?',
    codeWrong: 'smallint',
  }),
});

const STORE_GUESSES = statement({
  text: 'update unsubscribe_tries set guesses = $3, visitors = $4 where channel_id = $1 and user_key = key_of($2)',
  parameters: ['bigint', 'text', 'integer', 'jsonb'],
});

export async function storeGuesses(
  tx: Queryable,
  channelId: number,
  channelUserId: string,
  { guesses, visitors }: GuessCounts,
): Promise<void> {
  await tx.query(STORE_GUESSES, [channelId, channelUserId, guesses, JSON.stringify(visitors)]);
}

/** Stores a new code, which replaces the code before it. */
export const storeCode = declareWrite({
  text: `insert into unsubscribe_tries (channel_id, user_key, wrong, code_hash, code_until)
     values ($1, key_of($2), 0, $3, clock_timestamp() + make_interval(mins => $4))
     on conflict (channel_id, user_key)
       do update set code_hash = excluded.code_hash, code_until = excluded.code_until, code_wrong = 0`,
  parameters: { channelId: 'bigint', channelUserId: 'text', codeHash: 'bytea', minutes: 'integer' },
});

export const countWrongCode = declareWrite({
  text: 'update unsubscribe_tries set code_wrong = code_wrong + 1 where channel_id = $1 and user_key = key_of($2)',
  parameters: ['bigint', 'text'],
});

/** Deletes the counts and the code after a success. */
export const forgetTries = declareWrite({
  text: 'delete from unsubscribe_tries where channel_id = $1 and user_key = key_of($2)',
  parameters: ['bigint', 'text'],
});
