import type { DebitResult, DeclineKind } from '@perennial/bridge-kit';

type Declined = Extract<DebitResult, { readonly status: 'DECLINED' }>;
type Row = readonly [Declined['decline'], DeclineKind, string];

/**
 * Meanings of `sub_code` in a 40004 response to alipay.trade.pay: see "业务错误码" in
 * https://opendocs.alipay.com/open/38d751b1_alipay.trade.pay, which includes periodic debits (ACQ.CYCLE_PAY_…,
 * ACQ.AGREEMENT_…).
 */
const DEBIT_CODES: Readonly<Record<string, Row>> = {
  // The user can correct these problems, or they disappear with time.
  'ACQ.BUYER_BALANCE_NOT_ENOUGH': ['RETRYABLE', 'INSUFFICIENT_FUNDS', 'insufficient balance'],
  'ACQ.BUYER_BANKCARD_BALANCE_NOT_ENOUGH': ['RETRYABLE', 'INSUFFICIENT_FUNDS', 'insufficient balance on the bank card'],
  'ACQ.NO_PAYMENT_INSTRUMENTS_AVAILABLE': ['RETRYABLE', 'NOT_PERMITTED', 'the user has no usable payment method'],
  'ACQ.ERROR_BALANCE_PAYMENT_DISABLE': [
    'RETRYABLE',
    'NOT_PERMITTED',
    'the user has switched off payments from the balance',
  ],
  'ACQ.MOBILE_PAYMENT_SWITCH_OFF': ['RETRYABLE', 'NOT_PERMITTED', 'the user has switched off mobile payments'],
  'ACQ.BUYER_PAYMENT_AMOUNT_DAY_LIMIT_ERROR': ['RETRYABLE', 'LIMIT_EXCEEDED', 'the user’s limit for a day is reached'],
  'ACQ.BUYER_PAYMENT_AMOUNT_MONTH_LIMIT_ERROR': [
    'RETRYABLE',
    'LIMIT_EXCEEDED',
    'the user’s limit for a month is reached',
  ],
  'ACQ.PAYMENT_FAIL': ['RETRYABLE', 'OTHER', 'the payment failed'],
  'ACQ.PAYMENT_REQUEST_HAS_RISK': ['RETRYABLE', 'SUSPECTED_FRAUD', 'Alipay sees a risk in this payment'],
  'ACQ.ENTERPRISE_PAY_BIZ_ERROR': ['RETRYABLE', 'NOT_PERMITTED', 'the enterprise that pays did not agree'],
  // The agreement allows no debit today. A retry in the same cycle may fall on an allowed day.
  'ACQ.CYCLE_PAY_DATE_NOT_MATCH': [
    'RETRYABLE',
    'NOT_PERMITTED',
    'today is not a day on which the agreement allows a debit, or this cycle was paid already',
  ],
  // Problems of the merchant's account: they affect every debit until the merchant corrects them or a limit is renewed.
  'ACQ.BEYOND_PAY_RESTRICTION': ['RETRYABLE', 'TECHNICAL', 'the merchant’s limit is reached'],
  'ACQ.BEYOND_PER_RECEIPT_RESTRICTION': ['RETRYABLE', 'TECHNICAL', 'the merchant’s limit for a month is reached'],
  'ACQ.BEYOND_PER_RECEIPT_DAY_RESTRICTION': ['RETRYABLE', 'TECHNICAL', 'the merchant’s limit for a day is reached'],
  'ACQ.MERCHANT_PERM_RECEIPT_DAY_LIMIT': ['RETRYABLE', 'TECHNICAL', 'the merchant’s limit for a day is reached'],
  'ACQ.MERCHANT_PERM_RECEIPT_SUSPEND_LIMIT': [
    'RETRYABLE',
    'TECHNICAL',
    'the merchant may take no payments for the time being',
  ],
  'ACQ.MERCHANT_STATUS_NOT_NORMAL': ['RETRYABLE', 'TECHNICAL', 'the merchant has to be activated again'],
  'ACQ.SELLER_BEEN_BLOCKED': ['RETRYABLE', 'TECHNICAL', 'the merchant’s account is frozen'],
  'ACQ.MERCHANT_AGREEMENT_INVALID': ['RETRYABLE', 'TECHNICAL', 'the merchant’s contract with Alipay has ended'],
  'ACQ.MERCHANT_AGREEMENT_NOT_EXIST': ['RETRYABLE', 'TECHNICAL', 'the merchant has no contract for periodic debits'],
  'ACQ.ACCESS_FORBIDDEN': ['RETRYABLE', 'TECHNICAL', 'the merchant has no contract for periodic debits'],
  'ACQ.PARTNER_ERROR': ['RETRYABLE', 'TECHNICAL', 'the app id is not right'],
  // A retry of the debit in the same period would fail too.
  'ACQ.CYCLE_PAY_SINGLE_FEE_EXCEED': [
    'FINAL',
    'LIMIT_EXCEEDED',
    'the amount is more than single_amount of the agreement',
  ],
  'ACQ.TOTAL_FEE_EXCEED': ['FINAL', 'LIMIT_EXCEEDED', 'the amount is more than Alipay takes'],
  'ACQ.PRODUCT_AMOUNT_LIMIT_ERROR': ['FINAL', 'LIMIT_EXCEEDED', 'the amount is more than the product allows'],
  'ACQ.BEYOND_PER_RECEIPT_SINGLE_RESTRICTION': [
    'FINAL',
    'TECHNICAL',
    'the amount is more than the merchant may take at once',
  ],
  'ACQ.MERCHANT_PERM_RECEIPT_SINGLE_LIMIT': [
    'FINAL',
    'TECHNICAL',
    'the amount is more than the merchant may take at once',
  ],
  'ACQ.RESTRICTED_MERCHANT_INDUSTRY': ['FINAL', 'TECHNICAL', 'the amount is more than the merchant’s trade allows'],
  'ACQ.BUYER_SELLER_EQUAL': ['FINAL', 'NOT_PERMITTED', 'the user is the merchant'],
  'ACQ.BUYER_ENABLE_STATUS_FORBID': ['FINAL', 'ACCOUNT_CLOSED', 'the user’s account may not pay'],
  'ACQ.ERROR_BUYER_CERTIFY_LEVEL_LIMIT': ['FINAL', 'NOT_PERMITTED', 'the user has not proved who they are'],
  'ACQ.NOT_CERTIFIED_USER': ['FINAL', 'NOT_PERMITTED', 'the user has not proved who they are'],
  'ACQ.EXIST_FORBIDDEN_WORD': ['FINAL', 'TECHNICAL', 'the subject has a word that Alipay forbids'],
  'ACQ.INVALID_PARAMETER': ['FINAL', 'TECHNICAL', 'Alipay does not take a field of the debit'],
  // No debit on this agreement can ever succeed.
  'ACQ.AGREEMENT_NOT_EXIST': ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the agreement does not exist or was ended'],
  'ACQ.AGREEMENT_INVALID': ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the agreement has ended'],
  'ACQ.AGREEMENT_STATUS_NOT_NORMAL': ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the agreement is not in force'],
  'ACQ.AGREEMENT_ERROR': ['AGREEMENT_INVALID', 'AGREEMENT_ENDED', 'the agreement is invalid'],
  'ACQ.CYCLE_PAY_TOTAL_FEE_EXCEED': [
    'AGREEMENT_INVALID',
    'LIMIT_EXCEEDED',
    'the total_amount of the agreement is used up',
  ],
  'ACQ.CYCLE_PAY_TOTAL_TIMES_EXCEED': [
    'AGREEMENT_INVALID',
    'LIMIT_EXCEEDED',
    'the total_payments of the agreement are used up',
  ],
  'ACQ.BUYER_NOT_EXIST': ['AGREEMENT_INVALID', 'ACCOUNT_CLOSED', 'the user has no account any more'],
};

