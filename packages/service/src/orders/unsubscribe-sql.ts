import type { Queryable } from '../db/database.js';

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
