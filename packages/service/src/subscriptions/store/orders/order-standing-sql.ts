import { columns, declareRequire, type RowOf } from '../../../platform/db/database.js';

/** What the next step of an order depends on, besides its own row. */
export type OrderStanding = RowOf<typeof findOrderStanding>;

/** To be read after the order's lock was granted: before that, another step may have been running. */
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
    /** When the next step is due, rounded up to a whole second: times are shown in seconds, and none may be shown too early. */
    dueAt: 'bigint?',
    paymentChannelCode: 'text?',
    /** How often its latest period was tried. */
    tries: 'integer',
    /** Whether the payment channel is the sandbox's own, which charges nobody. */
    rehearsable: 'boolean',
    /** Whether its channel is told before each period. */
    hasNotices: 'boolean',
  }),
});

/** The agreement that an order runs on; null in mode B. */
export const findAgreementIdOfOrder = declareRequire({
  text: 'select agreement_id as "agreementId" from orders where order_no = $1',
  parameters: ['bigint'],
  columns: columns({ agreementId: 'bigint?' }),
  value: ({ agreementId }) => agreementId,
});
