import { orderStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { AGREEMENT_TRANSITIONS } from '../../src/subscriptions/domain/agreements/agreement-states.js';
import { countShownPeriods, type Order, unstartedStatus } from '../../src/subscriptions/domain/orders/order.js';
import { ORDER_TRANSITIONS, UNSUBSCRIBE_SOURCES } from '../../src/subscriptions/domain/orders/order-states.js';
import { PAYMENT_TRANSITIONS } from '../../src/subscriptions/domain/payments/payment-states.js';
import { readPage, rowsUnder, tableRows } from './pages.js';

const page = await readPage('docs/interface.md');

interface Transition {
  readonly from: string;
  readonly when: string;
  readonly to: string;
  readonly emitsEvent?: boolean;
}

/** Returns a transition as a row of the page. */
function cellsOf({ from, when, to, emitsEvent }: Transition): string[] {
  const line = `| ${from === 'none' ? '' : from} | ${when} | ${to} |`;
  return [...(tableRows(line)[0] ?? []), ...(emitsEvent === undefined ? [] : [emitsEvent ? 'yes' : 'no'])];
}

describe('docs/interface.md', () => {
  it.each([
    ['### Orders', ORDER_TRANSITIONS],
    ['### Periods', PAYMENT_TRANSITIONS],
    ['### Agreements', AGREEMENT_TRANSITIONS],
  ])('%s: exactly the transitions of the code', (heading, transitions: readonly Transition[]) => {
    expect(rowsUnder(page, heading)).toEqual(transitions.map(cellsOf));
  });

  it('lists exactly the sources of an unsubscribe', () => {
    expect(rowsUnder(page, '### Who unsubscribes')).toEqual(Object.entries(UNSUBSCRIBE_SOURCES));
  });

  it('describes the periods in an answer for each order status', () => {
    expect(rowsUnder(page, '### Periods in an answer')).toEqual(
      orderStatuses.map((status) => {
        const ended = status === 'COMPLETED';
        const order = { ...ORDER, status, cycleNo: ended ? ORDER.totalCycles : 1 };
        const isWhole = countShownPeriods(order) === order.totalCycles;
        const later = unstartedStatus(order);
        return [status, isWhole ? `all${later ? `; unstarted ones are \`${later}\`` : ''}` : 'the first'];
      }),
    );
  });
});

const ORDER: Order = {
  orderNo: 100_000_001_000,
  channelId: 1,
  externalOrderNo: 'ORDER-0001',
  channelUserId: 'user-1',
  productCode: 'TEST_SPU_001',
  settlementMode: 'SVC_DEDUCT',
  status: 'ACTIVE',
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  amountCent: 1990,
  createdAt: 0,
  successAt: 0,
  unsubscribedAt: null,
  cycleNo: 1,
  nextDueAt: null,
  paidCycles: 1,
  paidAmountCent: 1990,
  refundAmountCent: 0,
  latestPaymentStatus: 'SUCCESS',
  agreementId: null,
  shared: false,
};
