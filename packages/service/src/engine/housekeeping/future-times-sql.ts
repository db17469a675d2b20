import { type Database, statement } from '../../platform/db/database.js';

/**
 * Times that limits count from. After the database's clock was set back, times that were stored before are in the future, and
 * the limits would refuse everything until then. Otherwise none of them is in the future by more than a moment.
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

/** Finds something only after a clock was set back. Rows that are locked are left for the next run. */
export async function mendFutureTimes(database: Database): Promise<void> {
  for (const mend of MEND_FUTURE_TIMES) await database.query(mend);
}
