import type { AgreementSource, AgreementStatus, OrderStatus } from '@perennial/wire';
import {
  column,
  columns,
  declareFind,
  declareHas,
  declareList,
  declareRequire,
  declareWrite,
  joinColumns,
} from '../../../platform/db/database.js';
import { shanghaiText } from '../../../platform/db/time-sql.js';
import { LINK } from '../../audit/seals-sql.js';

/** Returns `limit` + 1 order numbers if the user has more than `limit` orders. */
export const listOrderNosOfUser = declareList({
  text: `select order_no as "orderNo" from external_orders where user_key = key_of($2) and channel_id = $1
     order by order_no limit $3::bigint + 1`,
  parameters: ['bigint', 'text', 'bigint'],
  columns: columns({ orderNo: 'bigint' }),
  value: ({ orderNo }) => orderNo,
});

/**
 * Locks the user. Waits for transactions that create an order of the user, so their orders are visible afterwards. An
 * order that is created later fails until this transaction ends. Orders of a binding lock the binding instead.
 */
export const lockUser = declareWrite({
  text: `select from channel_users where channel_id = $1 and key_of(channel_user_id) = key_of($2) for update`,
  parameters: ['bigint', 'text'],
});

/** Takes locks by ascending number, those of orders before those of agreements, like all other transactions. */
export const lockOrdersOfUser = declareList({
  text: `select order_no as "orderNo", status from orders where order_no = any($1::bigint[]) order by order_no for update`,
  parameters: ['bigint[]'],
  columns: columns({ orderNo: 'bigint', status: column<OrderStatus>('text') }),
});

export const lockAgreementsOfUser = declareList({
  text: `select agreement_id as "agreementId", source, status, cancel_at is not null as "isBeingCanceled",
       changed_at > now() - interval '1 hour' as "isRecent"
     from agreements where key_of(channel_user_id) = key_of($2) and channel_id = $1 order by agreement_id for update`,
  parameters: ['bigint', 'text'],
  columns: columns({
    agreementId: 'bigint',
    source: column<AgreementSource>('text'),
    status: column<AgreementStatus>('text'),
    isBeingCanceled: 'boolean',
    isRecent: 'boolean',
  }),
});

/**
 * Finds a period with a debit or a refund that has no result, or with a refund that waits for approval. Returns it as
 * `orderNo-cycleNo`.
 */
export const findOpenMoney = declareFind({
  text: `select order_no || '-' || cycle_no as period from debit_attempts
         where order_no = any($1::bigint[]) and status = 'STARTED'
       union all select order_no || '-' || cycle_no from refunds where order_no = any($1::bigint[]) and status = 'STARTED'
       union all select subject from approvals where kind = 'REFUND'
         and (status = 'WAITING' or (status = 'APPROVED' and result is null))
         and split_part(subject, '-', 1) = any($1::bigint[]::text[])
       union all select i.subject from bulk_runs r join bulk_items i using (run_id)
         where r.kind = 'REFUND' and r.status in ('WAITING', 'RUNNING') and i.status = 'WAITING'
           and split_part(i.subject, '-', 1) = any($1::bigint[]::text[]) limit 1`,
  parameters: ['bigint[]'],
  columns: columns({ period: 'text' }),
  value: ({ period }) => period,
});

/** Lets only one transaction erase a user at a time. The lock is held until the transaction ends. */
export const lockErasure = declareWrite({
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
  parameters: ['text'],
});

export const renameOrders = declareWrite({
  text: `update orders set channel_user_id = $2, unsubscribe_reason = null, channel_agreement_ref = null
     where order_no = any($1::bigint[])`,
  parameters: ['bigint[]', 'text'],
});

export const renameExternalOrders = declareWrite({
  text: `update external_orders set user_key = key_of($3) where user_key = key_of($2) and channel_id = $1`,
  parameters: ['bigint', 'text', 'text'],
});

