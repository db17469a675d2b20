import { declareHas, type Queryable, requireOne } from '../../../platform/db/database.js';
import { createNumberSupply, type NumberSupply } from '../../../platform/db/sharing/number-supply.js';
import { type Columns, column, columns, joinColumns, type RowOf, statement } from '../../../platform/db/statement.js';
import { leaseUntil } from '../../../platform/idempotency/idempotency-sql.js';
import { requireAgreementTransition } from '../../domain/agreements/agreement-states.js';
import { lockNumberForSharingSql } from '../agreements/same-number-sql.js';
import { statusLiteral } from '../statuses-sql.js';

const SHARED_STATUS = requireAgreementTransition('none', 'shared').to;

/** An order to insert, with its related rows. */
export interface NewOrderRow {
  readonly order: OrderInsert;
  readonly benefits: readonly BenefitInsert[];
  readonly events: readonly EventInsert[];
  readonly idempotency: IdempotencyInsert | null;
}

/** A time by the node's clock, in ISO 8601. */
const TIME = column<string>('timestamp with time zone');
const TIME_OR_NULL = column<string>('timestamp with time zone?');

/** The columns of the order's row, with their names in the table. */
const ORDER_ROW = columns({
  order_no: 'bigint',
  channel_id: 'bigint',
  external_order_no: 'text',
  channel_user_id: 'text',
  product_code: 'text',
  settlement_mode: 'text',
  status: 'text',
  period_type: 'text',
  period: 'integer',
  total_cycles: 'integer',
  amount_cent: 'bigint',
  created_at: TIME,
  success_at: TIME_OR_NULL,
  next_due_at: TIME_OR_NULL,
  paid_cycles: 'integer',
  paid_amount_cent: 'bigint',
  latest_payment_status: 'text',
  agreement_id: 'bigint?',
  /** The payment channel of the debit in mode A. */
  payment_channel_code: 'text?',
  shared: 'boolean',
  channel_agreement_ref: 'text?',
  /** How many days before a period its notice is sent. Null: no notices. */
  notice_days: 'integer?',
});

/** The order's row and the values for its related rows. Bytes are given in hex, as in all records of this file. */
const ORDER = joinColumns(
  ORDER_ROW,
  columns({
    /** The hash of the user's mobile. Null if the agreement identifies the user. */
    mobile_hash: 'text?',
    mobile: 'text?',
    payment_status: 'text',
    paid_at: TIME_OR_NULL,
    /** Mode A: seconds until the institution is queried, if the outcome of the debit is unknown by then. */
    ask_after_seconds: 'double precision?',
    /** The shared agreement to create with the order, if any. */
    agreement: column<AgreementInsert>('json?'),
    /**
     * The hash of the shared agreement's institution number. Null without a shared agreement, or if other channels may
     * use the same number.
     */
    exclusive_number: 'text?',
    benefits_expire_at: TIME_OR_NULL,
  }),
);
export type OrderInsert = RowOf<typeof ORDER>;

const AGREEMENT = columns({
  agreement_no: 'text',
  institution_no: 'text',
  institution_hash: 'text',
  card_hash: 'text',
  certificate_hash: 'text',
  card_tail: 'text',
  details: 'text',
});
export type AgreementInsert = RowOf<typeof AGREEMENT>;

const BENEFIT = columns({ benefitCode: 'text', name: 'text', faceValueCent: 'bigint' });
export type BenefitInsert = RowOf<typeof BENEFIT>;

const EVENT = columns({ eventType: 'text', cycleNo: 'integer?', data: 'text' });
export type EventInsert = RowOf<typeof EVENT>;

const IDEMPOTENCY = columns({
  key: 'text',
  path: 'text',
  body_sha256: 'text',
  meaning: 'text?',
  owner: 'uuid',
  state: column<'RUNNING' | 'DESCRIBED'>('text'),
  lease_seconds: 'double precision?',
  subject: 'text?',
  code: 'text?',
  message: 'text?',
  /** The description of the answer, if the state is DESCRIBED. */
  data: column<object>('json?'),
});
export type IdempotencyInsert = RowOf<typeof IDEMPOTENCY>;

/** Returns the fields of a JSON record, in the syntax that json_to_recordset needs. */
const fieldsOf = ({ types }: Columns<unknown>) =>
  Object.entries(types)
    .map(([name, type]) => `"${name}" ${type.replace('?', '')}`)
    .join(', ');

const ORDER_NAMES = Object.keys(ORDER_ROW.types).join(', ');

