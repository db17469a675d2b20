import { type Queryable, queryOne, type Transaction } from '../platform/db/database.js';
import { declareList } from '../platform/db/declared.js';
import { column, columns, type RowOf, statement } from '../platform/db/statement.js';
import { fromEpochMs, shanghaiText } from '../platform/db/time-sql.js';
import { PAID_STATUSES } from '../subscriptions/domain/payments/payment-states.js';
import { paymentStatusIs } from '../subscriptions/store/statuses-sql.js';

/** COLLECTED: debited by the service. REFUNDED: refunded by the service. BILLED: collected by the channel itself. */
export const SETTLEMENT_KINDS = ['COLLECTED', 'REFUNDED', 'BILLED'] as const;
export type SettlementKind = (typeof SETTLEMENT_KINDS)[number];

const kindLiteral = (kind: SettlementKind) => `'${kind}'`;

/** A line of a settlement. Amounts are never negative: the kind gives the direction. */
export type SettlementLine = Omit<RowOf<typeof LIST_SETTLEMENT_LINES>, 'at'>;

/** Unix milliseconds. `to` is exclusive. */
export interface TimeBounds {
  readonly from: number;
  readonly to: number;
}

const PAYMENT_ORDER_NO = `o.order_no || lpad(m.cycle_no::text, 4, '0')`;

/**
 * SQL: the conditions under which a period `m` or a refund `m` is a line of the settlement. Every sum uses these
 * conditions, so that all sums agree.
 */
const PAID_IN = (from: string, to: string) => `m.paid_at >= ${fromEpochMs(from)} and m.paid_at < ${fromEpochMs(to)}
    and ${paymentStatusIs('m.status', ...PAID_STATUSES)}`;
const REFUNDED_IN = (from: string, to: string) =>
  `m.refunded_at >= ${fromEpochMs(from)} and m.refunded_at < ${fromEpochMs(to)} and m.status = 'SUCCESS'`;

/** Parameters: the channel, and the bounds of the time. */
const LINES = `
  select case o.settlement_mode when 'CHANNEL_COLLECT' then ${kindLiteral('BILLED')} else ${kindLiteral('COLLECTED')} end as kind,
    ${shanghaiText('m.paid_at')} as time, ${PAYMENT_ORDER_NO} as "paymentOrderNo", null as "refundNo",
    o.external_order_no as "externalOrderNo", o.product_code as "productCode", o.settlement_mode as "settlementMode",
    m.cycle_no as "cycleNo", m.amount_cent as "amountCent", m.paid_at as at
  from payments m join orders o using (order_no)
  where m.channel_id = $1 and ${PAID_IN('$2', '$3')}
  union all
  select ${kindLiteral('REFUNDED')}, ${shanghaiText('m.refunded_at')}, ${PAYMENT_ORDER_NO},
    'R' || ${PAYMENT_ORDER_NO} || lpad(m.refund_seq::text, 2, '0'), o.external_order_no, o.product_code,
    o.settlement_mode, m.cycle_no, m.amount_cent, m.refunded_at
  from refunds m join orders o using (order_no)
  where m.channel_id = $1 and ${REFUNDED_IN('$2', '$3')}`;

const BY_TIME = 'order by at, "paymentOrderNo", "refundNo" nulls first';

const LINES_PER_FETCH = 1000;
/** The timeout of each statement of a report. */
export const REPORT_STATEMENT_MS = 600_000;

/**
 * The query of the cursor. It is declared by itself, because `declare … cursor` cannot be prepared under a name: a test
 * prepares this statement to check its columns.
 */
const LIST_SETTLEMENT_LINES = statement({
  text: `${LINES} ${BY_TIME}`,
  parameters: ['bigint', 'double precision', 'double precision'],
  columns: columns({
    kind: column<SettlementKind>('text'),
    /** The time of the payment, refund or billing, formatted as in the API. */
    time: 'text',
    paymentOrderNo: 'text',
    /** Null unless the line is a refund. */
    refundNo: 'text?',
    externalOrderNo: 'text',
    productCode: 'text',
    settlementMode: 'text',
    cycleNo: 'integer',
    amountCent: 'bigint',
    at: 'timestamp with time zone',
  }),
});