/** Replaces the hashes by random values, which no card has. */
export const eraseAgreements = declareWrite({
  text: `update agreements a set channel_user_id = $3, details = e.details, card_tail = '****', bank_code = null,
       card_hash = sha256(gen_random_uuid()::text::bytea), certificate_hash = sha256(gen_random_uuid()::text::bytea),
       institution_no = null, institution_hash = null, gateway_reference = null, code_sent_at = null, number_released = true,
       status = case when a.status = 'BIND_ING' then 'BIND_FAIL' else a.status end, data_deleted_at = now()
     from unnest($1::bigint[], $2::text[]) as e(agreement_id, details) where a.agreement_id = e.agreement_id`,
  parameters: ['bigint[]', 'text[]', 'text'],
});

export const deleteUser = declareWrite({
  text: `with tries as (delete from unsubscribe_tries where channel_id = $1 and user_key = key_of($2))
     delete from channel_users where channel_id = $1 and key_of(channel_user_id) = key_of($2)`,
  parameters: ['bigint', 'text'],
});

export const renameEvents = declareWrite({
  text: `update events set data = regexp_replace(data, '"channelUserId":"([^"\\\\]|\\\\.)*"', '"channelUserId":"' || $2 || '"')
     where order_no = any($1::bigint[])`,
  parameters: ['bigint[]', 'text'],
});

const eventIs = (outcome: string) => `update delivery_attempts t set answer = null from events e
     where e.order_no = any($1::bigint[]) and t.channel_id = e.channel_id and t.event_no = e.event_no and t.answer is not null
       and t.recorded_at = e.recorded_at and t.is_payment = (e.event_type = 'payment.status.changed') and ${outcome}`;

/** Two statements, because accepted and failed pushes have different indexes. */
export const deleteReceiversAnswers = [
  declareWrite({ text: eventIs(`t.outcome = 'ACCEPTED'`), parameters: ['bigint[]'] }),
  declareWrite({ text: eventIs(`t.outcome <> 'ACCEPTED'`), parameters: ['bigint[]'] }),
];

/** Replaces a piece of JSON in the stored answers, because a repeated request gets the stored answer. */
export const renameInAnswers = declareWrite({
  text: `update idempotency set data = replace(data, $2, $3) where channel_id = $1 and position($2 in data) > 0`,
  parameters: ['bigint', 'text', 'text'],
});

export const renameInBulkFilters = declareWrite({
  text: `update bulk_runs set filter = jsonb_set(filter, '{channelUserId}', to_jsonb($3::text))
     where filter ->> 'channelUserId' = $2 and coalesce(filter ->> 'appId', $1) = $1`,
  parameters: ['text', 'text', 'text'],
});

/**
 * Matches the numbers of the orders, and of their attempts, refunds and claims. The number of an attempt, refund or
 * claim is the number of the order between an optional letter and six digits.
 */
const isOfOrders = (number: string) => `(ltrim(${number}, 'RC') = any($1::bigint[]::text[])
       or left(ltrim(${number}, 'RC'), -6) = any($1::bigint[]::text[]))`;

/** Texts that operators wrote about the orders. */
export const deleteTexts = [
  'delete from order_notes where order_no = any($1::bigint[])',
  'update refunds set note = null where order_no = any($1::bigint[]) and note is not null',
  `update approvals set note = '****', decision_note = null
     where kind = 'REFUND' and split_part(subject, '-', 1) = any($1::bigint[]::text[])`,
  `update alert_comments set text = '****' where ${isOfOrders('subject')}`,
  `update reconciliation_differences set closing_note = '****' where closing_note is not null and ${isOfOrders('number')}`,
].map((text) => declareWrite({ text, parameters: ['bigint[]'] }));

