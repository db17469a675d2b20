import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  agreementStatuses,
  type OrderStatus,
  orderStatuses,
  type PaymentStatus,
  paymentStatuses,
} from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { AGREEMENT_TRANSITIONS } from '../../src/subscriptions/domain/agreements/agreement-states.js';
import {
  ENDED_ORDER_STATUSES,
  findOrderTransition,
  ORDER_TRANSITIONS,
  type OrderTrigger,
} from '../../src/subscriptions/domain/orders/order-states.js';
import {
  findPaymentTransition,
  PAYMENT_TRANSITIONS,
  type PaymentTrigger,
} from '../../src/subscriptions/domain/payments/payment-states.js';
import { packageRoot } from '../support/processes.js';

/**
 * The transitions of each status by trigger, with a star if channels are notified. Transitions that are not listed are
 * impossible.
 */
type Table<Status extends string, Trigger extends string> = Readonly<
  Record<Status | 'none', Readonly<Partial<Record<Trigger, string>>>>
>;

/** The orderStatus table of docs/interface.md, written down independently of the code. */
const ORDERS: Table<OrderStatus, OrderTrigger> = {
  none: { 'create-deduct': 'INITIALIZING', 'create-collect': 'ACTIVE*' },
  INITIALIZING: { 'first-debit-succeeded': 'ACTIVE*', 'first-debit-failed': 'TERMINATED*' },
  ACTIVE: { 'last-period-ended': 'COMPLETED*', unsubscribe: 'UNSUBSCRIBED*' },
  UNSUBSCRIBED: { unsubscribe: 'UNSUBSCRIBED' },
  COMPLETED: {},
  TERMINATED: { unsubscribe: 'TERMINATED' },
};

/** The paymentStatus table of docs/interface.md and decisions 0010 and 0016, written down independently of the code. */
const PAYMENTS: Table<PaymentStatus, PaymentTrigger> = {
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

// Records, so that the compiler reports a missing trigger.
const ORDER_TRIGGERS: Readonly<Record<OrderTrigger, true>> = {
  'create-deduct': true,
  'create-collect': true,
  'first-debit-succeeded': true,
  'first-debit-failed': true,
  'last-period-ended': true,
  unsubscribe: true,
};
const PAYMENT_TRIGGERS: Readonly<Record<PaymentTrigger, true>> = {
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

interface Row {
  readonly to: string;
  readonly emitsEvent: boolean;
}

function rowsOf<Status extends string, Trigger extends string>(
  table: Table<Status, Trigger>,
  triggers: Readonly<Record<Trigger, true>>,
  find: (from: Status | 'none', on: Trigger) => Row | undefined,
) {
  return (Object.keys(table) as (Status | 'none')[]).flatMap((from) =>
    (Object.keys(triggers) as Trigger[]).map((on) => [from, on, table[from][on] ?? '-', find(from, on)] as const),
  );
}

it.each([
  ...rowsOf(ORDERS, ORDER_TRIGGERS, findOrderTransition),
  ...rowsOf(PAYMENTS, PAYMENT_TRIGGERS, findPaymentTransition),
])('%s on %s: %s', (_from, _on, expected, row) => {
  expect(row === undefined ? '-' : `${row.to}${row.emitsEvent ? '*' : ''}`).toBe(expected);
});

it('an order has ended if no trigger changes its status', () => {
  const isFinal = (status: OrderStatus) => Object.values(ORDERS[status]).every((to) => to === status);
  expect(ENDED_ORDER_STATUSES).toEqual(orderStatuses.filter(isFinal));
});

const root = path.join(packageRoot, 'src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

describe('the tables of states', () => {
  const code = files
    .filter((file) => !file.endsWith('states.ts'))
    .map(read)
    .join('\n');

  it.each([
    ['orders', ORDER_TRANSITIONS],
    ['periods', PAYMENT_TRANSITIONS],
    ['agreements', AGREEMENT_TRANSITIONS],
  ])('of %s: everything in them is asked for by code, and no pair stands twice', (_noun, transitions) => {
    const pairs = transitions.map(({ from, on }) => `${from} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    const triggers = [...new Set(transitions.map(({ on }) => on))];
    expect(triggers.filter((on) => !code.includes(`'${on}'`))).toEqual([]);
  });

  it('are the source of all statuses in SQL: no statement names one itself', () => {
    // Leaves out statuses that attempts and refunds also have.
    const shared = ['SUCCESS', 'FAIL'];
    const words = [...orderStatuses, ...paymentStatuses, ...agreementStatuses].filter((word) => !shared.includes(word));
    const quoted = new RegExp(`'(${words.join('|')})'`);
    const texts = files
      .filter((file) => /^subscriptions\/(store|steps)|^engine|^settlement/.test(file))
      .flatMap((file) =>
        [...read(file).matchAll(/`[^`]*`/g)]
          .map(([text]) => text.replaceAll(/\$\{[^}]*\}/g, ''))
          .filter((text) => quoted.test(text))
          .map((text) => `${file}: ${quoted.exec(text)?.[0]}`),
      );
    expect(texts).toEqual([]);
  });
});
