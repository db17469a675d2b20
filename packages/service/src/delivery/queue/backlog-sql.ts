import { isFailing } from '../../alerts/resolve-sql.js';
import type { CallbackEventType } from '../../catalog/channels/channel-provisioning-sql.js';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import { eventTypeSql } from '../event-type-sql.js';
import { isPayment } from '../history/attempts-sql.js';

/** The state of a channel's deliveries. */
export type Backlog = RowOf<typeof LIST_BACKLOGS>;

interface CallbackAddress {
  readonly eventType: CallbackEventType;
  readonly url: string;
  /** The time of the first failed push after the last accepted one. Null if the address accepts pushes. */
  readonly failingSince: string | null;
}

const MAX_COUNTED = 10_000;

/** SQL: the number of rows of a table, up to MAX_COUNTED. */
const countSome = (from: string) => `(select count(*) from (select from ${from} limit ${MAX_COUNTED}) as counted)`;

/** SQL: the latest failed push of an event `x` that is waiting or was given up. */
const lastFailure = (x: string) => `(select t.at, t.http_status, t.answer from delivery_attempts t
  where t.outcome <> 'ACCEPTED' and t.channel_id = ${x}.channel_id and t.event_no = ${x}.event_no and t.at >= ${x}.recorded_at
  order by t.at desc limit 1)`;

/**
 * SQL: the receiver's latest answer. Compares the answers to at most four events: the newest event that waits for a
 * retry, the newest event that was given up, the newest accepted payment.status.changed event, and the newest accepted
 * event of another type.
 */
const LAST_ANSWER = `select coalesce(t.http_status || ': ', '') || t.answer from (
    (select f.* from (select * from due_events d where d.channel_id = c.channel_id and d.next_at <> d.recorded_at
       order by d.event_no desc limit 1) d, lateral ${lastFailure('d')} f)
    union all
    (select f.* from (select * from undelivered_events u where u.channel_id = c.channel_id and u.reason = 'GIVE_UP'
       order by u.event_no desc limit 1) u, lateral ${lastFailure('u')} f)
    union all
    (select t.at, t.http_status, t.answer from delivery_attempts t
       where t.outcome = 'ACCEPTED' and t.channel_id = c.channel_id and t.is_payment order by t.recorded_at desc limit 1)
    union all
    (select t.at, t.http_status, t.answer from delivery_attempts t
       where t.outcome = 'ACCEPTED' and t.channel_id = c.channel_id and not t.is_payment order by t.recorded_at desc limit 1)
  ) as t order by t.at desc limit 1`;

const LIST_BACKLOGS = statement({
  text: `select c.app_id as "appId", c.name,
       (select coalesce(json_agg(json_build_object('eventType', u.event_type, 'url', u.url,
          'failingSince', case when ${isFailing('u')} then ${shanghaiText('u.failing_since')} end) order by u.event_type), '[]')
        from callback_urls u where u.channel_id = c.channel_id) as "callbackUrls",
       p.paused, w.waiting, ${shanghaiText('w.oldest')} as "oldestWaitingAt", ${shanghaiText('w.next')} as "nextPushAt",
       ${countSome(`undelivered_events u where u.channel_id = c.channel_id and u.reason = 'GIVE_UP'`)} as "givenUp",
       ${countSome(`undelivered_events u where u.channel_id = c.channel_id and u.reason = 'NO_CALLBACK'`)} as "withoutAddress",
       coalesce(h.accepted, 0)::bigint as accepted, coalesce(h.failed, 0)::bigint as failed,
       case when $1::text is not null then (${LAST_ANSWER}) end as "lastAnswer"
     from channels c,
       lateral (select array(select d.event_type from delivery_pauses d where d.channel_id = c.channel_id
         order by d.event_type) as paused) p,
       lateral (
         select count(*) as waiting, min(d.recorded_at) as oldest,
           min(d.next_at) filter (where '*' <> all(p.paused)
             and ${eventTypeSql('d')} <> all(p.paused)) as next
         from (select * from due_events d where d.channel_id = c.channel_id
           order by d.is_payment, d.recorded_at limit ${MAX_COUNTED}) d) w,
       lateral (
         select sum(f.pushes_accepted) as accepted, sum(f.pushes_failed) as failed from hourly_figures f
         where f.channel_id = c.channel_id and f.hour > now() - interval '24 hours') h
     where $1::text is null or c.app_id = $1 order by c.app_id`,
  parameters: ['text'],
  columns: columns({
    appId: 'text',
    name: 'text',
    callbackUrls: column<readonly CallbackAddress[]>('json'),
    paused: column<readonly CallbackEventType[]>('text[]'),
    /** Counted up to 10,000, like `givenUp` and `withoutAddress`. */
    waiting: 'bigint',
    oldestWaitingAt: 'text?',
    /** The time of the next push. Paused events do not count. A time in the past means now. */
    nextPushAt: 'text?',
    givenUp: 'bigint',
    withoutAddress: 'bigint',
    /** The numbers of accepted pushes and of failed pushes, in the clock hours that began within the last 24 hours. */
    accepted: 'bigint',
    failed: 'bigint',
    /** The answer to the latest push that LAST_ANSWER finds, for a single channel only. */
    lastAnswer: 'text?',
  }),
});

/** Returns the backlogs of all channels, or of one channel with the receiver's latest answer. */
export async function listBacklogs(db: Queryable, appId?: string): Promise<Backlog[]> {
  return db.query(LIST_BACKLOGS, [appId ?? null]);
}

const FIND_NEXT_PUSH = statement({
  text: `select ${shanghaiText('min(d.next_at)')} as "nextPushAt"
     from events e join due_events d on d.channel_id = e.channel_id and d.is_payment = (${isPayment('e')})
       and d.recorded_at = e.recorded_at and d.event_no = e.event_no
     where e.channel_id = $1 and e.event_no = $2 and ($3::integer is null or d.cycle_no <= $3 and coalesce(d.cycle_to, d.cycle_no) >= $3)`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: columns({ nextPushAt: 'text?' }),
});

/** Returns the time of the next push of an event or period, or null if no push is waiting. */
export async function findNextPush(
  db: Queryable,
  channelId: number,
  { eventNo, cycleNo }: { readonly eventNo: number; readonly cycleNo: number | undefined },
): Promise<string | null> {
  return (await queryOne(db, FIND_NEXT_PUSH, [channelId, eventNo, cycleNo ?? null]))?.nextPushAt ?? null;
}
