import { WEBHOOK_RETRY_DELAYS_MS } from '@perennial/wire';
import { type Queryable, statement } from '../platform/db/database.js';
import { type AlertSentence, alertText } from './alert-wordings.js';
import { type AlertKind, resolvedColumns } from './alerts-sql.js';

/** The SQL condition under which the cause of an alert `a` is gone. */
interface EndCondition {
  readonly when: string;
}

/** How an alert ends if no SQL condition can tell that its cause is gone. */
type EndedElsewhere = 'only a person can judge' | 'by the step that removes the cause';

/** SQL: parses the number of an attempt, a refund or a claim into order, period and a two-digit counter. */
const NUMBER = `(regexp_match(a.subject, '^[RC]?([0-9]{5,15})([0-9]{4})([0-9]{2})$'))::bigint[]`;
const existsForNumber = (table: string, last: string, condition: string) => `exists (
  select from ${table} t, (select ${NUMBER} as part) n
  where t.order_no = n.part[1] and t.cycle_no = n.part[2] and t.${last} = n.part[3] and ${condition})`;

/** Parts of a subject of the form "payment channel, day". */
const CODE = 'left(a.subject, -11)';
const DAY = `case when a.subject ~ ' [0-9]{4}-[0-9]{2}-[0-9]{2}$' then right(a.subject, 10)::date end`;

/** Part of a subject of the form "app id, first 16 hex digits of the hash of an agreement number". */
const HASH = `case when a.subject ~ ' [0-9a-f]{16}$' then decode(right(a.subject, 16), 'hex') end`;
const NUMBER_STAYS_FOREIGN = `exists (
  select from channels c join payment_channels p on not p.common_numbers
    join agreements g on g.payment_channel_code = p.code
      and g.institution_hash between ${HASH} and ${HASH} || decode(repeat('ff', 24), 'hex')
  where c.app_id = left(a.subject, -17) and is_number_of_another_channel(p.code, g.institution_hash, c.channel_id))`;

/**
 * SQL: whether an address `h` has failed: three pushes failed after the last accepted one, and events still wait or
 * were given up. Without such an event the last push was accepted, but the node was killed before it stored that.
 */
export const isFailing = (h: string) => `(${h}.failures >= 3 and (
  exists (select from due_events d where d.channel_id = ${h}.channel_id)
  or exists (select from undelivered_events u where u.channel_id = ${h}.channel_id and u.reason = 'GIVE_UP')))`;

/** SQL: whether an address `h` that is not paused has failed for ten minutes. */
export const isFailingLong = (h: string) => `(${h}.failing_since <= now() - interval '10 min' and ${isFailing(h)}
  and not exists (select from delivery_pauses p where p.channel_id = ${h}.channel_id and p.event_type in ('*', ${h}.event_type)))`;

/**
 * SQL: true if the pool of benefit `f` has fewer codes than its threshold, and no claim waits for codes: then the alert
 * `pool-empty` is enough. Stops counting at the threshold, and reads the index of unused codes.
 */
export const isStockLow = (f: string) => `${f}.kind = 'POOL' and ${f}.low_stock > (
  select count(*) from (select from pool_codes p where p.benefit_code = ${f}.benefit_code and p.given_to is null
    limit ${f}.low_stock) as counted)
  and not exists (select from alerts e
    where e.kind = 'pool-empty' and e.subject = ${f}.benefit_code and e.resolved_at is null)`;

/**
 * Defines how each kind of alert ends. A kind with an SQL condition needs a text that says why the alert was resolved.
 */
