import { expect, it } from 'vitest';
import { ledgerOf } from '../institution/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { insertDueOrders } from '../support/due-orders.js';
import type { KeptAlive } from '../support/kept-alive.js';
import { until } from '../support/processes.js';
import { renewalsAgree } from '../support/renewal-agreement.js';
import { ASKED, type Fate, PLAIN, type Plan, RETRY_DELAYS, SLOW, TOLD } from '../support/renewal-fates.js';
import { type Bridge, type RenewalWorld, renewalWorld } from '../support/renewal-world.js';
import { soakSize } from '../support/soak.js';

const RENEWALS = soakSize('RENEWALS', 180, 1_500);
/** The number of renewals between two kills, some seconds of work. Each node is killed at least one time. */
const KILL_EVERY = RENEWALS < 1_000 ? RENEWALS / 6 : Math.min(1_000, RENEWALS / 5);
/**
 * The number of renewals at the last kill. In a short run the last kill comes early, because after each kill the test
 * has to wait for the dead node's leases.
 */
const LAST_KILL = RENEWALS < 1_000 ? KILL_EVERY * 2 : RENEWALS * 0.9;
/** The distance between two orders that make their node kill itself. There is one such order for each of the POINTS. */
const POINT_EVERY = RENEWALS < 1_000 ? 20 : 100;
const POINTS = ['before-call', 'after-call', 'after-commit'] as const;
/** The longest delay that the lease of a dead node may cause. */
const TAKEN_OVER_SECONDS = 20;

const fresh = ofFile(freshDatabase);

it(
  `${RENEWALS} renewals by two nodes, one of them killed every few seconds: each period is debited once`,
  async () => {
    const world = await renewalWorld(fresh);
    const bridge = await world.bridge();
    const plans = await dueOrders(world, bridge);
    const nodes = [await world.node(), await world.node()];
    const begun = performance.now();
    const killed = await killNowAndThen(nodes);
    await until('nothing due and every debit known', nothingLeft, 300_000 + RENEWALS * 20);
    const seconds = (performance.now() - begun) / 1000;
    for (const node of nodes) await node.stop();
    await renewalsAgree(fresh.database, plans, await ledgerOf(bridge));

    const kills = killsOf(nodes);
    expect(kills).toBeGreaterThanOrEqual(killed);
    const slowest = await slowestTakeOver();
    process.stdout.write(
      `  ${RENEWALS} renewals in ${seconds.toFixed(1)} s, ${kills} kills; what a killed node had leased was settled ` +
        `at most ${slowest.toFixed(1)} s after the lease began\n`,
    );
  },
  RENEWALS * 60 + 240_000,
);

interface Kind {
  readonly productCode: string;
  readonly totalCycles: number;
  readonly daysAgo: number;
  readonly faults: readonly Fate[];
  readonly slow?: Fate;
  /** The points at which an order of this kind makes its node kill itself. */
  readonly points?: typeof POINTS;
}

/**
 * Creates orders of three kinds: one period is due and many follow; several periods are due; the last periods are due.
 * About a quarter of the orders meets a fault.
 */
