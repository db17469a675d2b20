import {
  columns,
  declareHas,
  declareList,
  declareWrite,
  joinColumns,
  type Queryable,
  queryOne,
  type RowOf,
  statement,
} from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import { type CatalogBenefit, PRODUCT_COLUMNS, PRODUCT_FIELDS } from './catalog.js';

export type ProductBenefitView = CatalogBenefit;
export type ProductView = RowOf<typeof describeProducts>;

/** Lists one product, or all products in the order of their codes. */
export const describeProducts = declareList({
  text: `select ${PRODUCT_FIELDS}, p.retry_delays as "retryDelays",
       array(select c.app_id from channel_products cp join channels c using (channel_id)
             where cp.product_code = p.product_code order by c.app_id) as channels,
       p.version, p.version_of as "versionOf", p.name_zh as "nameZh", p.name_en as "nameEn",
       ${shanghaiText('p.created_at')} as "createdAt"
     from products p where $1::text is null or p.product_code = $1 order by p.product_code`,
  parameters: ['text?'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns({
      /** The delay before the retry after each failed attempt, in seconds. */
      retryDelays: 'integer[]',
      /** The app ids that are authorized for the product. */
      channels: 'text[]',
      /** The version number, from 1. Each version is a product of its own. */
      version: 'integer',
      /** The code of the first version. Null for the first version. */
      versionOf: 'text?',
      /** The names on the redemption page in each language. Null: the product's name. */
      nameZh: 'text?',
      nameEn: 'text?',
      createdAt: 'text',
    }),
  ),
});

export type NewProduct = Omit<ProductView, 'channels' | 'createdAt'>;

const insertProductRow = declareHas({
  text: `insert into products (product_code, product_name, settlement_modes, period_type, period, total_cycles, amount_cent,
       retry_delays, version, version_of, name_zh, name_en)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (product_code) do nothing returning product_code`,
  parameters: {
    productCode: 'text',
    productName: 'text',
    settlementModes: 'text[]',
    periodType: 'text',
    period: 'integer',
    totalCycles: 'integer',
    amountCent: 'bigint',
    retryDelays: 'integer[]',
    version: 'integer',
    versionOf: 'text?',
    nameZh: 'text?',
    nameEn: 'text?',
  },
});

const INSERT_PRODUCT_BENEFITS = statement({
  text: `insert into product_benefits (product_code, position, benefit_code, name, face_value_cent)
     select $1, b.position, b.benefit_code, b.name, b.face_value_cent
     from unnest($2::text[], $3::text[], $4::bigint[])
       with ordinality as b (benefit_code, name, face_value_cent, position)`,
  parameters: ['text', 'text[]', 'text[]', 'bigint[]'],
});

/** Stores a product's names in each language. */
export const storeProductNames = declareWrite({
  text: 'update products set name_zh = $2, name_en = $3 where product_code = $1',
  parameters: { productCode: 'text', nameZh: 'text?', nameEn: 'text?' },
});

/** Returns false if the code is taken. */
export async function insertProduct(tx: Queryable, product: NewProduct): Promise<boolean> {
  if (!(await insertProductRow(tx, product))) return false;
  await tx.query(INSERT_PRODUCT_BENEFITS, [
    product.productCode,
    product.benefits.map((benefit) => benefit.benefitCode),
    product.benefits.map((benefit) => benefit.name),
    product.benefits.map((benefit) => benefit.faceValueCent),
  ]);
  return true;
}

const LOCK_VERSIONS = statement({
  text: 'select 1 from products where product_code = $1 for no key update',
  parameters: ['text'],
});

const FIND_LATEST_VERSION = statement({
  text: 'select max(version) as version from products where product_code = $1 or version_of = $1',
  parameters: ['text'],
  columns: columns({ version: 'integer' }),
});

/**
 * Locks a product against new versions. `firstCode` is the code of its first version. Returns its latest version
 * number.
 */
export async function lockLatestVersion(tx: Queryable, firstCode: string): Promise<number> {
  await tx.query(LOCK_VERSIONS, [firstCode]);
  return (await queryOne(tx, FIND_LATEST_VERSION, [firstCode]))?.version ?? 1;
}

/** Lists channels by ascending id, the order in which they are locked. */
export const listChannelsOfProduct = declareList({
  text: `select c.app_id as "appId" from channel_products cp join channels c using (channel_id)
     where cp.product_code = $1 order by c.channel_id`,
  parameters: ['text'],
  columns: columns({ appId: 'text' }),
  value: ({ appId }) => appId,
});

export const hasProduct = declareHas({
  text: 'select 1 from products where product_code = $1',
  parameters: ['text'],
});

/** Returns false if the channel was authorized already. */
export const insertProductAuthorization = declareHas({
  text: `insert into channel_products (channel_id, product_code) values ($1, $2) on conflict do nothing returning channel_id`,
  parameters: ['bigint', 'text'],
});

/** Returns false if the channel was not authorized. */
export const deleteProductAuthorization = declareHas({
  text: 'delete from channel_products where channel_id = $1 and product_code = $2 returning channel_id',
  parameters: ['bigint', 'text'],
});
