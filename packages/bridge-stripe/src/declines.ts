import type { DebitResult, DeclineKind } from '@perennial/bridge-kit';

type Declined = Extract<DebitResult, { readonly status: 'DECLINED' }>;
type Row = readonly [Declined['decline'], DeclineKind, string];

/**
 * The declines, their kinds and the reasons for Stripe's known codes. Card codes are from docs.stripe.com/declines/codes, others
 * from docs.stripe.com/error-codes. Codes that Stripe itself does not retry without a new payment method are not
 * retried here either (docs.stripe.com/billing/revenue-recovery/smart-retries#non-retryable-decline-codes).
 */
const DECLINES: Readonly<Record<string, Row>> = {
  // A debit on another day can succeed.
  insufficient_funds: ['RETRYABLE', 'INSUFFICIENT_FUNDS', 'insufficient funds'],
  card_velocity_exceeded: ['RETRYABLE', 'LIMIT_EXCEEDED', 'a limit of the card is used up for now'],
  withdrawal_count_limit_exceeded: ['RETRYABLE', 'LIMIT_EXCEEDED', 'a limit of the card is used up for now'],
  card_decline_rate_limit_exceeded: [
    'RETRYABLE',
    'LIMIT_EXCEEDED',
    'declined too often lately; Stripe takes the card again after 24 hours',
  ],
  // Temporary failures.
  issuer_not_available: ['RETRYABLE', 'INSTITUTION_UNAVAILABLE', "the card's bank could not be reached"],
  processing_error: ['RETRYABLE', 'TECHNICAL', 'an error while the card was processed'],
  reenter_transaction: ['RETRYABLE', 'TECHNICAL', "the card's bank could not process it and asks for a retry"],
  try_again_later: ['RETRYABLE', 'INSTITUTION_UNAVAILABLE', "the card's bank asks for a retry later"],
  approve_with_id: ['RETRYABLE', 'TECHNICAL', 'it could not be authorized; Stripe advises a retry'],
  payment_method_provider_timeout: [
    'RETRYABLE',
    'INSTITUTION_UNAVAILABLE',
    'the payment method gave no answer in time',
  ],
  payment_intent_payment_attempt_expired: ['RETRYABLE', 'TECHNICAL', 'the attempt was not completed in time'],
  // Banks use these codes for temporary and for permanent reasons, so a retry is worthwhile.
  generic_decline: ['RETRYABLE', 'OTHER', "the card's bank gave no reason"],
  do_not_honor: ['RETRYABLE', 'OTHER', "the card's bank gave no reason"],
  no_action_taken: ['RETRYABLE', 'OTHER', "the card's bank gave no reason"],
  call_issuer: ['RETRYABLE', 'OTHER', "the card's bank gave no reason"],
  card_declined: ['RETRYABLE', 'OTHER', 'declined without a reason'],
  payment_method_provider_decline: ['RETRYABLE', 'OTHER', 'declined by the payment method without a reason'],
  payment_intent_payment_attempt_failed: ['RETRYABLE', 'OTHER', 'the attempt failed without a reason'],

  // The customer would have to act first, but is not present when a debit is made.
  authentication_required: [
    'FINAL',
    'NOT_PERMITTED',
    'the customer has to authenticate, which cannot be done off session',
  ],
  authentication_not_handled: [
    'FINAL',
    'NOT_PERMITTED',
    'the customer has to authenticate, which cannot be done off session',
  ],
  mobile_device_authentication_required: [
    'FINAL',
    'NOT_PERMITTED',
    'the customer has to authenticate, which cannot be done off session',
  ],
  payment_intent_authentication_failure: ['FINAL', 'NOT_PERMITTED', 'the customer did not authenticate'],
  payment_intent_action_required: [
    'FINAL',
    'NOT_PERMITTED',
    'the customer has to authenticate, which cannot be done off session',
  ],
  offline_pin_required: ['FINAL', 'NOT_PERMITTED', 'the card wants its PIN, which cannot be given off session'],
  online_or_offline_pin_required: [
    'FINAL',
    'NOT_PERMITTED',
    'the card wants its PIN, which cannot be given off session',
  ],
  incorrect_pin: ['FINAL', 'WRONG_DETAILS', 'a wrong PIN'],
  invalid_pin: ['FINAL', 'WRONG_DETAILS', 'a wrong PIN'],
  pin_try_exceeded: ['FINAL', 'WRONG_DETAILS', 'too many wrong PINs'],
  payment_method_customer_decline: ['FINAL', 'AGREEMENT_ENDED', 'the customer refused it'],
  // A retry gets the same answer. The card network may update a replaced card before the next period.
  expired_card: ['FINAL', 'CARD_EXPIRED', 'the card has expired'],
  expired_payment_method: ['FINAL', 'CARD_EXPIRED', 'the payment method has expired'],
  new_account_information_available: ['FINAL', 'WRONG_DETAILS', 'the card was replaced'],
  incorrect_cvc: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  invalid_cvc: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  incorrect_zip: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  incorrect_address: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  incorrect_postal_code: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  invalid_expiry_month: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  invalid_expiry_year: ['FINAL', 'WRONG_DETAILS', 'wrong card data'],
  card_not_supported: ['FINAL', 'NOT_PERMITTED', 'the card cannot be used for such a purchase'],
  currency_not_supported: ['FINAL', 'NOT_PERMITTED', 'the card cannot pay in this currency'],
  payment_method_currency_mismatch: ['FINAL', 'NOT_PERMITTED', 'the payment method cannot pay in this currency'],
  not_permitted: ['FINAL', 'NOT_PERMITTED', 'the payment is not permitted'],
  transaction_not_allowed: ['FINAL', 'NOT_PERMITTED', "the card's bank does not allow such a purchase"],
  service_not_allowed: ['FINAL', 'NOT_PERMITTED', "the card's bank does not allow such a purchase"],
  security_violation: ['FINAL', 'SUSPECTED_FRAUD', "the card's bank suspects something"],
  restricted_card: ['FINAL', 'NOT_PERMITTED', 'the card is restricted'],
  payment_method_restricted: ['FINAL', 'NOT_PERMITTED', 'the payment method is restricted'],
  do_not_try_again: ['FINAL', 'OTHER', "the card's bank does not want another try"],
  stop_payment_order: ['FINAL', 'AGREEMENT_ENDED', 'the customer had this payment stopped at the bank'],
  refer_to_customer: ['FINAL', 'AGREEMENT_ENDED', 'the customer had this payment stopped at the bank'],
  duplicate_transaction: ['FINAL', 'TECHNICAL', 'the same amount was just taken from the same card'],
  fraudulent: ['FINAL', 'SUSPECTED_FRAUD', 'Stripe suspects fraud'],
  highest_risk_level: ['FINAL', 'SUSPECTED_FRAUD', 'Stripe suspects fraud'],
  merchant_blacklist: ['FINAL', 'SUSPECTED_FRAUD', "it is on the account's block list"],
  // The amount, the key or the kind of payment method is wrong.
  invalid_amount: ['FINAL', 'LIMIT_EXCEEDED', 'an amount that the card does not take'],
  amount_too_small: ['FINAL', 'LIMIT_EXCEEDED', "less than Stripe's minimum"],
  amount_too_large: ['FINAL', 'LIMIT_EXCEEDED', "more than Stripe's maximum"],
  invalid_charge_amount: ['FINAL', 'LIMIT_EXCEEDED', 'an amount that Stripe does not take'],
  testmode_decline: ['FINAL', 'TECHNICAL', 'a test card with a live key'],
  payment_intent_incompatible_payment_method: ['FINAL', 'TECHNICAL', 'such a payment method cannot be debited so'],
  payment_method_unsupported_type: ['FINAL', 'TECHNICAL', 'such a payment method cannot be debited so'],

  // The customer's consent has ended, or the customer's payment method no longer exists.
  revocation_of_authorization: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the customer revoked the consent at the bank'],
  revocation_of_all_authorizations: [
    'AGREEMENT_INVALID',
    'AGREEMENT_ENDED',
    'the customer revoked every consent at the bank',
  ],
  debit_not_authorized: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the customer told the bank that there is no consent'],
  payment_intent_mandate_invalid: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the mandate has ended'],
  billing_invalid_mandate: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the mandate has ended'],
  india_recurring_payment_mandate_canceled: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the mandate was canceled'],
  lost_card: ['AGREEMENT_INVALID', 'CARD_LOST', 'the card was reported lost'],
  stolen_card: ['AGREEMENT_INVALID', 'CARD_LOST', 'the card was reported stolen'],
  pickup_card: ['AGREEMENT_INVALID', 'CARD_LOST', 'the card is blocked'],
  invalid_account: ['AGREEMENT_INVALID', 'ACCOUNT_CLOSED', 'there is no such account'],
  account_closed: ['AGREEMENT_INVALID', 'ACCOUNT_CLOSED', 'the account was closed'],
  no_account: ['AGREEMENT_INVALID', 'ACCOUNT_CLOSED', 'there is no such account'],
  incorrect_number: ['AGREEMENT_INVALID', 'WRONG_DETAILS', 'there is no such card'],
  invalid_number: ['AGREEMENT_INVALID', 'WRONG_DETAILS', 'there is no such card'],
  resource_missing: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'Stripe has no such customer or payment method'],
  payment_method_unexpected_state: ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the payment method is detached'],
};