/** A line in a list. The three fields of the key order the lines: the time, the period and the refund. */
export type ListedLine = RowOf<typeof LISTED_LINE>;
export type LineKey = readonly [micros: number, paymentOrderNo: string, refundNo: string];

const LISTED_LINE = columns({
  kind: column<SettlementKind>('text'),
  time: 'text',
  paymentOrderNo: 'text',
  refundNo: 'text?',
  externalOrderNo: 'text',
  productCode: 'text',
  settlementMode: 'text',
  cycleNo: 'integer',
  amountCent: 'bigint',
  micros: 'bigint',
});

const MICROS = '(extract(epoch from at) * 1000000)::bigint';

/**
 * Returns the lines between two times, by the indexes of the times (BRIN): the first lines after a key. A refund is the
 * only line with a refund's number. PostgreSQL knows that without reading an order, unlike the kind of a payment.
 */
export const listLines = declareList({
  text: `select kind, time, "paymentOrderNo", "refundNo", "externalOrderNo", "productCode", "settlementMode", "cycleNo",
       "amountCent", ${MICROS} as micros
     from (${LINES}) l
     where (${MICROS}, "paymentOrderNo", coalesce("refundNo", '')) > ($4::bigint, $5, $6)
       and ($7::text is null or kind = $7) and ($7::text is distinct from ${kindLiteral('REFUNDED')} or "refundNo" is not null) and ($8::text is null or "productCode" = $8)
       and ($9::text is null or "settlementMode" = $9)
     ${BY_TIME} limit $10`,
  parameters: {
    channelId: 'bigint',
    from: 'double precision',
    to: 'double precision',
    afterMicros: 'bigint',
    afterPayment: 'text',
    afterRefund: 'text',
    kind: 'text?',
    productCode: 'text?',
    settlementMode: 'text?',
    limit: 'bigint',
  },
  columns: LISTED_LINE,
  byIndex: true,
});

/** Yields lines in the order of time, from one snapshot. Only one batch at a time is in memory. */
export async function* readSettlementLines(
  tx: Transaction,
  channelId: string,
  { from, to }: TimeBounds,
): AsyncGenerator<SettlementLine[]> {
  // Reads all lines of the month, so the statement may take long and scan whole tables.
  await tx.setStatementLimit(REPORT_STATEMENT_MS);
  await tx.query('set local enable_seqscan = on');
  await tx.query('set local cursor_tuple_fraction = 1');
  await tx.query(`declare settlement_lines no scroll cursor for ${LIST_SETTLEMENT_LINES.text}`, [channelId, from, to]);
  for (;;) {
    const rows = await tx.query<RowOf<typeof LIST_SETTLEMENT_LINES>>(`fetch ${LINES_PER_FETCH} from settlement_lines`);
    if (rows.length > 0) yield rows.map(({ at: _, ...line }) => line);
    if (rows.length < LINES_PER_FETCH) return;
  }
}

/** The sum of all lines of a channel, product and kind. */
export type SummedLines = RowOf<typeof SUM_LINES>;

const SUM_LINES = statement({
  text: `
  select m.channel_id::text as "channelId", o.product_code as "productCode", o.settlement_mode as "settlementMode",
    case o.settlement_mode when 'CHANNEL_COLLECT' then ${kindLiteral('BILLED')} else ${kindLiteral('COLLECTED')} end as kind,
    sum(m.amount_cent)::bigint as cents, count(*) as count
  from payments m join orders o using (order_no) where ${PAID_IN('$1', '$2')}
  group by m.channel_id, o.product_code, o.settlement_mode
  union all
  select m.channel_id::text, o.product_code, o.settlement_mode, ${kindLiteral('REFUNDED')}, sum(m.amount_cent)::bigint, count(*)
  from refunds m join orders o using (order_no) where ${REFUNDED_IN('$1', '$2')}
  group by m.channel_id, o.product_code, o.settlement_mode`,
  parameters: ['double precision', 'double precision'],
  columns: columns({
    channelId: 'text',
    productCode: 'text',
    settlementMode: 'text',
    kind: column<SettlementKind>('text'),
    cents: 'bigint',
    count: 'bigint',
  }),
  byIndex: false,
});

