import { Stripe } from 'stripe';

const { StripeCardError, StripeInvalidRequestError, StripeError } = Stripe.errors;

/**
 * Stripe has looked at the request and did not do it (docs.stripe.com/api/errors). Everything else is unknown: no connection, no
 * answer, 5xx, 429; 401 and 403, which are the key's fault and not the payment's; and an Idempotency-Key of another request, since what that
 * one did `find…` will say.
 */
export function isRefusal(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof StripeCardError || error instanceof StripeInvalidRequestError;
}

/** The same request is being worked on at this moment: docs.stripe.com/error-codes#idempotency-key-in-use */
export function isUnderWay(error: unknown): boolean {
  return error instanceof StripeError && error.statusCode === 409;
}

/** docs.stripe.com/error-codes#resource-missing */
export function isMissing(error: unknown): boolean {
  return error instanceof StripeInvalidRequestError && (error.statusCode === 404 || error.code === 'resource_missing');
}
