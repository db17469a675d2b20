import { ALERT_KINDS } from '../../alerts/alerts-sql.js';
import { listOpenPaymentChannels } from '../../catalog/payment-channels/pace-sql.js';
import { eventTypeSql } from '../../delivery/event-type-sql.js';
import { SHARDS } from '../../delivery/queue/shards-sql.js';
import { readSilences } from '../../gateways/institution-health-sql.js';
import { columns, declareList, declareRequire, type Queryable, statement } from '../../platform/db/database.js';
import { readBackupAges } from '../../platform/installation/backups-sql.js';
import { BILLING_LANES } from '../../subscriptions/store/orders/bill-orders-sql.js';
import { readDueNotices } from '../../subscriptions/store/orders/notice-orders-sql.js';
import type { BusinessReading } from './business-metrics.js';

/** Limits at which counting stops: higher than any alert needs, and countable in a fraction of a second. */
export interface ReadingBounds {
  /** Limit for events, renewals and notices. It is high, so that operators can see how fast a backlog shrinks. */
  readonly rows: number;
  /** Limit for debits, refunds and claims without a result. */
  readonly withoutResult: number;
  readonly alertsOfKind: number;
  readonly benefits: number;
  readonly codesOfBenefit: number;
  /** The maximum number of a shard's events that are read to find an event that is not paused. */
  readonly heldBack: number;
}
export const READING_BOUNDS: ReadingBounds = {
  rows: 100_001,
  withoutResult: 10_001,
  alertsOfKind: 1_001,
  benefits: 100,
  codesOfBenefit: 10_001,
  heldBack: 10_000,
};

/**
 * Reads all values. Every count uses an index and stops at its bound, so the cost does not grow with the number of
 * orders.
 */
export async function readBusiness(db: Queryable, bounds = READING_BOUNDS): Promise<Omit<BusinessReading, 'refunds'>> {
  const events = await readDueEvents(db, ALL_SHARDS, bounds.rows, bounds.heldBack);
  // Omits payment channels outside their debit hours, because their renewals are not late.
  const open = await listOpenPaymentChannels(db);
  const renewals = await readDueRenewals(
    db,
    open.map(({ code }) => code),
    bounds.rows,
  );
  const notices = await readDueNotices(db, bounds.rows);
  return {
    webhookBacklog: events.count,
    webhookOldestSeconds: events.oldestSeconds,
    renewalsDue: renewals.count,
    renewalsOldestSeconds: renewals.oldestSeconds,
    noticesDue: notices.count,
    noticesOldestSeconds: notices.oldestSeconds,
    ...(await readCountsWithoutResult(db, bounds.withoutResult)),
    auditHeadSeq: await readAuditHeadSeq(db),
    alertsOpen: await readOpenAlerts(db, bounds),
    codesLeft: await readCodesLeft(db, bounds),
    silentSeconds: Object.fromEntries((await readSilences(db)).map(({ code, seconds }) => [code, seconds])),
    backupSeconds: Object.fromEntries((await readBackupAges(db)).map(({ way, seconds }) => [way, seconds])),
  };
}

const readAuditHeadSeq = declareRequire({
  text: 'select chain_no as seq from audit_head',
  parameters: [],
  columns: columns({ seq: 'bigint' }),
  value: ({ seq }) => seq,
});

const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);
const DUE_COUNT = columns({ count: 'integer', oldestSeconds: 'double precision' });

/** SQL: whether an operator has paused the event called `d`. Paused events are not late. */
const HELD_BACK_SQL = `exists (
  select from delivery_pauses p where p.channel_id = d.channel_id and p.event_type in
    ('*', ${eventTypeSql('d')}))`;

const readDueEvents = declareRequire({
  text: `select (
       select count(*)::integer from (
         select e.channel_id, e.is_payment, e.is_notice from due_events e where e.shard = any($1::smallint[]) and e.next_at <= now() limit $2
       ) d where not ${HELD_BACK_SQL}) as count,
       (select coalesce(extract(epoch from now() - min(f.next_at)), 0)::double precision
        from unnest($1::smallint[]) as s(shard), lateral (
          select d.next_at from (
            select e.next_at, e.channel_id, e.is_payment, e.is_notice from due_events e
            where e.shard = s.shard and e.next_at <= now() order by e.next_at limit $3
          ) d where not ${HELD_BACK_SQL} order by d.next_at limit 1) f) as "oldestSeconds"`,
  parameters: ['smallint[]', 'bigint', 'bigint'],
  columns: DUE_COUNT,
});

