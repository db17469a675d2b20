import { openPaymentChannels } from '../../catalog/payment-channels/pace-sql.js';
import { paymentChannelCodes } from '../../catalog/payment-channels/sql.js';
import { SHARDS } from '../../delivery/queue/shards-sql.js';
import { ALERT_KINDS } from '../../platform/alerts/alerts-sql.js';
import { columns, type Queryable, statement } from '../../platform/db/database.js';
import { BILLING_LANES } from '../../subscriptions/store/orders/bill-sql.js';
import type { Reading } from './business.js';

/** Counting stops here. More than any alarm needs, and few enough to be counted in a fraction of a second. */
export interface ReadingBounds {
  /** Events and renewals: how fast they become fewer is worth knowing. */
  readonly rows: number;
  /** Debits, refunds and claims: each is somebody's. */
  readonly withoutResult: number;
  readonly alertsOfKind: number;
  readonly benefits: number;
  readonly codesOfBenefit: number;
  /** Events of one shard that are looked through for one that is not held back. */
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

/** Each count by an index, and none further than its bound: as cheap with ten million orders as with ten. */
export async function readBusiness(db: Queryable, bounds = READING_BOUNDS): Promise<Omit<Reading, 'refunds'>> {
  const events = await readDueEvents(db, bounds);
  const renewals = await readDueRenewals(db, bounds);
  return {
    webhookBacklog: events.count,
    webhookOldestSeconds: events.oldestSeconds,
    renewalsDue: renewals.count,
    renewalsOldestSeconds: renewals.oldestSeconds,
    ...(await readWithoutResult(db, bounds)),
    alertsOpen: await readOpenAlerts(db, bounds),
    codesLeft: await readCodesLeft(db, bounds),
    paymentChannels: (await paymentChannelCodes(db)).map(({ code }) => code),
  };
}

interface Due {
  readonly count: number;
  readonly oldestSeconds: number;
}

/** An operator holds it back, so it is not late. */
const isHeldBack = `exists (
  select from delivery_pauses p where p.channel_id = d.channel_id and p.event_type in
    ('*', case when d.is_payment then 'payment.status.changed' else 'order.status.changed' end))`;

const READ_DUE_EVENTS = statement({
  text: `select (
       select count(*)::integer from (
         select e.channel_id, e.is_payment from due_events e where e.shard = any($1::smallint[]) and e.next_at <= now() limit $2
       ) d where not ${isHeldBack}) as count,
       (select coalesce(extract(epoch from now() - min(f.next_at)), 0)::double precision
        from unnest($1::smallint[]) as s(shard), lateral (
          select d.next_at from (
            select e.next_at, e.channel_id, e.is_payment from due_events e
            where e.shard = s.shard and e.next_at <= now() order by e.next_at limit $3
          ) d where not ${isHeldBack} order by d.next_at limit 1) f) as "oldestSeconds"`,
  parameters: ['smallint[]', 'bigint', 'bigint'],
  columns: columns<Due>({ count: 'integer', oldestSeconds: 'double precision' }),
});

async function readDueEvents(db: Queryable, { rows, heldBack }: ReadingBounds): Promise<Due> {
  const [due] = await db.query(READ_DUE_EVENTS, [Array.from({ length: SHARDS }, (_, shard) => shard), rows, heldBack]);
  return due ?? { count: 0, oldestSeconds: 0 };
}

const dueRenewals = (limit: string) => `
    select c.next_due_at from generate_series(0, ${BILLING_LANES - 1}) as l(lane), lateral (
      select o.next_due_at from orders o
      where o.settlement_mode = 'CHANNEL_COLLECT' and o.order_no % ${BILLING_LANES} = l.lane and o.next_due_at <= now()
      order by o.next_due_at, o.order_no limit ${limit}) c
    union all
    select a.next_due_at from unnest($1::text[]) as p(code), lateral (
      select o.next_due_at from orders o
      where o.settlement_mode = 'SVC_DEDUCT' and o.payment_channel_code = p.code and o.next_due_at <= now()
      order by o.next_due_at, o.order_no limit ${limit}) a`;

const READ_DUE_RENEWALS = statement({
  text: `select (select count(*)::integer from (select from (${dueRenewals('$2')}) d limit $2) counted) as count,
       (select coalesce(extract(epoch from now() - min(d.next_due_at)), 0)::double precision
        from (${dueRenewals('1')}) d) as "oldestSeconds"`,
  parameters: ['text[]', 'bigint'],
  columns: columns<Due>({ count: 'integer', oldestSeconds: 'double precision' }),
});

/** Renewals of a payment channel outside of its hours are not late, and not counted. */
async function readDueRenewals(db: Queryable, { rows }: ReadingBounds): Promise<Due> {
  const open = await openPaymentChannels(db);
  const [due] = await db.query(READ_DUE_RENEWALS, [open.map(({ code }) => code), rows]);
  return due ?? { count: 0, oldestSeconds: 0 };
}

const askedAbout = (table: string) =>
  `(select count(*)::integer from (select from ${table} where ask_at is not null and asked > 0 limit $1) a)`;

const READ_WITHOUT_RESULT = statement({
  text: `select ${askedAbout('debit_attempts')} as "debitsUnknown", ${askedAbout('refunds')} as "refundsUnknown",
       least($1, ${askedAbout('claims')} + (select count(*)::integer from (
         select from claims where status = 'PENDING' and fulfilment = 'POOL' limit $1) w)) as "claimsWaiting"`,
  parameters: ['bigint'],
  columns: columns<Pick<Reading, 'debitsUnknown' | 'refundsUnknown' | 'claimsWaiting'>>({
    debitsUnknown: 'integer',
    refundsUnknown: 'integer',
    claimsWaiting: 'bigint',
  }),
});

/** What was asked about at least once: what is just being sent has a result in a moment. */
async function readWithoutResult(db: Queryable, { withoutResult }: ReadingBounds) {
  const [found] = await db.query(READ_WITHOUT_RESULT, [withoutResult]);
  return found ?? { debitsUnknown: 0, refundsUnknown: 0, claimsWaiting: 0 };
}

export interface SettledRefund {
  readonly key: string;
  readonly isRefused: boolean;
}

const READ_SETTLED_REFUNDS = statement({
  text: `select concat_ws('-', order_no, cycle_no, refund_seq) as key, status = 'FAIL' as "isRefused" from refunds
     where settled_at > to_timestamp($1::double precision / 1000) order by settled_at limit $2`,
  parameters: ['double precision', 'bigint'],
  columns: columns<SettledRefund>({ key: 'text', isRefused: 'boolean' }),
});

/** Whoever settled them: the command of an operator is a process of its own, which nobody scrapes. */
export async function readSettledRefunds(
  db: Queryable,
  since: number,
  { rows } = READING_BOUNDS,
): Promise<SettledRefund[]> {
  return db.query(READ_SETTLED_REFUNDS, [since, rows]);
}

const READ_OPEN_ALERTS = statement({
  text: `select k.kind, (select count(*)::integer from (
       select from alerts a where a.kind = k.kind and a.acknowledged_at is null limit $2) o) as open
     from unnest($1::text[]) as k(kind)`,
  parameters: ['text[]', 'bigint'],
  columns: columns<{ kind: string; open: number }>({ kind: 'text', open: 'integer' }),
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
  columns: columns<{ benefit: string; codes: number }>({ benefit: 'text', codes: 'integer' }),
});

/** Of benefits whose codes come from a pool now. */
async function readCodesLeft(
  db: Queryable,
  { benefits, codesOfBenefit }: ReadingBounds,
): Promise<Record<string, number>> {
  const rows = await db.query(READ_CODES_LEFT, [benefits, codesOfBenefit]);
  return Object.fromEntries(rows.map(({ benefit, codes }) => [benefit, codes]));
}
