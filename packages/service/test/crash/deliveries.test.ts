import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import type { Arrival } from '../support/counting-receivers.js';
import { freshDatabase } from '../support/database.js';
import { type DeliveryWorld, deliveryWorld } from '../support/delivery-world.js';
import type { KeptAlive } from '../support/kept-alive.js';
import { until } from '../support/processes.js';
import { soakSize } from '../support/soak.js';

/** The number of orders. Each has two events. */
const ORDERS = Math.floor(soakSize('EVENTS', 1_000, 4_000) / 2);
const EVENTS = ORDERS * 2;
const PORTIONS = Math.max(100, Math.floor(EVENTS / 100));
const PORTION_MS = 100;
/** Each node sends at least this number of pushes before one of the nodes is killed. */
const BEFORE_KILL = 20;
const PUSHES = 11;

const fresh = ofFile(freshDatabase);

it(
  `${EVENTS} events sent by two nodes, one of them killed every few seconds: each is delivered or given up`,
  async () => {
    const world = await deliveryWorld(fresh);
    const nodes = [world.node(), world.node()];
    await until('nodes that have their shards', sharesAreEven);
    const begun = performance.now();
    const writing = write(world);
    await killNowAndThen(nodes, world, writing);
    await until('nothing left to send', () => nothingLeft(world), 120_000 + EVENTS * 5);
    const seconds = (performance.now() - begun) / 1000;
    for (const node of nodes) await node.stop();

    const { arrivals, forged } = world.receivers;
    expect(forged).toEqual([]);
    const attempts = await everyEventEnded(world);
    const accepted = arrivals.filter((one) => one.accepted);
    expect(new Set(accepted.map(({ eventNo }) => eventNo)).size).toBe(EVENTS - (await world.hopeless()));
    const killed = nodes.flatMap((node) => node.killed());
    const repeated = duplicates(arrivals, new Set(killed));
    expect(arrivals.length - repeated.length).toBe(attempts);
    await toldInOrder(arrivals);

    const most = Math.max(...killed.map((pid) => repeated.filter((one) => one.pid === pid).length));
    process.stdout.write(
      `  ${EVENTS} events in ${seconds.toFixed(1)} s, ${killed.length} kills; ${arrivals.length} pushes, of which ` +
        `${repeated.length} were repeated, ${most} at most after one kill; ${await world.hopeless()} given up\n`,
    );
  },
  EVENTS * 10 + 240_000,
);

/** Writes events in portions, without waiting until earlier events are delivered. */
async function write(world: DeliveryWorld): Promise<void> {
  for (let portion = 0; portion < PORTIONS; portion += 1) {
    if (portion >= PORTIONS / 2) world.recover();
    const upTo = (portions: number) => Math.floor((ORDERS * portions) / PORTIONS);
    await world.write(upTo(portion + 1) - upTo(portion));
    if (portion % 5 === 0) await world.skipWaits();
    await delay(PORTION_MS);
  }
}

/** Kills the nodes alternately, in the middle of their work, while events are written. */
async function killNowAndThen(
  nodes: readonly KeptAlive[],
  { receivers: { arrivals } }: DeliveryWorld,
  writing: Promise<void>,
): Promise<void> {
  let isOver = false;
  const over = writing.finally(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver; turn += 1) {
    const node = nodes[turn % nodes.length];
    if (!node) break;
    const from = arrivals.length;
    const isAtWork = ({ pid }: KeptAlive) =>
      arrivals.slice(from).filter((one) => one.pid === pid()).length >= BEFORE_KILL;
    await until('both at work', () => isOver || nodes.every(isAtWork), 60_000);
    if (isOver) break;
    const kills = node.kills();
    node.kill();
    await until('its end', () => node.kills() > kills);
  }
  await over;
}

async function sharesAreEven(): Promise<boolean> {
  const [row] = await fresh.database.query<{ even: boolean }>(
    'select count(distinct owner) = 2 and bool_and(owner is not null) as even from delivery_shards',
  );
  return row?.even === true;
}

async function nothingLeft(world: DeliveryWorld): Promise<boolean> {
  await world.skipWaits();
  const [row] = await fresh.database.query<{ left: boolean }>('select exists (select from due_events) as left');
  return row?.left === false;
}

/**
 * Checks that every event was accepted one time, or was given up after the last push. Returns the number of stored
 * pushes.
 */
async function everyEventEnded(world: DeliveryWorld): Promise<number> {
  const [row] = await fresh.database.query(
    `with ended as (
       select e.event_no, count(a.*) as attempts, count(distinct a.retry_no) as retries, max(a.retry_no) as last_retry,
         count(*) filter (where a.outcome = 'ACCEPTED') as accepted,
         max(a.retry_no) filter (where a.outcome = 'ACCEPTED') as accepted_at,
         exists (select from undelivered_events u where u.event_no = e.event_no and u.reason = 'GIVE_UP') as given_up
       from events e left join delivery_attempts a using (channel_id, event_no) group by e.event_no
     )
     select count(*) as events, count(*) filter (where accepted = 1 and accepted_at = last_retry and not given_up) as delivered,
       count(*) filter (where accepted = 0 and given_up and attempts = $1::integer) as "givenUp",
       count(*) filter (where attempts <> retries or attempts <> last_retry + 1) as odd,
       (select count(*) from undelivered_events) as undelivered, (select count(*) from due_events) as due,
       sum(attempts)::integer as attempts
     from ended`,
    [PUSHES],
  );
  const hopeless = await world.hopeless();
  const { attempts, ...counts } = row as { attempts: number };
  expect(counts).toEqual({
    events: EVENTS,
    delivered: EVENTS - hopeless,
    givenUp: hopeless,
    odd: 0,
    undelivered: hopeless,
    due: 0,
  });
  return attempts;
}

/**
 * Returns the pushes that were sent again. A push may be repeated with the same retryNo only if its outcome was not
 * stored. So the process that sent it before must have been killed, and another process must have repeated it.
 */
function duplicates(arrivals: readonly Arrival[], killed: ReadonlySet<number>): Arrival[] {
  const last = new Map<string, Arrival>();
  const repeated: Arrival[] = [];
  for (const one of arrivals) {
    const key = `${one.eventNo} ${one.retryNo}`;
    const before = last.get(key);
    last.set(key, one);
    if (before) repeated.push(before);
    if (before && before.pid === one.pid) throw new Error(`event ${key} was sent twice by one node`);
  }
  expect(repeated.filter(({ pid }) => !killed.has(pid))).toEqual([]);
  return repeated;
}

/**
 * Checks that the first push of an order's first event came before the first push of its second event. Leaves out
 * orders if the first push of one of their events timed out: on a busy machine the receiver may read that push after
 * later pushes.
 */
async function toldInOrder(arrivals: readonly Arrival[]): Promise<void> {
  const first = new Map<number, number>();
  for (const [at, { eventNo }] of arrivals.entries()) if (!first.has(eventNo)) first.set(eventNo, at);
  const orders = await fresh.database.query<{ events: number[] }>(
    `select array_agg(event_no::integer order by event_no) as events from events e group by order_no
     having not bool_or(exists (select from delivery_attempts a
       where a.channel_id = e.channel_id and a.event_no = e.event_no and a.retry_no = 0 and a.outcome = 'TIMEOUT'))`,
  );
  const wrong = orders.filter(({ events: [one = 0, two = 0] }) => (first.get(one) ?? 0) >= (first.get(two) ?? 0));
  expect(wrong).toEqual([]);
}
