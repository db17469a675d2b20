import { formatTime, parseTime } from '@perennial/wire';
import { beforeEach } from 'vitest';
import type { Gateway, StatementLine } from '../../src/gateways/gateway.js';
import { runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import type { Database } from '../../src/platform/db/database.js';
import type { DifferenceView } from '../../src/reconciliation/differences-sql.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';
import { operatorOn } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { institution } from '../orders/support.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { manualClock } from '../support/service.js';

export const CODE = 'UNIPAY';
export const DAY = '2026-01-30';
/** Parses a time of Asia/Shanghai. */
export const at = (time: string): number => {
  const moment = parseTime(time);
  if (moment === undefined) throw new Error(`${time} is not a time`);
  return moment;
};
export const NOON = at(`${DAY} 12:00:00`);
export const HEADER = 'kind,number,amountCent,status,bookedAt,institutionRef';

/**
 * A database with the bridge UNIPAY, whose statements the test provides, and an operator whose clock shows noon of 31
 * January.
 */
export interface Desk {
  readonly fresh: FreshDatabase;
  readonly operator: OperatorWithGateways;
  readonly clock: ReturnType<typeof manualClock>;
  /** Returns the bridge's statement of a day. A test can replace it. */
  statement: (day: string) => AsyncIterable<StatementLine>;
  close(): Promise<void>;
}

export async function desk(): Promise<Desk> {
  const fresh = await freshDatabase();
  const clock = manualClock();
  const gateway: Gateway = { ...institution(), statement: (day) => made.statement(day) };
  const operator = { ...operatorOn(fresh.database), clock, gateways: { of: async () => gateway } };
  const bridge = { gateway: 'bridge', displayName: 'Uni Pay', supportedBanks: ['*'] };
  for (const code of [CODE, 'OTHERPAY']) {
    await createPaymentChannel(operator, { ...bridge, code, gatewayUrl: 'https://bridge.example/uni' });
  }
  await createPaymentChannel(operator, { ...bridge, gateway: 'sandbox', code: 'MOCKPAY' });
  const made: Desk = { fresh, operator, clock, statement: async function* () {}, close: () => fresh.close() };
  return made;
}

/** Creates a desk for a file. Before each test it is emptied and its clock is reset. */
export function deskOfFile(): Desk {
  const on = ofFile(desk);
  beforeEach(async () => {
    on.clock.set(at('2026-01-31 12:00:00'));
    await on.fresh.database.query(
      'truncate debit_attempts, refunds, reconciliations, reconciliation_differences, alerts, audit_log, job_marks',
    );
  });
  return on;
}

export interface AttemptRow {
  readonly orderNo: number;
  readonly cycleNo?: number;
  readonly tryNo?: number;
  readonly amountCent?: number;
  readonly status?: 'STARTED' | 'SUCCESS' | 'FAIL' | 'OUTSIDE';
  readonly paymentChannelCode?: string;
  /** For a success: when the institution booked it. */
  readonly paidAt?: number;
}

/** Inserts an attempt in the given status, or changes an existing attempt. Returns its attempt number. */
export async function putAttempt(database: Database, row: AttemptRow): Promise<string> {
  const { orderNo, cycleNo = 1, tryNo = 1, amountCent = 1990, status = 'SUCCESS', paidAt = NOON } = row;
  await database.query(
    `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
       status, started_at, paid_at, ask_at)
     values ($1, $2, $3, 1, 1, $4, $5, $6, $7, $8, case when $6 = 'STARTED' then now() + interval '1 hour' end)
     on conflict (order_no, cycle_no, try_no) do update set amount_cent = excluded.amount_cent, status = excluded.status,
       paid_at = excluded.paid_at, ask_at = excluded.ask_at`,
    [
      ...[orderNo, cycleNo, tryNo, row.paymentChannelCode ?? CODE, amountCent, status],
      new Date(NOON),
      status === 'SUCCESS' ? new Date(paidAt) : null,
    ],
  );
  return formatAttemptNo(orderNo, cycleNo, tryNo);
}

export async function putRefund(database: Database, row: Omit<AttemptRow, 'tryNo'> & { refundSeq?: number }) {
  const { orderNo, cycleNo = 1, refundSeq = 1, amountCent = 500, status = 'SUCCESS', paidAt = NOON } = row;
  await database.query(
    `insert into refunds (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent, status,
       requested_by, started_at, refunded_at, ask_at)
     values ($1, $2, $3, 1, 1, $4, $5, $6, 'test', $7, $8, case when $6 = 'STARTED' then now() + interval '1 hour' end)`,
    [
      ...[orderNo, cycleNo, refundSeq, row.paymentChannelCode ?? CODE, amountCent, status],
      new Date(NOON),
      status === 'SUCCESS' ? new Date(paidAt) : null,
    ],
  );
  return formatRefundNo({ orderNo, cycleNo, refundSeq });
}

/** Returns a line of a statement, booked at noon by default. */
export function line(number: string, more: Partial<StatementLine> = {}): StatementLine {
  const kind = number.startsWith('R') ? 'refund' : 'debit';
  const amountCent = kind === 'refund' ? 500 : 1990;
  return { kind, number, amountCent, status: 'SUCCESS', bookedAt: NOON, institutionRef: 'RI1', ...more };
}

export function csvOf(lines: readonly StatementLine[]): string {
  const rows = lines.map((one) =>
    [
      one.kind.toUpperCase(),
      one.number,
      one.amountCent,
      one.status,
      formatTime(one.bookedAt),
      one.institutionRef,
    ].join(),
  );
  return [HEADER, ...rows, ''].join('\n');
}

export async function* bytes(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof text === 'string' ? new TextEncoder().encode(text) : text;
}

/** Reconciles the day with these lines, passed as a CSV file. */
export function run(on: Desk, lines: readonly StatementLine[], paymentChannelCode = CODE, day = DAY) {
  return runReconciliation(on.operator, { paymentChannelCode, day, csv: bytes(csvOf(lines)) });
}

/** Formats each difference as a short line, and sorts the lines. */
export function inShort(differences: readonly DifferenceView[]): string[] {
  return differences
    .map((one) => {
      const here = `${one.hereStatus ?? '-'} ${one.hereAmountCent ?? '-'}`;
      const there = `${one.thereStatus ?? '-'} ${one.thereAmountCent ?? '-'}`;
      return `${one.kind} ${one.number} | ${here} | ${there}`;
    })
    .sort();
}
