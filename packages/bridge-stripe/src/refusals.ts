import { Stripe } from 'stripe';

const { StripeCardError, StripeInvalidRequestError, StripeError } = Stripe.errors;

/**
 * Returns true if Stripe examined and refused the request (docs.stripe.com/api/errors). Any other error leaves the
 * outcome unknown: no response, 5xx, 429, 401, 403, or an idempotency key that was used with different parameters.
 * `findDebit` or `findRefund` then reports the outcome.
 */
export function isRefusal(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof StripeCardError || error instanceof StripeInvalidRequestError;
}

/** Returns true if the same request is in flight: docs.stripe.com/error-codes#idempotency-key-in-use */
export function isInFlight(error: unknown): boolean {
  return error instanceof StripeError && error.statusCode === 409;
}

/** docs.stripe.com/error-codes#resource-missing */
export function isMissing(error: unknown): boolean {
  return error instanceof StripeInvalidRequestError && (error.statusCode === 404 || error.code === 'resource_missing');
}
