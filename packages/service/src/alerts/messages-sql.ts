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

/** An alert as a message has it, with times as the interface writes them. */
export interface ReportedAlert {
  readonly subject: string;
  readonly detail: string;
  readonly seen: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly resolvedBecause: string | null;
}

/** Alerts of one kind with the same news: one message is about all of them. */
export type AlertGroup = RowOf<typeof takeAlertsToReport>;

/**
 * One node at a time writes messages: two would each put half of the alerts into theirs. The lock ends with the transaction.
 */
const MESSAGE_WRITING_LOCK = 7_366_373_662;
export const lockMessageWriting = declareRequire({
  text: `select pg_try_advisory_xact_lock(${MESSAGE_WRITING_LOCK}) as mine`,
  parameters: [],
  columns: columns({ mine: 'boolean' }),
  value: ({ mine }) => mine,
});

/** More at once would lock their rows for long; the rest is for the next message. */
const MAX_ALERTS_AT_ONCE = 10_000;

/**
 * Takes the alerts that people have to be told of and marks them as told, in the transaction that writes the messages. A row
 * that is locked by another transaction is left for the next time.
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
    /** Between two messages of a kind: alerts that come in between go into one message. */
    gatherSeconds: 'integer',
    /** Between two messages about an alert that stays open. */
    repeatSeconds: 'integer',
    /** How many alerts a message lists; the others are counted. */
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

/** A message about an alert. Times as the interface writes them. */
export type SentAlertMessage = RowOf<typeof listMessagesAbout>;

/** The latest messages that name the alert, the newest first. Of many alerts at once a message names only the first. */
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
    /** Null: not taken yet. */
    sentAt: 'text?',
    /** Of the last try. */
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
 * The oldest message of a way that is due, for one node. Its next try is stored before it is sent: if this
 * node dies, or the receiver is away, it is sent again after 1, 2, 4 minutes and so on, an hour at most.
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

/** The message was refused for these addresses: the next try is for them alone. */
export async function markRefusedFor(
  db: Queryable,
  messageId: string,
  { people, failure }: { readonly people: readonly string[]; readonly failure: string },
): Promise<void> {
  await db.query(MARK_REFUSED_FOR, [messageId, failure, JSON.stringify({ onlyTo: people })]);
}
