import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { type HeldNumbers, heldNumbers } from '../../../platform/db/sharing/held-numbers.js';

const AGREEMENT_NUMBERS_PER_BLOCK = 100;

const TAKE_AGREEMENT_NUMBERS = statement({
  text: `select nextval('agreement_numbers') as id from generate_series(1, ${AGREEMENT_NUMBERS_PER_BLOCK})`,
  parameters: [],
  columns: columns<{ id: number }>({ id: 'bigint' }),
});

/** For orders that bring their agreement along. */
export function createAgreementNumbers(db: Queryable): HeldNumbers {
  return heldNumbers(async () => {
    const rows = await db.query(TAKE_AGREEMENT_NUMBERS);
    return rows.map(({ id }) => id);
  });
}
