import type { DeclineKind } from '@perennial/wire';
import type { FulfilmentKind } from '../../fulfilment/fulfilment.js';
import { column, columns, joinColumns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { declareHas, declareList, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import { ORDER_COLUMNS, ORDER_FIELDS, type OrderReference } from '../../subscriptions/store/orders/orders-sql.js';

/** An order with the fields that only operators see. */
export type OrderOfAnyChannel = RowOf<typeof FIND_BY_NUMBER>;

const declareFindOrder = <Type extends 'bigint' | 'text'>(orderNo: string, type: Type) =>
  statement({
    text: `select ${ORDER_FIELDS}, c.app_id as "appId", o.unsubscribe_source as "unsubscribeSource",
       o.unsubscribe_reason as "unsubscribeReason", o.channel_agreement_ref as "channelAgreementRef"
     from orders o join channels c using (channel_id) where o.order_no = ${orderNo}`,
    parameters: [type],
    columns: joinColumns(
      ORDER_COLUMNS,
      columns({
        appId: 'text',
        unsubscribeSource: 'text?',
        unsubscribeReason: 'text?',
        channelAgreementRef: 'text?',
      }),
    ),
  });

const FIND_BY_NUMBER = declareFindOrder('$1', 'bigint');
const FIND_BY_EXTERNAL = declareFindOrder(
  '(select e.order_no from external_orders e where key_of(e.external_order_no) = key_of($1))',
  'text',
);

export async function findOrderOfAnyChannel(
  db: Queryable,
  { orderNo, externalOrderNo }: OrderReference,
): Promise<OrderOfAnyChannel | undefined> {
  const [order] =
    orderNo === undefined
      ? await db.query(FIND_BY_EXTERNAL, [externalOrderNo])
      : await db.query(FIND_BY_NUMBER, [orderNo]);
  return order;
}

export type AttemptView = RowOf<typeof ATTEMPT_VIEW_COLUMNS>;

const ATTEMPT_VIEW_COLUMNS = columns({
  cycleNo: 'integer',
  tryNo: 'integer',
  agreementNo: 'text?',
  paymentChannelCode: 'text',
  status: column<'STARTED' | 'SUCCESS' | 'FAIL'>('text'),
  reason: 'text?',
  declineKind: column<DeclineKind>('text?'),
  institutionRef: 'text?',
  startedAt: 'text',
  settledAt: 'text?',
});

/** Returns the attempts of the given period and of all later periods. */
export const findAttempts: Query<[orderNo: number, fromCycleNo: number], AttemptView[]> = declareList({
  text: `select d.cycle_no as "cycleNo", d.try_no as "tryNo", a.agreement_no as "agreementNo",
       d.payment_channel_code as "paymentChannelCode", d.status, d.reason, d.decline_kind as "declineKind", d.institution_ref as "institutionRef",
       ${shanghaiText('d.started_at')} as "startedAt", ${shanghaiText('d.settled_at')} as "settledAt"
     from debit_attempts d left join agreements a using (agreement_id)
     where d.order_no = $1 and d.cycle_no >= $2 order by d.cycle_no, d.try_no`,
  parameters: ['bigint', 'integer'],
  columns: ATTEMPT_VIEW_COLUMNS,
});

export type BenefitOfPeriod = RowOf<typeof FIND_BENEFITS_OF_ORDER>;

const FIND_BENEFITS_OF_ORDER = statement({
  text: `select b.cycle_no as "cycleNo", b.benefit_code as "benefitCode", b.name, b.face_value_cent as "faceValueCent",
       b.status, ${shanghaiText('b.issued_at')} as "issuedAt", ${shanghaiText('b.expires_at')} as "expiresAt",
       b.claim_no as "claimNo", ${shanghaiText('b.claimed_at')} as "claimedAt", k.status as "codeStatus",
       k.fulfilment as "codeSource", ${shanghaiText('k.fulfilled_at')} as "codeIssuedAt",
       ${shanghaiText('k.first_shown_at')} as "codeFirstShownAt", ${shanghaiText('k.last_shown_at')} as "codeLastShownAt",
       coalesce(k.replaced, 0) as "codesReplaced", ${shanghaiText('k.replaced_at')} as "codeReplacedAt"
     from benefits b left join claims k using (order_no, cycle_no, position)
     where b.order_no = $1 and b.cycle_no between $2 and $3 order by b.cycle_no, b.position`,
  parameters: ['bigint', 'integer', 'integer'],
  columns: columns({
    cycleNo: 'integer',
    benefitCode: 'text',
    name: 'text',
    faceValueCent: 'bigint',
    status: column<'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED'>('text'),
    issuedAt: 'text',
    expiresAt: 'text',
    claimNo: 'text?',
    claimedAt: 'text?',
    /** PENDING while a claim waits for its code. Null if the benefit was not claimed. */
    codeStatus: column<'PENDING' | 'FULFILLED'>('text?'),
    codeSource: column<FulfilmentKind>('text?'),
    codeIssuedAt: 'text?',
    /** When the redemption page has shown the current code. */
    codeFirstShownAt: 'text?',
    codeLastShownAt: 'text?',
    /** The number of earlier codes, which operators have replaced. */
    codesReplaced: 'integer',
    codeReplacedAt: 'text?',
  }),
});

/** Returns the benefits of one period, or of a range of periods. */
export async function findBenefitsOfOrder(
  db: Queryable,
  orderNo: number,
  fromCycleNo: number,
  toCycleNo = fromCycleNo,
): Promise<BenefitOfPeriod[]> {
  return db.query(FIND_BENEFITS_OF_ORDER, [orderNo, fromCycleNo, toCycleNo]);
}

export type UnclaimedBenefit = RowOf<typeof UNCLAIMED_BENEFIT_COLUMNS>;

const UNCLAIMED_BENEFIT_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  position: 'integer',
  name: 'text',
  faceValueCent: 'bigint',
  status: column<'ISSUED' | 'REVOKED'>('text'),
});

