import { setCallback } from '../../dist/operator/provisioning/channel-settings.js';
import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { shanghaiText } from '../../dist/platform/db/time-sql.js';
import { paymentPayloadSql } from '../../dist/subscriptions/store/events/event-payload-sql.js';

const FIRST = 400_000_000_000;
/**
 * The number of orders per channel. A batch reads fewer events than a channel has orders, so that no event in a batch
 * waits for an earlier event of the same order.
 */
const ORDERS = 5_000;

/** Creates a channel with orders for each receiver's port. */
export async function makeChannels({ operator, maker }, ports) {
  const channelIds = [];
  for (const port of ports) {
    const { appId } = await createChannel(operator, { name: 'Bench receiver' });
    await setCallback({ ...operator, localCallbacks: true }, { appId, url: `http://127.0.0.1:${port}/events` });
    const [{ channelId }] = await maker.query(
      'select channel_id::integer as "channelId" from channels where app_id = $1',
      [appId],
    );
    channelIds.push(channelId);
  }
  await maker.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
       paid_amount_cent, latest_payment_status)
     select $2::bigint + n, c.channel_id, 'bench-order-' || n, 'bench-user-' || n, p.product_code,
       'CHANNEL_COLLECT', 'ACTIVE', p.period_type, p.period, p.total_cycles, p.amount_cent, t.at, t.at, 2,
       t.at + interval '2 months', 2, 2 * p.amount_cent, 'BILLED'
     from unnest($1::bigint[]) with ordinality c(channel_id, place),
       generate_series((c.place - 1) * $3::integer, c.place * $3::integer - 1) n, products p,
       lateral (select date_trunc('second', now()) - interval '1 month' as at) t
     where p.product_code = 'MONTHLY'`,
    [channelIds, FIRST, ORDERS],
  );
  await maker.query('vacuum analyze orders');
}

/** Inserts `count` events of billed periods in one statement, for the first `channels` channels in turn. */
export async function makeEvents(maker, channels, count) {
  await maker.query(
    `insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
     select o.channel_id, o.order_no, 'payment.status.changed', o.cycle_no, t.at,
       ${paymentPayloadSql({
         orderNo: 'o.order_no',
         externalOrderNo: 'o.external_order_no',
         channelUserId: 'o.channel_user_id',
         cycleNo: 'o.cycle_no',
         expectPayTime: shanghaiText('t.at'),
         paidAt: shanghaiText('t.at'),
         amountCent: 'o.amount_cent',
         paymentStatus: `'BILLED'`,
         agreementShareFlag: 'o.shared',
       })}
     from generate_series(0, $2::integer - 1) n, (select date_trunc('second', now()) as at) t,
       orders o where o.order_no = $1::bigint + n % $3::integer * ${ORDERS} + n / $3::integer % ${ORDERS}
     order by n`,
    [FIRST, count, channels],
  );
}
