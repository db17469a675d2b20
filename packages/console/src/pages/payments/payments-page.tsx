import { useFilters } from '../../address/filters.ts';
import { DebitList, RefundList } from './debit-list.tsx';
import { FailedPayments } from './failed-payments.tsx';

/** The debits one by one, the failed payments by reason, and the refunds. */
export default function PaymentsPage() {
  const { tab } = useFilters(['tab']).values;
  if (tab === 'failed') return <FailedPayments />;
  return tab === 'refunds' ? <RefundList /> : <DebitList />;
}