/** Removes the reasons of the bulk runs that concern only these orders. Returns the numbers of these runs. */
export const deleteRunTexts = declareList({
  text: `with runs as (
       select run_id from bulk_items where run_id in (select run_id from bulk_items where order_no = any($1::bigint[]))
       group by run_id having bool_and(coalesce(order_no = any($1::bigint[]), false))),
     notes as (
       update approvals set note = '****', decision_note = null
       where kind = 'BULK' and subject in (select run_id::text from runs))
     update bulk_runs set reason = '****' where run_id in (select run_id from runs) returning run_id as "runId"`,
  parameters: ['bigint[]'],
  columns: columns({ runId: 'bigint' }),
  value: ({ runId }) => runId,
});

/**
 * Lists the audit entries with texts about these subjects, and about differences of these orders. `isChained`: the
 * texts are part of the chain and stay, because an earlier version wrote the entry.
 */
export const listAuditTexts = declareList({
  text: `select a.chain_no as "chainNo", a.chain, a.audit_id as "auditId", t.texts is null as "isChained"
     from (select * from audit_log where subject = any($2::text[])
       union all
       select * from audit_log where action = 'reconciliation.close' and ${isOfOrders(`detail ->> 'number'`)}) a
     left join audit_texts t using (audit_id)
     where t.texts is not null
       or 'string' in (jsonb_typeof(detail -> 'reason'), jsonb_typeof(detail -> 'note'), jsonb_typeof(detail -> 'withoutApproval'))`,
  parameters: ['bigint[]', 'text[]'],
  columns: joinColumns(LINK, columns({ auditId: 'bigint', isChained: 'boolean' })),
});

/** Erases texts of audit entries. A verification accepts that only with the seal. */
export const eraseAuditTexts = declareWrite({
  text: `update audit_texts t set texts = null, salt = e.seal
     from unnest($1::bigint[], $2::bytea[]) as e(audit_id, seal) where t.audit_id = e.audit_id`,
  parameters: ['bigint[]', 'bytea[]'],
});

export const insertErasedUser = declareRequire({
  text: `insert into erased_users (channel_id, user_hash) values ($1, $2)
     on conflict (channel_id, user_hash) do update set erased_at = now() returning ${shanghaiText('erased_at')} as at`,
  parameters: ['bigint', 'bytea'],
  columns: columns({ at: 'text' }),
  value: ({ at }) => at,
});

export const findErasedUser = declareFind({
  text: `select ${shanghaiText('erased_at')} as at from erased_users where channel_id = $1 and user_hash = $2`,
  parameters: ['bigint', 'bytea'],
  columns: columns({ at: 'text' }),
  value: ({ at }) => at,
});

export const hasRowsOfUser = declareHas({
  text: `select from channel_users where channel_id = $1 and key_of(channel_user_id) = key_of($2)
     union all select from agreements where channel_id = $1 and key_of(channel_user_id) = key_of($2)
     union all select from external_orders where channel_id = $1 and user_key = key_of($2) limit 1`,
  parameters: ['bigint', 'text'],
});

export const listErasedUsers = declareList({
  text: `select c.app_id as "appId", encode(e.user_hash, 'hex') as "userHash", ${shanghaiText('e.erased_at')} as "erasedAt"
     from erased_users e join channels c using (channel_id) order by e.erased_at, c.app_id, e.user_hash`,
  parameters: [],
  columns: columns({ appId: 'text', userHash: 'text', erasedAt: 'text' }),
});

const USER_ID_COLUMNS = columns({ channelUserId: 'text', since: 'text', place: 'text' });

/** Lists a channel's user ids with the time of each row. Users of failed bindings have agreements only. */
export const listUserIds = [
  {
    first: '',
    list: declareList({
      text: `select channel_user_id as "channelUserId", ${shanghaiText('bound_at')} as since, encode(mobile_hash, 'hex') as place
         from channel_users where channel_id = $1 and mobile_hash > decode($2::text, 'hex') order by mobile_hash limit 5000`,
      parameters: ['bigint', 'text'],
      columns: USER_ID_COLUMNS,
    }),
  },
  {
    first: '0',
    list: declareList({
      text: `select channel_user_id as "channelUserId", ${shanghaiText('created_at')} as since, agreement_id::text as place
         from agreements where channel_id = $1 and agreement_id > $2::text::bigint order by agreement_id limit 5000`,
      parameters: ['bigint', 'text'],
      columns: USER_ID_COLUMNS,
    }),
  },
];

