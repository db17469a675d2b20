import type { Queryable } from '../db/database.js';
import type { AttemptReference } from '../orders/numbers.js';

export interface Attempt extends AttemptReference {
  readonly channelId: number;
  readonly agreementId: number;
  readonly paymentChannelCode: string;
  readonly amountCent: number;
  readonly status: 'STARTED' | 'SUCCESS' | 'FAIL';
  readonly startedAt: number;
  readonly asked: number;
  readonly externalOrderNo: string;
}

const COLUMNS = `a.order_no as "orderNo", a.cycle_no as "cycleNo", a.try_no as "tryNo", a.channel_id as "channelId",
  a.agreement_id as "agreementId", a.payment_channel_code as "paymentChannelCode", a.amount_cent as "amountCent",
  a.status, (extract(epoch from a.started_at) * 1000)::bigint as "startedAt", a.asked,
  (select o.external_order_no from orders o where o.order_no = a.order_no) as "externalOrderNo"`;

export async function findAttempt(
  db: Queryable,
  { orderNo, cycleNo, tryNo }: AttemptReference,
): Promise<Attempt | undefined> {
  const [attempt] = await db.query<Attempt>(
    {
      name: 'find-attempt',
      text: `select ${COLUMNS} from debit_attempts a where a.order_no = $1 and a.cycle_no = $2 and a.try_no = $3`,
    },
    [orderNo, cycleNo, tryNo],
  );
  return attempt;
}

/** The last try of an order's first period: what an interrupted creation goes on with. */
export async function findFirstAttempt(db: Queryable, orderNo: number): Promise<Attempt | undefined> {
  const [attempt] = await db.query<Attempt>(
    `select ${COLUMNS} from debit_attempts a where a.order_no = $1 and a.cycle_no = 1 order by a.try_no desc limit 1`,
    [orderNo],
  );
  return attempt;
}

/**
 * Attempts whose institution is to be asked now, for this node alone until `leaseSeconds` have passed: asking is put off by
 * that much, so that a node which dies over it delays the question and loses nothing.
 */
export async function claimAttemptsToAsk(db: Queryable, limit: number, leaseSeconds: number): Promise<Attempt[]> {
  return db.query<Attempt>(
    `update debit_attempts a set ask_at = now() + $2::double precision * interval '1 s', asked = a.asked + 1
     where (a.order_no, a.cycle_no, a.try_no) in (
       select d.order_no, d.cycle_no, d.try_no from debit_attempts d
       where d.ask_at <= now() order by d.ask_at limit $1 for update skip locked)
     returning ${COLUMNS}`,
    [limit, leaseSeconds],
  );
}

export async function askAgainIn(db: Queryable, attempt: AttemptReference, seconds: number): Promise<void> {
  await db.query(
    `update debit_attempts set ask_at = now() + $4::double precision * interval '1 s'
     where order_no = $1 and cycle_no = $2 and try_no = $3 and status = 'STARTED'`,
    [attempt.orderNo, attempt.cycleNo, attempt.tryNo, seconds],
  );
}

/** False when it was settled before. */
export async function closeAttempt(
  tx: Queryable,
  attempt: AttemptReference,
  status: 'SUCCESS' | 'FAIL',
  detail: { readonly reason: string | null; readonly institutionRef: string | null },
  at: number,
): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'close-attempt',
      text: `update debit_attempts set status = $4, reason = $5, institution_ref = $6, ask_at = null,
               settled_at = to_timestamp($7::double precision / 1000)
             where order_no = $1 and cycle_no = $2 and try_no = $3 and status = 'STARTED' returning 1`,
    },
    [attempt.orderNo, attempt.cycleNo, attempt.tryNo, status, detail.reason, detail.institutionRef, at],
  );
  return rows.length === 1;
}
