import type { Product } from '@perennial/wire';
import { columnsOf, type Queryable, statement } from '../../platform/db/database.js';
import type { ListPosition } from '../../platform/lists/list-page.js';
import {
  AUTHORIZED_PARAMETERS,
  type AuthorizationKey,
  type Authorized,
  authorizedParameters,
  authorizedSql,
} from '../channels/authorized-sql.js';

const { column, page } = authorizedSql('product_code');

const LIST_AUTHORIZED_PRODUCTS = statement({
  text: `select p.product_code as "productCode", p.product_name as "productName", p.settlement_modes as "settlementModes",
       p.period_type as "periodType", p.period, p.total_cycles as "totalCycles", p.amount_cent as "amountCent",
       (select coalesce(json_agg(json_build_object('benefitCode', b.benefit_code, 'name', b.name,
          'faceValueCent', b.face_value_cent) order by b.position), '[]'::json)
        from product_benefits b where b.product_code = p.product_code) as benefits, ${column}
     from channel_products cp join products p using (product_code) ${page}`,
  parameters: AUTHORIZED_PARAMETERS,
  columns: columnsOf<Product & Authorized>({
    productCode: 'text',
    productName: 'text',
    settlementModes: 'text[]',
    periodType: 'text',
    period: 'integer',
    totalCycles: 'integer',
    amountCent: 'bigint',
    benefits: 'json',
    authorizedMicros: 'bigint',
  }),
});

export async function listAuthorizedProducts(
  db: Queryable,
  channelId: number,
  limit: number,
  place: ListPosition<AuthorizationKey>,
): Promise<(Product & Authorized)[]> {
  return db.query(LIST_AUTHORIZED_PRODUCTS, authorizedParameters(channelId, limit, place));
}
