import { randomBytes } from 'node:crypto';
import type { Operator } from '../../src/operator/operator.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { countingReceivers, type Manner } from './counting-receivers.js';
import type { FreshDatabase } from './database.js';
import { keptAlive } from './kept-alive.js';
import { DELIVERY_NODE } from './processes.js';

interface Kind {
  readonly channels: number;
  /** The number of orders, out of 50, that this kind's channels have together. */
  readonly share: number;
  readonly manner: (retryNo: number, away: boolean) => Manner;
  readonly comesBack?: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  healthy: { channels: 6, share: 34, manner: () => 'accept' },
  slow: { channels: 2, share: 4, manner: () => ({ acceptAfterMs: 20 }) },
  failsOnce: { channels: 2, share: 5, manner: (retryNo) => (retryNo < 1 ? 'refuse' : 'accept') },
  failsThrice: { channels: 1, share: 2, manner: (retryNo) => (retryNo < 3 ? 'refuse' : 'accept') },
  hangs: { channels: 1, share: 2, manner: (_, away) => (away ? 'hang' : 'accept'), comesBack: true },
  refuses: { channels: 1, share: 2, manner: (_, away) => (away ? 'refuse' : 'accept'), comesBack: true },
  hopeless: { channels: 1, share: 1, manner: () => 'refuse' },
};

export type DeliveryWorld = Awaited<ReturnType<typeof deliveryWorld>>;

/** Creates an installation whose channels have receivers of every kind, with nodes as separate processes. */
export async function deliveryWorld(fresh: FreshDatabase) {
  const { database } = fresh;
  const masterKey = randomBytes(32);
  const operator: Operator = {
    database,
    vault: openVault([masterKey]),
    environment: 'sandbox',
    actor: 'test',
    localCallbacks: true,
  };
  const receivers = await countingReceivers();
  let away = true;
  let written = 0;
  /** The channels of 50 successive orders. The pattern then repeats. */
  const pattern: string[] = [];
  for (const [kind, { channels, share, manner }] of Object.entries(KINDS)) {
    const appIds: string[] = [];
    for (let n = 0; n < channels; n += 1) {
      const { appId, callbackSecret } = await createChannel(operator, { name: kind });
      const url = receivers.add(appId, callbackSecret, (retryNo) => manner(retryNo, away));
      await setCallback(operator, { appId, url });
      appIds.push(appId);
    }
    for (let n = 0; n < share; n += 1) pattern.push(appIds[n % channels] ?? '');
  }
  const comingBack = Object.keys(KINDS).filter((kind) => KINDS[kind]?.comesBack);

  return {
    receivers,
    /** Inserts two events for each order: one of a period and one of the order. */
    async write(orders: number) {
      await database.query(
        `insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
         select c.channel_id, n, t.event_type, t.cycle_no, now(), '{"orderNo":"' || n || '","cycleNo":1}'
         from generate_series($2::integer, $3::integer) n
           join channels c on c.app_id = ($1::text[])[1 + n % cardinality($1::text[])],
           (values (1, 'payment.status.changed', 1), (2, 'order.status.changed', null)) t(place, event_type, cycle_no)
         order by n, t.place`,
        [pattern, written + 1, written + orders],
      );
      written += orders;
    },
    /** Ends the outages. */
    recover() {
      away = false;
    },
    /** Makes the retries of refused pushes due now, except those of receivers in an outage. */
    async skipWaits() {
      // Changes only rows that no node has in memory. A node reads a row when the row is due.
      await database.query(
        `update due_events d set next_at = clock_timestamp() from channels c
         where c.channel_id = d.channel_id and d.next_at > now() + interval '2 s' and c.name <> all($1::text[])`,
        [away ? comingBack : []],
      );
    },
    /** Returns the number of events that are never accepted. */
    async hopeless() {
      const [row] = await database.query<{ count: number }>(
        `select count(*) from events join channels c using (channel_id) where c.name = 'hopeless'`,
      );
      return row?.count ?? 0;
    },
    node: () =>
      keptAlive(
        { DATABASE_URL: fresh.url, MASTER_KEY: masterKey.toString('base64'), LOG_LEVEL: 'silent' },
        DELIVERY_NODE,
      ),
  };
}
