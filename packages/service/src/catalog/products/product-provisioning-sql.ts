import type { PeriodType, SettlementMode } from '@perennial/wire/enums';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

export interface ProductBenefitView {
  readonly benefitCode: string;
  readonly name: string;
  readonly faceValueCent: number;
}

/** A product as operators see it. */
export type ProductView = RowOf<typeof DESCRIBE_PRODUCTS>;

const DESCRIBE_PRODUCTS = statement({
  text: `select p.product_code as "productCode", p.product_name as "productName", p.settlement_modes as "settlementModes",
       p.period_type as "periodType", p.period, p.total_cycles as "totalCycles", p.amount_cent as "amountCent",
       (select coalesce(json_agg(json_build_object('benefitCode', b.benefit_code, 'name', b.name,
          'faceValueCent', b.face_value_cent) order by b.position), '[]')
        from product_benefits b where b.product_code = p.product_code) as benefits,
       p.retry_delays as "retryDelays",
       array(select c.app_id from channel_products cp join channels c using (channel_id)
             where cp.product_code = p.product_code order by c.app_id) as channels,
       p.version, p.version_of as "versionOf",
       ${shanghaiText('p.created_at')} as "createdAt"
     from products p where $1::text is null or p.product_code = $1 order by p.product_code`,
  parameters: ['text'],
  columns: columns({
    productCode: 'text',
    productName: 'text',
    settlementModes: column<readonly SettlementMode[]>('text[]'),
    periodType: column<PeriodType>('text'),
    period: 'integer',
    totalCycles: 'integer',
    amountCent: 'bigint',
    benefits: column<readonly ProductBenefitView[]>('json'),
    /** Seconds after each failed attempt. */
    retryDelays: 'integer[]',
    /** The app ids it is authorized to. */
    channels: 'text[]',
    /** 1 for the first. A later version is a product of its own. */
    version: 'integer',
    /** The code of the first version. Null when this is it. */
    versionOf: 'text?',
    createdAt: 'text',
  }),
});

/** All products by code, or the one that is named. */
export async function describeProducts(db: Queryable, productCode?: string): Promise<ProductView[]> {
  return db.query(DESCRIBE_PRODUCTS, [productCode ?? null]);
}

export type NewProduct = Omit<ProductView, 'channels' | 'createdAt'>;

const INSERT_PRODUCT = statement({
  text: `insert into products (product_code, product_name, settlement_modes, period_type, period, total_cycles, amount_cent,
       retry_delays, version, version_of)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (product_code) do nothing returning product_code`,
  parameters: ['text', 'text', 'text[]', 'text', 'integer', 'integer', 'bigint', 'integer[]', 'integer', 'text'],
});

const INSERT_PRODUCT_BENEFITS = statement({
  text: `insert into product_benefits (product_code, position, benefit_code, name, face_value_cent)
     select $1, b.position, b.benefit_code, b.name, b.face_value_cent
     from unnest($2::text[], $3::text[], $4::bigint[])
       with ordinality as b (benefit_code, name, face_value_cent, position)`,
  parameters: ['text', 'text[]', 'text[]', 'bigint[]'],
});

/** False when the code is taken. */
export async function insertProduct(tx: Queryable, product: NewProduct): Promise<boolean> {
  const made = await tx.query(INSERT_PRODUCT, [
    product.productCode,
    product.productName,
    product.settlementModes,
    product.periodType,
    product.period,
    product.totalCycles,
    product.amountCent,
    product.retryDelays,
    product.version,
    product.versionOf,
  ]);
  if (made.length === 0) return false;
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

/** The number of the latest version of a product, by the code of its first one. Two that make a version wait for each other. */
export async function lockLatestVersion(tx: Queryable, firstCode: string): Promise<number> {
  await tx.query(LOCK_VERSIONS, [firstCode]);
  return (await queryOne(tx, FIND_LATEST_VERSION, [firstCode]))?.version ?? 1;
}

const LIST_CHANNELS_OF_PRODUCT = statement({
  text: `select c.app_id as "appId" from channel_products cp join channels c using (channel_id)
     where cp.product_code = $1 order by c.channel_id`,
  parameters: ['text'],
  columns: columns({ appId: 'text' }),
});

/** In the order of their ids, in which channels are locked. */
export async function listChannelsOfProduct(db: Queryable, productCode: string): Promise<string[]> {
  return (await db.query(LIST_CHANNELS_OF_PRODUCT, [productCode])).map(({ appId }) => appId);
}

const HAS_PRODUCT = statement({
  text: 'select 1 from products where product_code = $1',
  parameters: ['text'],
});

export async function hasProduct(db: Queryable, productCode: string): Promise<boolean> {
  return (await db.query(HAS_PRODUCT, [productCode])).length > 0;
}

const INSERT_PRODUCT_AUTHORIZATION = statement({
  text: `insert into channel_products (channel_id, product_code) values ($1, $2) on conflict do nothing returning channel_id`,
  parameters: ['bigint', 'text'],
});

/** False when it was authorized already. */
export async function insertProductAuthorization(
  tx: Queryable,
  channelId: number,
  productCode: string,
): Promise<boolean> {
  const made = await tx.query(INSERT_PRODUCT_AUTHORIZATION, [channelId, productCode]);
  return made.length > 0;
}

const DELETE_PRODUCT_AUTHORIZATION = statement({
  text: 'delete from channel_products where channel_id = $1 and product_code = $2 returning channel_id',
  parameters: ['bigint', 'text'],
});

/** False when it was not authorized. */
export async function deleteProductAuthorization(
  tx: Queryable,
  channelId: number,
  productCode: string,
): Promise<boolean> {
  const gone = await tx.query(DELETE_PRODUCT_AUTHORIZATION, [channelId, productCode]);
  return gone.length > 0;
}
