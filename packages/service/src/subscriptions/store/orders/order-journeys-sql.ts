import { declareHas, declareWrite } from '../../../platform/db/database.js';

/**
 * The lease of an order. It is longer than a step usually takes: a debit of at most 8 s and a few statements. After
 * this time a different journey may take the order.
 */
const LEASE_SECONDS = 45;

/** Leases an order to a journey, or extends its lease. Returns false if a different journey holds the order. */
export const leaseOrderToJourney = declareHas({
  text: `insert into order_journeys as j (order_no, journey_id, lease_until)
     values ($1, $2, now() + interval '${LEASE_SECONDS} s')
     on conflict (order_no) do update set journey_id = excluded.journey_id, lease_until = excluded.lease_until
     where j.journey_id = excluded.journey_id or j.lease_until <= now()
     returning 1`,
  parameters: ['bigint', 'uuid'],
});

export const endJourney = declareWrite({
  text: 'delete from order_journeys where order_no = $1 and journey_id = $2',
  parameters: ['bigint', 'uuid'],
});
