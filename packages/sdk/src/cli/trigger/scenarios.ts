import {
  type EventScenarioName,
  formatTime,
  type MainOrder,
  type PaymentRecord,
  parseTime,
  type RehearsedOutcome,
} from '@perennial/wire';
import type { PerennialClient } from '../../client.js';
import { CommandError } from '../frame/io.js';
import { createNewOrder, createSharedAgreement } from './new-order.js';

/** A change that can be triggered for an order. */
export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** The scenario's names in the event contract, for modes A and B. `b` is undefined if mode B lacks this scenario. */
  readonly contract: { readonly a: readonly EventScenarioName[]; readonly b?: readonly EventScenarioName[] };
  /**
   * Set if the scenario is about the first payment: the ending of externalOrderNo with which the sandbox simulates the
   * scenario.
   */
  readonly creates?: string;
  /** True if the order's product must have one period. */
  readonly hasOnePeriod?: true;
  act?(client: PerennialClient, order: MainOrder): Promise<unknown>;
  /** The automatic follow-up. */
  readonly later?: string;
}

export const isCollected = ({ paymentRecords }: MainOrder): boolean => paymentRecords[0]?.paymentStatus === 'BILLED';

const lastPaid = ({ paymentRecords }: MainOrder): PaymentRecord | undefined =>
  paymentRecords.findLast(({ paymentStatus }) => paymentStatus === 'SUCCESS' || paymentStatus === 'REFUND_PART');

const advance = (client: PerennialClient, { orderNo }: MainOrder, cycles: number, ...outcomes: RehearsedOutcome[]) =>
  client.sandbox.orders.advance({ orderNo, cycles, outcomes });

const refund = async (client: PerennialClient, order: MainOrder, part: (leftCent: number) => number) => {
  const period = lastPaid(order);
  if (period === undefined) throw new CommandError('the order has no paid period');
  const { paymentOrderNo, amountCent, refundAmountCent } = period;
  const { refundStatus, refundFailReason } = await client.sandbox.payments.refund({
    paymentOrderNo,
    amountCent: part(amountCent - refundAmountCent),
    reason: 'a rehearsal',
  });
  if (refundStatus === 'FAIL') throw new CommandError(`the institution refused the refund: ${refundFailReason}`);
};

/** The maximum number of attempts of a scenario: more than any retry schedule has. */
const MAX_TRIES = 100;

async function failToTheEnd(client: PerennialClient, order: MainOrder): Promise<void> {
  let cycleNo = 0;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { paymentRecords } = await advance(client, order, 1, 'FAIL_RETRY');
    cycleNo ||= paymentRecords.findLast(({ paymentStatus }) => paymentStatus !== 'WAIT')?.cycleNo ?? 0;
    if (paymentRecords[cycleNo - 1]?.paymentStatus !== 'FAIL_RETRY') return;
  }
  throw new CommandError(`period ${cycleNo} is still retried after ${MAX_TRIES} attempts`);
}

/** Runs all periods but the last. */
async function advanceToLast(client: PerennialClient, order: MainOrder): Promise<void> {
  const cycles = order.totalCycles - 1 - startedCycles(order);
  if (cycles > 0) await advance(client, order, cycles);
}

async function missRetry(client: PerennialClient, order: MainOrder): Promise<void> {
  await advance(client, order, 1, 'FAIL_RETRY');
  await advance(client, order, 1, 'RETRY_MISSED');
}

async function unsubscribeInFlight(client: PerennialClient, order: MainOrder): Promise<void> {
  await advance(client, order, 1, 'PENDING');
  await client.orders.unsubscribe({ orderNo: order.orderNo, reason: 'a rehearsal' });
}

/** Ends the agreement of an order by a debit of another order on the same agreement. */
async function endSharedAgreement(client: PerennialClient, { externalOrderNo }: MainOrder): Promise<void> {
  const settlementMode = 'SVC_DEDUCT';
  const other = await createNewOrder(client, {
    settlementMode,
    productCode: undefined,
    sharedAgreementNo: externalOrderNo,
  });
  await advance(client, other, 1, 'AGREEMENT_INVALID');
}

