import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../../src/platform/db/database.js';
import { type Stage, stage } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest } from '../support/demo.js';

/** The test service of the current test file. */
export let on: Stage;
export let channel: ChannelClient;
export const database = () => on.service.fresh.database;

export function useStage(): void {
  beforeAll(async () => {
    on = await stage();
    channel = on.channel;
  });
  afterAll(() => on.close());
}

interface Waiting {
  /** The eventId. Periods that were voided together and are still one row have an id such as `4711-2..5`. */
  readonly id: string;
  readonly step: number;
  readonly retryNo: number;
  readonly isDue: boolean;
}

/** Returns all events that are still to be sent, by event number. */
export const listDueEvents = (database: Database) =>
  database.query<Waiting>(
    `select event_no || case when cycle_no = 0 then '' else '-' || cycle_no end || coalesce('..' || cycle_to, '') as id,
       step, retry_no as "retryNo", next_at <= now() as "isDue"
     from due_events order by event_no, cycle_no`,
  );

const ENDINGS = {
  ACCEPTED: { outcome: 'ACCEPTED', status: 200, answer: '{"code":"0"}', again: false, reason: null },
  REFUSED: { outcome: 'REFUSED', status: 503, answer: 'later, please', again: true, reason: null },
  GIVE_UP: { outcome: 'REFUSED', status: 503, answer: 'later, please', again: false, reason: 'GIVE_UP' },
  NO_CALLBACK: { outcome: null, status: null, answer: null, again: false, reason: 'NO_CALLBACK' },
} as const;

/** Stores the outcomes of pushes as a node does: a refused push is due again in 30 s. */
export async function recordOutcome(
  database: Database,
  eventIds: readonly string[],
  ending: keyof typeof ENDINGS,
): Promise<void> {
  const { outcome, status, answer, again, reason } = ENDINGS[ending];
  const gone = await database.query(
    `with gone as (
       delete from due_events where event_no || case when cycle_no = 0 then '' else '-' || cycle_no end = any($1)
       returning *
     ), attempts as (
       insert into delivery_attempts
         (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, http_status, latency_ms, at, outcome, answer)
       select channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, $2, 12, clock_timestamp(), $3::text::delivery_outcome, $4 from gone
       where $3 is not null
     ), again as (
       insert into due_events
         (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, recorded_at, step, retry_no)
       select shard, clock_timestamp() + interval '30 s', event_no, cycle_no, channel_id, order_no, is_payment,
         recorded_at, step + 1, retry_no + 1 from gone where $5
     ), aside as (
       insert into undelivered_events
         (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, retry_no, reason)
       select channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, recorded_at, retry_no, $6::text from gone
       where $6 is not null
     )
     select from gone`,
    [eventIds, status, outcome, answer, again, reason],
  );
  if (gone.length < eventIds.length) throw new Error(`of ${eventIds.join(', ')} only ${gone.length} were waiting`);
}

/** Replaces the single row of periods that were voided together by one row per period. */
export async function expandVoidedPeriods(database: Database, eventId: string): Promise<void> {
  await database.query(
    `with gone as (delete from due_events where event_no || '-' || cycle_no = $1 and cycle_to is not null returning *)
     insert into due_events
       (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, recorded_at, step, retry_no)
     select shard, next_at, event_no, n, channel_id, order_no, is_payment, recorded_at, step, retry_no
     from gone, generate_series(cycle_no, cycle_to) n`,
    [eventId],
  );
}

/**
 * Runs `work` while the channel has an address, so that its events wait to be sent. Without an address they would be
 * set aside.
 */
export async function whileAddressed<T>(
  database: Database,
  { credentials }: ChannelClient,
  work: () => Promise<T>,
): Promise<T> {
  const added = await database.query<{ channel_id: number }>(
    `insert into callback_urls (channel_id, event_type, url)
     select channel_id, '*', 'https://receiver.example/events' from channels where app_id = $1
     on conflict do nothing returning channel_id`,
    [credentials.appId],
  );
  try {
    return await work();
  } finally {
    await database.query(`delete from callback_urls where event_type = '*' and channel_id = any($1::bigint[])`, [
      added.map(({ channel_id }) => channel_id),
    ]);
  }
}

/** Creates an order in mode B. Returns its number, and the ids of its payment and order events. */
export async function createOrderWithEvents(
  database: Database,
  channel: ChannelClient,
  more: Record<string, unknown> = {},
): Promise<{ orderNo: string; payment: string; order: string }> {
  const { data } = await whileAddressed(database, channel, () =>
    channel.call('orders/create', collectRequest(channel, more)),
  );
  const [payment = '', order = ''] = await idsOf(database, data.orderNo);
  return { orderNo: data.orderNo, payment, order };
}

/**
 * Creates an order of 7 days that is unsubscribed in its first period. Returns its events. The last event is for all
 * six voided periods.
 */
export async function createVoidedPeriods(database: Database, channel: ChannelClient) {
  const { orderNo, payment, order } = await createOrderWithEvents(database, channel, {
    productCode: 'TEST_SPU_DAILY_7',
  });
  await whileAddressed(database, channel, () => channel.call('orders/unsubscribe', { orderNo }));
  const [, , unsubscribed = '', range = ''] = await idsOf(database, orderNo);
  return { orderNo, before: [payment, order, unsubscribed], range };
}

async function idsOf(database: Database, orderNo: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select event_no::text as id from events where order_no = $1 order by event_no',
    [orderNo],
  );
  return rows.map(({ id }) => id);
}
