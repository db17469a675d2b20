import type { OrderStatus } from '@perennial/wire';

/** What can happen to an order. */
export type OrderTrigger =
  | 'create-deduct' // mode A: written down, its first debit on the way
  | 'create-collect' // mode B
  | 'first-debit-succeeded'
  | 'first-debit-failed'
  | 'last-period-ended'
  | 'unsubscribe';

export interface OrderTransition {
  readonly from: OrderStatus | 'none';
  readonly on: OrderTrigger;
  readonly to: OrderStatus;
  /** Whether channels hear order.status.changed. */
  readonly tells: boolean;
  readonly basis: string;
}

/** Pairs that are not here do not happen: `orderAfter` gives nothing, and the caller says what that means. */
export const ORDER_TRANSITIONS: readonly OrderTransition[] = [
  { from: 'none', on: 'create-deduct', to: 'INITIALIZING', tells: false, basis: 'interface: creation, mode A' },
  { from: 'none', on: 'create-collect', to: 'ACTIVE', tells: true, basis: 'interface: creation, mode B' },
  { from: 'INITIALIZING', on: 'first-debit-succeeded', to: 'ACTIVE', tells: true, basis: 'interface: first debit' },
  { from: 'INITIALIZING', on: 'first-debit-failed', to: 'TERMINATED', tells: true, basis: 'interface: first debit' },
  { from: 'ACTIVE', on: 'last-period-ended', to: 'COMPLETED', tells: true, basis: 'interface: last period' },
  { from: 'ACTIVE', on: 'unsubscribe', to: 'UNSUBSCRIBED', tells: true, basis: 'interface: unsubscribe by state' },
  // Nothing is left to end: success, with the order as it is.
  {
    from: 'UNSUBSCRIBED',
    on: 'unsubscribe',
    to: 'UNSUBSCRIBED',
    tells: false,
    basis: 'interface: unsubscribe by state',
  },
  { from: 'TERMINATED', on: 'unsubscribe', to: 'TERMINATED', tells: false, basis: 'decision 0010: terminated stays' },
];

export function orderAfter(from: OrderStatus | 'none', on: OrderTrigger): OrderTransition | undefined {
  return ORDER_TRANSITIONS.find((row) => row.from === from && row.on === on);
}
