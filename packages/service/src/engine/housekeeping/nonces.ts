import { NONCE_WINDOW_MS, TIMESTAMP_SKEW_MS } from '@perennial/wire';
import type { Database } from '../../platform/db/database.js';
import { ifFree } from './steps.js';

const SLOTS = 4;

/**
 * Of the ring's four slots, three may hold nonces that still count: the newest timestamp accepted is `skew` ahead, the
 * oldest that a nonce of the last window can carry is `window + skew` behind. The slot after the newest is stale.
 * A slot in use is a sign of a wrong clock and is left alone.
 */
export async function emptyStaleNonceSlot(database: Database): Promise<number> {
  const emptied = await ifFree(database, async (tx) => {
    const [row] = await tx.query<{ slot: number }>(
      `select ((floor((extract(epoch from now()) * 1000 + $1) / $2)::bigint + 1) % $3)::integer as slot`,
      [TIMESTAMP_SKEW_MS, NONCE_WINDOW_MS, SLOTS],
    );
    const table = `nonces_${row?.slot ?? 0}`;
    const [state] = await tx.query<{ stale: boolean }>(
      `select exists (select from ${table}) and not exists (
         select from ${table} where seen_at > now() - $1::integer * interval '1 ms') as stale`,
      [NONCE_WINDOW_MS],
    );
    if (!state?.stale) return 0;
    await tx.query(`truncate ${table}`);
    return 1;
  });
  return emptied ?? 0;
}
