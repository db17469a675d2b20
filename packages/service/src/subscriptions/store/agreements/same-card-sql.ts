import type { AgreementStatus } from '@perennial/wire';
import {
  column,
  columns,
  declareFind,
  declareList,
  declareRequire,
  type Queryable,
  statement,
} from '../../../platform/db/database.js';
import { fromEpochMs } from '../../../platform/db/time-sql.js';
import { DEBITABLE_ORDER_STATUSES } from '../../domain/orders/order-states.js';
import { agreementStatusIs, orderStatusIs } from '../statuses-sql.js';

/** The unique index that allows a card only one binding in force per user and payment channel. */
export const ONE_BINDING_PER_CARD = 'agreements_one_per_card';

/** Finds the earlier binding that is in force for the same card. The conditions match the index. */
export const findBindingOfCard = declareFind({
  text: `select agreement_id as "agreementId" from agreements
     where channel_id = $2 and key_of(channel_user_id) = key_of($3) and payment_channel_code = $4 and card_hash = $5
       and ${agreementStatusIs('status', 'BIND_SUCCESS')} and source = 'SELF_BINDING' and agreement_id <> $1`,
  parameters: {
    agreementId: 'bigint',
    channelId: 'bigint',
    channelUserId: 'text',
    paymentChannelCode: 'text',
    cardHash: 'bytea',
  },
  columns: columns({ agreementId: 'bigint' }),
  value: ({ agreementId }) => agreementId,
});

/** Locks the orders on an agreement that have not ended, by ascending number. */
export const lockOrdersOnAgreement = declareList({
  text: `select order_no as "orderNo" from orders where agreement_id = $1 and ${orderStatusIs('status', ...DEBITABLE_ORDER_STATUSES)}
     order by order_no for update`,
  parameters: ['bigint'],
  columns: columns({ orderNo: 'bigint' }),
  value: ({ orderNo }) => orderNo,
});

export const countOrdersOnAgreement = declareRequire({
  text: `select count(*) as orders from orders where agreement_id = $1 and ${orderStatusIs('status', ...DEBITABLE_ORDER_STATUSES)}`,
  parameters: ['bigint'],
  columns: columns({ orders: 'bigint' }),
  value: ({ orders }) => orders,
});

/** Locks bindings by ascending id, as every transaction must. */
export const lockBindings = declareList({
  text: `select agreement_id as "agreementId", status from agreements where agreement_id = any($1::bigint[])
     order by agreement_id for update`,
  parameters: ['bigint[]'],
  columns: columns({ agreementId: 'bigint', status: column<AgreementStatus>('text') }),
});

export interface BindingReplacement {
  readonly oldAgreementId: number;
  readonly newAgreementId: number;
  /** The orders on the old binding that have not ended. All of them are locked. */
  readonly orderNos: readonly number[];
  /** The hash of the new binding's number at the institution. */
  readonly institutionHash: Buffer;
}

const MOVE_ORDERS_TO_BINDING = statement({
  text: 'update orders set agreement_id = $2 where order_no = any($1::bigint[])',
  parameters: ['bigint[]', 'bigint'],
});

const MOVE_OPEN_ATTEMPTS = statement({
  text: `update debit_attempts d set agreement_id = $3 from orders o
     where o.order_no = any($1::bigint[]) and d.order_no = o.order_no and d.cycle_no = o.cycle_no
       and d.agreement_id = $2 and d.status = 'STARTED'
       and exists (select from agreements a where a.agreement_id = $2 and a.institution_hash = $4)`,
  parameters: ['bigint[]', 'bigint', 'bigint', 'bytea'],
});

/**
 * Moves the orders to the new binding. A debit in flight was sent with the old institution number, so it moves only if
 * the new binding has the same number.
 */
export async function moveOrdersToBinding(
  tx: Queryable,
  { oldAgreementId, newAgreementId, orderNos, institutionHash }: BindingReplacement,
): Promise<void> {
  await tx.query(MOVE_ORDERS_TO_BINDING, [orderNos, newAgreementId]);
  await tx.query(MOVE_OPEN_ATTEMPTS, [orderNos, oldAgreementId, newAgreementId, institutionHash]);
}

const STORE_REPLACED_BINDING = statement({
  text: `update agreements set status = $2, changed_at = ${fromEpochMs('$3')}, cancel_tries = 0,
       cancel_at = case when institution_hash is distinct from $4 then now() end
     where agreement_id = $1`,
  parameters: ['bigint', 'text', 'double precision', 'bytea'],
});

const CONTINUE_LINE = statement({
  text: `update agreements a set line_id = coalesce(f.line_id, f.agreement_id) from agreements f
     where a.agreement_id = $2 and f.agreement_id = $1`,
  parameters: ['bigint', 'bigint'],
});

/**
 * Stores that the new binding replaces the old one in the same line of replacements. A job cancels the old institution
 * number, unless the new binding has the same number.
 */
export async function storeBindingReplacement(
  tx: Queryable,
  { oldAgreementId, newAgreementId, institutionHash }: BindingReplacement,
  status: AgreementStatus,
  now: number,
): Promise<void> {
  await tx.query(STORE_REPLACED_BINDING, [oldAgreementId, status, now, institutionHash]);
  await tx.query(CONTINUE_LINE, [oldAgreementId, newAgreementId]);
}
