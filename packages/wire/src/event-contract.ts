import type { OrderStatus, PaymentStatus, SettlementMode } from './enums.js';

/** One event: what changed, and to which status. */
export type ContractEvent =
  | { readonly eventType: 'payment.status.changed'; readonly status: PaymentStatus }
  | { readonly eventType: 'order.status.changed'; readonly status: OrderStatus };

export interface EventScenario {
  readonly name: string;
  readonly settlementMode: SettlementMode;
  /** What happens, as the documentation says it. */
  readonly when: string;
  /** In the order in which they are first pushed. */
  readonly events: readonly ContractEvent[];
  /** After those, one for each period that is voided, unless the channel has switched them off. */
  readonly perVoidedPeriod?: ContractEvent;
}

const payment = (status: PaymentStatus): ContractEvent => ({ eventType: 'payment.status.changed', status });
const order = (status: OrderStatus): ContractEvent => ({ eventType: 'order.status.changed', status });

/**
 * Which events a channel is sent after each action, in which order and how many. Tests and the documentation are checked
 * against it.
 */
export const EVENT_CONTRACT = [
  {
    name: 'deduct-create-succeeded',
    settlementMode: 'SVC_DEDUCT',
    when: 'orders/create, the first debit succeeds at once',
    events: [payment('SUCCESS'), order('ACTIVE')],
  },
  {
    name: 'deduct-create-failed',
    settlementMode: 'SVC_DEDUCT',
    when: 'orders/create, the first debit fails at once',
    events: [payment('FAIL'), order('TERMINATED')],
  },
  {
    name: 'deduct-create-pending',
    settlementMode: 'SVC_DEDUCT',
    when: 'orders/create, the first debit is PROCESSING',
    events: [],
  },
  {
    name: 'deduct-pending-succeeded',
    settlementMode: 'SVC_DEDUCT',
    when: 'the first debit was PROCESSING and succeeds',
    events: [payment('SUCCESS'), order('ACTIVE')],
  },
  {
    name: 'deduct-pending-failed',
    settlementMode: 'SVC_DEDUCT',
    when: 'the first debit was PROCESSING and fails',
    events: [payment('FAIL'), order('TERMINATED')],
  },
  {
    name: 'deduct-pending-succeeded-agreement-ended',
    settlementMode: 'SVC_DEDUCT',
    when: 'the first debit was PROCESSING and succeeds, but the agreement has ended meanwhile: unsubscribed automatically',
    events: [payment('SUCCESS'), order('ACTIVE'), order('UNSUBSCRIBED')],
    perVoidedPeriod: payment('CANCELED'),
  },
  {
    name: 'deduct-one-period',
    settlementMode: 'SVC_DEDUCT',
    when: 'an order of a single period, soon after its creation',
    events: [order('COMPLETED')],
  },
  {
    name: 'deduct-renewal-succeeded',
    settlementMode: 'SVC_DEDUCT',
    when: 'a later period is debited',
    events: [payment('SUCCESS')],
  },
  {
    name: 'deduct-renewal-postponed',
    settlementMode: 'SVC_DEDUCT',
    when: 'a later period could not be debited, and is tried again',
    events: [payment('FAIL_RETRY')],
  },
  {
    name: 'deduct-renewal-failed',
    settlementMode: 'SVC_DEDUCT',
    when: 'a later period could not be debited for good',
    events: [payment('FAIL')],
  },
  {
    name: 'deduct-retry-too-late',
    settlementMode: 'SVC_DEDUCT',
    when: 'a later period was to be tried again, but the next one came first: it is not',
    events: [payment('FAIL')],
  },
  {
    name: 'deduct-last-succeeded',
    settlementMode: 'SVC_DEDUCT',
    when: 'the last period is debited',
    events: [payment('SUCCESS'), order('COMPLETED')],
  },
  {
    name: 'deduct-last-failed',
    settlementMode: 'SVC_DEDUCT',
    when: 'the last period could not be debited for good',
    events: [payment('FAIL'), order('COMPLETED')],
  },
  {
    name: 'deduct-last-retry-too-late',
    settlementMode: 'SVC_DEDUCT',
    when: 'the last period was to be tried again, but its time was over first: it is not',
    events: [payment('FAIL'), order('COMPLETED')],
  },
  {
    name: 'deduct-agreement-invalid',
    settlementMode: 'SVC_DEDUCT',
    when: 'a later period could not be debited since the agreement has ended: unsubscribed automatically',
    events: [payment('FAIL'), order('UNSUBSCRIBED')],
    perVoidedPeriod: payment('CANCELED'),
  },
  {
    name: 'deduct-refund-part',
    settlementMode: 'SVC_DEDUCT',
    when: 'a part of a period is refunded',
    events: [payment('REFUND_PART')],
  },
  {
    name: 'deduct-refund-full',
    settlementMode: 'SVC_DEDUCT',
    when: 'all of a period is refunded',
    events: [payment('REFUND_FULL')],
  },
  {
    name: 'deduct-unsubscribe',
    settlementMode: 'SVC_DEDUCT',
    when: 'unsubscribed, by whomever',
    events: [order('UNSUBSCRIBED')],
    perVoidedPeriod: payment('CANCELED'),
  },
  {
    name: 'deduct-unsubscribed-succeeded',
    settlementMode: 'SVC_DEDUCT',
    when: 'a debit that was on its way when the order was unsubscribed succeeds',
    events: [payment('SUCCESS')],
  },
  {
    name: 'deduct-unsubscribed-failed',
    settlementMode: 'SVC_DEDUCT',
    when: 'a debit that was on its way when the order was unsubscribed fails',
    events: [payment('FAIL')],
  },
  {
    name: 'deduct-replace',
    settlementMode: 'SVC_DEDUCT',
    when: 'agreements/replace',
    events: [],
  },
  {
    name: 'collect-create',
    settlementMode: 'CHANNEL_COLLECT',
    when: 'orders/create',
    events: [payment('BILLED'), order('ACTIVE')],
  },
  {
    name: 'collect-renewal',
    settlementMode: 'CHANNEL_COLLECT',
    when: 'a later period is billed',
    events: [payment('BILLED')],
  },
  {
    name: 'collect-last',
    settlementMode: 'CHANNEL_COLLECT',
    when: 'the last period is billed',
    events: [payment('BILLED'), order('COMPLETED')],
  },
  {
    name: 'collect-one-period',
    settlementMode: 'CHANNEL_COLLECT',
    when: 'an order of a single period, soon after its creation',
    events: [order('COMPLETED')],
  },
  {
    name: 'collect-unsubscribe',
    settlementMode: 'CHANNEL_COLLECT',
    when: 'unsubscribed, by whomever',
    events: [order('UNSUBSCRIBED')],
    perVoidedPeriod: payment('CANCELED'),
  },
] as const satisfies readonly EventScenario[];

export type EventScenarioName = (typeof EVENT_CONTRACT)[number]['name'];
