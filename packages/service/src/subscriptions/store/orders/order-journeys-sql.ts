import { declareWrite, type Queryable, statement } from '../../../platform/db/database.js';

/** Longer than one step may take: a debit has 8 s, a statement 30 s at most. */
const LEASE_SECONDS = 45;

const LEASE_JOURNEY = statement({
  text: `insert into order_journeys as j (order_no, journey_id, lease_until)
     values ($1, $2, now() + $3::integer * interval '1 s')
     on conflict (order_no) do update set journey_id = excluded.journey_id, lease_until = excluded.lease_until
     where j.journey_id = excluded.journey_id or j.lease_until <= now()
     returning 1`,
  parameters: ['bigint', 'uuid', 'integer'],
});

/** Leases an order to a journey, or extends the lease. Returns false if another journey has the order. */
export async function leaseOrderToJourney(tx: Queryable, orderNo: number, journeyId: string): Promise<boolean> {
  const rows = await tx.query(LEASE_JOURNEY, [orderNo, journeyId, LEASE_SECONDS]);
  return rows.length === 1;
}

export const endJourney = declareWrite({
  text: 'delete from order_journeys where order_no = $1 and journey_id = $2',
  parameters: ['bigint', 'uuid'],
});