/**
 * Returns the decline. An unlisted code is certainly a failure too, but its cause is unknown. It counts as RETRYABLE,
 * because a needless retry costs least.
 */
export function toDecline(subCode: string, words: string): Declined {
  const [decline, declineKind, meaning] = DEBIT_CODES[subCode] ?? (['RETRYABLE', 'OTHER', words] as const);
  return { status: 'DECLINED', decline, declineKind, reason: `${meaning} (${subCode})` };
}

/** Codes for a trade number that was used before. The bridge queries the outcome of that trade. */
export const OUTCOME_UNKNOWN_CODES: ReadonlySet<string> = new Set([
  'ACQ.TRADE_HAS_SUCCESS',
  'ACQ.TRADE_HAS_CLOSE',
  'ACQ.TRADE_STATUS_ERROR',
  'ACQ.CONTEXT_INCONSISTENT',
  'ACQ.TRADE_BUYER_NOT_MATCH',
]);

/**
 * Codes of alipay.trade.refund (https://opendocs.alipay.com/open/6c0cdd7d_alipay.trade.refund). Unlisted codes are
 * reported in Alipay's words.
 */
const REFUND_CODES: Readonly<Record<string, string>> = {
  'ACQ.TRADE_NOT_EXIST': 'the debit does not exist',
  'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL': 'the amount is more than was debited',
  'ACQ.REASON_TRADE_REFUND_FEE_ERR': 'the amount is more than is left of the debit',
  'ACQ.REFUND_FEE_ERROR': 'the amount is invalid',
  'ACQ.SELLER_BALANCE_NOT_ENOUGH': 'the merchant’s balance is not enough: top it up and refund again',
  'ACQ.TRADE_HAS_FINISHED': 'the time for refunds is over',
  'ACQ.TRADE_NOT_ALLOW_REFUND': 'this debit cannot be refunded',
  'ACQ.TRADE_STATUS_ERROR': 'the debit has not succeeded, or all of it was refunded',
  'ACQ.REASON_TRADE_BEEN_FREEZEN': 'the debit is frozen: ask Alipay',
  'ACQ.NOT_ALLOW_PARTIAL_REFUND': 'this debit can only be refunded as a whole',
};

export const toRefusal = (subCode: string, words: string): string => `${REFUND_CODES[subCode] ?? words} (${subCode})`;

/** Codes that mean the agreement has already ended: https://docs.open.alipay.com/api_2/alipay.user.agreement.unsign. */
export const ALREADY_UNSIGNED: ReadonlySet<string> = new Set([
  'USER_AGREEMENT_NOT_EXIST',
  'AGREEMENT_HAS_UNSIGNED',
  'ACQ.AGREEMENT_NOT_EXIST',
  'ACQ.USER_AGREEMENT_NOT_EXIST',
]);
