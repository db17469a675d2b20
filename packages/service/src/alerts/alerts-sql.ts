import {
  column,
  columns,
  declareFind,
  declareList,
  declareRequire,
  declareWrite,
  joinColumns,
  type Queryable,
  type RowOf,
  statement,
} from '../platform/db/database.js';
import { epochMicros, fromEpochMicros, shanghaiText } from '../platform/db/time-sql.js';

/** critical: act at once, also at night. warning: act on the next working day. info: usually there is nothing to do. */
export type AlertSeverity = 'critical' | 'warning' | 'info';

/** Kinds of alerts with their severity. docs/alerts.md describes the meaning and the fix of each. */
const SEVERITIES = {
  'debit-unknown-for-a-day': 'warning',
  'debit-wrong-amount': 'warning',
  'debit-late-success': 'info',
  'debit-contradiction': 'warning',
  'debit-after-unsubscribe': 'warning',
  'refund-unknown-for-a-day': 'warning',
  'refund-wrong-amount': 'warning',
  'refund-refused': 'warning',
  'refund-contradiction': 'warning',
  'billing-failed': 'warning',
  'upcoming-notice-failed': 'warning',
  'notice-for-unknown-attempt': 'warning',
  'notice-for-unknown-agreement': 'warning',
  'agreement-cancel-failed': 'warning',
  'agreement-number-of-another-channel': 'warning',
  'order-number-of-another-channel': 'info',
  'webhook-given-up': 'warning',
  'webhook-failing': 'warning',
  'pool-empty': 'critical',
  'pool-low': 'warning',
  'claim-refused': 'warning',
  'claim-unknown-for-a-day': 'warning',
  'reconciliation-difference': 'warning',
  'reconciliation-failed': 'warning',
  'undecryptable-fields': 'critical',
  'sign-in-failures': 'warning',
  'no-second-admin': 'warning',
  'institution-silent': 'critical',
  'institution-declining': 'critical',
  'database-full': 'critical',
  'clock-wrong': 'critical',
  'bridge-currency': 'critical',
  'peer-refused': 'critical',
  'audit-chain-broken': 'critical',
} as const satisfies Readonly<Record<string, AlertSeverity>>;

export type AlertKind = keyof typeof SEVERITIES;
export const ALERT_KINDS = Object.keys(SEVERITIES) as readonly AlertKind[];

/** Returns the severity of a kind. A kind that this version does not know, of another version, is a warning. */
export const severityOf = (kind: string): AlertSeverity =>
  (SEVERITIES as Readonly<Record<string, AlertSeverity>>)[kind] ?? 'warning';

/** SQL: the rank of an alert in lists of open alerts, from 1. The most severe alerts have the highest rank. */
const RANK = `case when acknowledged_at is not null or resolved_at is not null then 1
  when kind in (${quoteKinds('critical')}) then 4 when kind in (${quoteKinds('info')}) then 2 else 3 end`;

function quoteKinds(severity: AlertSeverity): string {
  return ALERT_KINDS.filter((kind) => severityOf(kind) === severity)
    .map((kind) => `'${kind}'`)
    .join(', ');
}

/**
 * SQL: reopens an acknowledged or resolved alert and requests a message that the alert is open. If the alert was
 * resolved and the message that says so is not written yet, requests no message: the operators still believe that the
 * alert is open.
 */
const OPEN_AGAIN = `acknowledged_by = null, acknowledged_at = null, resolved_at = null, resolved_because = null,
  to_tell = case
    when alerts.to_tell = 'RESOLVED' and alerts.acknowledged_at is null then null
    when alerts.acknowledged_at is null and alerts.resolved_at is null then alerts.to_tell
    else 'OPEN' end`;
const SEEN_AGAIN = `detail = excluded.detail, last_seen_at = now(), seen = alerts.seen + 1, ${OPEN_AGAIN}`;

const INSERT =
  'insert into alerts (kind, subject, detail, first_seen_at, last_seen_at) values ($1, $2, $3, now(), now())';

/** Raises an alert: one row per kind and subject. A repetition is counted, and the alert must be acknowledged again. */
export const raiseAlert = declareWrite({
  text: `${INSERT} on conflict (kind, subject) do update set ${SEEN_AGAIN}`,
  parameters: [column<AlertKind>('text'), 'text', 'text'],
});

/**
 * Raises an alert about a lasting condition. If the alert exists and is not resolved, does not change it and does not
 * count the repetition.
 */
export const raiseAlertOnce = declareWrite({
  text: `${INSERT} on conflict (kind, subject) do update set ${SEEN_AGAIN} where alerts.resolved_at is not null`,
  parameters: [column<AlertKind>('text'), 'text', 'text'],
});

/** Like `raiseAlertOnce`, but reopens an alert that was acknowledged more than a day ago. */
export const raiseAlertDaily = declareWrite({
  text: `${INSERT} on conflict (kind, subject) do update set ${SEEN_AGAIN}
     where alerts.resolved_at is not null or alerts.acknowledged_at < now() - interval '1 day'`,
  parameters: [column<AlertKind>('text'), 'text', 'text'],
});

