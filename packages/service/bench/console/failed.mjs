import { listFailedPayments, summarizeFailedPayments } from '../../dist/operator/payments/failed-payments.js';

const REASONS = ['insufficient funds', 'card blocked', 'limit exceeded', 'issuer not available', 'account closed'];

/**
 * Adds reasons to failed debits. Turns one in ten successful debits into a failed first attempt and a successful second
 * attempt.
 */
export async function makeFailures({ maker }) {
  await maker.query(
    `update debit_attempts set reason = ($1::text[])[1 + order_no % cardinality($1::text[])] where status = 'FAIL'`,
    [REASONS],
  );
  await maker.query(
    `with saved as materialized (
       select order_no, cycle_no from debit_attempts where status = 'SUCCESS' and order_no % 10 = 3
     ), again as (
       insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         started_at, settled_at, paid_at)
       select order_no, cycle_no, 2, channel_id, agreement_id, payment_channel_code, amount_cent, 'SUCCESS',
         started_at + interval '1 day', settled_at + interval '1 day', paid_at + interval '1 day'
       from debit_attempts join saved using (order_no, cycle_no)
     ), counted as (
       update payments p set attempts = 2 from saved s where p.order_no = s.order_no and p.cycle_no = s.cycle_no
     )
     update debit_attempts d set status = 'FAIL', reason = ($1::text[])[1 + d.order_no % cardinality($1::text[])], paid_at = null
     from saved s where d.order_no = s.order_no and d.cycle_no = s.cycle_no`,
    [REASONS],
  );
  // Updates the periods without a change, so that the service's own trigger records their failures.
  await maker.query(`update payments set status = status where status in ('FAIL', 'FAIL_RETRY')`);
  for (const table of ['debit_attempts', 'payments', 'failed_payments']) await maker.query(`vacuum analyze ${table}`);
}

export function readsOfFailures(operator, { appIds }) {
  const filters = {
    everything: () => ({}),
    'tried again': () => ({ status: 'FAIL_RETRY' }),
    'for good': () => ({ status: 'FAIL' }),
    'for a reason': (n) => ({ reason: REASONS[n % REASONS.length] }),
    'for a reason that none has': () => ({ reason: 'nobody says so' }),
    'of a channel': (n) => ({ appId: appIds[n % appIds.length] }),
    'tried again, of a channel': (n) => ({ appId: appIds[n % appIds.length], status: 'FAIL_RETRY' }),
    'of a product that nobody has': () => ({ productCode: 'NOBODY_S' }),
  };
  const entries = (kind, read) =>
    Object.entries(filters).map(([label, filter]) => ({ kind, label, read: read(filter) }));
  return [
    ...entries('failed', (filter) => (n) => listFailedPayments(operator, filter(n))),
    ...entries('failed, sums', (filter) => (n) => summarizeFailedPayments(operator, filter(n))),
  ];
}
