import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../../platform/db/database.js';
import { requireAgreementTransition } from '../../domain/agreements/agreement-states.js';
import { DEBITABLE_ORDER_STATUSES } from '../../domain/orders/order-states.js';
import { agreementStatusIs, orderStatusIs, statusLiteral } from '../statuses-sql.js';
import { sameNumberSql } from './same-number-sql.js';

const FIND_AGREEMENT_BY_INSTITUTION_NO = statement({
  text: `select agreement_id as "agreementId" from agreements where payment_channel_code = $1 and institution_hash = $2 limit 1`,
  parameters: ['text', 'bytea'],
  columns: columns({ agreementId: 'bigint' }),
});

const CANCELED = requireAgreementTransition('BIND_SUCCESS', 'canceled').to;

/** One of the agreements with this number at the institution, in whatever status. */
export async function findAgreementByInstitutionNo(
  db: Queryable,
  paymentChannelCode: string,
  institutionHash: Buffer,
): Promise<number | undefined> {
  return (await queryOne(db, FIND_AGREEMENT_BY_INSTITUTION_NO, [paymentChannelCode, institutionHash]))?.agreementId;
}

/** One agreement with a number at an institution, and the orders that run on it. */
export type NumberedAgreement = RowOf<typeof FIND_AGREEMENTS_OF_SAME_NUMBERS>;

const ordersOnAgreementSql = (agreementId: string) =>
  `select o.order_no from orders o where o.agreement_id = ${agreementId} and ${orderStatusIs('o.status', ...DEBITABLE_ORDER_STATUSES)}`;

const FIND_AGREEMENTS_OF_SAME_NUMBERS = statement({
  text: `with asked as materialized (
       select agreement_id, payment_channel_code, institution_hash from agreements
       where agreement_id = any($1::bigint[]) and institution_hash is not null
     )
     select g.agreement_id as "agreementId", g.payment_channel_code || ' ' || encode(g.institution_hash, 'hex') as number,
       array_to_json(array(${ordersOnAgreementSql('g.agreement_id')})) as "orderNos"
     from (
       select * from asked
       union select g.agreement_id, g.payment_channel_code, g.institution_hash
       from (select distinct payment_channel_code, institution_hash from asked) n join agreements g
         on ${sameNumberSql('g', 'n')} and ${agreementStatusIs('g.status', 'BIND_SUCCESS')}) g`,
  parameters: ['bigint[]'],
  columns: columns({
    agreementId: 'bigint',
    /** The same text for all agreements with one number. */
    number: 'text',
    /** Orders that are ACTIVE or INITIALIZING. */
    orderNos: column<readonly number[]>('json'),
  }),
});

/**
 * These agreements, and all bound agreements of any channel with the same numbers, read in one statement. Others that have
 * ended are left out, since there may be very many.
 */
export async function findAgreementsOfSameNumbers(
  db: Queryable,
  agreementIds: readonly number[],
): Promise<readonly NumberedAgreement[]> {
  return db.query(FIND_AGREEMENTS_OF_SAME_NUMBERS, [agreementIds]);
}

const LOCK_AGREEMENTS = statement({
  text: 'select from agreements where agreement_id = any($1::bigint[]) order by agreement_id for no key update',
  parameters: ['bigint[]'],
});

/** Locks agreements in the order of their ids. The caller has locked the orders on them before. */
export async function lockAgreements(tx: Queryable, agreementIds: readonly number[]): Promise<void> {
  await tx.query(LOCK_AGREEMENTS, [agreementIds]);
}

const FIND_ORDERS_ON_AGREEMENTS = statement({
  text: `select r.order_no as "orderNo" from unnest($1::bigint[]) as a(id), lateral (${ordersOnAgreementSql('a.id')}) r`,
  parameters: ['bigint[]'],
  columns: columns({ orderNo: 'bigint' }),
});

export async function findOrdersOnAgreements(db: Queryable, agreementIds: readonly number[]): Promise<number[]> {
  const rows = await db.query(FIND_ORDERS_ON_AGREEMENTS, [agreementIds]);
  return rows.map(({ orderNo }) => orderNo);
}

const CANCEL_AGREEMENTS = statement({
  text: `update agreements set status = ${statusLiteral(CANCELED)}, changed_at = now(), cancel_at = case when agreement_id = $2 then now() end
     where agreement_id = any($1::bigint[]) and ${agreementStatusIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint[]', 'bigint'],
});

/** Cancels those that are bound. If `tellBy` is given, the institution is told in the background, through that agreement. */
export async function cancelAgreements(
  tx: Queryable,
  agreementIds: readonly number[],
  tellBy: number | undefined,
): Promise<void> {
  await tx.query(CANCEL_AGREEMENTS, [agreementIds, tellBy ?? null]);
}

const IS_AGREEMENT_BOUND = statement({
  text: `select from agreements where agreement_id = $1 and ${agreementStatusIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint'],
});

export async function isAgreementBound(db: Queryable, agreementId: number): Promise<boolean> {
  const rows = await db.query(IS_AGREEMENT_BOUND, [agreementId]);
  return rows.length > 0;
}
