import { column, columns, type Queryable, type RowOf, statement } from '../../../platform/db/database.js';
import type { PaymentReference } from '../../domain/orders/order-numbers.js';

type Benefit = RowOf<typeof LOCK_BENEFITS>;

/**
 * Whether a period was refunded in full, also by refunds that were made outside the service, and the sum of its
 * successful refunds that do not keep the benefits.
 */
export interface RefundedSum {
  readonly inFull: boolean;
  readonly sumCent: number;
}

const LOCK_BENEFITS = statement({
  text: `select position, face_value_cent as "faceValueCent", status from benefits
     where order_no = $1 and cycle_no = $2 and status in ('ISSUED', 'REVOKED') order by position for update`,
  parameters: ['bigint', 'integer'],
  columns: columns({ position: 'integer', faceValueCent: 'bigint', status: column<'ISSUED' | 'REVOKED'>('text') }),
});

const REVOKE_BENEFITS = statement({
  text: `update benefits set status = 'REVOKED'
     where order_no = $1 and cycle_no = $2 and position = any($3::integer[]) and status = 'ISSUED'`,
  parameters: ['bigint', 'integer', 'integer[]'],
});

/**
 * Revokes unclaimed benefits of a period: all of them if the period is refunded in full, otherwise as many as the
 * refunded sum covers (docs/decisions/0017-operators-money.md).
 */
export async function revokeBenefits(
  tx: Queryable,
  { orderNo, cycleNo }: PaymentReference,
  refunded: RefundedSum,
): Promise<void> {
  // Locks the benefits, so that a benefit which is being claimed now counts as claimed.
  const benefits = await tx.query(LOCK_BENEFITS, [orderNo, cycleNo]);
  const positions = findPositionsToRevoke(benefits, refunded);
  if (positions.length === 0) return;
  await tx.query(REVOKE_BENEFITS, [orderNo, cycleNo, positions]);
}

/** Returns the positions of the benefits to revoke. Never includes a claimed benefit. */
export function findPositionsToRevoke(benefits: readonly Benefit[], { inFull, sumCent }: RefundedSum): number[] {
  if (!inFull) return choosePositionsToRevoke(benefits, sumCent);
  return benefits.filter(({ status }) => status === 'ISSUED').map(({ position }) => position);
}

/**
 * Chooses the last benefits of the product's list first. Skips a benefit that is worth more than what remains of the
 * sum.
 */
export function choosePositionsToRevoke(benefits: readonly Benefit[], sumCent: number): number[] {
  const revoked = benefits.filter(({ status }) => status === 'REVOKED');
  let left = sumCent - revoked.reduce((sum, { faceValueCent }) => sum + faceValueCent, 0);
  const issued = benefits.filter(({ status }) => status === 'ISSUED').toSorted((a, b) => b.position - a.position);
  return issued.flatMap(({ position, faceValueCent }) => {
    if (faceValueCent > left) return [];
    left -= faceValueCent;
    return [position];
  });
}
