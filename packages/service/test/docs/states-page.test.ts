import { orderStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { ORDER_DIAGRAM, PERIOD_DIAGRAM } from '../../../developers/src/pages/state-diagrams.js';
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

describe('the diagrams of the developer pages', () => {
  const arrow = ({ from = 'none', to }: { from?: string | undefined; to: string }) => `${from} ${to}`;

  it.each([
    [ORDER_DIAGRAM, ORDER_TRANSITIONS],
    [PERIOD_DIAGRAM, PAYMENT_TRANSITIONS],
  ])('show exactly the transitions between two states', ({ edges, states }, transitions: readonly Transition[]) => {
    const moves = transitions.filter(({ from, to }) => from !== to);
    expect(edges.map(arrow).toSorted()).toEqual([...new Set(moves.map(arrow))].toSorted());
    const left = new Set(moves.map(({ from }) => from));
    expect(states.filter(({ isFinal }) => isFinal).map(({ name }) => name)).toEqual(
      states.map(({ name }) => name).filter((name) => !left.has(name)),
    );
  });
});

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
        const order = { status, totalCycles: 12, cycleNo: status === 'COMPLETED' ? 12 : 1 } as Order;
        const isWhole = countShownPeriods(order) === order.totalCycles;
        const later = unstartedStatus(order);
        return [status, isWhole ? `all${later ? `; unstarted ones are \`${later}\`` : ''}` : 'the first'];
      }),
    );
  });
});
