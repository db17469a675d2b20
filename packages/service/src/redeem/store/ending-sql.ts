import { columns, declareFind, joinColumns, type RowOf } from '../../platform/db/database.js';
import { epochMs, fromEpochMs } from '../../platform/db/time-sql.js';
import { ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import { PRODUCT, PRODUCT_COLUMNS, withOrder } from './order-sql.js';

/** The data of the page that asks for confirmation and of the page after unsubscribing. */
export type RedeemEnding = RowOf<typeof readRedeemEnding>;

const HAS_MOBILE = `exists(select from channel_users u
  where u.channel_id = o.channel_id and key_of(u.channel_user_id) = key_of(o.channel_user_id)) as "hasMobile"`;

export const readRedeemEnding = declareFind({
  name: 'redeem-ending',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT}, ${HAS_MOBILE}, b.to_claim as "toClaim", ${epochMs('b.last_deadline')} as "lastDeadline", b.codes, ${epochMs('b.last_expires_at')} as "lastExpiresAt"
from channels c join orders o on o.channel_id = c.channel_id,
  lateral (select count(*) filter (where b.is_open) as to_claim, max(b.expires_at) filter (where b.is_open) as last_deadline,
      count(*) filter (where not b.is_open) as codes, max(b.expires_at) as last_expires_at
    from (select b.expires_at, b.status = 'ISSUED' as is_open from benefits b where b.order_no = o.order_no
      and (b.status = 'CLAIMED' or b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$3')})) b) b
where c.channel_id = $1 and o.order_no = $2`,
  parameters: ['bigint', 'bigint', 'double precision'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns({
      /** True if the user can confirm with the digits of the login mobile. */
      hasMobile: 'boolean',
      toClaim: 'bigint',
      /** The deadline of the last claimable benefit. */
      lastDeadline: 'bigint?',
      codes: 'bigint',
      /** When the last of the claimable and claimed benefits expires. */
      lastExpiresAt: 'bigint?',
    }),
  ),
  value: withOrder,
});
