import { columns, type Queryable, queryOne, statement, type Transaction } from '../platform/db/database.js';
import { declareWrite, type Query } from '../platform/db/declared.js';
import { fromEpochMs } from '../platform/db/time-sql.js';
import type { DayOfChannel } from './reconciliation-runs-sql.js';

/** A day of a payment channel. `from` and `to` are its bounds in Unix milliseconds, `to` exclusive. */
export interface ReconciledDay extends DayOfChannel {
  readonly from: number;
  readonly to: number;
}

/** A statement line to compare. The parts of its number are null if the service cannot have issued that number. */
export interface StagedLine {
  readonly kind: 'debit' | 'refund';
  readonly number: string;
  readonly order_no: number | null;
  readonly cycle_no: number | null;
  /** The attempt number of a debit, or the sequence number of a refund. */
  readonly seq: number | null;
  readonly amount_cent: number;
  readonly status: 'SUCCESS' | 'FAIL' | 'PENDING';
}

const LINE_COLUMNS =
  'kind text, number text, order_no bigint, cycle_no integer, seq integer, amount_cent bigint, status text';

const MAKE_LINES_TABLE = `create temp table statement_lines (${LINE_COLUMNS}) on commit drop`;

const MAKE_DIFFERENCES_TABLE = `create temp table found_differences (kind text, line_kind text, number text, here_amount_cent bigint,
       here_status text, there_amount_cent bigint, there_status text) on commit drop`;

const MAKE_TEMPORARY_TABLES = [MAKE_LINES_TABLE, MAKE_DIFFERENCES_TABLE];

const STAGE_LINES = statement({
  text: `insert into statement_lines select * from json_to_recordset($1::json) as line (${LINE_COLUMNS})`,
  parameters: ['json'],
  byIndex: false,
  after: MAKE_TEMPORARY_TABLES,
});

/** Copies the statement into a temporary table of the transaction. Raises the statement timeout to ten minutes. */
export async function stageLines(tx: Transaction, batches: AsyncIterable<string>): Promise<void> {
  await tx.setStatementLimit(600_000);
  await tx.query(MAKE_LINES_TABLE);
  for await (const batch of batches) {
    await tx.query(STAGE_LINES, [batch]);
  }
  await tx.query('analyze statement_lines');
}

/**
 * Contradicting statuses (institution, service). FAIL at the institution and STARTED in the service do not contradict
 * each other, because the service still asks the institution about the attempt.
 */
const CONTRADICTIONS = `('SUCCESS', 'FAIL'), ('SUCCESS', 'STARTED'), ('FAIL', 'SUCCESS'), ('PENDING', 'SUCCESS'),
  ('PENDING', 'FAIL')`;

const SAME_ATTEMPT = 'a.order_no = l.order_no and a.cycle_no = l.cycle_no and a.try_no = l.seq';
const SAME_REFUND = 'r.order_no = l.order_no and r.cycle_no = l.cycle_no and r.refund_seq = l.seq';

