import { columns } from '../../../platform/db/database.js';
import { declareRequire, declareWrite, type Query } from '../../../platform/db/declared.js';
import { fromEpochMs } from '../../../platform/db/time-sql.js';

/** Serializes the refunds of one operator, so that each counts the earlier ones. */
export const lockRefundsOf: Query<[actor: string], void> = declareWrite({
  text: `select pg_advisory_xact_lock(hashtextextended('refunds of ' || $1::text, 0))`,
  parameters: ['text'],
});

/**
 * Sums the refunds that an operator has begun without an approval after the given time. Does not count failed refunds.
 */
export const sumRefundsAlone: Query<[actor: string, since: number], number> = declareRequire({
  text: `select coalesce(sum(amount_cent), 0)::bigint as "amountCent" from refunds
     where requested_by = $1 and started_at > ${fromEpochMs('$2')} and approval_id is null and status <> 'FAIL'`,
  parameters: ['text', 'double precision'],
  columns: columns({ amountCent: 'bigint' }),
  value: ({ amountCent }) => amountCent,
});
