import { type Database, statement } from '../../platform/db/database.js';

/**
 * Columns with times from which limits are counted. After the database's clock was set back, these times lie in the
 * future, and the limits would refuse everything until the clock reaches these times. If no clock was set back, none of
 * these times is more than a moment in the future.
 */
const TIMES_OF_LIMITS = [
  { table: 'rate_limits', column: 'refilled_at' },
  { table: 'debit_paces', column: 'used_up_to' },
  { table: 'undecryptable_fields', column: 'minute_began' },
] as const;

const RESET_FUTURE_TIMES = TIMES_OF_LIMITS.map(({ table, column }) =>
  statement({
    text: `with future as (
         select ctid from ${table} where ${column} > clock_timestamp() + interval '2 s' for update skip locked
       )
       update ${table} t set ${column} = clock_timestamp() from future where t.ctid = future.ctid`,
    parameters: [],
  }),
);

/** Resets times in the future, which exist only after a clock was set back. Locked rows are left for the next run. */
export async function resetFutureTimes(database: Database): Promise<void> {
  for (const reset of RESET_FUTURE_TIMES) await database.query(reset);
}