const COLLECT_DIFFERENCES = statement({
  text: `with booked as (
       select distinct on (kind, number) l.*, count(*) over same_number as lines,
         coalesce(sum(amount_cent) filter (where status = 'SUCCESS') over same_number, amount_cent) as sum_cent
       from statement_lines l window same_number as (partition by kind, number)
       order by kind, number, array_position(array['SUCCESS', 'PENDING', 'FAIL'], status), amount_cent
     ),
     matched as (
       select l.*, a.amount_cent as here_amount_cent, a.status as here_status
       from booked l left join debit_attempts a on ${SAME_ATTEMPT} and a.payment_channel_code = $1
       where l.kind = 'debit'
       union all
       select l.*, r.amount_cent, r.status
       from booked l left join refunds r on ${SAME_REFUND} and r.payment_channel_code = $1
       where l.kind = 'refund'
     ),
     succeeded as (
       select l.*, row_number() over (partition by order_no, cycle_no
         order by here_status is not distinct from 'SUCCESS' desc, seq) as place
       from matched l where kind = 'debit' and status = 'SUCCESS' and order_no is not null
     ),
     debited_twice as (
       select number from succeeded l where place > 1 or here_status is distinct from 'SUCCESS' and exists (
         select from debit_attempts a where a.order_no = l.order_no and a.cycle_no = l.cycle_no and a.try_no <> l.seq
           and a.status = 'SUCCESS')
     )
     insert into found_differences
     select 'MISSING_HERE', kind, number, null, null, amount_cent, status from matched where here_status is null
     union all
     select 'AMOUNT', kind, number, here_amount_cent, here_status, amount_cent, status
     from matched where here_amount_cent <> amount_cent
     union all
     select 'STATE', kind, number, here_amount_cent, here_status, amount_cent, status
     from matched where (status, here_status) in (${CONTRADICTIONS})
     union all
     select 'DUPLICATE', kind, number, here_amount_cent, here_status, sum_cent, status
     from matched where lines > 1 or kind = 'debit' and number in (select number from debited_twice)
     union all
     select 'MISSING_THERE', 'debit', a.order_no || lpad(a.cycle_no::text, 4, '0') || lpad(a.try_no::text, 2, '0'),
       a.amount_cent, a.status, null, null
     from debit_attempts a
     where a.payment_channel_code = $1 and a.status = 'SUCCESS' and a.paid_at >= ${fromEpochMs('$2')}
       and a.paid_at < ${fromEpochMs('$3')}
       and not exists (select from statement_lines l where l.kind = 'debit' and ${SAME_ATTEMPT})
     union all
     select 'MISSING_THERE', 'refund',
       'R' || r.order_no || lpad(r.cycle_no::text, 4, '0') || lpad(r.refund_seq::text, 2, '0'),
       r.amount_cent, r.status, null, null
     from refunds r
     where r.payment_channel_code = $1 and r.status = 'SUCCESS' and r.refunded_at >= ${fromEpochMs('$2')}
       and r.refunded_at < ${fromEpochMs('$3')}
       and not exists (select from statement_lines l where l.kind = 'refund' and ${SAME_REFUND})`,
  parameters: ['text', 'double precision', 'double precision'],
  byIndex: false,
  after: MAKE_TEMPORARY_TABLES,
});

const COUNT_FOUND_DIFFERENCES = statement({
  text: 'select count(*) as count from found_differences',
  parameters: [],
  byIndex: false,
  after: MAKE_TEMPORARY_TABLES,
  columns: columns({ count: 'bigint' }),
});

/**
 * Stores the differences in found_differences, a temporary table of the transaction, and returns their number.
 *
 * booked         one row per number: its most significant line, its number of lines, the sum of its successful lines
 * matched        booked rows, joined with the service's debits and refunds of this payment channel
 * succeeded      debits that succeeded at the institution; of those in one period, first the debit that also succeeded
 *                in the service
 * debited_twice  numbers of succeeded debits of a period that another debit has paid
 */
export async function collectDifferences(
  tx: Queryable,
  { paymentChannelCode, from, to }: ReconciledDay,
): Promise<number> {
  await tx.query(MAKE_DIFFERENCES_TABLE);
  await tx.query(COLLECT_DIFFERENCES, [paymentChannelCode, from, to]);
  await tx.query('analyze found_differences');
  return (await queryOne(tx, COUNT_FOUND_DIFFERENCES))?.count ?? 0;
}

/** The value of `closed_by` if a run has closed the difference automatically. */
export const CLOSED_BY_RUN = 'reconciliation';

const FACTS = ['here_amount_cent', 'here_status', 'there_amount_cent', 'there_status'];
const factsSql = (of: string) => `(${FACTS.map((fact) => `${of}.${fact}`).join(', ')})`;

