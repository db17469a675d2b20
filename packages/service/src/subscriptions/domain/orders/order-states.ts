import { type OrderStatus, orderStatuses, Rejection } from '@perennial/wire';
import { createTransitions, type Transition } from '../transitions.js';

export type OrderTrigger =
  | 'create-deduct' // mode A: stored, and its first debit is sent
  | 'create-collect' // mode B
  | 'first-debit-succeeded'
  | 'first-debit-failed'
  | 'last-period-settled'
  | 'unsubscribe';

/** Who or what unsubscribed an order, in the words of docs/interface.md. */
export const UNSUBSCRIBE_SOURCES = {
  CHANNEL: 'the channel, by `orders/unsubscribe`',
  USER: 'the user, on the redemption page',
  OPERATIONS: 'an operator, who ends the order or its agreement',
  AGREEMENT_INVALID:
    'the service, when the institution says that the agreement has ended: by a notice, or declining a debit',
} as const;
export type UnsubscribeSource = keyof typeof UNSUBSCRIBE_SOURCES;

export interface OrderTransition extends Transition<OrderStatus, OrderTrigger> {
  /** Whether it sends order.status.changed. */
  readonly emitsEvent: boolean;
  /** The trigger in the words of docs/interface.md. */
  readonly when: string;
}

export const ORDER_TRANSITIONS: readonly OrderTransition[] = [
  { from: 'none', on: 'create-deduct', to: 'INITIALIZING', emitsEvent: false, when: '`orders/create`, A' },
  { from: 'none', on: 'create-collect', to: 'ACTIVE', emitsEvent: true, when: '`orders/create`, B' },
  {
    from: 'INITIALIZING',
    on: 'first-debit-succeeded',
    to: 'ACTIVE',
    emitsEvent: true,
    when: 'the first debit has succeeded',
  },
  {
    from: 'INITIALIZING',
    on: 'first-debit-failed',
    to: 'TERMINATED',
    emitsEvent: true,
    when: 'the first debit has failed',
  },
  {
    from: 'ACTIVE',
    on: 'last-period-settled',
    to: 'COMPLETED',
    emitsEvent: true,
    when: 'the payment of the last period is final, or the last period is billed',
  },
  { from: 'ACTIVE', on: 'unsubscribe', to: 'UNSUBSCRIBED', emitsEvent: true, when: 'unsubscribe' },
  {
    from: 'UNSUBSCRIBED',
    on: 'unsubscribe',
    to: 'UNSUBSCRIBED',
    emitsEvent: false,
    when: 'unsubscribe: nothing is left to end',
  },
  {
    from: 'TERMINATED',
    on: 'unsubscribe',
    to: 'TERMINATED',
    emitsEvent: false,
    when: 'unsubscribe: nothing is left to end',
  },
];

export const { find: findOrderTransition, require: requireOrderTransition } = createTransitions<
  OrderStatus,
  OrderTrigger,
  OrderTransition
>(ORDER_TRANSITIONS);

/** The properties of an order status that other code depends on. A new status must define all of them. */
interface OrderStatusFacts {
  /** True if no further debit or billing begins, and the status is final. */
  readonly hasEnded: boolean;
  /**
   * The code that rejects a request because the order has ended. Undefined for statuses in which an order has not
   * ended.
   */
  readonly refusedAs: 'SUBSCRIPTION_UNSUBSCRIBED' | 'SUBSCRIPTION_ALREADY_COMPLETED' | undefined;
}

export const ORDER_STATUS_FACTS: Readonly<Record<OrderStatus, OrderStatusFacts>> = {
  INITIALIZING: { hasEnded: false, refusedAs: undefined },
  ACTIVE: { hasEnded: false, refusedAs: undefined },
  UNSUBSCRIBED: { hasEnded: true, refusedAs: 'SUBSCRIPTION_UNSUBSCRIBED' },
  COMPLETED: { hasEnded: true, refusedAs: 'SUBSCRIPTION_ALREADY_COMPLETED' },
  TERMINATED: { hasEnded: true, refusedAs: 'SUBSCRIPTION_UNSUBSCRIBED' },
};

export const hasEnded = (status: OrderStatus): boolean => ORDER_STATUS_FACTS[status].hasEnded;

/** The conditions of the indexes `orders_ended` and `orders_ended_of_channel` must contain the same statuses. */
export const ENDED_ORDER_STATUSES = orderStatuses.filter(hasEnded);

/** The statuses of orders that may still be debited. An agreement with such an order is in use. */
export const DEBITABLE_ORDER_STATUSES = orderStatuses.filter((status) => !hasEnded(status));

export function requireNotEnded(status: OrderStatus): void {
  const { refusedAs } = ORDER_STATUS_FACTS[status];
  if (refusedAs) throw new Rejection(refusedAs);
}
