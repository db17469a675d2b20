import {
  columns,
  declareList,
  declareRequire,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../../platform/db/database.js';
import { inShanghaiZone } from '../../platform/db/time-sql.js';

export type Pace = RowOf<typeof listOpenPaymentChannels>;

/** Lists payment channels that are not paused and accept renewals at this hour of Asia/Shanghai, by the database's clock. */
export const listOpenPaymentChannels = declareList({
  text: `select code, debits_per_second as "debitsPerSecond"
     from payment_channels, lateral (select extract(hour from ${inShanghaiZone('now()')})) as t(hour)
     where debits_paused_at is null and (debit_hour_from is null
       or case when debit_hour_from < debit_hour_to then hour >= debit_hour_from and hour < debit_hour_to
            else hour >= debit_hour_from or hour < debit_hour_to end)
     order by code`,
  parameters: [],
  columns: columns({
    code: 'text',
    /** Null without a limit. */
    debitsPerSecond: 'integer?',
  }),
});

const BEGIN_PACE = statement({
  text: `insert into debit_paces (code, used_up_to) values ($1, now() - interval '1 s') on conflict (code) do nothing`,
  parameters: ['text'],
});

const LOCK_PACE = statement({
  text: `select floor(extract(epoch from least(clock_timestamp() - used_up_to, interval '1 s')) * $2::integer)::integer as room
     from debit_paces where code = $1 for update`,
  parameters: ['text', 'integer'],
  columns: columns({ room: 'integer' }),
});

/**
 * Returns how many debits the payment channel's rate allows now, at most the debits of one second. Locks the row until
 * the transaction ends, so that all nodes together keep to the rate.
 */
export async function lockPace(tx: Queryable, code: string, perSecond: number): Promise<number> {
  await tx.query(BEGIN_PACE, [code]);
  const [row] = await tx.query(LOCK_PACE, [code, perSecond]);
  return Math.max(0, row?.room ?? 0);
}

export const usePace = declareWrite({
  text: `update debit_paces set used_up_to = greatest(used_up_to, clock_timestamp() - interval '1 s')
       + $3::double precision / $2::integer * interval '1 s' where code = $1`,
  parameters: ['text', 'integer', 'double precision'],
});

/** SQL: true if renewals of this payment channel are held. */
export const debitsArePausedSql = (code: string) =>
  `exists (select from payment_channels paused where paused.code = ${code} and paused.debits_paused_at is not null)`;

export const areDebitsPaused = declareRequire({
  text: `select ${debitsArePausedSql('$1')} as paused`,
  parameters: ['text'],
  columns: columns({ paused: 'boolean' }),
  value: ({ paused }) => paused,
});
