import type { AgreementStatus } from '@perennial/wire';
import type { Queryable } from '../../../platform/db/database.js';
import { instant } from '../../../platform/db/time-sql.js';
import type { AgreementRow } from './sql.js';

/** Holds that a card has one binding in force for each user and payment channel. */
export const ONE_PER_CARD = 'agreements_one_per_card';

/** The other binding of the same card that is in force. The conditions are those of the index. */
export async function findBindingOfCard(
  tx: Queryable,
  { agreementId, channelId, channelUserId, paymentChannelCode, cardHash }: AgreementRow,
): Promise<number | undefined> {
  const [row] = await tx.query<{ agreementId: number }>(
    `select agreement_id as "agreementId" from agreements
     where channel_id = $2 and key_of(channel_user_id) = key_of($3) and payment_channel_code = $4 and card_hash = $5
       and status = 'BIND_SUCCESS' and source = 'SELF_BINDING' and agreement_id <> $1`,
    [agreementId, channelId, channelUserId, paymentChannelCode, cardHash],
  );
  return row?.agreementId;
}

/** What runs on an agreement, locked in the order of the numbers. */
export async function lockOrdersOn(tx: Queryable, agreementId: number): Promise<number[]> {
  const rows = await tx.query<{ orderNo: number }>(
    `select order_no as "orderNo" from orders where agreement_id = $1 and status in ('ACTIVE', 'INITIALIZING')
     order by order_no for update`,
    [agreementId],
  );
  return rows.map((row) => row.orderNo);
}

export async function countOrdersOn(tx: Queryable, agreementId: number): Promise<number> {
  const [row] = await tx.query<{ orders: number }>(
    `select count(*) as orders from orders where agreement_id = $1 and status in ('ACTIVE', 'INITIALIZING')`,
    [agreementId],
  );
  return row?.orders ?? 0;
}

export interface LockedAgreement {
  readonly agreementId: number;
  readonly status: AgreementStatus;
}

/** In the order of their ids, as everybody locks them. */
export async function lockAgreements(tx: Queryable, agreementIds: readonly number[]): Promise<LockedAgreement[]> {
  return tx.query<LockedAgreement>(
    `select agreement_id as "agreementId", status from agreements where agreement_id = any($1::bigint[])
     order by agreement_id for update`,
    [agreementIds],
  );
}

/** One binding takes the place of another. */
export interface Succession {
  readonly fromId: number;
  readonly toId: number;
  /** The orders on the former, all of them locked. */
  readonly orders: readonly number[];
  /** Of the number that the institution gave the new one. */
  readonly institutionHash: Buffer;
}

/**
 * The orders run on the new binding from now on. A debit on the way keeps the number that it was sent with, so it is the new
 * one's only if the institution gave both the same.
 */
export async function moveOrders(tx: Queryable, { fromId, toId, orders, institutionHash }: Succession): Promise<void> {
  await tx.query('update orders set agreement_id = $2 where order_no = any($1::bigint[])', [orders, toId]);
  await tx.query(
    `update debit_attempts d set agreement_id = $3 from orders o
     where o.order_no = any($1::bigint[]) and d.order_no = o.order_no and d.cycle_no = o.cycle_no
       and d.agreement_id = $2 and d.status = 'STARTED'
       and exists (select from agreements a where a.agreement_id = $2 and a.institution_hash = $4)`,
    [orders, fromId, toId, institutionHash],
  );
}

/**
 * The new one goes on with the line of the former, whose number is canceled at the institution in the background, unless that
 * gave both the same.
 */
export async function storeSuccession(
  tx: Queryable,
  { fromId, toId, institutionHash }: Succession,
  status: AgreementStatus,
  now: number,
): Promise<void> {
  await tx.query(
    `update agreements set status = $2, changed_at = ${instant('$3')}, cancel_tries = 0,
       cancel_at = case when institution_hash is distinct from $4 then now() end
     where agreement_id = $1`,
    [fromId, status, now, institutionHash],
  );
  await tx.query(
    `update agreements a set line_id = coalesce(f.line_id, f.agreement_id) from agreements f
     where a.agreement_id = $2 and f.agreement_id = $1`,
    [fromId, toId],
  );
}
