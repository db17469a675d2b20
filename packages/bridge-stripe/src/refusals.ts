import { Stripe } from 'stripe';

const { StripeCardError, StripeInvalidRequestError, StripeError } = Stripe.errors;

/**
 * Returns true if Stripe examined the request and refused it (docs.stripe.com/api/errors). All other errors are
 * unknown: no connection, no response, 5xx, 429. So are 401 and 403, the key's fault, and an Idempotency-Key of another
 * request, whose outcome `find…` reports.
 */
export function isRefusal(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof StripeCardError || error instanceof StripeInvalidRequestError;
}

/** The same request is in flight: docs.stripe.com/error-codes#idempotency-key-in-use */
export function isInFlight(error: unknown): boolean {
  return error instanceof StripeError && error.statusCode === 409;
}

/** docs.stripe.com/error-codes#resource-missing */
export function isMissing(error: unknown): boolean {
  return error instanceof StripeInvalidRequestError && (error.statusCode === 404 || error.code === 'resource_missing');
}