export type NewOrderRefusal =
  | 'SUBSCRIPTION_ALREADY_EXISTS'
  | 'AGREEMENT_NOT_BOUND'
  | 'NUMBER_OF_ANOTHER_CHANNEL'
  | 'CHANNEL_USER_MOBILE_MISMATCH'
  | 'CHANNEL_MOBILE_OCCUPIED';

/**
 * Inserts many orders with their related rows in one statement and commit. An order whose number, user, mobile or
 * agreement conflicts with stored rows is refused individually. Any other conflict, such as with a concurrent
 * transaction or a stored idempotency key, fails the whole statement with a unique violation. The caller then inserts
 * the orders one at a time, or gives all of them new order numbers if one number is taken.
 *
 * Look-ups are scalar subqueries. PostgreSQL could keep a plan of joins from the time when the tables were small, and
 * would read whole tables after they have grown. An order's benefits, events and idempotency key are separate
 * parameters, because nested JSON is parsed again at each level (measured: a quarter of the statement's CPU time).
 */
const INSERT_ORDERS = statement({
  name: 'store-new-orders',
  text: `
with asked as (
  select *, decode(mobile_hash, 'hex') as hash from json_to_recordset($1::json) as a(${fieldsOf(ORDER)})
), found as materialized (
  select a.*,
    (select true from external_orders e where key_of(e.external_order_no) = key_of(a.external_order_no))
      as number_taken,
    -- Locked until the commit: an erasure of the user then sees this order. An order does not wait for a transaction that
    -- erases or deletes the user, because the whole batch would wait. It fails and can be sent again.
    (select u.mobile_hash from channel_users u
     where a.hash is not null and u.channel_id = a.channel_id and key_of(u.channel_user_id) = key_of(a.channel_user_id)
     for key share nowait) as bound_hash,
    -- The user's own row may have been deleted after the statement began. It is then not in the way.
    (select true from channel_users u where u.channel_id = a.channel_id and u.mobile_hash = a.hash
       and key_of(u.channel_user_id) <> key_of(a.channel_user_id)) as mobile_taken,
    -- Locked until the commit: a transaction that ends the agreement then sees this order, or has ended it before. Rows
    -- come in the order of their agreements, in which every transaction locks them.
    (select g.status from agreements g where g.agreement_id = a.agreement_id for share) as agreement_status,
    -- Locked too: of two channels that share a number at once, the second checks after the first is stored.
    case when a.exclusive_number is not null then ${lockNumberForSharingSql('a.exclusive_number')} is not null end as number_held
  from asked a
), judged as (
  select *,
    case
      when number_taken then 'SUBSCRIPTION_ALREADY_EXISTS'
      when agreement_id is not null and json_typeof(agreement) is distinct from 'object'
        and agreement_status is distinct from ${statusLiteral(SHARED_STATUS)} then 'AGREEMENT_NOT_BOUND'
      when number_held
        and is_number_of_another_channel(payment_channel_code, decode(exclusive_number, 'hex'), channel_id)
        then 'NUMBER_OF_ANOTHER_CHANNEL'
      when bound_hash <> hash then 'CHANNEL_USER_MOBILE_MISMATCH'
      when bound_hash is null and mobile_taken then 'CHANNEL_MOBILE_OCCUPIED'
    end as refusal
  from found
), accepted as (
  select * from judged where refusal is null
), new_users as (
  insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile)
  select channel_id, channel_user_id, hash, mobile from accepted where bound_hash is null and hash is not null
), new_external as (
  insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
  select external_order_no, channel_id, order_no, key_of(channel_user_id), created_at, total_cycles = 1, product_code
  from accepted
), new_agreements as (
  insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status,
    agreement_no, institution_no, institution_hash, card_hash, certificate_hash, card_tail, details)
  select a.agreement_id, a.channel_id, a.channel_user_id, a.payment_channel_code, 'SHARED_FROM_CHANNEL',
    ${statusLiteral(SHARED_STATUS)}, g.agreement_no, g.institution_no, decode(g.institution_hash, 'hex'), decode(g.card_hash, 'hex'),
    decode(g.certificate_hash, 'hex'), g.card_tail, g.details
  from accepted a, json_to_record(a.agreement) as g(${fieldsOf(AGREEMENT)})
  where json_typeof(a.agreement) = 'object'
), new_orders as (
  insert into orders (cycle_no, ${ORDER_NAMES}) select 1, ${ORDER_NAMES} from accepted
), new_payments as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, attempts)
  select order_no, 1, channel_id, payment_status, created_at, paid_at, amount_cent,
    case when ask_after_seconds is null then 0 else 1 end
  from accepted
), new_attempts as (
  insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
    started_at, ask_at)
  select order_no, 1, 1, channel_id, agreement_id, payment_channel_code, amount_cent, created_at,
    now() + ask_after_seconds * interval '1 s'
  from accepted where ask_after_seconds is not null
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select order_no, 1, b.position, a.channel_id, b."benefitCode", b.name, b."faceValueCent", a.created_at,
    a.benefits_expire_at
  from json_to_recordset($2::json) as b(order_no bigint, position integer, ${fieldsOf(BENEFIT)}) join accepted a using (order_no)
), new_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select a.channel_id, order_no, e."eventType", e."cycleNo", a.created_at, e.data
  from json_to_recordset($3::json) as e(order_no bigint, position integer, ${fieldsOf(EVENT)}) join accepted a using (order_no)
  order by order_no, e.position
), new_answers as (
  insert into idempotency (channel_id, key, path, body_sha256, meaning, state, owner, lease_until, subject, code, message, data)
  select a.channel_id, i.key, i.path, decode(i.body_sha256, 'hex'), decode(i.meaning, 'hex'), i.state, i.owner,
    coalesce(now() + i.lease_seconds * interval '1 s', ${leaseUntil('i.state')}), i.subject, i.code, i.message, i.data::text
  from json_to_recordset($4::json) as i(order_no bigint, ${fieldsOf(IDEMPOTENCY)}) join accepted a using (order_no)
)
select order_no, refusal from judged where refusal is not null`,
  parameters: ['json', 'json', 'json', 'json'],
  columns: columns({ order_no: 'bigint', refusal: column<NewOrderRefusal>('text') }),
});

