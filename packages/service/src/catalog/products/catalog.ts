import { CODES, type PeriodType, Rejection, type SettlementMode } from '@perennial/wire';
import {
  column,
  columns,
  declareList,
  joinColumns,
  type Queryable,
  type RowOf,
  statement,
} from '../../platform/db/database.js';
import type { Channel } from '../channels/channel.js';

export type CatalogProduct = RowOf<typeof readProducts>;

/** SQL: the columns of a product, for a select that calls the table products `p`. */
export const PRODUCT_FIELDS = `p.product_code as "productCode", p.product_name as "productName",
  p.settlement_modes as "settlementModes", p.period_type as "periodType", p.period, p.total_cycles as "totalCycles", p.amount_cent as "amountCent",
  (select coalesce(json_agg(json_build_object('benefitCode', b.benefit_code, 'name', b.name,
     'faceValueCent', b.face_value_cent) order by b.position), '[]'::json)
   from product_benefits b where b.product_code = p.product_code) as benefits`;

export const PRODUCT_COLUMNS = columns({
  productCode: 'text',
  productName: 'text',
  settlementModes: column<SettlementMode[]>('text[]'),
  periodType: column<PeriodType>('text'),
  period: 'integer',
  totalCycles: 'integer',
  amountCent: 'bigint',
  benefits: column<CatalogBenefit[]>('json'),
});

export interface CatalogBenefit {
  readonly benefitCode: string;
  readonly name: string;
  readonly faceValueCent: number;
}

export type CatalogPaymentChannel = RowOf<typeof readPaymentChannels>;

interface KnownCatalog {
  readonly version: number;
  readonly products: ReadonlyMap<string, CatalogProduct>;
  readonly paymentChannels: ReadonlyMap<string, CatalogPaymentChannel>;
}

const FIND_PRODUCT = statement({
  text: 'select from products where product_code = $1',
  parameters: ['text'],
});

/**
 * Caches the products and payment channels that each channel is authorized for. They change only with the channel's
 * version.
 */
export function createCatalog(database: Queryable) {
  const known = new Map<number, KnownCatalog>();

  async function readCatalogOf({ channelId, version }: Channel): Promise<KnownCatalog> {
    const remembered = known.get(channelId);
    if (remembered?.version === version) return remembered;
    const [products, paymentChannels] = await Promise.all([
      readProducts(database, channelId),
      readPaymentChannels(database, channelId),
    ]);
    const fresh = {
      version,
      products: new Map(products.map((product) => [product.productCode, product])),
      paymentChannels: new Map(paymentChannels.map((one) => [one.code, one])),
    };
    known.set(channelId, fresh);
    return fresh;
  }

  return {
    /** Throws PRODUCT_NOT_FOUND or PRODUCT_NOT_AUTHORIZED. */
    async requireProduct(db: Queryable, channel: Channel, productCode: string): Promise<CatalogProduct> {
      const product = (await readCatalogOf(channel)).products.get(productCode);
      if (product) return product;
      const rows = await db.query(FIND_PRODUCT, [productCode]);
      throw createProductRefusal(rows.length > 0 ? 'PRODUCT_NOT_AUTHORIZED' : 'PRODUCT_NOT_FOUND', productCode);
    },
    listProductCodes: async (channel: Channel): Promise<Iterable<string>> =>
      (await readCatalogOf(channel)).products.keys(),
    paymentChannels: async (channel: Channel): Promise<ReadonlyMap<string, CatalogPaymentChannel>> =>
      (await readCatalogOf(channel)).paymentChannels,
  };
}

export type Catalog = ReturnType<typeof createCatalog>;

/** The form of the codes of products, benefits, payment channels and banks. */
export const CODE_PATTERN = /^[A-Z0-9_]{1,64}$/;

/** Repeats the caller's text only if it looks like a code, because it may be anything, such as a card number. */
function createProductRefusal(name: 'PRODUCT_NOT_AUTHORIZED' | 'PRODUCT_NOT_FOUND', code: string): Rejection {
  const isRepeated = CODE_PATTERN.test(code) && /[A-Z]/.test(code);
  return new Rejection(name, `productCode${isRepeated ? ` ${code}` : ''}: ${CODES[name].message}`);
}

const readProducts = declareList({
  text: `select ${PRODUCT_FIELDS}, p.retry_delays as "retryDelays"
     from channel_products cp join products p using (product_code) where cp.channel_id = $1`,
  parameters: ['bigint'],
  columns: joinColumns(PRODUCT_COLUMNS, columns({ /** Seconds. */ retryDelays: 'integer[]' })),
});

const readPaymentChannels = declareList({
  text: `select p.code, cp.is_default as "isDefault", cp.share_enabled as "shareEnabled",
       p.supported_banks as "supportedBanks", p.bank_code_required as "bankCodeRequired",
       p.common_numbers as "commonNumbers"
     from channel_payment_channels cp join payment_channels p using (code) where cp.channel_id = $1`,
  parameters: ['bigint'],
  columns: columns({
    code: 'text',
    isDefault: 'boolean',
    shareEnabled: 'boolean',
    supportedBanks: 'text[]',
    bankCodeRequired: 'boolean',
    /** Whether another channel may share the same agreement number. */
    commonNumbers: 'boolean',
  }),
});