const ALERT_ENDS: {
  readonly [Kind in AlertKind]: EndedElsewhere | (`${Kind}|resolved` extends AlertSentence ? EndCondition : never);
} = {
  'debit-unknown-for-a-day': { when: existsForNumber('debit_attempts', 'try_no', `t.status <> 'STARTED'`) },
  'debit-wrong-amount': { when: existsForNumber('debit_attempts', 'try_no', 't.settled_at > a.last_seen_at') },
  'debit-late-success': 'only a person can judge',
  'debit-contradiction': 'only a person can judge',
  'debit-after-unsubscribe': {
    when: `exists (select from payments t, (select ${NUMBER} as part) n
      where t.order_no = n.part[1] and t.cycle_no = n.part[2]
        and (t.status = 'REFUND_FULL' or t.amount_cent <= (select sum(r.amount_cent) from refunds r
          where r.order_no = t.order_no and r.cycle_no = t.cycle_no and r.status in ('SUCCESS', 'OUTSIDE'))))`,
  },
  'refund-unknown-for-a-day': { when: existsForNumber('refunds', 'refund_seq', `t.status <> 'STARTED'`) },
  'refund-wrong-amount': { when: existsForNumber('refunds', 'refund_seq', 't.settled_at > a.last_seen_at') },
  'refund-refused': {
    when: existsForNumber(
      'refunds',
      'refund_seq',
      `exists (select from refunds later where later.order_no = t.order_no and later.cycle_no = t.cycle_no
         and later.refund_seq > t.refund_seq and later.status in ('SUCCESS', 'OUTSIDE')
         and later.amount_cent >= t.amount_cent)`,
    ),
  },
  'refund-contradiction': 'only a person can judge',
  'billing-failed': {
    when: `a.subject ~ '^[0-9]{1,15}$' and not exists (select from orders o
      where o.order_no = case when a.subject ~ '^[0-9]{1,15}$' then a.subject::bigint end
        and o.next_due_at <= a.last_seen_at)`,
  },
  'upcoming-notice-failed': {
    when: `a.subject ~ '^[0-9]{1,15}$' and not exists (select from orders o
      where o.order_no = case when a.subject ~ '^[0-9]{1,15}$' then a.subject::bigint end
        and o.status = 'ACTIVE' and o.noticed_cycle <= o.cycle_no and notice_time(o.next_due_at, o.notice_days) <= a.last_seen_at)`,
  },
  'notice-for-unknown-attempt': 'only a person can judge',
  'notice-for-unknown-agreement': 'only a person can judge',
  'agreement-cancel-failed': 'by the step that removes the cause',
  'agreement-number-of-another-channel': { when: `${HASH} is not null and not ${NUMBER_STAYS_FOREIGN}` },
  'order-number-of-another-channel': 'only a person can judge',
  'webhook-given-up': {
    // A replay continues the event's retry count. So a due event with more than 10 retries was given up before and is
    // being sent again: the alert stays open until that push is accepted.
    when: `not exists (select from channels c join undelivered_events u using (channel_id)
        where c.app_id = a.subject and u.reason = 'GIVE_UP')
      and not exists (select from channels c join due_events d using (channel_id)
        where c.app_id = a.subject and d.retry_no > ${WEBHOOK_RETRY_DELAYS_MS.length})`,
  },
  'webhook-failing': {
    when: `not exists (select from channels c join callback_urls h using (channel_id)
        where c.app_id = a.subject and ${isFailingLong('h')})`,
  },
  'pool-empty': {
    when: `not exists (select from claims t
      where t.benefit_code = a.subject and t.status = 'PENDING' and t.fulfilment = 'POOL')`,
  },
  'pool-low': {
    when: `not exists (select from benefit_fulfilments f where f.benefit_code = a.subject and ${isStockLow('f')})`,
  },
  'claim-refused': { when: existsForNumber('claims', 'position', `t.status <> 'PENDING'`) },
  'claim-unknown-for-a-day': { when: existsForNumber('claims', 'position', `t.status <> 'PENDING'`) },
  'reconciliation-difference': {
    when: `${DAY} is not null and not exists (select from reconciliation_differences d
      where d.day = ${DAY} and d.payment_channel_code = ${CODE} and d.closed_at is null and d.kind <> 'OUTSIDE')`,
  },
  'reconciliation-failed': {
    when: `exists (select from reconciliations r
      where r.payment_channel_code = ${CODE} and r.day = ${DAY} and r.run_at > a.last_seen_at)`,
  },
  'undecryptable-fields': 'only a person can judge',
  'sign-in-failures': 'only a person can judge',
  'no-second-admin': 'only a person can judge',
  'institution-silent': {
    when: `not exists (select from institution_health h
      where h.payment_channel_code = a.subject and h.failing_since is not null)`,
  },
  'institution-declining': {
    when: `exists (select from peer_calls p where p.grain = 'MINUTE' and p.at > a.last_seen_at - interval '1 min'
      and p.peer = 'INSTITUTION' and p.code = a.subject and p.debits_paid > 0)`,
  },
  'database-full': {
    // Resolved after two minutes without a repetition: while a node sees write failures, it tries to raise the alert
    // again every few seconds.
    when: `a.last_seen_at < now() - interval '2 min'`,
  },
  'clock-wrong': {
    // The node renews the alert with each comparison of the clocks.
    when: `a.last_seen_at < now() - interval '2 min'`,
  },
  'bridge-currency': 'by the step that removes the cause',
  'peer-refused': 'only a person can judge',
  'audit-chain-broken': 'only a person can judge',
};

/** The kinds that end automatically, in the order of ALERT_ENDS. */
export const SELF_ENDING_KINDS = Object.entries(ALERT_ENDS)
  .filter(([, end]) => end !== 'only a person can judge')
  .map(([kind]) => kind);

const resolve = (when: string) =>
  statement({
    text: `with gone as materialized (
         select a.subject, a.seen from alerts a where a.kind = $1 and a.resolved_at is null and ${when} limit 1000
       ), held as (
         select b.subject from alerts b join gone on gone.subject = b.subject and gone.seen = b.seen
         where b.kind = $1 and b.resolved_at is null for update of b skip locked)
       update alerts set ${resolvedColumns('$2')} from held where alerts.kind = $1 and alerts.subject = held.subject
       returning 1`,
    parameters: ['text', 'text'],
  });

const RULES = Object.entries(ALERT_ENDS).flatMap(([kind, end]) =>
  typeof end === 'string'
    ? []
    : [{ kind, because: alertText(`${kind}|resolved` as AlertSentence), resolve: resolve(end.when) }],
);

/**
 * Resolves the alerts whose cause is gone, and returns their number. Skips alerts that are being raised again: their
 * row is locked, or their count has changed since the check.
 */
export async function resolveEndedAlerts(db: Queryable): Promise<number> {
  let total = 0;
  for (const { kind, because, resolve } of RULES) {
    const ended = await db.query(resolve, [kind, because]);
    total += ended.length;
  }
  return total;
}
