import type { Product } from '@perennial/wire';
import type { Queryable } from '../db/database.js';

/** Products authorized to the channel, newest authorization first; one more than asked, to know whether there is more. */
export async function listAuthorizedProducts(
  db: Queryable,
  channelId: number,
  limit: number,
  offset: number,
): Promise<Product[]> {
  return db.query<Product>(
    `select p.product_code as "productCode", p.product_name as "productName", p.settlement_modes as "settlementModes",
       p.period_type as "periodType", p.period, p.total_cycles as "totalCycles", p.amount_cent as "amountCent",
       (select coalesce(json_agg(json_build_object('benefitCode', b.benefit_code, 'name', b.name,
          'faceValueCent', b.face_value_cent) order by b.position), '[]'::json)
        from product_benefits b where b.product_code = p.product_code) as benefits
     from channel_products cp join products p using (product_code)
     where cp.channel_id = $1
     order by cp.authorized_at desc, p.product_code limit $2 offset $3`,
    [channelId, limit, offset],
  );
}
