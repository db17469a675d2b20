import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { agreementStep } from '../../domain/agreements/agreement-states.js';
import { NEEDS_AGREEMENT } from '../../domain/orders/order-states.js';
import { agreementIs, orderIs, word } from '../statuses-sql.js';
import { sameNumber } from './institution-number-sql.js';

const FIND_BY_INSTITUTION_NO = statement({
  text: `select agreement_id as "agreementId" from agreements where payment_channel_code = $1 and institution_hash = $2 limit 1`,
  parameters: ['text', 'bytea'],
  columns: columns<{ agreementId: number }>({ agreementId: 'bigint' }),
});

const CANCELED = agreementStep('BIND_SUCCESS', 'canceled').to;

/** One of the agreements that an institution knows by this number, whatever has become of it. */
export async function findByInstitutionNo(
  db: Queryable,
  paymentChannelCode: string,
  institutionHash: Buffer,
): Promise<number | undefined> {
  const [row] = await db.query(FIND_BY_INSTITUTION_NO, [paymentChannelCode, institutionHash]);
  return row?.agreementId;
}

/** One row of a number at an institution, and what runs on it. */
export interface NumberedAgreement {
  readonly agreementId: number;
  /** The same for all rows of one number. */
  readonly number: string;
  /** Orders that are ACTIVE or INITIALIZING. */
  readonly orderNos: readonly number[];
}

const RUNNING = (agreementId: string) =>
  `select o.order_no from orders o where o.agreement_id = ${agreementId} and ${orderIs('o.status', ...NEEDS_AGREEMENT)}`;

const FIND_SAME_NUMBERS = statement({
  text: `with asked as materialized (
       select agreement_id, payment_channel_code, institution_hash from agreements
       where agreement_id = any($1::bigint[]) and institution_hash is not null
     )
     select g.agreement_id as "agreementId", g.payment_channel_code || ' ' || encode(g.institution_hash, 'hex') as number,
       array_to_json(array(${RUNNING('g.agreement_id')})) as "orderNos"
     from (
       select * from asked
       union select g.agreement_id, g.payment_channel_code, g.institution_hash
       from (select distinct payment_channel_code, institution_hash from asked) n join agreements g
         on ${sameNumber('g', 'n')} and ${agreementIs('g.status', 'BIND_SUCCESS')}) g`,
  parameters: ['bigint[]'],
  columns: columns<NumberedAgreement>({ agreementId: 'bigint', number: 'text', orderNos: 'json' }),
});

/**
 * These agreements and all that are bound under their numbers, of whichever channel, as of one moment. Those that have ended
 * before may be any number, and need not be ended.
 */
export async function findSameNumbers(
  db: Queryable,
  agreementIds: readonly number[],
): Promise<readonly NumberedAgreement[]> {
  return db.query(FIND_SAME_NUMBERS, [agreementIds]);
}

const LOCK_AGREEMENTS = statement({
  text: 'select from agreements where agreement_id = any($1::bigint[]) order by agreement_id for no key update',
  parameters: ['bigint[]'],
});

/** In the order of their numbers, after the orders on them. */
export async function lockAgreements(tx: Queryable, agreementIds: readonly number[]): Promise<void> {
  await tx.query(LOCK_AGREEMENTS, [agreementIds]);
}

const FIND_RUNNING_ORDERS = statement({
  text: `select r.order_no as "orderNo" from unnest($1::bigint[]) as a(id), lateral (${RUNNING('a.id')}) r`,
  parameters: ['bigint[]'],
  columns: columns<{ orderNo: number }>({ orderNo: 'bigint' }),
});

export async function findRunningOrders(db: Queryable, agreementIds: readonly number[]): Promise<number[]> {
  const rows = await db.query(FIND_RUNNING_ORDERS, [agreementIds]);
  return rows.map(({ orderNo }) => orderNo);
}

const CANCEL_AGREEMENTS = statement({
  text: `update agreements set status = ${word(CANCELED)}, changed_at = now(), cancel_at = case when agreement_id = $2 then now() end
     where agreement_id = any($1::bigint[]) and ${agreementIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint[]', 'bigint'],
});

/** Those that are bound. The institution is told, in the background, by way of one of them or not at all. */
export async function cancelAgreements(
  tx: Queryable,
  agreementIds: readonly number[],
  tellBy: number | undefined,
): Promise<void> {
  await tx.query(CANCEL_AGREEMENTS, [agreementIds, tellBy ?? null]);
}

const IS_BOUND = statement({
  text: `select from agreements where agreement_id = $1 and ${agreementIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint'],
});

export async function isBound(db: Queryable, agreementId: number): Promise<boolean> {
  const rows = await db.query(IS_BOUND, [agreementId]);
  return rows.length > 0;
}
