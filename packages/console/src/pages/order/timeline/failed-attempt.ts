import type { Attempt, Period } from '../../../api/order-types.ts';

const UNPAID = new Set(['FAIL_RETRY', 'FAIL', 'PROCESSING']);

/** Returns the latest failed attempt of a period that is not paid. The attempt says why the debit failed. */
export const findFailedAttempt = ({
  paymentStatus,
  attempts,
}: Pick<Period, 'paymentStatus' | 'attempts'>): Attempt | undefined =>
  UNPAID.has(paymentStatus)
    ? attempts.filter(({ status }) => status === 'FAIL').toSorted((a, b) => b.tryNo - a.tryNo)[0]
    : undefined;
