import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { collectRequest, demoChannel, sharedRequest } from '../support/demo.js';
import { packageRoot } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';

interface Finding {
  readonly kind: 'lost' | 'doubled';
  readonly text: string;
}

interface Write {
  readonly kind: string;
  readonly endpoint: string;
  readonly about: string;
  // biome-ignore lint/suspicious/noExplicitAny: as the service answered it
  readonly answer: any;
}

interface Debit {
  readonly attemptNo: string;
  debitedCent: number;
}

interface Known {
  readonly writes: Write[];
  readonly ledger: Debit[];
  readonly received: Map<string, { orderNo: string; pushes: number }>;
}

/** The books that `npm run prove -- ha` compares after each fault, on orders as the service makes them. */
const module = await import(pathToFileURL(path.join(packageRoot, 'prove', 'ha', 'books.mjs')).href);
const booksOf: (database: unknown, known: Known) => Promise<Finding[]> = module.booksOf;

const PRODUCT = { productCode: 'TEST_SPU_DAILY_7' };

let service: TestService;
let known: Known;
let deducted: string;
let unsubscribed: string;

/** An order of each mode, one of them unsubscribed, and what everybody else knows about them. */
beforeEach(async () => {
  service = await testService();
  const channel = await demoChannel(service);
  const writes: Write[] = [];
  const create = async (request: { externalOrderNo: string }): Promise<string> => {
    const answer = await channel.call('orders/create', request);
    expect(answer.code).toBe('0');
    writes.push({ kind: 'create', endpoint: 'orders/create', about: request.externalOrderNo, answer });
    return answer.data.orderNo;
  };
  deducted = await create(sharedRequest(channel, PRODUCT));
  unsubscribed = await create(collectRequest(channel, PRODUCT));
  const answer = await channel.call('orders/unsubscribe', { orderNo: unsubscribed });
  expect(answer.code).toBe('0');
  writes.push({ kind: 'unsubscribe', endpoint: 'orders/unsubscribe', about: unsubscribed, answer });
  known = {
    writes,
    ledger: [{ attemptNo: formatAttemptNo(Number(deducted), 1, 1), debitedCent: 100 }],
    received: new Map(),
  };
  const events = await service.fresh.database.query<{ eventId: string; orderNo: string }>(
    `select event_no || coalesce('-' || cycle, '') as "eventId", order_no::text as "orderNo" from events
     left join lateral generate_series(cycle_no, cycle_to) as cycle on cycle_to is not null`,
  );
  for (const { eventId, orderNo } of events) known.received.set(eventId, { orderNo, pushes: 1 });
});
afterEach(() => service.close());

const findings = () => booksOf(service.fresh.database, known);
const change = (statement: string, orderNo: string) => service.fresh.database.query(statement, [orderNo]);

it('agree when nothing was lost and nothing doubled', async () => {
  expect(await findings()).toEqual([]);
});

describe('find a loss', () => {
  it('of an order that was acknowledged', async () => {
    await change('delete from orders where order_no = $1', deducted);
    expect(await findings()).toContainEqual({ kind: 'lost', text: expect.stringMatching(/its order is not there/) });
  });

  it('of an unsubscribe that was acknowledged', async () => {
    await change(`update orders set status = 'ACTIVE' where order_no = $1`, unsubscribed);
    expect(await findings()).toContainEqual({ kind: 'lost', text: expect.stringMatching(/the order goes on/) });
  });

  it('of a debit that the institution has and the service has not', async () => {
    known.ledger.push({ attemptNo: formatAttemptNo(Number(deducted), 2, 1), debitedCent: 100 });
    expect(await findings()).toContainEqual({
      kind: 'lost',
      text: expect.stringMatching(/at the institution and not/),
    });
  });

  it('of money: paid here and not taken there', async () => {
    known.ledger.length = 0;
    expect(await findings()).toContainEqual({ kind: 'lost', text: expect.stringMatching(/has taken 0 cents/) });
  });

  it('of a benefit', async () => {
    await change('delete from benefits where order_no = $1', deducted);
    expect(await findings()).toContainEqual({ kind: 'lost', text: expect.stringMatching(/with 0 benefits/) });
  });

  it('of a total', async () => {
    await change('update orders set paid_amount_cent = 0 where order_no = $1', deducted);
    expect(await findings()).toContainEqual({ kind: 'lost', text: expect.stringMatching(/totals/) });
  });

  it('of an event that never came', async () => {
    const [first = ''] = known.received.keys();
    known.received.delete(first);
    expect(await findings()).toEqual([{ kind: 'lost', text: expect.stringMatching(/never came/) }]);
  });

  it('of an event that came and is not there any more', async () => {
    known.received.set('999999', { orderNo: deducted, pushes: 1 });
    expect(await findings()).toEqual([{ kind: 'lost', text: expect.stringMatching(/came, and here it is not/) }]);
  });
});

describe('find a double', () => {
  it('of an order: one that nobody asked for', async () => {
    known.writes.splice(0, 1);
    expect(await findings()).toContainEqual({ kind: 'doubled', text: expect.stringMatching(/nobody has asked/) });
  });

  it('of a debit: two that took money for one period', async () => {
    await change(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
         status, started_at)
       select order_no, cycle_no, 2, channel_id, agreement_id, payment_channel_code, amount_cent, status, started_at
       from debit_attempts where order_no = $1`,
      deducted,
    );
    known.ledger.push({ attemptNo: formatAttemptNo(Number(deducted), 1, 2), debitedCent: 100 });
    const found = await findings();
    expect(found).toContainEqual({ kind: 'doubled', text: expect.stringMatching(/was debited twice/) });
    expect(found).toContainEqual({ kind: 'doubled', text: expect.stringMatching(/with 1 benefits and 2 debits/) });
  });

  it('of a benefit', async () => {
    await change(
      `insert into benefits select (jsonb_populate_record(b, '{"position": 9}')).* from benefits b where order_no = $1`,
      deducted,
    );
    expect(await findings()).toContainEqual({ kind: 'doubled', text: expect.stringMatching(/with 2 benefits/) });
  });

  it('of an event', async () => {
    await change(
      `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
       select channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data from events
       where order_no = $1 and cycle_no is not null limit 1`,
      deducted,
    );
    expect(await findings()).toContainEqual({
      kind: 'doubled',
      text: expect.stringMatching(/two events say the same/),
    });
  });
});