const REOPENS = `(d.closed_by = '${CLOSED_BY_RUN}' or ${factsSql('d')} is distinct from ${factsSql('excluded')})`;

/**
 * Stores new differences and updates known ones. A difference that an operator has closed stays closed while amounts
 * and statuses are the same. A difference that a run has closed is reopened when it recurs.
 */
export const storeDifferences: Query<[paymentChannelCode: string, day: string, now: number], void> = declareWrite({
  text: `insert into reconciliation_differences as d
       (payment_channel_code, day, kind, line_kind, number, ${FACTS.join(', ')}, first_seen_at, last_seen_at)
     select $1, $2, f.*, ${fromEpochMs('$3')}, ${fromEpochMs('$3')} from found_differences f
     on conflict on constraint reconciliation_differences_once do update set last_seen_at = excluded.last_seen_at,
       ${FACTS.map((fact) => `${fact} = excluded.${fact}`).join(', ')},
       closed_by = case when ${REOPENS} then null else d.closed_by end,
       closed_at = case when ${REOPENS} then null else d.closed_at end,
       closing_note = case when ${REOPENS} then null else d.closing_note end`,
  parameters: ['text', 'date', 'double precision'],
  byIndex: false,
  after: MAKE_TEMPORARY_TABLES,
});

export const closeVanishedDifferences: Query<[paymentChannelCode: string, day: string, now: number], void> =
  declareWrite({
    text: `update reconciliation_differences d set closed_by = '${CLOSED_BY_RUN}', closed_at = ${fromEpochMs('$3')},
       closing_note = 'no longer found'
     where d.payment_channel_code = $1 and d.day = $2 and d.closed_at is null and d.kind <> 'OUTSIDE' and not exists (
       select from found_differences f where f.kind = d.kind and f.line_kind = d.line_kind and f.number = d.number)`,
    parameters: ['text', 'date', 'double precision'],
    byIndex: false,
    after: MAKE_TEMPORARY_TABLES,
  });

const IS_SETTLED_THERE = `l.status in ('SUCCESS', 'FAIL')`;

const ASK_ABOUT_OPEN_DEBITS = statement({
  text: `update debit_attempts o set ask_at = now() from (
       select a.order_no, a.cycle_no, a.try_no from debit_attempts a join statement_lines l on ${SAME_ATTEMPT}
       where l.kind = 'debit' and ${IS_SETTLED_THERE} and a.status = 'STARTED' and a.payment_channel_code = $1
         and (a.ask_at is null or a.ask_at > now())
       for update of a skip locked) due
     where (o.order_no, o.cycle_no, o.try_no) = (due.order_no, due.cycle_no, due.try_no)`,
  parameters: ['text'],
  byIndex: false,
  after: MAKE_TEMPORARY_TABLES,
});

const ASK_ABOUT_OPEN_REFUNDS = statement({
  text: `update refunds o set ask_at = now() from (
       select r.order_no, r.cycle_no, r.refund_seq from refunds r join statement_lines l on ${SAME_REFUND}
       where l.kind = 'refund' and ${IS_SETTLED_THERE} and r.status = 'STARTED' and r.payment_channel_code = $1
         and (r.ask_at is null or r.ask_at > now())
       for update of r skip locked) due
     where (o.order_no, o.cycle_no, o.refund_seq) = (due.order_no, due.cycle_no, due.refund_seq)`,
  parameters: ['text'],
  byIndex: false,
  after: MAKE_TEMPORARY_TABLES,
});

/**
 * Schedules questions to the institution about payments that are open in the service but settled at the institution.
 * Skips rows that are locked.
 */
export async function askAboutOpenPayments(tx: Queryable, { paymentChannelCode }: ReconciledDay): Promise<void> {
  await tx.query(ASK_ABOUT_OPEN_DEBITS, [paymentChannelCode]);
  await tx.query(ASK_ABOUT_OPEN_REFUNDS, [paymentChannelCode]);
}
