import { beforeAll, describe, expect, it } from 'vitest';
import { listOpenPaymentChannels } from '../../src/catalog/payment-channels/pace-sql.js';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { showOrder } from '../../src/operator/orders/show-order.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { findDaysToReconcile } from '../../src/reconciliation/reconciliation-runs-sql.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { eventsOf } from '../orders/support.js';
import { engineNode } from '../renewals/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { type DatabaseClock, databaseClock } from '../support/database-clock.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';

/** A creation time on the last day of August in Asia/Shanghai. In most of the world it is still the day before. */
const ANCHOR = Date.parse('2025-08-31T00:30:00+08:00');

const ZONES = ['Asia/Shanghai', 'UTC', 'America/New_York', 'Pacific/Apia'];

/** A time of the database's clock at which only the second period is due. */
const OCTOBER = Date.parse('2025-10-01T12:00:00+08:00');

const { on } = stageOfFile();
let october: DatabaseClock;
beforeAll(async () => {
  on.service.clock.set(ANCHOR);
  october = await databaseClock(on.service.fresh, OCTOBER);
});

/**
 * Runs `work` with database connections in another time zone. `inOctober` is a connection whose clock shows October.
 */
async function elsewhere<T>(
  TimeZone: string,
  work: (database: Database, inOctober: Database) => Promise<T>,
): Promise<T> {
  const open = (url: string) => openDatabase({ url, pool: 8, name: 'elsewhere', settings: { TimeZone } });
  const [database, inOctober] = [open(on.service.fresh.url), open(october.url)];
  try {
    return await work(database, inOctober);
  } finally {
    await database.close();
    await inOctober.close();
  }
}

/**
 * Returns times of a new order after its second payment, as shown to the channel and the operator, and as sent in
 * events.
 */
async function times(
  database: Database,
  inOctober: Database,
  request: (channel: ChannelClient) => object,
): Promise<unknown> {
  const node = await anotherNode(on.service, { database, gateways: { of: async () => on.institution } });
  try {
    const channel = node.client(on.channel);
    const { orderNo } = (await channel.call('orders/create', request(channel))).data;
    await billDueOrders(inOctober);
    await engineNode(on, { database: inOctober }).renewOnce();
    const { data } = await channel.call('orders/query', { orderNo });
    const shown = await showOrder({ ...on.service.operator, database }, { orderNo });
    const [, told] = (await eventsOf(database, orderNo)).filter(({ event_type }) => event_type.startsWith('payment'));
    return {
      created: data.createTime,
      next: data.nextPayTime,
      due: data.paymentRecords.slice(0, 4).map((record: { expectPayTime: string }) => record.expectPayTime),
      paid: data.paymentRecords[0].paidAt,
      benefit: [shown.payments[0]?.benefits[0]?.issuedAt, shown.payments[0]?.benefits[0]?.expiresAt],
      told: (told?.data as { expectPayTime?: string })?.expectPayTime,
    };
  } finally {
    await node.close();
  }
}

describe.each([
  ['billed', collectRequest],
  ['debited', sharedRequest],
])('an order that is %s', (_how, request) => {
  it.each(ZONES.slice(1))('has the times of Asia/Shanghai over connections in %s', (zone) =>
    elsewhere(zone, async (database, inOctober) =>
      expect(await times(database, inOctober, request)).toEqual({
        created: '2025-08-31 00:30:00',
        next: '2025-10-31 00:30:00',
        due: ['2025-08-31 00:30:00', '2025-09-30 00:30:00', '2025-10-31 00:30:00', '2025-11-30 00:30:00'],
        paid: '2025-08-31 00:30:00',
        benefit: ['2025-08-31 00:30:00', '2025-11-29 00:30:00'],
        told: '2025-09-30 00:30:00',
      }),
    ),
  );
});

it('renewals are debited in the hours of Asia/Shanghai, whatever the zone of the connection', async () => {
  const { database } = on.service.fresh;
  const hour = new Date(OCTOBER).getUTCHours() + 8;
  await database.query(
    `update payment_channels set debit_hour_from = $1::integer, debit_hour_to = $1::integer + 1 where code = 'MOCKBANK'`,
    [hour],
  );
  for (const zone of ZONES) {
    const open = await elsewhere(zone, (_, inOctober) => listOpenPaymentChannels(inOctober));
    expect(open.map(({ code }) => code)).toContain('MOCKBANK');
  }
});

it('a payment channel is reconciled from its first day in Asia/Shanghai, whatever the zone of the connection', async () => {
  const { database } = on.service.fresh;
  await database.query(
    `insert into payment_channels (code, display_name, gateway, gateway_url, supported_banks, created_at)
     values ('BRIDGED', 'Bridged', 'bridge', 'https://bridge.example', '{*}', '2025-08-31 00:30:00+08')`,
  );
  const asked = { today: '2025-09-01', hour: 3, back: 7 };
  for (const zone of ZONES) {
    const found = await elsewhere(zone, (db) => findDaysToReconcile(db, asked));
    expect(found.filter(({ paymentChannelCode }) => paymentChannelCode === 'BRIDGED')).toEqual([
      { paymentChannelCode: 'BRIDGED', days: ['2025-08-31'] },
    ]);
  }
});