/** Inserts orders. Returns one entry for each row: why the row was refused, or undefined if it was stored. */
export async function insertOrders(
  db: Queryable,
  rows: readonly NewOrderRow[],
): Promise<(NewOrderRefusal | undefined)[]> {
  const refused = await db.query(INSERT_ORDERS, [
    JSON.stringify(rows.map(({ order }) => order).sort(compareByLockOrder)),
    JSON.stringify(rows.flatMap(toBenefitRows)),
    JSON.stringify(rows.flatMap(toEventRows)),
    JSON.stringify(rows.flatMap(toAnswerRows)),
  ]);
  const refusals = new Map(refused.map(({ order_no, refusal }) => [order_no, refusal]));
  return rows.map(({ order }) => refusals.get(order.order_no));
}

/**
 * Sorts rows by the binding or shared number that they lock, because all statements must take their locks in the same
 * sequence.
 */
function compareByLockOrder(a: OrderInsert, b: OrderInsert): number {
  const [one, other] = [a.exclusive_number ?? '', b.exclusive_number ?? ''];
  return one === other ? (a.agreement_id ?? 0) - (b.agreement_id ?? 0) : one < other ? -1 : 1;
}

// The next three functions build objects field by field, because a spread costs V8 several times as much.

const toBenefitRows = ({ order: { order_no }, benefits }: NewOrderRow) =>
  benefits.map(({ benefitCode, name, faceValueCent }, index) => ({
    order_no,
    position: index + 1,
    benefitCode,
    name,
    faceValueCent,
  }));

const toEventRows = ({ order: { order_no }, events }: NewOrderRow) =>
  events.map(({ eventType, cycleNo, data }, index) => ({ order_no, position: index + 1, eventType, cycleNo, data }));

function toAnswerRows({ order: { order_no }, idempotency: row }: NewOrderRow) {
  if (!row) return [];
  return [
    {
      order_no,
      key: row.key,
      path: row.path,
      body_sha256: row.body_sha256,
      meaning: row.meaning,
      state: row.state,
      owner: row.owner,
      lease_seconds: row.lease_seconds,
      subject: row.subject,
      code: row.code,
      message: row.message,
      data: row.data,
    },
  ];
}

/** Deletes the idempotency key if it is older than the retention. Returns true if it was deleted. */
export const deleteExpiredKey = declareHas({
  text: `delete from idempotency where channel_id = $1 and key = $2 and created_at <= now() - $3::integer * interval '24 hours'
     returning 1`,
  parameters: ['bigint', 'text', 'integer'],
});

/** The number of order numbers per block. Equals the increment of the sequence. */
const ORDER_NUMBERS_PER_BLOCK = 1000;

const TAKE_ORDER_NUMBERS = statement({
  text: `select nextval('order_numbers') as first`,
  parameters: [],
  columns: columns({ first: 'bigint' }),
});

/** Supplies order numbers, read from the sequence in blocks. */
export function createOrderNumbers(db: Queryable): NumberSupply {
  return createNumberSupply(async () => {
    const row = await requireOne(db, TAKE_ORDER_NUMBERS);
    return Array.from({ length: ORDER_NUMBERS_PER_BLOCK }, (_, n) => row.first + n);
  });
}
