// The texts that users read: states, prices and errors.
import { isPerennialError, parseTime } from 'perennial-channel';

/** [words, tone] */
export const ORDER_WORDS = {
  INITIALIZING: ['Waiting for the bank', 'wait'],
  ACTIVE: ['Active', 'good'],
  UNSUBSCRIBED: ['Ended', 'quiet'],
  COMPLETED: ['Completed', 'quiet'],
  TERMINATED: ['Declined', 'bad'],
};

export const PERIOD_WORDS = {
  WAIT: ['To come', 'quiet'],
  PROCESSING: ['Under way', 'wait'],
  SUCCESS: ['Paid', 'good'],
  BILLED: ['Billed', 'good'],
  FAIL_RETRY: ['Trying again', 'wait'],
  FAIL: ['Failed', 'bad'],
  CANCELED: ['Cancelled', 'quiet'],
  REFUND_PART: ['Refunded in part', 'quiet'],
  REFUND_FULL: ['Refunded', 'quiet'],
};

const LATER = 'This cannot be done at the moment. Please try again in a minute.';

const ERROR_WORDS = {
  AGREEMENT_NOT_BOUND: 'Your card is not connected any more. Please add it again.',
  BIND_ORDER_CLOSED: 'This card needs a new code. Please have one sent.',
  SMS_CODE_EXPIRED: 'This code is no longer good. Please have a new one sent.',
  SMS_TOO_FREQUENT: 'A code was sent a moment ago. Please wait a minute.',
  BANK_NOT_SUPPORTED: 'Cards of this bank cannot be used here.',
  PARAM_INVALID: 'Something in the form is not right. Please check it.',
  IDEMPOTENCY_CONFLICT: 'This form was sent before with something else in it. Please try again.',
  SUBSCRIPTION_FIRST_PAYMENT_PENDING: 'The bank has not answered yet. The subscription can be ended once it has.',
  SUBSCRIPTION_ALREADY_COMPLETED: 'This subscription has come to its end already.',
  SUBSCRIPTION_UNSUBSCRIBED: 'This subscription has been ended already.',
  PRODUCT_NOT_AUTHORIZED: 'This is not sold here any more.',
  RATE_LIMITED: LATER,
  INTERNAL_ERROR: LATER,
  UNAVAILABLE: LATER,
};

/** Returns the SDK's error as text for the user, and the details for support. */
export function explain(error) {
  const { requestId, endpoint, attempts } = error;
  if (isPerennialError(error)) {
    const words = ERROR_WORDS[error.name] ?? 'Sorry, this did not work. Our support can help, with the number below.';
    return { words, requestId, detail: `${endpoint} answered ${error.code} ${error.name}` };
  }
  if (requestId === undefined) throw error;
  return { words: LATER, requestId, detail: `${endpoint} has no answer after ${attempts} tries: ${error.reason}` };
}

/** The currency of the service; its OpenAPI document states it as x-currency. */
const currency = process.env.CURRENCY || 'CNY';
const currencyDisplay = currency === 'CNY' ? 'narrowSymbol' : 'symbol';
const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency, currencyDisplay, useGrouping: false });
export const price = (cents) => format.format(cents / 100);

export function cycles({ period, periodType, totalCycles }) {
  const unit = periodType === 'MONTH' ? 'month' : 'day';
  return `every ${period === 1 ? unit : `${period} ${unit}s`}, ${totalCycles} times`;
}

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'Asia/Shanghai' });

/** Formats a time as the service writes it, in UTC+8, as a date. */
export const date = (time) => (time === null ? '' : DATE.format(parseTime(time)));
