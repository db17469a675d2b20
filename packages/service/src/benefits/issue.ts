import type { Queryable } from '../db/database.js';

export const BENEFIT_DAYS = 90;
const DAY_MS = 86_400_000;

export const expiryOf = (issuedAt: number): number => issuedAt + BENEFIT_DAYS * DAY_MS;

/** What the product gives for a paid period, as rows of that period. */
export async function issueBenefits(
  tx: Queryable,
  period: {
    readonly channelId: number;
    readonly orderNo: number;
    readonly cycleNo: number;
    readonly productCode: string;
  },
  issuedAt: number,
): Promise<void> {
  await tx.query(
    {
      name: 'issue-benefits',
      text: `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent,
               issued_at, expires_at)
             select $1, $2, b.position, $3, b.benefit_code, b.name, b.face_value_cent,
               to_timestamp($5::double precision / 1000), to_timestamp($6::double precision / 1000)
             from product_benefits b where b.product_code = $4`,
    },
    [period.orderNo, period.cycleNo, period.channelId, period.productCode, issuedAt, expiryOf(issuedAt)],
  );
}
