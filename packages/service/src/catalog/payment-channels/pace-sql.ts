import type { Queryable } from '../../platform/db/database.js';
import { local } from '../../platform/db/time-sql.js';

export interface Pace {
  readonly code: string;
  /** Null: as fast as it goes. */
  readonly debitsPerSecond: number | null;
}

/** Payment channels that take renewals at this hour of the database's clock, read in Asia/Shanghai. */
export async function openPaymentChannels(db: Queryable): Promise<Pace[]> {
  return db.query<Pace>(
    `select code, debits_per_second as "debitsPerSecond"
     from payment_channels, lateral (select extract(hour from ${local('now()')})) as t(hour)
     where debit_hour_from is null
       or case when debit_hour_from < debit_hour_to then hour >= debit_hour_from and hour < debit_hour_to
            else hour >= debit_hour_from or hour < debit_hour_to end
     order by code`,
  );
}

/**
 * How many debits the pace leaves room for at this moment, one second's worth at most. The row stays locked until the
 * transaction ends, so that all nodes together keep the pace.
 */
export async function lockPace(tx: Queryable, code: string, perSecond: number): Promise<number> {
  await tx.query(
    `insert into debit_paces (code, used_up_to) values ($1, now() - interval '1 s') on conflict (code) do nothing`,
    [code],
  );
  const [row] = await tx.query<{ room: number }>(
    `select floor(extract(epoch from least(clock_timestamp() - used_up_to, interval '1 s')) * $2::integer)::integer as room
     from debit_paces where code = $1 for update`,
    [code, perSecond],
  );
  return Math.max(0, row?.room ?? 0);
}

export async function usePace(tx: Queryable, code: string, perSecond: number, debits: number): Promise<void> {
  await tx.query(
    `update debit_paces set used_up_to = greatest(used_up_to, clock_timestamp() - interval '1 s')
       + $3::double precision / $2::integer * interval '1 s' where code = $1`,
    [code, perSecond, debits],
  );
}
