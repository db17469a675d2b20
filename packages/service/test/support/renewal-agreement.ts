import { expect } from 'vitest';
import type { Database } from '../../src/platform/db/database.js';
import { periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';
import type { LedgerView } from '../institution/support.js';
import { type Expected, expected, type Plan } from './renewal-fates.js';
import { AMOUNT_CENT } from './renewal-world.js';

/** Compares the institution's ledger with the service's records, and both with the plan. */
export async function renewalsAgree(database: Database, plans: readonly Plan[], { debits }: LedgerView): Promise<void> {
  const stored = await storedOrders(database);
  const tries = await storedTries(database);
  const ledger = new Map(debits.map((debit) => [debit.attemptNo, debit]));

  // Each attempt arrived at the institution as often as expected, and the institution has the same result as the
  // service.
  expect(ledger.size).toBe(debits.length);
  const arrivals = new Map(plans.map(({ orderNo, fate }) => [orderNo, fate.arrivals]));
  const differing = tries.flatMap(({ attemptNo, orderNo, status, paidAt }) => {
    const debit = ledger.get(attemptNo);
    const there = [debit?.status, debit?.debitedCent, debit?.arrivals, debit?.bookedAt];
    const wanted = [
      status === 'SUCCESS' ? 'SUCCESS' : status === 'FAIL' ? 'DECLINED' : 'settled',
      status === 'SUCCESS' ? AMOUNT_CENT : 0,
      arrivals.get(orderNo),
      paidAt ?? debit?.bookedAt,
    ];
    return same(there, wanted) ? [] : [{ attemptNo, there, wanted }];
  });
  expect(differing.slice(0, 5)).toEqual([]);
  const known = new Set(tries.map(({ attemptNo }) => attemptNo));
  expect(debits.filter(({ attemptNo }) => !known.has(attemptNo)).slice(0, 5)).toEqual([]);

  // No period is debited twice, and the debited sum is right to the cent.
  const debited = debits.filter(({ debitedCent }) => debitedCent > 0);
  expect(new Set(debited.map(({ attemptNo }) => attemptNo.slice(0, -2))).size).toBe(debited.length);
  const total = debited.reduce((sum, { debitedCent }) => sum + debitedCent, 0);
  expect(total).toBeGreaterThan(0);
  expect(total).toBe([...stored.values()].reduce((sum, { paidCent }) => sum + paidCent - AMOUNT_CENT, 0));

  // Each order and period has the expected status, and every change has its event.
  const wrong = plans.flatMap((plan) => {
    const found = stored.get(plan.orderNo);
    const wanted = found && rowOf(plan, expected(plan), found.createdAt);
    return same(found, wanted) ? [] : [{ plan, found, wanted }];
  });
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(stored.size).toBe(plans.length);
  // Ignores alerts about a wrong amount. If the node that got the answer with the wrong amount was killed, there is no
  // such alert.
  expect(await database.query(`select kind, subject from alerts where kind <> 'debit-wrong-amount'`)).toEqual([]);
}

interface StoredOrder {
  readonly orderNo: number;
  readonly createdAt: number;
  readonly status: string;
  readonly cycleNo: number;
  readonly nextDueAt: number | null;
  readonly paidCycles: number;
  readonly paidCent: number;
  /** One text for all periods after the first: the number, the status and the number of attempts of each. */
  readonly periods: string;
  /** The statuses in the payment events, in order. `toldOfOrder` has those of the order's own events. */
  readonly told: string;
  readonly toldOfOrder: string;
  readonly benefits: number;
}

async function storedOrders(database: Database): Promise<Map<number, StoredOrder>> {
  const rows = await database.query<StoredOrder>(
    `with p as (
       select order_no, string_agg(format('%s %s %s', cycle_no, status, attempts), ', ' order by cycle_no) as periods
       from payments where cycle_no > 1 group by order_no
     ), e as (
       select order_no,
         string_agg(format('%s %s', cycle_no, data::json->>'paymentStatus'), ', ' order by event_no)
           filter (where event_type = 'payment.status.changed' and cycle_to is null) as told,
         string_agg(data::json->>'orderStatus', ', ') filter (where event_type = 'order.status.changed') as of_order
       from events group by order_no
     ), b as (
       select order_no, count(*) as n from benefits group by order_no
     )
     select o.order_no as "orderNo", (extract(epoch from o.created_at) * 1000)::bigint as "createdAt", o.status,
       o.cycle_no as "cycleNo", (extract(epoch from o.next_due_at) * 1000)::bigint as "nextDueAt",
       o.paid_cycles as "paidCycles", o.paid_amount_cent as "paidCent", coalesce(p.periods, '') as periods,
       coalesce(e.told, '') as told, coalesce(e.of_order, '') as "toldOfOrder", coalesce(b.n, 0) as benefits
     from orders o left join p using (order_no) left join e using (order_no) left join b using (order_no)`,
  );
  return new Map(rows.map((row) => [row.orderNo, row]));
}

function rowOf({ orderNo }: Plan, { status, periods }: Expected, createdAt: number): StoredOrder {
  const cycleNo = periods.length + 1;
  const paid = periods.filter((period) => period.status === 'SUCCESS').length;
  const daily = { periodType: 'DAY', period: 1 } as const;
  const told = periods.flatMap((period) => [
    ...Array.from({ length: period.tries - 1 }, () => `${period.cycleNo} FAIL_RETRY`),
    `${period.cycleNo} ${period.status}`,
  ]);
  return {
    orderNo,
    createdAt,
    status,
    cycleNo,
    nextDueAt: status === 'ACTIVE' ? periodDueAt(createdAt, daily, cycleNo + 1) : null,
    paidCycles: 1 + paid,
    paidCent: (1 + paid) * AMOUNT_CENT,
    periods: periods.map((period) => `${period.cycleNo} ${period.status} ${period.tries}`).join(', '),
    told: told.join(', '),
    toldOfOrder: status === 'ACTIVE' ? '' : status,
    benefits: paid,
  };
}

interface StoredTry {
  readonly attemptNo: string;
  readonly orderNo: number;
  readonly status: string;
  readonly paidAt: number | null;
}

async function storedTries(database: Database): Promise<StoredTry[]> {
  return database.query<StoredTry>(
    `select order_no || lpad(cycle_no::text, 4, '0') || lpad(try_no::text, 2, '0') as "attemptNo", order_no as "orderNo",
       status, (extract(epoch from paid_at) * 1000)::bigint as "paidAt"
     from debit_attempts`,
  );
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
