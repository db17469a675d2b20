import { setTimeout as delay } from 'node:timers/promises';

/** Of an order that nobody has. */
const FIRST_ORDER = 600_000_000_000;
const BATCH = 20_000;
const POLL_MS = 200;

/**
 * Many events of a channel, all in the state that the service brings one of them into: one is written, the service deals
 * with it as with any other, and its rows are then copied, whatever tables and columns they are in.
 */
export async function makeEvents({ database }, attacker, count, signal) {
  const eventNo = await writeEvent(database, attacker.channel.appId);
  await noneIsPending(attacker, signal);
  const tables = await tablesOfEvents(database);
  for (let from = 1; from < count; from += BATCH) {
    signal.throwIfAborted();
    await copyEvent(database, tables, eventNo, { from, to: Math.min(count, from + BATCH) - 1 });
  }
  await database.query(`select setval(pg_get_serial_sequence('events', 'event_no'), $1::bigint)`, [eventNo + count]);
  await database.query(`analyze ${tables.map(({ table }) => table).join(', ')}`);
}

/** As it is written when a period was billed. */
async function writeEvent(database, appId) {
  const data = {
    orderNo: String(FIRST_ORDER),
    externalOrderNo: 'order-1',
    paymentOrderNo: `${FIRST_ORDER}0001`,
    channelUserId: 'user-1',
    cycleNo: 1,
    expectPayTime: '2026-01-31 12:00:00',
    paidAt: '2026-01-31 12:00:00',
    amountCent: 1990,
    refundTime: null,
    refundAmountCent: 0,
    paymentStatus: 'BILLED',
    agreementShareFlag: false,
  };
  const [{ eventNo }] = await database.query(
    `insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
     select channel_id, $2, 'payment.status.changed', 1, now(), $3 from channels where app_id = $1
     returning event_no as "eventNo"`,
    [appId, FIRST_ORDER, JSON.stringify(data)],
  );
  return eventNo;
}

/** Resolves when the service has dealt with all events of the channel, in whatever way. */
async function noneIsPending(attacker, signal) {
  for (;;) {
    signal.throwIfAborted();
    const { code, data } = await attacker.call('events/list', { deliveryStatus: 'PENDING', size: 1 });
    if (code === '0' && data.events.length === 0) return;
    await delay(POLL_MS);
  }
}

async function tablesOfEvents(database) {
  return database.query(
    `select c.oid::regclass::text as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0
       and not a.attisdropped and a.attidentity = '' and a.attgenerated = ''
     group by c.oid having bool_or(a.attname = 'event_no')`,
  );
}

/** Each copy is an event of an order of its own. Triggers are left out: what they would do is copied too. */
async function copyEvent(database, tables, eventNo, { from, to }) {
  const moved = new Set(['event_no', 'order_no']);
  await database.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    for (const { table, columns } of tables) {
      const values = columns.map((column) => `t.${column}${moved.has(column) ? ' + n' : ''}`);
      await tx.query(
        `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')}
         from ${table} t, generate_series($2::integer, $3::integer) n where t.event_no = $1 order by n`,
        [eventNo, from, to],
      );
    }
  });
}
