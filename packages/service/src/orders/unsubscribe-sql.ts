import type { Queryable } from '../db/database.js';
import { ms } from '../db/time-sql.js';

export async function noteUnsubscribe(
  tx: Queryable,
  orderNo: number,
  source: string,
  reason: string | null,
): Promise<void> {
  await tx.query('update orders set unsubscribe_source = $2, unsubscribe_reason = $3 where order_no = $1', [
    orderNo,
    source,
    reason,
  ]);
}

/** When an order was unsubscribed; null while it was not. */
export async function findUnsubscribedAt(db: Queryable, orderNo: number): Promise<number | null> {
  const [row] = await db.query<{ at: number | null }>(
    `select ${ms('o.unsubscribed_at')} as at from orders o where o.order_no = $1`,
    [orderNo],
  );
  return row?.at ?? null;
}
