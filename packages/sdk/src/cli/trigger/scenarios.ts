import type { EventScenarioName, MainOrder, PaymentRecord, RehearsedOutcome } from '@perennial/wire';
import type { PerennialClient } from '../../client.js';
import { CommandError } from '../frame/io.js';

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

const startedCycles = ({ paymentRecords }: MainOrder): number =>
  paymentRecords.filter(({ paymentStatus }) => !['WAIT', 'FAIL_RETRY'].includes(paymentStatus)).length;

export const SCENARIOS: readonly Scenario[] = [
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
    name: 'first-payment-failed',
    summary: 'a new order whose first debit fails',
    contract: { a: ['deduct-create-failed'] },
    creates: '_FAIL',
  },
];
