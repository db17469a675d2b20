import { type OrderStatus, orderStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import {
  ENDED_ORDER_STATUSES,
  findOrderTransition,
  ORDER_TRANSITIONS,
  type OrderTrigger,
} from '../../src/subscriptions/domain/orders/order-states.js';

/**
 * The interface's table of orderStatus, read from the document and not from the code. By state: what each trigger makes
 * of it, a star where channels hear of it. Whatever is not named cannot be.
 */
const TABLE: Readonly<Record<OrderStatus | 'none', Readonly<Partial<Record<OrderTrigger, string>>>>> = {
  none: { 'create-deduct': 'INITIALIZING', 'create-collect': 'ACTIVE*' },
  INITIALIZING: { 'first-debit-succeeded': 'ACTIVE*', 'first-debit-failed': 'TERMINATED*' },
  ACTIVE: { 'last-period-ended': 'COMPLETED*', unsubscribe: 'UNSUBSCRIBED*' },
  UNSUBSCRIBED: { unsubscribe: 'UNSUBSCRIBED' },
  COMPLETED: {},
  TERMINATED: { unsubscribe: 'TERMINATED' },
};

/** As a record, so that the compiler says when one is missing. */
const EVERY: Readonly<Record<OrderTrigger, true>> = {
  'create-deduct': true,
  'create-collect': true,
  'first-debit-succeeded': true,
  'first-debit-failed': true,
  'last-period-ended': true,
  unsubscribe: true,
};
const TRIGGERS = Object.keys(EVERY) as OrderTrigger[];
const STATES = ['none', ...orderStatuses] as const;

describe('orderStatus', () => {
  it.each(STATES.flatMap((from) => TRIGGERS.map((on) => [from, on, TABLE[from][on] ?? '-'] as const)))(
    '%s on %s: %s',
    (from, on, expected) => {
      const row = findOrderTransition(from, on);
      expect(row === undefined ? '-' : `${row.to}${row.emitsEvent ? '*' : ''}`).toBe(expected);
    },
  );

  it('no pair stands twice, and every row says where it was decided', () => {
    const pairs = ORDER_TRANSITIONS.map(({ from, on }) => `${from} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    for (const { basis } of ORDER_TRANSITIONS) expect(basis).toMatch(/^(interface|decision \d{4}): ./);
  });

  it('what is over stays over', () => {
    expect(ENDED_ORDER_STATUSES).toEqual(['UNSUBSCRIBED', 'COMPLETED', 'TERMINATED']);
    for (const from of ENDED_ORDER_STATUSES) {
      for (const on of TRIGGERS) expect(findOrderTransition(from, on)?.to ?? from).toBe(from);
    }
  });
});
