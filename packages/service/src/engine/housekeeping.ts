import { IDEMPOTENCY_WINDOW_MS, NONCE_WINDOW_MS, TIMESTAMP_SKEW_MS } from '@perennial/wire';
import type { Database } from '../db/database.js';

const SLOTS = 4;
/** Rows deleted per step: a step never holds locks or writes for long, whatever has piled up. */
const STEP = 1000;
/** Steps in one run: more than ten busy channels can write between two runs. */
const STEPS = 500;

export interface Tidied {
  readonly nonceSlotEmptied: boolean;
  readonly idempotencyDeleted: number;
  readonly sendsDeleted: number;
}

/** Forgets what no request can ask for any more. Safe from many nodes: each step is harmless when done twice. */
export async function tidy(database: Database): Promise<Tidied> {
  return {
    nonceSlotEmptied: await emptyStaleNonceSlot(database),
    idempotencyDeleted: await inSteps(() => deleteOldAnswers(database)),
    sendsDeleted: await inSteps(() => deleteOldSends(database)),
  };
}

async function inSteps(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 1; count <= STEPS; count += 1) {
    const done = await step();
    total += done;
    if (done < STEP) break;
  }
  return total;
}

/**
 * Of the ring's four slots, three may hold nonces that still count: the newest timestamp accepted is `skew` ahead, the
 * oldest that a nonce of the last window can carry is `window + skew` behind. The slot after the newest is stale.
 * TRUNCATE waits for nobody long: a slot in use is a sign of a wrong clock and is left alone.
 */
async function emptyStaleNonceSlot(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    await tx.query(`set local lock_timeout = '200ms'`);
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
    if (!state?.stale) return false;
    await tx.query(`truncate ${table}`);
    return true;
  });
}

async function deleteOldAnswers(database: Database): Promise<number> {
  const rows = await database.query(
    `delete from idempotency where ctid = any(array(
       select ctid from idempotency where created_at <= now() - $1::double precision * interval '1 ms'
       limit $2 for update skip locked)) returning 1`,
    [IDEMPOTENCY_WINDOW_MS, STEP],
  );
  return rows.length;
}

/** Codes are counted over a day; another day is for nodes whose clocks differ. */
async function deleteOldSends(database: Database): Promise<number> {
  const rows = await database.query(
    `delete from sms_sends where ctid = any(array(
       select ctid from sms_sends where sent_at <= now() - interval '2 days' limit $1 for update skip locked)) returning 1`,
    [STEP],
  );
  return rows.length;
}