const SEE_ALERT = statement({
  text: 'update alerts set last_seen_at = now() where kind = $1 and subject = $2 and resolved_at is null',
  parameters: ['text', 'text'],
});

/**
 * Like `raiseAlertOnce`, for a condition that only this process sees. The alert is resolved when no process calls this
 * function for it any more.
 */
export async function keepAlertOpen(db: Queryable, kind: AlertKind, subject: string, detail: string): Promise<void> {
  await raiseAlertOnce(db, kind, subject, detail);
  await db.query(SEE_ALERT, [kind, subject]);
}

/**
 * Raises an alert about an answer that recurs with every query. Counts a repetition only if the detail has changed or
 * the alert was resolved.
 */
export const raiseAlertOnChange = declareWrite({
  text: `${INSERT} on conflict (kind, subject) do update set ${SEEN_AGAIN}
     where alerts.detail <> excluded.detail or alerts.resolved_at is not null`,
  parameters: [column<AlertKind>('text'), 'text', 'text'],
});

/**
 * SQL: the new column values of a resolved alert. A message that the alert was resolved is due only if an earlier
 * message has reported the alert.
 */
export const resolvedColumns = (because: string) => `resolved_at = now(), resolved_because = ${because},
  to_tell = case when alerts.told_at is not null then 'RESOLVED' end`;

/** Resolves one alert. Called by the step that removes its cause. */
export const resolveAlert = declareWrite({
  text: `update alerts set ${resolvedColumns('$3')} where kind = $1 and subject = $2 and resolved_at is null`,
  parameters: [column<AlertKind>('text'), 'text', 'text'],
});

/** An alert as operators see it. Times are formatted as in the API. */
export type AlertView = RowOf<typeof ALERT_VIEW_COLUMNS>;

const COLUMNS = `kind, subject, detail, seen, ${shanghaiText('first_seen_at')} as "firstSeenAt",
  ${shanghaiText('last_seen_at')} as "lastSeenAt", owner, acknowledged_by as "acknowledgedBy",
  ${shanghaiText('acknowledged_at')} as "acknowledgedAt", ${shanghaiText('resolved_at')} as "resolvedAt",
  resolved_because as "resolvedBecause"`;

const ALERT_VIEW_COLUMNS = columns({
  kind: 'text',
  subject: 'text',
  detail: 'text',
  seen: 'integer',
  firstSeenAt: 'text',
  lastSeenAt: 'text',
  /** The operator in charge. Stays set when the alert is raised again. */
  owner: 'text?',
  acknowledgedBy: 'text?',
  acknowledgedAt: 'text?',
  /**
   * When the service found that the cause was gone. Null until then. Always null for kinds of alerts that only an
   * operator can judge.
   */
  resolvedAt: 'text?',
  resolvedBecause: 'text?',
});

const IS_OPEN = '(acknowledged_at is null and resolved_at is null)';

/** Open alerts first, most severe first, then latest first. */
export const findAlerts = declareList({
  text: `select ${COLUMNS} from alerts where $1 = 'all' or ${IS_OPEN}
     order by ${RANK} desc, last_seen_at desc, kind, subject limit $2`,
  parameters: [column<'open' | 'all'>('text'), 'bigint'],
  columns: ALERT_VIEW_COLUMNS,
});

export interface AlertFilter {
  readonly which: 'open' | 'all';
  readonly kind: string | null;
  readonly owner: string | null;
  readonly isUnowned: boolean;
}

export type AlertKey = readonly [rank: number, lastSeenMicros: number, kind: string, subject: string];

export type ListedAlert = RowOf<typeof LISTED_ALERT>;
export interface RankedAlert extends ListedAlert {
  readonly rank: number;
}

const LISTED_COLUMNS = `${COLUMNS}, ${epochMicros('last_seen_at')} as "lastSeenMicros",
  (select count(*) from alert_comments c where c.kind = alerts.kind and c.subject = alerts.subject) as comments`;
const LISTED_ALERT = joinColumns(ALERT_VIEW_COLUMNS, columns({ comments: 'bigint', lastSeenMicros: 'bigint' }));

const createListStatement = (rank: string) =>
  statement({
    text: `select ${LISTED_COLUMNS}, ${rank} as rank from alerts
       where ($1 = 'all' or ${IS_OPEN}) and ($2::text is null or kind = $2) and ($3::text is null or owner = $3)
         and (not $8::boolean or owner is null)
         and ($4::bigint is null
           or (${rank}, last_seen_at, kind, subject) < ($9::integer, ${fromEpochMicros('$4')}, $5::text, $6::text))
       order by rank desc, last_seen_at desc, kind desc, subject desc limit $7`,
    parameters: ['text', 'text', 'text', 'bigint', 'text', 'text', 'bigint', 'boolean', 'integer'],
    columns: joinColumns(LISTED_ALERT, columns({ rank: 'integer' })),
  });

