import type { Queryable } from '../../../platform/db/database.js';
import { type HeldNumbers, heldNumbers } from '../../../platform/db/sharing/held-numbers.js';

const AT_A_TIME = 100;

/** For orders that bring their agreement along. */
export function agreementNumbers(db: Queryable): HeldNumbers {
  return heldNumbers(async () => {
    const rows = await db.query<{ id: number }>(
      `select nextval('agreement_numbers') as id from generate_series(1, ${AT_A_TIME})`,
    );
    return rows.map(({ id }) => id);
  });
}