async function replaceAgreement(client: PerennialClient, { orderNo }: MainOrder): Promise<void> {
  const { events } = await client.events.list({ orderNo, eventType: 'payment.status.changed', size: 1 });
  const [event] = events;
  if (event?.eventType !== 'payment.status.changed') throw new CommandError('the order has no payment event yet');
  const newSharedAgreement = await createSharedAgreement(client, event.data.channelUserId);
  await client.agreements.replace({ orderNo, newSharedAgreement });
}

/** Advances to a second before the next period, and requires that its notice was sent. */
async function announce(client: PerennialClient, { orderNo, nextPayTime }: MainOrder): Promise<void> {
  const dueAt = parseTime(nextPayTime ?? '');
  if (dueAt === undefined) throw new CommandError('the order has no next period');
  await client.sandbox.orders.advance({ orderNo, to: formatTime(dueAt - 1_000) });
  const { events } = await client.events.list({ orderNo, eventType: 'payment.upcoming', size: 1 });
  if (events.length > 0) return;
  throw new CommandError(
    'payment.upcoming is off for this channel: npx perennial-channel sandbox channel set --upcoming-notice-days 3 switches it on',
  );
}

const startedCycles = ({ paymentRecords }: MainOrder): number =>
  paymentRecords.filter(({ paymentStatus }) => !['WAIT', 'FAIL_RETRY'].includes(paymentStatus)).length;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'created',
    summary: 'a new order whose first period is debited or billed at once',
    contract: { a: ['deduct-create-succeeded'], b: ['collect-create'] },
    creates: '',
  },
  {
    name: 'payment-failed',
    summary: 'a debit fails and will be retried',
    contract: { a: ['deduct-renewal-postponed'] },
    act: (client, order) => advance(client, order, 1, 'FAIL_RETRY'),
  },
  {
    name: 'payment-recovered',
    summary: 'a debit fails, and its retry succeeds',
    contract: { a: ['deduct-renewal-postponed', 'deduct-renewal-succeeded'] },
    async act(client, order) {
      await advance(client, order, 1, 'FAIL_RETRY');
      await advance(client, order, 1, 'SUCCESS');
    },
  },
  {
    name: 'payment-given-up',
    summary: 'a debit and all its retries fail, and it is given up',
    contract: { a: ['deduct-renewal-postponed', 'deduct-renewal-failed'] },
    act: failToTheEnd,
  },
  {
    name: 'retry-too-late',
    summary: 'a debit fails, and the next period falls due before its retry: it is given up',
    contract: { a: ['deduct-renewal-postponed', 'deduct-retry-too-late'] },
    act: missRetry,
  },
  {
    name: 'agreement-ended',
    summary: 'the agreement has ended: the order is unsubscribed',
    contract: { a: ['deduct-agreement-invalid'] },
    act: (client, order) => advance(client, order, 1, 'AGREEMENT_INVALID'),
  },
  {
    name: 'refund',
    summary: 'the rest of the last paid period is refunded',
    contract: { a: ['deduct-refund-full'] },
    act: (client, order) => refund(client, order, (leftCent) => leftCent),
  },
  {
    name: 'refund-part',
    summary: 'part of the last paid period is refunded',
    contract: { a: ['deduct-refund-part'] },
    act: (client, order) => refund(client, order, (leftCent) => Math.floor(leftCent / 2)),
  },
  {
    name: 'renewal',
    summary: 'the next period is debited or billed',
    contract: { a: ['deduct-renewal-succeeded'], b: ['collect-renewal'] },
    act: (client, order) => advance(client, order, 1),
  },
  {
    name: 'completed',
    summary: 'all remaining periods are debited or billed: the order is completed',
    contract: {
      a: ['deduct-renewal-succeeded', 'deduct-last-succeeded'],
      b: ['collect-renewal', 'collect-last'],
    },
    act: (client, order) => advance(client, order, Math.max(1, order.totalCycles - startedCycles(order))),
  },
  {
    name: 'last-payment-failed',
    summary: 'all remaining periods are debited, except the last, which fails: the order is completed',
    contract: { a: ['deduct-renewal-succeeded', 'deduct-last-failed'] },
    async act(client, order) {
      await advanceToLast(client, order);
      await advance(client, order, 1, 'FAIL');
    },
  },
  {
    name: 'last-retry-too-late',
    summary: 'the last debit fails, and its period ends before the retry: the order is completed',
    contract: { a: ['deduct-renewal-succeeded', 'deduct-renewal-postponed', 'deduct-last-retry-too-late'] },
    async act(client, order) {
      await advanceToLast(client, order);
      await missRetry(client, order);
    },
  },
  {
    name: 'one-period',
    summary: 'an order with one period is completed; the demo channel has TEST_SPU_ONCE',
    contract: { a: ['deduct-one-period'], b: ['collect-one-period'] },
    hasOnePeriod: true,
    act: (client, order) => advance(client, order, 1),
  },
  {
    name: 'upcoming',
    summary: 'the notice before the next debit or billing, if it is switched on',
    contract: { a: [], b: [] },
    act: announce,
  },
  {
    name: 'agreement-replaced',
    summary: 'the order moves to another shared agreement, without an event',
    contract: { a: ['deduct-replace'] },
    act: replaceAgreement,
  },
  {
    name: 'unsubscribed',
    summary: 'the order is unsubscribed',
    contract: { a: ['deduct-unsubscribe'], b: ['collect-unsubscribe'] },
    act: (client, { orderNo }) => client.orders.unsubscribe({ orderNo, reason: 'a rehearsal' }),
  },
  {
    name: 'first-payment-pending',
    summary: 'a new order whose first debit has no result yet',
    contract: { a: ['deduct-create-pending', 'deduct-pending-succeeded'] },
    creates: '_PENDING',
    later: 'the debit succeeds after 30 s; then payment SUCCESS and order ACTIVE follow',
  },
  {
    name: 'unsubscribed-in-flight',
    summary: 'the order is unsubscribed while a debit is in flight, which then succeeds',
    contract: { a: ['deduct-unsubscribe', 'deduct-unsubscribed-succeeded'] },
    act: unsubscribeInFlight,
    later: 'the debit succeeds after about 20 s; then payment SUCCESS follows',
  },
  {
    name: 'unsubscribed-in-flight-failed',
    summary: 'a new order is unsubscribed while a debit is in flight, which then fails',
    contract: { a: ['deduct-unsubscribe', 'deduct-unsubscribed-failed'] },
    creates: '_RENEWAL_DECLINED',
    act: unsubscribeInFlight,
    later: 'the debit fails after about 20 s; then payment FAIL follows',
  },
  {
    name: 'first-payment-pending-failed',
    summary: 'a new order whose first debit has no result yet, and then fails',
    contract: { a: ['deduct-create-pending', 'deduct-pending-failed'] },
    creates: '_PENDING_DECLINED',
    later: 'the debit fails after 30 s; then payment FAIL and order TERMINATED follow',
  },
  {
    name: 'first-payment-agreement-ended',
    summary: 'a new order whose agreement ends before the result of its first debit',
    contract: { a: ['deduct-create-pending', 'deduct-pending-succeeded-agreement-ended'] },
    creates: '_PENDING',
    act: endSharedAgreement,
    later:
      'the debit succeeds after 30 s; then payment SUCCESS, order ACTIVE, order UNSUBSCRIBED and the voided periods follow',
  },
  {
    name: 'first-payment-failed',
    summary: 'a new order whose first debit fails',
    contract: { a: ['deduct-create-failed'] },
    creates: '_FAIL',
  },
];