/** The list of all alerts is in the order of an index, because it has the alerts of many months. */
const LISTS = { open: createListStatement(RANK), all: createListStatement('1') };

/** Returns a page of the list: open alerts by severity and time, all alerts by time, latest first. */
export async function listAlertPage(
  db: Queryable,
  { which, kind, owner, isUnowned }: AlertFilter,
  after: AlertKey | undefined,
  limit: number,
): Promise<RankedAlert[]> {
  const [rank, micros, afterKind, afterSubject] = after ?? [null, null, null, null];
  return db.query(LISTS[which], [which, kind, owner, micros, afterKind, afterSubject, limit, isUnowned, rank]);
}

export const findAlert = declareFind({
  text: `select ${LISTED_COLUMNS} from alerts where kind = $1 and subject = $2`,
  parameters: ['text', 'text'],
  columns: LISTED_ALERT,
});

export const countOpenAlerts = declareList({
  text: `select kind, count(*) as open from alerts where ${IS_OPEN} group by kind order by kind`,
  parameters: [],
  columns: columns({ kind: 'text', open: 'bigint' }),
});

/** Updates the detail of an alert that is not resolved. Does not count a repetition. */
export const storeAlertDetail = declareWrite({
  text: 'update alerts set detail = $3 where kind = $1 and subject = $2 and resolved_at is null',
  parameters: [column<AlertKind>('text'), 'text', 'text'],
});

export const storeAlertOwner = declareWrite({
  text: 'update alerts set owner = $3 where kind = $1 and subject = $2',
  parameters: ['text', 'text', 'text?'],
});

/**
 * Numbers of periods, attempts, refunds and claims contain the order's number. These are the letters before the order's
 * number: R for refunds, C for claims, '' for periods and attempts.
 */
const NUMBER_LETTERS = `unnest(array['', 'R', 'C'])`;

/**
 * `$1`: the order's number; `$2`: its agreement's number. In the subject of an alert, the order's number may be
 * followed by four digits of the period and two digits of the attempt, refund or claim.
 */
const FIND_ALERTS_ABOUT = statement({
  text: `select ${COLUMNS} from (
       select a.* from ${NUMBER_LETTERS} as l(letter), lateral (
         select * from alerts
         where subject collate "C" >= l.letter || $1 and subject collate "C" < l.letter || $1 || ':'
           and substr(subject, length(l.letter || $1) + 1) ~ '^([0-9]{4}([0-9]{2})?)?$') a
       union
       select * from alerts where subject collate "C" = $2
       union
       select * from alerts where kind = 'institution-silent' and resolved_at is null and subject in (
         select payment_channel_code from debit_attempts where order_no = $1::bigint and status = 'STARTED'
         union select payment_channel_code from refunds where order_no = $1::bigint and status = 'STARTED')
       union
       select * from alerts where kind = 'pool-empty' and resolved_at is null and subject in (
         select benefit_code from claims
         where order_no = $1::bigint and status = 'PENDING' and fulfilment = 'POOL')) alerts
     order by last_seen_at desc, kind, subject`,
  parameters: ['text', 'text'],
  // Forces the index, because the planner's statistics may date from when the table was small.
  byIndex: true,
  columns: ALERT_VIEW_COLUMNS,
});

/**
 * Returns alerts about this order, its periods, attempts, refunds, claims or agreement, about an institution that does
 * not answer while a debit or refund of the order waits for its result, and about an empty pool while a claim of the
 * order waits for its code.
 */
export async function findAlertsAbout(
  db: Queryable,
  { orderNo, agreementNo }: { readonly orderNo: number; readonly agreementNo: string | null },
): Promise<AlertView[]> {
  return db.query(FIND_ALERTS_ABOUT, [String(orderNo), agreementNo]);
}

export const lockAlert = declareFind({
  text: `select ${COLUMNS} from alerts where kind = $1 and subject = $2 for update`,
  parameters: ['text', 'text'],
  columns: ALERT_VIEW_COLUMNS,
});

export const storeAcknowledgement = declareRequire({
  text: `update alerts set acknowledged_by = $3, acknowledged_at = now(),
       to_tell = case when to_tell = 'RESOLVED' then to_tell end
     where kind = $1 and subject = $2
     returning ${COLUMNS}`,
  parameters: ['text', 'text', 'text'],
  columns: ALERT_VIEW_COLUMNS,
});

/** Returns alerts not logged yet and marks them as logged. The caller logs them. */
export const takeAlertsToLog = declareList({
  text: `with raised as materialized (
       select kind, subject, seen, logged from alerts where logged < seen order by last_seen_at limit $1
       for update skip locked)
     update alerts a set logged = r.seen from raised r where a.kind = r.kind and a.subject = r.subject
     returning a.kind, a.subject, a.detail, r.seen - r.logged as times, a.seen`,
  parameters: ['bigint'],
  columns: columns({
    kind: 'text',
    subject: 'text',
    detail: 'text',
    /** The number of occurrences since the alert was last logged. */
    times: 'integer',
    seen: 'integer',
  }),
});