const dueRenewalsSql = (limit: string) => `
    select c.next_due_at from generate_series(0, ${BILLING_LANES - 1}) as l(lane), lateral (
      select o.next_due_at from orders o
      where o.settlement_mode = 'CHANNEL_COLLECT' and o.order_no % ${BILLING_LANES} = l.lane and o.next_due_at <= now()
      order by o.next_due_at, o.order_no limit ${limit}) c
    union all
    select a.next_due_at from unnest($1::text[]) as p(code), lateral (
      select o.next_due_at from orders o
      where o.settlement_mode = 'SVC_DEDUCT' and o.payment_channel_code = p.code and o.next_due_at <= now()
      order by o.next_due_at, o.order_no limit ${limit}) a`;

const readDueRenewals = declareRequire({
  text: `select (select count(*)::integer from (select from (${dueRenewalsSql('$2')}) d limit $2) counted) as count,
       (select coalesce(extract(epoch from now() - min(d.next_due_at)), 0)::double precision
        from (${dueRenewalsSql('1')}) d) as "oldestSeconds"`,
  parameters: ['text[]', 'bigint'],
  columns: DUE_COUNT,
});

const countAskedAboutSql = (table: string) =>
  `(select count(*)::integer from (select from ${table} where ask_at is not null and asked > 0 limit $1) a)`;

/**
 * Counts debits, refunds and claims about which the institution or supplier was asked at least once. An item about
 * which it was never asked is being sent now. Also counts claims that wait for a code of the pool.
 */
const readCountsWithoutResult = declareRequire({
  text: `select ${countAskedAboutSql('debit_attempts')} as "debitsUnknown", ${countAskedAboutSql('refunds')} as "refundsUnknown",
       least($1, ${countAskedAboutSql('claims')} + (select count(*)::integer from (
         select from claims where status = 'PENDING' and fulfilment = 'POOL' limit $1) w)) as "claimsWaiting"`,
  parameters: ['bigint'],
  columns: columns({ debitsUnknown: 'integer', refundsUnknown: 'integer', claimsWaiting: 'bigint' }),
});

/** Reads refunds from the database, because an operator's command settles them in a process without /metrics. */
export const readSettledRefunds = declareList({
  text: `select concat_ws('-', order_no, cycle_no, refund_seq) as key, status = 'FAIL' as "isRefused" from refunds
     where settled_at > to_timestamp($1::double precision / 1000) order by settled_at limit $2`,
  parameters: ['double precision', 'bigint'],
  columns: columns({ key: 'text', isRefused: 'boolean' }),
});

const READ_OPEN_ALERTS = statement({
  text: `select k.kind, (select count(*)::integer from (
       select from alerts a where a.kind = k.kind and a.acknowledged_at is null and a.resolved_at is null limit $2) o) as open
     from unnest($1::text[]) as k(kind)`,
  parameters: ['text[]', 'bigint'],
  columns: columns({ kind: 'text', open: 'integer' }),
});

async function readOpenAlerts(db: Queryable, { alertsOfKind }: ReadingBounds): Promise<Record<string, number>> {
  const rows = await db.query(READ_OPEN_ALERTS, [ALERT_KINDS, alertsOfKind]);
  return Object.fromEntries(rows.map(({ kind, open }) => [kind, open]));
}

const READ_CODES_LEFT = statement({
  text: `select f.benefit_code as benefit, (select count(*)::integer from (
       select from pool_codes c where c.benefit_code = f.benefit_code and c.given_to is null limit $2) l) as codes
     from (select benefit_code from benefit_fulfilments where kind = 'POOL' order by benefit_code limit $1) f`,
  parameters: ['bigint', 'bigint'],
  columns: columns({ benefit: 'text', codes: 'integer' }),
});

/** Returns the number of unused codes for each benefit that currently has a pool. */
async function readCodesLeft(
  db: Queryable,
  { benefits, codesOfBenefit }: ReadingBounds,
): Promise<Record<string, number>> {
  const rows = await db.query(READ_CODES_LEFT, [benefits, codesOfBenefit]);
  return Object.fromEntries(rows.map(({ benefit, codes }) => [benefit, codes]));
}