async function dueOrders(world: RenewalWorld, bridge: Bridge): Promise<Plan[]> {
  const kinds: readonly Kind[] = [
    { productCode: 'MANY', totalCycles: 12, daysAgo: 1, faults: [...TOLD, ...ASKED], slow: SLOW, points: POINTS },
    { productCode: 'MANY', totalCycles: 12, daysAgo: 2, faults: TOLD },
    { productCode: 'FEW', totalCycles: 4, daysAgo: 3, faults: TOLD },
  ];
  await world.product('MANY', 12, RETRY_DELAYS);
  await world.product('FEW', 4, RETRY_DELAYS);
  const agreements = new Map<string, number>();
  for (const { tail } of [PLAIN, SLOW, ...TOLD, ...ASKED]) agreements.set(tail, await bridge.agreement(tail));
  const planned: Plan[] = [];
  let left = RENEWALS;
  for (const [turn, { productCode, totalCycles, daysAgo, faults, slow, points }] of kinds.entries()) {
    const renewals = Math.floor(RENEWALS / kinds.length);
    const count = Math.ceil((turn === kinds.length - 1 ? left : renewals) / daysAgo);
    left -= count * daysAgo;
    const plans = Array.from({ length: count }, (_, n): Plan => {
      const fault = n % 4 === 3 ? faults[Math.floor(n / 4) % faults.length] : undefined;
      const point = n % POINT_EVERY === POINT_EVERY / 2 ? points?.[Math.floor(n / POINT_EVERY)] : undefined;
      return {
        orderNo: 500_000_000_000 + turn * 1_000_000 + n,
        externalOrderNo: `due-${turn}-${n}${point === undefined ? '' : `-KILL-${point}`}`,
        fate: (n % 200 === 101 ? slow : fault) ?? PLAIN,
        daysAgo,
        totalCycles,
      };
    });
    planned.push(...plans);
    const orders = [];
    for (const { orderNo, externalOrderNo, fate } of plans) {
      // An agreement that is going to end gets a single order, because all orders on it end with it.
      const agreementId = fate.becomes === 'ended' ? await bridge.agreement(fate.tail) : agreements.get(fate.tail);
      orders.push({ orderNo, externalOrderNo, agreementId: agreementId ?? null });
    }
    await insertDueOrders(fresh.database, {
      channelId: world.channelId,
      productCode,
      daysAgo,
      paymentChannelCode: 'BRIDGE',
      orders,
    });
  }
  return planned;
}

/** Kills the nodes alternately during the work. Returns the number of these kills. */
async function killNowAndThen(nodes: readonly KeptAlive[]): Promise<number> {
  let killed = 0;
  for (let mark = KILL_EVERY; mark <= LAST_KILL; mark += KILL_EVERY) {
    await until(`${mark} settled`, async () => killsOf(nodes) >= 0 && (await eventsSoFar()) >= mark, 300_000);
    const node = nodes[killed % nodes.length];
    await node?.serves();
    node?.kill();
    killed += 1;
    await claimsRunOut();
  }
  return killed;
}

const killsOf = (nodes: readonly KeptAlive[]) => nodes.reduce((sum, node) => sum + node.kills(), 0);

/**
 * Checks that every lease of an attempt that was not queried yet ends soon, so that another node can take over the
 * attempt.
 */
async function claimsRunOut(): Promise<void> {
  const [row] = await fresh.database.query<{ held: number }>(
    `select count(*) as held from debit_attempts where status = 'STARTED' and asked = 0
       and coalesce(ask_at, 'infinity') > now() + $1::integer * interval '1 s'`,
    [TAKEN_OVER_SECONDS - 2],
  );
  expect(row?.held).toBe(0);
}

/** Returns how many event numbers were used, which is quick to read. Every settled period writes at least one event. */
async function eventsSoFar(): Promise<number> {
  const [row] = await fresh.database.query<{ n: number }>('select last_value as n from event_numbers');
  return row?.n ?? 0;
}

async function nothingLeft(): Promise<boolean> {
  const [row] = await fresh.database.query<{ left: boolean }>(
    `select exists (select from orders where next_due_at < now() + interval '1 hour' and settlement_mode = 'SVC_DEDUCT')
       or exists (select from debit_attempts where ask_at is not null) as left`,
  );
  return row?.left === false;
}

/**
 * Considers only attempts whose node died and that met no other fault. Returns the longest time from such an attempt's
 * start to its settlement.
 */
async function slowestTakeOver(): Promise<number> {
  const [row] = await fresh.database.query<{ slowest: number | null }>(
    `select max(extract(epoch from settled_at - started_at))::float8 as slowest from debit_attempts
     where asked = 1 and agreement_id = (select min(agreement_id) from agreements)`,
  );
  return row?.slowest ?? 0;
}
