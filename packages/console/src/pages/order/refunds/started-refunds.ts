import type { Period } from '../../../api/order-types.ts';

/** Returns the sum in cents of the refunds in a status. */
export const sumRefunds = (refunds: Period['refunds'], of: Period['refunds'][number]['status']): number =>
  refunds.reduce((sum, { status, amountCent }) => (status === of ? sum + amountCent : sum), 0);
