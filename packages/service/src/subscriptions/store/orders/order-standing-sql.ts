import { columns, declareRequire, type RowOf } from '../../../platform/db/database.js';

/** The data that determine an order's next step, besides the fields of `Order`. */
export type OrderStanding = RowOf<typeof findOrderStanding>;

/** Reads the standing. Call it after the order's lock was granted: its previous holder may have taken a step. */
export const findOrderStanding = declareRequire({
  name: 'find-standing',
  text: `select (ceil(date_part('epoch', o.next_due_at)) * 1000)::bigint as "dueAt",
               o.payment_channel_code as "paymentChannelCode",
               coalesce((select p.attempts from payments p where p.order_no = o.order_no and p.cycle_no = o.cycle_no), 0)
                 as tries,
               coalesce((select c.gateway from payment_channels c where c.code = o.payment_channel_code) = 'sandbox', false)
                 as rehearsable,
               o.notice_days is not null as "hasNotices"
             from orders o where o.order_no = $1`,
  parameters: ['bigint'],
  columns: columns({
    /** The due time of the next step. Rounded up to whole seconds, so that it is never shown too early. */
    dueAt: 'bigint?',
    paymentChannelCode: 'text?',
    /** The number of attempts of the order's latest period. */
    tries: 'integer',
    /** True if the order uses a payment channel of the sandbox's own institution, which charges nobody. */
    rehearsable: 'boolean',
    /** True if the channel gets a notice before each later period of the order. */
    hasNotices: 'boolean',
  }),
});

/** Returns the agreement of an order, or null in mode B. */
export const findAgreementIdOfOrder = declareRequire({
  text: 'select agreement_id as "agreementId" from orders where order_no = $1',
  parameters: ['bigint'],
  columns: columns({ agreementId: 'bigint?' }),
  value: ({ agreementId }) => agreementId,
});
