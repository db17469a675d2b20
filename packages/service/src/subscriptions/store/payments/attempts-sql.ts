import {
  column,
  columns,
  declareFind,
  declareList,
  type Queryable,
  type RowOf,
  statement,
} from '../../../platform/db/database.js';
import { epochMs } from '../../../platform/db/time-sql.js';
import type { AttemptReference } from '../../domain/orders/order-numbers.js';

export type Attempt = RowOf<typeof ATTEMPT_COLUMNS>;

const ATTEMPT_FIELDS = `a.order_no as "orderNo", a.cycle_no as "cycleNo", a.try_no as "tryNo", a.channel_id as "channelId",
  a.agreement_id as "agreementId", a.payment_channel_code as "paymentChannelCode", a.amount_cent as "amountCent",
  a.status, ${epochMs('a.started_at')} as "startedAt", a.asked,
  (select o.external_order_no from orders o where o.order_no = a.order_no) as "externalOrderNo"`;

const ATTEMPT_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  tryNo: 'integer',
  channelId: 'bigint',
  agreementId: 'bigint',
  paymentChannelCode: 'text',
  amountCent: 'bigint',
  status: column<'STARTED' | 'SUCCESS' | 'FAIL'>('text'),
  startedAt: 'bigint',
  asked: 'integer',
  externalOrderNo: 'text',
});

export const findAttempt = declareFind({
  name: 'find-attempt',
  text: `select ${ATTEMPT_FIELDS} from debit_attempts a where a.order_no = $1 and a.cycle_no = $2 and a.try_no = $3`,
  parameters: { orderNo: 'bigint', cycleNo: 'integer', tryNo: 'integer' },
  columns: ATTEMPT_COLUMNS,
});

const FIND_AGREEMENTS_OF_ATTEMPTS = statement({
  text: `select distinct a.agreement_id as "agreementId"
     from unnest($1::bigint[], $2::integer[], $3::integer[]) as r(order_no, cycle_no, try_no)
       join debit_attempts a using (order_no, cycle_no, try_no)`,
  parameters: ['bigint[]', 'integer[]', 'integer[]'],
  columns: columns({ agreementId: 'bigint' }),
});

/** Returns the agreements that these attempts debited. */
export async function findAgreementsOfAttempts(
  db: Queryable,
  attempts: readonly AttemptReference[],
): Promise<number[]> {
  const rows = await db.query(FIND_AGREEMENTS_OF_ATTEMPTS, [
    attempts.map((a) => a.orderNo),
    attempts.map((a) => a.cycleNo),
    attempts.map((a) => a.tryNo),
  ]);
  return rows.map(({ agreementId }) => agreementId);
}

/**
 * Finds the last attempt to debit an order's first period. A creation that was interrupted continues with this attempt.
 */
export const findLastTryOfFirstPeriod = declareFind({
  text: `select ${ATTEMPT_FIELDS} from debit_attempts a where a.order_no = $1 and a.cycle_no = 1 order by a.try_no desc limit 1`,
  parameters: ['bigint'],
  columns: ATTEMPT_COLUMNS,
});

/**
 * Leases attempts whose institution must be queried now. Postpones their next query by `leaseSeconds`. Until then no
 * other node gets them. If this node dies, a different node queries them afterwards.
 */
export const leaseAttemptsToAsk = declareList({
  text: `update debit_attempts a set ask_at = now() + $2::double precision * interval '1 s', asked = a.asked + 1
     where (a.order_no, a.cycle_no, a.try_no) in (
       select d.order_no, d.cycle_no, d.try_no from debit_attempts d
       where d.ask_at <= now() and ($3::text is null or d.payment_channel_code = $3) order by d.ask_at limit $1 for update skip locked)
     returning ${ATTEMPT_FIELDS}`,
  parameters: ['bigint', 'double precision', 'text?'],
  columns: ATTEMPT_COLUMNS,
});

const SCHEDULE_DEBIT_QUESTION = statement({
  text: `update debit_attempts set ask_at = now() + $4::double precision * interval '1 s'
     where order_no = $1 and cycle_no = $2 and try_no = $3 and status = 'STARTED'`,
  parameters: ['bigint', 'integer', 'integer', 'double precision'],
});

export async function scheduleDebitQuestion(db: Queryable, attempt: AttemptReference, seconds: number): Promise<void> {
  await db.query(SCHEDULE_DEBIT_QUESTION, [attempt.orderNo, attempt.cycleNo, attempt.tryNo, seconds]);
}