/** Returns the unclaimed and the revoked benefits of the periods, by position. */
export const findUnclaimedBenefits: Query<
  [orderNos: readonly number[], cycleNos: readonly number[]],
  UnclaimedBenefit[]
> = declareList({
  text: `select b.order_no as "orderNo", b.cycle_no as "cycleNo", b.position, b.name, b.face_value_cent as "faceValueCent", b.status
     from unnest($1::bigint[], $2::integer[]) as n(order_no, cycle_no) join benefits b using (order_no, cycle_no)
     where b.status in ('ISSUED', 'REVOKED') order by b.position`,
  parameters: ['bigint[]', 'integer[]'],
  columns: UNCLAIMED_BENEFIT_COLUMNS,
});

export type OrderEventView = RowOf<typeof ORDER_EVENT_VIEW_COLUMNS>;

const ORDER_EVENT_VIEW_COLUMNS = columns({
  eventType: 'text',
  cycleNo: 'integer?',
  /** The last period, if the row stands for several periods that were voided together. */
  cycleTo: 'integer?',
  /** The status that the order or the period changed to. Null for payment.upcoming, which changes nothing. */
  status: 'text?',
  occurredAt: 'text',
});

/** Latest first. */
export const findLatestEvents: Query<[orderNo: number, limit: number], OrderEventView[]> = declareList({
  text: `select e.event_type as "eventType", e.cycle_no as "cycleNo", e.cycle_to as "cycleTo",
       coalesce(e.data::json ->> 'paymentStatus', e.data::json ->> 'orderStatus') as status,
       ${shanghaiText('e.occurred_at')} as "occurredAt"
     from events e where e.order_no = $1 order by e.recorded_at desc, e.event_no desc limit $2`,
  parameters: ['bigint', 'bigint'],
  columns: ORDER_EVENT_VIEW_COLUMNS,
});

/**
 * Makes an order due. Returns false if the order was due already, or has no due time. The caller holds the order's
 * lock. Compares the due time with the statement's time, because the order may have become due between this
 * transaction's begin and its lock.
 */
export const makeDueNow: Query<[orderNo: number], boolean> = declareHas({
  text: 'update orders set next_due_at = now() where order_no = $1 and next_due_at > statement_timestamp() returning 1',
  parameters: ['bigint'],
});
