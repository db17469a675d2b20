import {
  column,
  columns,
  declareList,
  declareRequire,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../platform/db/database.js';
import { shanghaiText } from '../platform/db/time-sql.js';

export type AlertWay = 'WEBHOOK' | 'EMAIL';
export type AlertNews = 'OPEN' | 'STILL_OPEN' | 'RESOLVED';

/** An alert in a message. Times are formatted as in the API. */
export interface ReportedAlert {
  readonly subject: string;
  readonly detail: string;
  readonly seen: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly resolvedBecause: string | null;
}

/** Alerts of one kind with the same news: opened, still open, or resolved. They are sent in one message. */
export type AlertGroup = RowOf<typeof takeAlertsToReport>;

/**
 * This lock lets only one node at a time write messages. Without it, two nodes would each write a message about a part
 * of the alerts. The lock is held until the commit.
 */
const MESSAGE_WRITING_LOCK = 7_366_373_662;
export const lockMessageWriting = declareRequire({
  text: `select pg_try_advisory_xact_lock(${MESSAGE_WRITING_LOCK}) as mine`,
  parameters: [],
  columns: columns({ mine: 'boolean' }),
  value: ({ mine }) => mine,
});

/** Limits how many rows are locked at once. The remaining alerts are left for the next message. */
const MAX_ALERTS_AT_ONCE = 10_000;

/**
 * Returns the alerts due for a message and marks them as reported, in the transaction that writes the messages. Skips
 * rows locked by other transactions.
 */
export const takeAlertsToReport = declareList({
  text: `with due as materialized (
       select kind, subject, coalesce(to_tell, 'STILL_OPEN') as what from alerts a
       where (to_tell = 'RESOLVED'
           or (acknowledged_at is null and resolved_at is null
             and (to_tell = 'OPEN' or told_at <= now() - $2::integer * interval '1 s')))
         and not exists (
           select from alert_messages m where m.kind = a.kind and m.what = coalesce(a.to_tell, 'STILL_OPEN')
             and m.written_at > now() - case when a.to_tell is null then $2 else $1 end::integer * interval '1 s')
       order by kind, what, last_seen_at, subject limit ${MAX_ALERTS_AT_ONCE} for update skip locked
     ), told as (
       update alerts a set to_tell = null, told_at = case when d.what <> 'RESOLVED' then now() end
       from due d where a.kind = d.kind and a.subject = d.subject
       returning a.kind, d.what, a.subject, a.detail, a.seen, a.first_seen_at, a.last_seen_at, a.resolved_because
     ), placed as (
       select *, row_number() over (partition by kind, what order by last_seen_at, subject) as place from told
     )
     select kind, what, count(*) as count,
       json_agg(json_build_object('subject', subject, 'detail', detail, 'seen', seen,
         'firstSeenAt', ${shanghaiText('first_seen_at')}, 'lastSeenAt', ${shanghaiText('last_seen_at')},
         'resolvedBecause', resolved_because) order by place) filter (where place <= $3) as alerts
     from placed group by kind, what order by kind, what`,
  parameters: {
    /**
     * Minimum time between two messages of one kind with the same news. Alerts raised within this time share one
     * message.
     */
    gatherSeconds: 'integer',
    /** Time between two messages about an alert that stays open. */
    repeatSeconds: 'integer',
    /** The number of alerts that a message lists. Further alerts are only counted. */
    listed: 'bigint',
  },
  columns: columns({
    kind: 'text',
    what: column<AlertNews>('text'),
    count: 'bigint',
    alerts: column<readonly ReportedAlert[]>('json'),
  }),
});

const STORE_MESSAGE = statement({
  text: 'insert into alert_messages (way, what, kind, content) values ($1, $2, $3, $4)',
  parameters: ['text', 'text', 'text', 'jsonb'],
});

export async function storeAlertMessage(
  tx: Queryable,
  {
    way,
    what,
    kind,
    content,
  }: { readonly way: AlertWay; readonly what: AlertNews; readonly kind: string; readonly content: object },
): Promise<void> {
  await tx.query(STORE_MESSAGE, [way, what, kind, JSON.stringify(content)]);
}

/** A message about an alert. Times are formatted as in the API. */
export type SentAlertMessage = RowOf<typeof listMessagesAbout>;

/**
 * Returns the latest messages that name the alert, newest first. A message about many alerts names only a part of them.
 */
export const listMessagesAbout = declareList({
  text: `select way, what, ${shanghaiText('written_at')} as "writtenAt", ${shanghaiText('sent_at')} as "sentAt", failure
     from alert_messages
     where kind = $1 and content -> 'alerts' @> jsonb_build_array(jsonb_build_object('subject', $2::text))
     order by written_at desc, message_id desc limit 100`,
  parameters: ['text', 'text'],
  columns: columns({
    way: column<AlertWay>('text'),
    what: column<AlertNews>('text'),
    writtenAt: 'text',
    /** Null until the receiver has accepted the message. */
    sentAt: 'text?',
    /** The failure of the last attempt. */
    failure: 'text?',
  }),
});

export type DueAlertMessage<Content> = RowOf<typeof LEASE_MESSAGE> & { readonly content: Content };

const LEASE_MESSAGE = statement({
  text: `update alert_messages set tries = tries + 1,
       send_at = now() + least(60 * 2 ^ least(tries, 10), 3600) * interval '1 s'
     where message_id = (
       select message_id from alert_messages where way = $1 and send_at <= now()
       order by send_at, message_id limit 1 for update skip locked)
     returning message_id::text as "messageId", content, tries`,
  parameters: ['text'],
  columns: columns({ messageId: 'text', content: 'jsonb', tries: 'integer' }),
});

/**
 * Leases the oldest due message of a transport to one node. Stores the time of the next attempt before sending, so that
 * a crash or an unreachable receiver leads to a retry after 1, 2, 4 … minutes, at most an hour.
 */
export async function leaseAlertMessage<Content>(
  db: Queryable,
  way: AlertWay,
): Promise<DueAlertMessage<Content> | undefined> {
  const [message] = await db.query(LEASE_MESSAGE, [way]);
  return message as DueAlertMessage<Content> | undefined;
}

export const markMessageSent = declareWrite({
  text: 'update alert_messages set sent_at = now(), send_at = null, failure = null where message_id = $1',
  parameters: ['bigint'],
});

export const markMessageFailed = declareWrite({
  text: 'update alert_messages set failure = $2 where message_id = $1',
  parameters: ['bigint', 'text'],
});

const MARK_REFUSED_FOR = statement({
  text: 'update alert_messages set failure = $2, content = content || $3::jsonb where message_id = $1',
  parameters: ['bigint', 'text', 'jsonb'],
});

/** Limits the next attempt to the addresses that were refused. */
export async function markRefusedFor(
  db: Queryable,
  messageId: string,
  { people, failure }: { readonly people: readonly string[]; readonly failure: string },
): Promise<void> {
  await db.query(MARK_REFUSED_FOR, [messageId, failure, JSON.stringify({ onlyTo: people })]);
}
