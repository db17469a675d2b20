import { columns, declareRequire } from '../../platform/db/database.js';

/**
 * Counts renewals that are due within 24 hours, by the index orders_to_debit, and debits in flight. Each count stops at
 * `limit`.
 */
export const debitLoadOf = declareRequire({
  text: `select (select count(*)::integer from (
         select from orders o where o.settlement_mode = 'SVC_DEDUCT' and o.payment_channel_code = $1
           and o.next_due_at < now() + interval '24 hours' and o.total_cycles > 1 limit $2) due) as renewals,
       (select count(*)::integer from (
         select from debit_attempts d where d.status = 'STARTED' and d.payment_channel_code = $1 limit $2) open) as "inFlight"`,
  parameters: ['text', 'bigint'],
  byIndex: true,
  columns: columns({ renewals: 'integer', inFlight: 'integer' }),
});
