import { type Database, statement } from '../../platform/db/database.js';

/**
 * Times that a limit counts from. Once the database's clock is set back, what was written before lies in the future, and
 * nobody would get anything until the clock has caught up. None of them is ever ahead by more than a moment.
 */
const TIMES_OF_LIMITS = [
  { table: 'rate_limits', column: 'refilled_at' },
  { table: 'debit_paces', column: 'used_up_to' },
  { table: 'undecryptable_fields', column: 'minute_began' },
] as const;

const MEND_FUTURE_TIMES = TIMES_OF_LIMITS.map(({ table, column }) =>
  statement({
    text: `with future as (
         select ctid from ${table} where ${column} > clock_timestamp() + interval '2 s' for update skip locked
       )
       update ${table} t set ${column} = clock_timestamp() from future where t.ctid = future.ctid`,
    parameters: [],
  }),
);

/** Nothing to do but after a clock was set back. Rows that are in use just then are left for the next time. */
export async function mendFutureTimes(database: Database): Promise<void> {
  for (const mend of MEND_FUTURE_TIMES) await database.query(mend);
}
