import type { AgreementStatus } from '@perennial/wire';
import { keyOfEvent } from '../../../delivery/history/attempts-sql.js';
import { column, columns, type Queryable, type RowOf, requireOne, statement } from '../../../platform/db/database.js';
import { declareList, declareRequire, type Query } from '../../../platform/db/declared.js';
import { epochMs, shanghaiText } from '../../../platform/db/time-sql.js';

/** The data outside the order's own row that determines the order's next step. */
export type Surroundings = RowOf<typeof FIND_SURROUNDINGS>;

const FIND_SURROUNDINGS = statement({
  text: `select c.name as "channelName", c.voided_period_events as "hearsOfVoidedPeriods", g.product_name as "productName", g.version as "productVersion",
       coalesce(g.retry_delays, '{}') as "retryDelays",
       coalesce((select p.attempts from payments p where p.order_no = o.order_no and p.cycle_no = o.cycle_no), 0) as tries,
       d.cycle_no as "openCycleNo", d.try_no as "openTryNo", ${epochMs('d.ask_at')} as "askAt"
     from orders o join channels c using (channel_id) left join products g using (product_code)
       left join lateral (
         select a.cycle_no, a.try_no, a.ask_at from debit_attempts a
         where a.order_no = o.order_no and a.cycle_no = o.cycle_no and a.status = 'STARTED'
         order by a.try_no desc limit 1) d on true
     where o.order_no = $1`,
  parameters: ['bigint'],
  columns: columns({
    channelName: 'text',
    /** True if the channel wants events about voided periods. */
    hearsOfVoidedPeriods: 'boolean',
    productName: 'text?',
    productVersion: 'integer?',
    /** The product's delays before the retries of a debit, in seconds. */
    retryDelays: 'integer[]',
    /** The number of attempts of the latest period. */
    tries: 'integer',
    /** The period of the debit whose outcome is unknown. Null if there is no such debit. */
    openCycleNo: 'integer?',
    openTryNo: 'integer?',
    /** When the service will next query the institution about the debit whose outcome is unknown. */
    askAt: 'bigint?',
  }),
});

export async function findSurroundings(db: Queryable, orderNo: number): Promise<Surroundings> {
  return requireOne(db, FIND_SURROUNDINGS, [orderNo]);
}

export type AgreementOfOrder = RowOf<typeof AGREEMENT_OF_ORDER_COLUMNS>;

const AGREEMENT_OF_ORDER_COLUMNS = columns({
  agreementNo: 'text',
  agreementStatus: column<AgreementStatus>('text'),
  agreementSource: 'text',
  paymentChannelCode: 'text',
  bankCardTailNo: 'text',
  createTime: 'text',
  changeTime: 'text',
});

/** Returns the order's current agreement, and the agreements on which the order was debited since a given period. */
export const findAgreementsOfOrder: Query<[orderNo: number, fromCycleNo: number, limit: number], AgreementOfOrder[]> =
  declareList({
    text: `select a.agreement_no as "agreementNo", a.status as "agreementStatus", a.source as "agreementSource",
       a.payment_channel_code as "paymentChannelCode", a.card_tail as "bankCardTailNo",
       ${shanghaiText('a.created_at')} as "createTime", ${shanghaiText('a.changed_at')} as "changeTime"
     from agreements a where a.agreement_no is not null and a.agreement_id in (
       select o.agreement_id from orders o where o.order_no = $1
       union select d.agreement_id from debit_attempts d where d.order_no = $1 and d.cycle_no >= $2)
     order by a.agreement_id desc limit $3`,
    parameters: ['bigint', 'integer', 'bigint'],
    columns: AGREEMENT_OF_ORDER_COLUMNS,
  });

export type PlannedPush = RowOf<typeof PLANNED_PUSH_COLUMNS>;

const event = keyOfEvent('e');

const PLANNED_PUSH_COLUMNS = columns({ eventId: 'text', eventType: 'text', retryNo: 'smallint', at: 'text' });

/** Returns the next planned push of each of these events, soonest first. */
export const findPlannedPushes: Query<[channelId: number, eventNos: readonly number[], limit: number], PlannedPush[]> =
  declareList({
    text: `select e.event_no || case when d.cycle_no = 0 then '' else '-' || d.cycle_no end as "eventId",
       e.event_type as "eventType", d.retry_no as "retryNo", ${shanghaiText('d.next_at')} as at
     from events e join due_events d on d.channel_id = ${event.channelId} and d.is_payment = ${event.isPayment}
       and d.recorded_at = ${event.recordedAt} and d.event_no = ${event.eventNo}
     where e.channel_id = $1 and e.event_no = any($2::bigint[]) order by d.next_at limit $3`,
    parameters: ['bigint', 'bigint[]', 'bigint'],
    columns: PLANNED_PUSH_COLUMNS,
  });

export type AuditOfOrder = RowOf<typeof AUDIT_OF_ORDER_COLUMNS>;

const AUDIT_OF_ORDER_COLUMNS = columns({
  auditId: 'text',
  at: 'text',
  actor: 'text',
  action: 'text',
  subject: 'text',
  detail: column<Readonly<Record<string, unknown>>>('jsonb'),
});

/** Returns the audit entries about any of these subjects, latest first. Entries about `user` must have this action. */
export const findAuditOf: Query<
  [subjects: readonly string[], limit: number, user: string, action: string],
  AuditOfOrder[]
> = declareList({
  text: `select audit_id::text as "auditId", ${shanghaiText('at')} as at, actor, action, subject, audit_detail(audit_log) as detail
     from audit_log where subject = any($1::text[]) and (subject <> $3 or action = $4) order by audit_id desc limit $2`,
  parameters: ['text[]', 'bigint', 'text', 'text'],
  columns: AUDIT_OF_ORDER_COLUMNS,
});

export type OrderNote = RowOf<typeof NOTE_COLUMNS>;

const NOTE_FIELDS = `note_id::text as "noteId", author, ${shanghaiText('at')} as at, text`;
const NOTE_COLUMNS = columns({ noteId: 'text', author: 'text', at: 'text', text: 'text' });

/** Latest first. */
export const findNotes: Query<[orderNo: number, limit: number], OrderNote[]> = declareList({
  text: `select ${NOTE_FIELDS} from order_notes where order_no = $1 order by note_id desc limit $2`,
  parameters: ['bigint', 'bigint'],
  columns: NOTE_COLUMNS,
});

export const insertNote: Query<[orderNo: number, author: string, text: string], OrderNote> = declareRequire({
  text: `insert into order_notes (order_no, author, text, at) values ($1, $2, $3, now()) returning ${NOTE_FIELDS}`,
  parameters: ['bigint', 'text', 'text'],
  columns: NOTE_COLUMNS,
});
