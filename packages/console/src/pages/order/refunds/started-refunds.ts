import type { Period } from '../../../api/order-types.ts';

/** Returns the sum in cents of the refunds that were sent to the institution and have no result yet. */
export const sumStarted = (refunds: Period['refunds']): number =>
  refunds.reduce((sum, { status, amountCent }) => (status === 'STARTED' ? sum + amountCent : sum), 0);
