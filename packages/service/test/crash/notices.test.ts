import { expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { insertDueOrders } from '../support/due-orders.js';
import { until } from '../support/processes.js';
import { renewalWorld } from '../support/renewal-world.js';
import { soakSize } from '../support/soak.js';

const ORDERS = soakSize('NOTICED_ORDERS', 3_000, 40_000);
const KILLS = 3;

const fresh = ofFile(freshDatabase);

it(
  `${ORDERS} orders announced by two nodes that are killed meanwhile: each period once`,
  async () => {
    const { database } = fresh;
    const world = await renewalWorld(fresh);
    await world.product('TOLD', 12, []);
    const { channelId } = world;
    const orders = Array.from({ length: ORDERS }, (_, n) => ({
      orderNo: 500_000_000_000 + n,
      externalOrderNo: `told-${n}`,
      agreementId: null,
    }));
    await insertDueOrders(database, { channelId, productCode: 'TOLD', daysAgo: 0, paymentChannelCode: null, orders });
    await database.query('update orders set notice_days = 3');
    // Slows down every insertion of an event, so that a node is killed in the middle of a statement.
    await database.query(
      `create function take_time() returns trigger language plpgsql as $$
       begin perform pg_sleep(0.0003); return new; end $$`,
    );
    await database.query('create trigger take_time before insert on events for each row execute function take_time()');
    const nodes = [await world.node(), await world.node()];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const mark = (ORDERS * kill) / (KILLS + 2);
      await until(`${mark} begun`, async () => (await begun()) >= mark, 120_000);
      await breakOff();
      const node = nodes[kill % 2];
      await node?.serves();
      node?.kill();
    }
    await until('all told', async () => (await found()).events >= ORDERS, 120_000);
    for (const node of nodes) await node.stop();
    expect(await found()).toEqual({ events: ORDERS, orders: ORDERS, noticed: ORDERS });
    expect(nodes.reduce((sum, node) => sum + node.kills(), 0)).toBe(KILLS);
  },
  ORDERS * 10 + 240_000,
);

/** Returns how many event numbers have been used, including those of rolled-back transactions. */
async function begun(): Promise<number> {
  const [row] = await fresh.database.query<{ n: number }>('select last_value as n from event_numbers');
  return row?.n ?? 0;
}

async function found() {
  const [row] = await fresh.database.query<{ events: number; orders: number; noticed: number }>(
    `select count(*) as events, count(distinct order_no) as orders,
       (select count(*) from orders where noticed_cycle = 2 and cycle_no = 1) as noticed
     from events where event_type = 'payment.upcoming'`,
  );
  if (!row) throw new Error('a select of one row has one');
  return row;
}

/** Ends a connection that announces payments. Otherwise the statement of a killed node would run to its end. */
async function breakOff(): Promise<void> {
  await fresh.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query like '%payment.upcoming%' limit 1`,
  );
}
