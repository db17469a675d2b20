import { column, columns, declareFind, joinColumns } from '../../platform/db/database.js';
import type { Order } from '../../subscriptions/domain/orders/order.js';
import { ORDER_COLUMNS, ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';

/** The order and the current version of the channel. Every step of the page reads them. */
export interface RedeemOrder {
  readonly version: number;
  readonly order: Order;
}

export interface RedeemProduct extends RedeemOrder {
  /** Null if the product no longer exists. */
  readonly product: ShownProduct | null;
}

export interface ShownProduct {
  readonly name: string;
  /** The names for the pages in each language. */
  readonly zh: string | null;
  readonly en: string | null;
  readonly hasBenefits: boolean;
}

export const PRODUCT = `(select json_build_object('name', p.product_name, 'zh', p.name_zh, 'en', p.name_en,
    'hasBenefits', exists(select from product_benefits g where g.product_code = p.product_code)) from products p
  where p.product_code = o.product_code) as product`;
export const FROM_ORDER = `from channels c join orders o on o.channel_id = c.channel_id where c.channel_id = $1 and o.order_no = $2`;

export const PRODUCT_COLUMNS = joinColumns(
  ORDER_COLUMNS,
  columns({ version: 'bigint', product: column<ShownProduct>('json?') }),
);

/** Adds the order to a row that has its fields. */
export const withOrder = <Row extends Order>(row: Row) => ({ ...row, order: row });

export const readRedeemOrder = declareFind({
  name: 'redeem-order',
  text: `select c.version, ${ORDER_FIELDS} ${FROM_ORDER}`,
  parameters: ['bigint', 'bigint'],
  columns: joinColumns(ORDER_COLUMNS, columns({ version: 'bigint' })),
  value: withOrder,
});

export const findChannelVersion = declareFind({
  name: 'channel-version',
  text: 'select version from channels where app_id = $1',
  parameters: ['text'],
  columns: columns({ version: 'bigint' }),
  value: ({ version }) => version,
});
