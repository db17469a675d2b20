import {
  column,
  columns,
  declareFind,
  declareHas,
  declareList,
  declareWrite,
  type RowOf,
} from '../../../platform/db/database.js';
import { requireAgreementTransition } from '../../domain/agreements/agreement-states.js';
import { DEBITABLE_ORDER_STATUSES } from '../../domain/orders/order-states.js';
import { agreementStatusIs, orderStatusIs, statusLiteral } from '../statuses-sql.js';
import { sameNumberSql } from './same-number-sql.js';

/** Finds an agreement that has this number at the institution, in any status. */
export const findAgreementByInstitutionNo = declareFind({
  text: `select agreement_id as "agreementId" from agreements where payment_channel_code = $1 and institution_hash = $2 limit 1`,
  parameters: ['text', 'bytea'],
  columns: columns({ agreementId: 'bigint' }),
  value: ({ agreementId }) => agreementId,
});

const CANCELED = requireAgreementTransition('BIND_SUCCESS', 'canceled').to;

/** An agreement with its number at the institution, and the orders on it. */
export type NumberedAgreement = RowOf<typeof findAgreementsOfSameNumbers>;

const ordersOnAgreementSql = (agreementId: string) =>
  `select o.order_no from orders o where o.agreement_id = ${agreementId} and ${orderStatusIs('o.status', ...DEBITABLE_ORDER_STATUSES)}`;

/**
 * Returns the given agreements that have a number at the institution, and all bound agreements of any channel with one
 * of these numbers. Omits ended agreements that were not given, because there may be very many.
 */
export const findAgreementsOfSameNumbers = declareList({
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
    /** A text that is the same for all agreements with the same number at the institution. */
    number: 'text',
    /** The agreement's orders in ACTIVE or INITIALIZING. */
    orderNos: column<readonly number[]>('json'),
  }),
});

/** Locks agreements by ascending id. The caller must already have locked the orders on them. */
export const lockAgreements = declareWrite({
  text: 'select from agreements where agreement_id = any($1::bigint[]) order by agreement_id for no key update',
  parameters: ['bigint[]'],
});

export const findOrdersOnAgreements = declareList({
  text: `select r.order_no as "orderNo" from unnest($1::bigint[]) as a(id), lateral (${ordersOnAgreementSql('a.id')}) r`,
  parameters: ['bigint[]'],
  columns: columns({ orderNo: 'bigint' }),
  value: ({ orderNo }) => orderNo,
});

/** Cancels the bound agreements among $1. If agreement $2 is one of these, a job then cancels it at the institution. */
export const cancelAgreements = declareWrite({
  text: `update agreements set status = ${statusLiteral(CANCELED)}, changed_at = now(), cancel_at = case when agreement_id = $2 then now() end
     where agreement_id = any($1::bigint[]) and ${agreementStatusIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint[]', 'bigint?'],
});

export const isAgreementBound = declareHas({
  text: `select from agreements where agreement_id = $1 and ${agreementStatusIs('status', 'BIND_SUCCESS')}`,
  parameters: ['bigint'],
});