/** Columns that an export leaves out: hashes, and columns that only the engine uses. */
const LEFT_OUT = `'{channel_id,mobile_hash,card_hash,certificate_hash,institution_hash,code_hash,code_of,ask_at,asked,unused_since}'::text[]`;

/** A row of any table as JSON, by the names of its columns. */
const ROW_COLUMNS = columns({ row: column<Readonly<Record<string, unknown>>>('jsonb') });
const value = ({ row }: { readonly row: Readonly<Record<string, unknown>> }) => row;

const declareOfUser = (table: string, order: string) =>
  declareList({
    text: `select to_jsonb(t) - ${LEFT_OUT} as row from ${table} t
       where t.channel_id = $1 and key_of(t.channel_user_id) = key_of($2) order by ${order}`,
    parameters: ['bigint', 'text'],
    columns: ROW_COLUMNS,
    value,
  });
export const readUserRows = declareOfUser('channel_users', 'bound_at');
export const readAgreementRows = declareOfUser('agreements', 'agreement_id');

const declareOfOrders = (table: string, order: string, where = 't.order_no = any($1::bigint[])') =>
  declareList({
    text: `select to_jsonb(t) - ${LEFT_OUT} as row from ${table} t where ${where} order by ${order}`,
    parameters: ['bigint[]'],
    columns: ROW_COLUMNS,
    value,
  });

/** The parts of an export that belong to orders, by their names in the document. */
export const READ_OF_ORDERS = {
  orders: declareOfOrders('orders', 't.order_no'),
  periods: declareOfOrders('payments', 't.order_no, t.cycle_no'),
  debits: declareOfOrders('debit_attempts', 't.order_no, t.cycle_no, t.try_no'),
  refunds: declareOfOrders('refunds', 't.order_no, t.cycle_no, t.refund_seq'),
  benefits: declareOfOrders('benefits', 't.order_no, t.cycle_no, t.position'),
  claims: declareOfOrders('claims', 't.order_no, t.cycle_no, t.position'),
  events: declareOfOrders('events', 't.recorded_at, t.event_no'),
  notes: declareOfOrders('order_notes', 't.note_id'),
  approvals: declareOfOrders(
    'approvals',
    't.approval_id',
    `t.kind = 'REFUND' and split_part(t.subject, '-', 1) = any($1::bigint[]::text[])
       or t.kind = 'BULK' and t.subject in (select run_id::text from bulk_items where order_no = any($1::bigint[]))`,
  ),
  bulkItems: declareOfOrders(
    '(select i.*, r.kind, r.reason, r.requested_by, r.requested_at from bulk_items i join bulk_runs r using (run_id))',
    't.run_id, t.item_no',
  ),
  differences: declareOfOrders('reconciliation_differences', 't.difference_no', isOfOrders('t.number')),
  alerts: declareOfOrders('alerts', 't.first_seen_at', isOfOrders('t.subject')),
  alertComments: declareOfOrders('alert_comments', 't.comment_id', isOfOrders('t.subject')),
};

/** Entries about the subjects: orders, agreements and the user. */
export const readAuditRows = declareList({
  text: `select (to_jsonb(a) || jsonb_build_object('detail', audit_detail(a))) - '{chain,chain_no}'::text[] as row
     from audit_log a where a.subject = any($1::text[]) order by a.audit_id`,
  parameters: ['text[]'],
  columns: ROW_COLUMNS,
  value,
});

/**
 * Removes the input of all requests about the user. Only requests that wait, or were approved but not carried out,
 * still have an input.
 */
export const forgetRequests = declareWrite({
  text: `update approvals set change = change - 'input'
     where kind = 'CHANGE' and change #>> '{input,appId}' = $1 and change #>> '{input,channelUserId}' = $2`,
  parameters: ['text', 'text'],
});