/** Used for unlisted codes and refusals without a code: their cause may be neither the customer nor the agreement. */
const UNKNOWN: Row = ['RETRYABLE', 'OTHER', 'declined'];

/** Values of the bank's `advice_code` that forbid a retry: docs.stripe.com/declines/card#retrying-issuer-declines */
const ADVICE_AGAINST = ['do_not_try_again', 'confirm_card_data'];

/** Stripe's description of a failed payment: a request's error, or the last error of a PaymentIntent. */
export interface Failure {
  readonly code?: string | undefined;
  readonly decline_code?: string | undefined;
  readonly advice_code?: string | undefined;
}

export function toDeclined(failure: Failure): Declined {
  const named = [failure.decline_code, failure.code].filter((code) => code !== undefined && code !== '');
  const code = named.find((one) => one !== undefined && Object.hasOwn(DECLINES, one)) ?? named[0];
  const [decline, declineKind, reason] = (code !== undefined && DECLINES[code]) || UNKNOWN;
  const isAdvisedAgainst = ADVICE_AGAINST.includes(failure.advice_code ?? '');
  return {
    status: 'DECLINED',
    decline: decline === 'RETRYABLE' && isAdvisedAgainst ? 'FINAL' : decline,
    declineKind,
    reason: code === undefined ? reason : `${reason} (${code})`,
  };
}

export function hasRule(code: string | undefined): boolean {
  return code !== undefined && Object.hasOwn(DECLINES, code);
}
