import { columns, declareFind, declareList, declareRequire } from '../../platform/db/database.js';

/** Facts about a cell for `cell list`. The orders come from the last count, because counting all of them takes long. */
export const readCellFacts = declareRequire({
  text: `select (select count(*) from channels) as channels,
       (select coalesce(sum(c.active), 0)::bigint from order_counts c) as "activeOrders",
       pg_database_size(current_database()) as bytes,
       (select coalesce(max(version), 0) from schema_migrations) as schema,
       (select last_value from order_numbers) as "orderNumber"`,
  parameters: [],
  columns: columns({
    channels: 'bigint',
    activeOrders: 'bigint',
    bytes: 'bigint',
    schema: 'integer',
    orderNumber: 'bigint',
  }),
});

export const listAppIds = declareList({
  text: 'select app_id as "appId" from channels order by app_id',
  parameters: [],
  columns: columns({ appId: 'text' }),
  value: ({ appId }) => appId,
});

/** A suspended channel without orders is idle: it may be in a wrong cell. Only for such a channel all orders are read. */
export const findAppId = declareFind({
  text: `select c.app_id as "appId",
       c.status = 'SUSPENDED' and not exists (select from orders o where o.channel_id = c.channel_id) as "isIdle"
     from channels c where c.app_id = $1`,
  parameters: ['text'],
  columns: columns({ appId: 'text', isIdle: 'boolean' }),
});