/** Sums the lines of all channels in the database. These are the same lines as in the reports. */
export async function sumSettlementLines(db: Queryable, { from, to }: TimeBounds): Promise<SummedLines[]> {
  return db.query(SUM_LINES, [from, to]);
}

/** The sum of all lines of a channel in a month, by kind. */
export type SummedMonth = RowOf<typeof SUM_MONTHS>;

const monthOf = (moment: string) => `left(${shanghaiText(moment)}, 7)`;

const IS_ASKED_FOR = '($3::bigint is null or m.channel_id = $3)';

/** Does not read orders: the period's own status is BILLED if and only if the period was billed. */
const SUM_MONTHS = statement({
  text: `
  select m.channel_id::text as "channelId", ${monthOf('m.paid_at')} as month,
    case when ${paymentStatusIs('m.status', 'BILLED')} then ${kindLiteral('BILLED')} else ${kindLiteral('COLLECTED')} end as kind,
    sum(m.amount_cent)::bigint as cents, count(*) as count
  from payments m where ${PAID_IN('$1', '$2')} and ${IS_ASKED_FOR} group by 1, 2, 3
  union all
  select m.channel_id::text, ${monthOf('m.refunded_at')}, ${kindLiteral('REFUNDED')}, sum(m.amount_cent)::bigint, count(*)
  from refunds m where ${REFUNDED_IN('$1', '$2')} and ${IS_ASKED_FOR} group by 1, 2`,
  parameters: ['double precision', 'double precision', 'bigint'],
  columns: columns({
    channelId: 'text',
    /** A month of Asia/Shanghai, yyyy-MM. */
    month: 'text',
    kind: column<SummedLines['kind']>('text'),
    cents: 'bigint',
    count: 'bigint',
  }),
  byIndex: false,
});

/** Sums the lines of each month, for all channels or for one. */
export async function sumMonths(db: Queryable, { from, to }: TimeBounds, channelId?: string): Promise<SummedMonth[]> {
  return db.query(SUM_MONTHS, [from, to, channelId ?? null]);
}

const COUNT_ALL_UNSETTLED = statement({
  text: `select channel_id::text as "channelId", count(*) as count from (
       select channel_id from debit_attempts where ask_at is not null and started_at < ${fromEpochMs('$1')}
       union all
       select channel_id from refunds where ask_at is not null and started_at < ${fromEpochMs('$1')}) as open
     group by channel_id`,
  parameters: ['double precision'],
  columns: columns({ channelId: 'text', count: 'bigint' }),
});

/** Returns the number of unsettled debits and refunds together, by channel. */
export async function countAllUnsettled(db: Queryable, { to }: TimeBounds): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query(COUNT_ALL_UNSETTLED, [to]);
  return new Map(rows.map(({ channelId, count }) => [channelId, count]));
}

const COUNT_UNSETTLED = statement({
  text: `select (select count(*) from debit_attempts
             where ask_at is not null and channel_id = $1 and started_at < ${fromEpochMs('$2')}) as debits,
            (select count(*) from refunds
             where ask_at is not null and channel_id = $1 and started_at < ${fromEpochMs('$2')}) as refunds`,
  parameters: ['bigint', 'double precision'],
  columns: columns({ debits: 'bigint', refunds: 'bigint' }),
});

/** Counts debits and refunds that began before `to` and have no outcome. Each of them may still become a line. */
export async function countUnsettled(
  tx: Queryable,
  channelId: string,
  { to }: TimeBounds,
): Promise<{ debits: number; refunds: number }> {
  return (await queryOne(tx, COUNT_UNSETTLED, [channelId, to])) ?? { debits: 0, refunds: 0 };
}
