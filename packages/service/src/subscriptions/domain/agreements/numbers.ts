import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { createNumberSupply, type NumberSupply } from '../../../platform/db/sharing/number-supply.js';

const AT_A_TIME = 100;

const AGREEMENT_NUMBERS = statement({
  text: `select nextval('agreement_numbers') as id from generate_series(1, ${AT_A_TIME})`,
  parameters: [],
  columns: columns<{ id: number }>({ id: 'bigint' }),
});

/** For orders that bring their agreement along. */
export function agreementNumbers(db: Queryable): NumberSupply {
  return createNumberSupply(async () => {
    const rows = await db.query(AGREEMENT_NUMBERS);
    return rows.map(({ id }) => id);
  });
}
