import { NONCE_WINDOW_MS, TIMESTAMP_SKEW_MS } from '@perennial/wire';
import { columns, type Database, statement } from '../../platform/db/database.js';
import { runIfTableIsFree } from './bounded-steps.js';

const NONCE_SLOTS = 4;

const FIND_STALE_NONCE_SLOT = statement({
  text: `select ((floor((extract(epoch from now()) * 1000 + $1::bigint) / $2::bigint)::bigint + 1) % $3)::integer as slot`,
  parameters: ['bigint', 'bigint', 'bigint'],
  columns: columns({ slot: 'integer' }),
});

const IS_NONCE_SLOT_STALE = Array.from({ length: NONCE_SLOTS }, (_, slot) =>
  statement({
    text: `select exists (select from nonces_${slot}) and not exists (
         select from nonces_${slot} where seen_at > now() - $1::integer * interval '1 ms') as stale`,
    parameters: ['integer'],
    columns: columns({ stale: 'boolean' }),
  }),
);

/**
 * Empties the stale nonce slot. Three of the four slots can contain valid nonces: the newest accepted timestamp is
 * `skew` ahead of now, and the oldest timestamp that counts is `window + skew` behind now. The slot after the slot of
 * the newest accepted timestamp is stale. If it contains recent nonces, a clock is wrong, and the slot is not changed.
 */
export async function emptyStaleNonceSlot(database: Database): Promise<number> {
  const emptied = await runIfTableIsFree(database, async (tx) => {
    const [row] = await tx.query(FIND_STALE_NONCE_SLOT, [TIMESTAMP_SKEW_MS, NONCE_WINDOW_MS, NONCE_SLOTS]);
    const slot = row?.slot ?? 0;
    const isStale = IS_NONCE_SLOT_STALE[slot];
    if (!isStale) throw new Error(`there is no slot ${slot}`);
    const [state] = await tx.query(isStale, [NONCE_WINDOW_MS]);
    if (!state?.stale) return 0;
    await tx.query(`truncate nonces_${slot}`);
    return 1;
  });
  return emptied ?? 0;
}
