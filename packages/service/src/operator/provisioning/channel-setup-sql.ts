import { columns, declareFind } from '../../platform/db/database.js';

/** The facts about the set-up of a channel. Each is looked up by an index that begins with the channel. */
export const findChannelSetup = declareFind({
  text: `select
       exists (select from rate_limits r where r.channel_id = c.channel_id and r.refilled_at > c.created_at) as "hasCalled",
       exists (select from channel_products p where p.channel_id = c.channel_id) as "hasProduct",
       exists (select from channel_payment_channels p where p.channel_id = c.channel_id) as "hasPaymentChannel",
       exists (select from channel_products p join products q using (product_code)
         where p.channel_id = c.channel_id and 'SVC_DEDUCT' = any(q.settlement_modes)) as "isDebited",
       exists (select from callback_urls u where u.channel_id = c.channel_id) as "hasCallback",
       exists (select from delivery_attempts d where d.channel_id = c.channel_id and d.outcome = 'ACCEPTED')
         or exists (select from audit_log l where l.subject = c.app_id and l.action = 'events.test-accepted') as "acceptedPush",
       exists (select from channel_brandings b where b.channel_id = c.channel_id
         and (b.display_name is not null or b.logo_hash is not null)) as "hasBranding",
       cardinality(c.ip_allow_list) > 0
         or exists (select from audit_log l where l.subject = c.app_id and l.action = 'channel.set-limits') as "hasLimits",
       exists (select from external_orders o where o.channel_id = c.channel_id) as "hasOrder"
     from channels c where c.app_id = $1`,
  parameters: ['text'],
  byIndex: true,
  columns: columns({
    hasCalled: 'boolean',
    hasProduct: 'boolean',
    hasPaymentChannel: 'boolean',
    isDebited: 'boolean',
    hasCallback: 'boolean',
    acceptedPush: 'boolean',
    hasBranding: 'boolean',
    hasLimits: 'boolean',
    hasOrder: 'boolean',
  }),
});
