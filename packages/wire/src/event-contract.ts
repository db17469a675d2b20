import type { OrderStatus, PaymentStatus, SettlementMode } from './enums.js';

export type ContractEvent =
  | { readonly eventType: 'payment.status.changed'; readonly status: PaymentStatus }
  | { readonly eventType: 'order.status.changed'; readonly status: OrderStatus };

export interface EventScenario<Name extends string = string> {
  readonly name: Name;
  readonly settlementMode: SettlementMode;
  /** The action that causes the events, in words for the documentation. */
  readonly when: string;
  /** The events, in the order of their first push. */
  readonly events: readonly ContractEvent[];
  /** The event sent last, once for each voided period, unless the channel has disabled these events. */
  readonly perVoidedPeriod?: ContractEvent;
}

const payment = (status: PaymentStatus): ContractEvent => ({ eventType: 'payment.status.changed', status });
const order = (status: OrderStatus): ContractEvent => ({ eventType: 'order.status.changed', status });

type MakeScenario = <Name extends string>(
  name: Name,
  when: string,
  events: readonly ContractEvent[],
) => EventScenario<Name>;

const deduct: MakeScenario = (name, when, events) => ({ name, settlementMode: 'SVC_DEDUCT', when, events });
const collect: MakeScenario = (name, when, events) => ({ name, settlementMode: 'CHANNEL_COLLECT', when, events });
const voiding = <Name extends string>(scenario: EventScenario<Name>): EventScenario<Name> => ({
  ...scenario,
  perVoidedPeriod: payment('CANCELED'),
});

/**
 * The status events that each action sends to a channel, in order. Tests check the service against this table, and the
 * webhook guide shows it. `payment.upcoming` is not included.
 */
export const EVENT_CONTRACT = [
  deduct('deduct-create-succeeded', 'orders/create, the first debit succeeds immediately', [
    payment('SUCCESS'),
    order('ACTIVE'),
  ]),
  deduct('deduct-create-failed', 'orders/create, the first debit fails immediately', [
    payment('FAIL'),
    order('TERMINATED'),
  ]),
  deduct('deduct-create-pending', 'orders/create, the first debit is PROCESSING', []),
  deduct('deduct-pending-succeeded', 'the first debit was PROCESSING and succeeds', [
    payment('SUCCESS'),
    order('ACTIVE'),
  ]),
  deduct('deduct-pending-failed', 'the first debit was PROCESSING and fails', [payment('FAIL'), order('TERMINATED')]),
  voiding(
    deduct(
      'deduct-pending-succeeded-agreement-ended',
      'the first debit was PROCESSING and succeeds, but the agreement has ended: unsubscribed automatically',
      [payment('SUCCESS'), order('ACTIVE'), order('UNSUBSCRIBED')],
    ),
  ),
  deduct('deduct-one-period', 'an order with one period, shortly after its creation', [order('COMPLETED')]),
  deduct('deduct-renewal-succeeded', 'a later period is debited', [payment('SUCCESS')]),
  deduct('deduct-renewal-postponed', 'the debit of a later period fails and will be retried', [payment('FAIL_RETRY')]),
  deduct('deduct-renewal-failed', 'the debit of a later period fails permanently', [payment('FAIL')]),
  deduct('deduct-retry-too-late', 'the next period falls due before a retry: the earlier one is given up', [
    payment('FAIL'),
  ]),
  deduct('deduct-last-succeeded', 'the last period is debited', [payment('SUCCESS'), order('COMPLETED')]),
  deduct('deduct-last-failed', 'the debit of the last period fails permanently', [payment('FAIL'), order('COMPLETED')]),
  deduct('deduct-last-retry-too-late', 'the last period ends before a retry: it is given up', [
    payment('FAIL'),
    order('COMPLETED'),
  ]),
  voiding(
    deduct(
      'deduct-agreement-invalid',
      'the debit of a later period fails because the agreement has ended: unsubscribed automatically',
      [payment('FAIL'), order('UNSUBSCRIBED')],
    ),
  ),
  deduct('deduct-refund-part', 'a period is partly refunded', [payment('REFUND_PART')]),
  deduct('deduct-refund-full', 'a period is fully refunded', [payment('REFUND_FULL')]),
  voiding(deduct('deduct-unsubscribe', 'the order is unsubscribed', [order('UNSUBSCRIBED')])),
  deduct('deduct-unsubscribed-succeeded', 'a debit that was in flight at the unsubscribe succeeds', [
    payment('SUCCESS'),
  ]),
  deduct('deduct-unsubscribed-failed', 'a debit that was in flight at the unsubscribe fails', [payment('FAIL')]),
  deduct('deduct-replace', 'agreements/replace', []),
  collect('collect-create', 'orders/create', [payment('BILLED'), order('ACTIVE')]),
  collect('collect-renewal', 'a later period is billed', [payment('BILLED')]),
  collect('collect-last', 'the last period is billed', [payment('BILLED'), order('COMPLETED')]),
  collect('collect-one-period', 'an order with one period, shortly after its creation', [order('COMPLETED')]),
  voiding(collect('collect-unsubscribe', 'the order is unsubscribed', [order('UNSUBSCRIBED')])),
] as const;

export type EventScenarioName = (typeof EVENT_CONTRACT)[number]['name'];
