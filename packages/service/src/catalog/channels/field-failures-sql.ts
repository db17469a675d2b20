import { columns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';

export type FieldFailureCount = RowOf<typeof COUNT_FIELD_FAILURE>;

const COUNT_FIELD_FAILURE = statement({
  text: `insert into undecryptable_fields as f (channel_id) values ($1)
     on conflict (channel_id) do update set
       failures = case when f.minute_began > now() - interval '1 minute' then f.failures + 1 else 1 end,
       minute_began = case when f.minute_began > now() - interval '1 minute' then f.minute_began else now() end
     returning failures, extract(epoch from minute_began + interval '1 minute' - now())::float8 as "secondsLeft"`,
  parameters: ['bigint'],
  columns: columns({
    /** Failures within the current minute, including the failure that was just counted. */
    failures: 'integer',
    secondsLeft: 'double precision',
  }),
});

/** Counts an unreadable field by the database's clock, so that all nodes count the same minute. */
export async function countFieldFailure(tx: Queryable, channelId: number): Promise<FieldFailureCount> {
  const [row] = await tx.query(COUNT_FIELD_FAILURE, [channelId]);
  if (!row) throw new Error(`the failure of channel ${channelId} was not counted`);
  return row;
}
