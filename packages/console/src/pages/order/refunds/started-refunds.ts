import type { Period } from '../../../api/order-types.ts';

/** What was sent to the institution to be refunded, and has no result yet. */
export const sumStarted = (refunds: Period['refunds']): number =>
  refunds.reduce((sum, { status, amountCent }) => (status === 'STARTED' ? sum + amountCent : sum), 0);
