import type { Product } from '@perennial/wire';
import { columns, joinColumns, type Queryable, statement } from '../../platform/db/database.js';
import type { ListPosition } from '../../platform/lists/list-page.js';
import {
  AUTHORIZED_PARAMETERS,
  type AuthorizationKey,
  type Authorized,
  authorizedParameters,
  authorizedSql,
} from '../channels/authorized-sql.js';
import { PRODUCT_COLUMNS, PRODUCT_FIELDS } from './catalog.js';

const { column, page } = authorizedSql('product_code');

const LIST_AUTHORIZED_PRODUCTS = statement({
  text: `select ${PRODUCT_FIELDS}, ${column}
     from channel_products cp join products p using (product_code) ${page}`,
  parameters: AUTHORIZED_PARAMETERS,
  columns: joinColumns(PRODUCT_COLUMNS, columns({ authorizedMicros: 'bigint' })),
});

export async function listAuthorizedProducts(
  db: Queryable,
  channelId: number,
  limit: number,
  place: ListPosition<AuthorizationKey>,
): Promise<(Product & Authorized)[]> {
  return db.query(LIST_AUTHORIZED_PRODUCTS, authorizedParameters(channelId, limit, place));
}
