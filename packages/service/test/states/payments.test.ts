import { type PaymentStatus, paymentStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import {
  findPaymentTransition,
  PAYMENT_TRANSITIONS,
  type PaymentTrigger,
} from '../../src/subscriptions/domain/payments/payment-states.js';

/**
 * The interface's table of paymentStatus and decisions 0010 and 0016, read from there and not from the code. By state: what
 * each trigger makes of it, a star where channels hear of it. Whatever is not named cannot be.
 */
const TABLE: Readonly<Record<PaymentStatus | 'none', Readonly<Partial<Record<PaymentTrigger, string>>>>> = {
  none: { 'first-debit-started': 'PROCESSING', billed: 'BILLED*' },
  WAIT: { 'renewal-started': 'PROCESSING', billed: 'BILLED*', unsubscribe: 'CANCELED*' },
  PROCESSING: { 'debit-succeeded': 'SUCCESS*', 'debit-failed': 'FAIL*', 'debit-failed-for-now': 'FAIL_RETRY*' },
  SUCCESS: { 'refunded-in-part': 'REFUND_PART*', 'refunded-in-full': 'REFUND_FULL*' },
  FAIL_RETRY: {
    'renewal-started': 'PROCESSING',
    'retry-too-late': 'FAIL*',
    'debit-succeeded': 'SUCCESS*',
    unsubscribe: 'CANCELED*',
  },
  FAIL: {},
  BILLED: {},
  CANCELED: {},
  REFUND_PART: { 'refunded-in-part': 'REFUND_PART*', 'refunded-in-full': 'REFUND_FULL*' },
  REFUND_FULL: {},
};

/** As a record, so that the compiler says when one is missing. */
const EVERY: Readonly<Record<PaymentTrigger, true>> = {
  'first-debit-started': true,
  'renewal-started': true,
  billed: true,
  'debit-succeeded': true,
  'debit-failed': true,
  'debit-failed-for-now': true,
  'retry-too-late': true,
  unsubscribe: true,
  'refunded-in-part': true,
  'refunded-in-full': true,
};
const TRIGGERS = Object.keys(EVERY) as PaymentTrigger[];
const STATES = ['none', ...paymentStatuses] as const;

describe('paymentStatus', () => {
  it.each(STATES.flatMap((from) => TRIGGERS.map((on) => [from, on, TABLE[from][on] ?? '-'] as const)))(
    '%s on %s: %s',
    (from, on, expected) => {
      const row = findPaymentTransition(from, on);
      expect(row === undefined ? '-' : `${row.to}${row.emitsEvent ? '*' : ''}`).toBe(expected);
    },
  );

  it('no pair stands twice, and every row says where it was decided', () => {
    const pairs = PAYMENT_TRANSITIONS.map(({ from, on }) => `${from} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    for (const { basis } of PAYMENT_TRANSITIONS) expect(basis).toMatch(/^(interface|decision \d{4}): ./);
  });

  it('money that was billed or is gone is never touched by an unsubscribe or a replace', () => {
    for (const from of ['PROCESSING', 'SUCCESS', 'FAIL', 'BILLED', 'CANCELED', 'REFUND_PART', 'REFUND_FULL'] as const) {
      expect(findPaymentTransition(from, 'unsubscribe')).toBeUndefined();
    }
  });
});
