import { listFailedPayments, summarizeFailedPayments } from '../../dist/operator/payments/failed-payments.js';
import { DECLINE_KINDS, REASONS } from './orders.mjs';

export function readsOfFailures(operator, { appIds, anyApp, day }) {
  const filters = {
    everything: () => ({}),
    'tried again': () => ({ status: 'FAIL_RETRY' }),
    'for good': () => ({ status: 'FAIL' }),
    'for a reason': (n) => ({ reason: REASONS[n % REASONS.length] }),
    'for a reason that none has': () => ({ reason: 'nobody says so' }),
    'of a kind': (n) => ({ declineKind: DECLINE_KINDS[n % DECLINE_KINDS.length] }),
    'of a kind that none has': () => ({ declineKind: 'CARD_EXPIRED' }),
    'on a day': (n) => ({ from: day(20 + n), to: day(19 + n) }),
    'of a large channel': () => ({ appId: appIds[0] }),
    'of a channel': (n) => ({ appId: anyApp(n) }),
    'tried again, of a channel': (n) => ({ appId: anyApp(n), status: 'FAIL_RETRY' }),
    'of a product that nobody has': () => ({ productCode: 'NOBODY_S' }),
  };
  const entries = (kind, read) =>
    Object.entries(filters).map(([label, filter]) => ({ kind, label, read: read(filter) }));
  return [
    ...entries('failed', (filter) => (n) => listFailedPayments(operator, filter(n))),
    ...entries('failed, sums', (filter) => (n) => summarizeFailedPayments(operator, filter(n))),
  ];
}
