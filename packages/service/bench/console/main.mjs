import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { formatTime } from '@perennial/wire';
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { createFiguresJob } from '../../dist/engine/jobs/figures.js';
import { listOrders, totalOrders } from '../../dist/operator/orders/list-orders.js';
import { showUser } from '../../dist/operator/orders/users/show-user.js';
import { showOverview } from '../../dist/operator/overview/overview.js';
import { createProduct } from '../../dist/operator/provisioning/products.js';
import { search } from '../../dist/operator/search/search.js';
import { systemClock } from '../../dist/platform/clock.js';
import { CAN_MEASURE } from '../cpu.mjs';
import { machineFacts } from '../facts.mjs';
import { openStage } from '../stage.mjs';
import { readsOfFailures } from './failed.mjs';
import { FIRST, makeOrders } from './orders.mjs';
import { makeOthers, readsOfOthers } from './others.mjs';
import { makeOpenDebits, readsOfPayments } from './payments.mjs';
import { withPlans } from './plans.mjs';
import { measureWrite, WRITES } from './writes.mjs';

export { HELP, readOptions } from './options.mjs';
export { ratiosOf, report } from './table.mjs';

const PRODUCT_OF_NOBODY = {
  productCode: 'NEW',
  productName: 'Without orders',
  settlementModes: ['CHANNEL_COLLECT'],
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  amountCent: 1990,
  benefits: [],
};

/**
 * Measures how long the console's reads take on a database with the given number of orders. Calls the service's own
 * functions.
 */
export async function bench({ orders, channels, runs, rows, postgres, data }, { running, keep, say }) {
  const facts = await machineFacts();
  const kept = keep(() => openConsole(running, postgres, data, facts));
  const measureOne = (kind, label, work) => kept.measure({ row: `${kind}: ${label}`, kind, label }, work);
  for (const one of rows.has('writes') && CAN_MEASURE ? WRITES : []) {
    await measureOne('write', one.label, ({ server, maker }) => measureWrite(maker, server, one));
  }
  let loaded;
  let reads = [];
  await measureOne('orders', `${orders} made`, async (stage) => {
    const made = await timed(() => fill(stage, { orders, channels, say }));
    reads = await readsOf(stage, { orders, rows });
    loaded = stage;
    return made;
  });
  const onOrders = (kind, label, work) =>
    measureOne(kind, label, (stage) => {
      if (stage !== loaded) throw new Error('the orders are gone with a row that failed');
      return work(stage);
    });
  if (loaded)
    await onOrders('look-up', 'an order by its number', (stage) => measure(stage, lookUp(stage, orders), runs));
  if (loaded && rows.has('figures')) await onOrders('figures', '13 months for the first time', measureBackfill);
  for (const { kind, label, read } of reads) await onOrders(kind, label, (stage) => measure(stage, read, runs));
  if (loaded) await onOrders('sizes', 'of tables and indexes', async (stage) => ({ sizes: await sizesOf(stage) }));
  await kept.close();
  return { facts, orders, channels, runs, results: kept.results };
}

async function openConsole(running, postgres, data, facts) {
  const stage = await openStage(running, postgres, data && path.resolve(data));
  facts.postgres = stage.server.version;
  try {
    const place = await stage.server.openDatabase('console');
    const isUsable = async () => (await place.maker.query('select')).length === 1;
    // `close` need not drop the database, because it removes the server's whole folder.
    return { ...place, server: stage.server, close: stage.close, isUsable };
  } catch (error) {
    await stage.close();
    throw error;
  }
}

async function fill(stage, { orders, channels, say }) {
  if (!stage.isNew) return;
  await createProduct(stage.operator, PRODUCT_OF_NOBODY);
  await makeOrders(stage, { orders, channels, say });
  await makeOpenDebits(stage, { orders });
  await makeOthers(stage, { orders });
}

/** Looks up one order. The table gives the time of every other read relative to this look-up. */
const lookUp =
  ({ operator: { database } }, orders) =>
  async (n) =>
  () =>
    database.query('select * from orders where order_no = $1::bigint', [FIRST + ((n * 7919) % orders)]);

async function readsOf({ operator: base, maker }, { orders, rows }) {
  // Limits of searches apply to each operator.
  const operator = { ...base, clock: systemClock, actor: `bench-${process.pid}` };
  const channels = createChannelRegistry(operator.database, operator.vault);
  const appIds = (
    await maker.query(`select app_id from channels where name like 'Bench channel %' order by channel_id`)
  ).map((row) => row.app_id);
  const any = (n, of) => Math.floor(((n * 7919 + 13) % 10_007) * (of / 10_007));
  /** Channels of all sizes in turn. */
  const anyApp = (n) => appIds[(n * 149) % appIds.length];
  const orderNo = (n) => String(FIRST + any(n, orders));
  const daysAgo = (days) => formatTime(systemClock.now() - days * 86_400_000);
  const list = (filter) => (n) => listOrders(operator, filter(n), 'support');
  const totals = (filter) => (n) => totalOrders(operator, filter(n), 'support');
  /** Reads the first `pages` pages. Returns a function that reads the page after them. */
  const deep = (filter, pages) => async (n) => {
    let cursor;
    for (let page = 0; page < pages; page += 1) {
      ({ nextCursor: cursor } = await listOrders(
        operator,
        { ...filter(n), limit: 200, ...(cursor ? { cursor } : {}) },
        'support',
      ));
    }
    return () => listOrders(operator, { ...filter(n), limit: 200, cursor }, 'support');
  };
  const filters = {
    everything: () => ({}),
    'a large channel': () => ({ appId: appIds[0] }),
    'a channel': (n) => ({ appId: anyApp(n) }),
    'status ACTIVE': () => ({ status: 'ACTIVE' }),
    'status UNSUBSCRIBED': () => ({ status: 'UNSUBSCRIBED' }),
    'status TERMINATED of a channel': (n) => ({ status: 'TERMINATED', appId: anyApp(n) }),
    'status INITIALIZING (none)': () => ({ status: 'INITIALIZING' }),
    'status ACTIVE or COMPLETED': () => ({ status: 'ACTIVE,COMPLETED' }),
    'a product of 1 in 50': () => ({ productCode: 'MONTHLY_2' }),
    'a product of a channel': (n) => ({ productCode: 'MONTHLY_2', appId: anyApp(n) }),
    'a product that nobody has': () => ({ productCode: 'NEW' }),
    'a mode': () => ({ settlementMode: 'CHANNEL_COLLECT' }),
    'created on a day': (n) => ({ createdFrom: daysAgo(20 + any(n, 300)), createdTo: daysAgo(19 + any(n, 300)) }),
    'due today': () => ({ dueFrom: daysAgo(0), dueTo: daysAgo(-1) }),
    'due this month, of a channel': (n) => ({ dueTo: daysAgo(-30), appId: anyApp(n) }),
    failed: () => ({ failed: 'true' }),
    'failed, of a channel': (n) => ({ failed: 'true', appId: anyApp(n) }),
    'failed and ACTIVE': () => ({ failed: 'true', status: 'ACTIVE' }),
    'a user': (n) => ({ channelUserId: `bench-user-${any(n, orders / 3)}` }),
  };
  const searches = {
    'order number': (n) => orderNo(n),
    'start of an order number': (n) => orderNo(n).slice(0, 9),
    'external number': (n) => `bench-order-${orderNo(n)}`,
    'payment number': (n) => `${orderNo(n)}0001`,
    'attempt number': (n) => `${orderNo(n)}000101`,
    'refund number': (n) => `R${orderNo(n)}000101`,
    'agreement number': (n) => `AG${orderNo(n)}`,
    'claim number': (n) => `C${orderNo(n)}000101`,
    'institution reference': (n) => `ref-${orderNo(n)}-1`,
    'agreement number of an institution': (n) => `unknown-${n}`,
    'benefit code': (n) => `CODE-${n}-2345`,
    'event id': (n) => String(1 + any(n, orders)),
    'user id': (n) => `bench-user-${any(n, orders / 3)}`,
    mobile: (n) => `138${String(any(n, 99_999_999)).padStart(8, '0')}`,
    'card tail': (n) => String(any(n, 9_999)).padStart(4, '0'),
    'start of a channel': () => 'Bench ch',
  };
  const entries = (kind, things, read) =>
    Object.entries(things).map(([label, value]) => ({ kind, label, read: read(value) }));
  return [
    ...(rows.has('lists')
      ? [
          ...entries('list', filters, list),
          { kind: 'list', label: 'everything, the 50th page of 200', prepare: true, read: deep(() => ({}), 50) },
          {
            kind: 'user',
            label: 'all of a user',
            read: (n) =>
              showUser(
                operator,
                channels,
                { appId: appIds[0], channelUserId: `bench-user-${any(n, orders / 3)}` },
                'support',
              ),
          },
        ]
      : []),
    ...(rows.has('totals') ? entries('totals', filters, totals) : []),
    ...(rows.has('search')
      ? entries('search', searches, (value) => (n) => search(operator, { q: value(n) }, 'support'))
      : []),
    ...(rows.has('overview')
      ? ['24h', '30d', '12m'].flatMap((range) => [
          { kind: 'overview', label: range, read: () => showOverview(operator, { range }) },
          {
            kind: 'overview',
            label: `${range} of a channel`,
            read: (n) => showOverview(operator, { range, appId: anyApp(n) }),
          },
        ])
      : []),
    ...(rows.has('failed') ? readsOfFailures(operator, { appIds, anyApp, day: daysAgo }) : []),
    ...(rows.has('payments') ? readsOfPayments(operator, { appIds, anyApp, day: daysAgo }) : []),
    ...(rows.has('others')
      ? readsOfOthers(operator, { appIds, anyApp, small: appIds.slice(-50), day: daysAgo, orderNo })
      : []),
    ...(rows.has('figures') ? [{ kind: 'figures', label: 'a turn', read: turnOf(operator) }] : []),
  ].map(({ prepare, read, ...row }) => ({ ...row, read: prepare ? read : async (n) => () => read(n) }));
}

/** Returns a function that runs the figures job with a clock one minute ahead of the previous run. */
function turnOf({ database }) {
  let ahead = 0;
  return () => {
    ahead += 60_000;
    return createFiguresJob({ database, clock: { now: () => systemClock.now() + ahead } })();
  };
}

/**
 * Measures reads. On a machine with other work, the server's CPU time per read tells whether a statement is slow or
 * waits for its turn.
 */
async function measure({ operator, server }, read, runs) {
  const times = [];
  const cpuBefore = server.cpu();
  for (let n = 0; n < runs; n += 1) {
    const once = await read(n);
    const since = performance.now();
    await once().catch((error) => {
      if (!/there is no/.test(error.message)) throw error;
    });
    times.push(performance.now() - since);
  }
  const cpu = CAN_MEASURE ? (server.cpu() - cpuBefore) / 1000 / runs : undefined;
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  const once = await read(runs);
  return { p50: at(0.5), p95: at(0.95), most: times.at(-1), cpu, plan: await withPlans(operator.database, once) };
}

/** Measures how long the figures job takes to fill thirteen months for the first time. */
async function measureBackfill({ operator, maker }) {
  let ahead = 0;
  let turns = 0;
  const measured = await timed(async () => {
    for (;;) {
      ahead += 3_600_000 / 60;
      const clock = { now: () => systemClock.now() + ahead };
      const steps = await createFiguresJob({ database: operator.database, clock })();
      turns += 1;
      if (steps <= 1 && turns > 1) break;
    }
  });
  await maker.query('vacuum analyze hourly_figures');
  await maker.query('vacuum analyze daily_figures');
  return { ...measured, plan: `in ${turns - 1} turns` };
}

/**
 * Measures work that cannot be repeated. The median, the 95th percentile and the maximum are the same single duration.
 */
async function timed(work) {
  const since = performance.now();
  await work();
  const ms = performance.now() - since;
  return { p50: ms, p95: ms, most: ms, plan: '' };
}

async function sizesOf({ maker }) {
  return maker.query(
    `select c.relname as name, (select sum(pg_relation_size(coalesce(p.inhrelid, c.oid))) from (select) one
         left join pg_inherits p on p.inhparent = c.oid)::bigint as bytes
     from pg_class c where c.relname = any($1) order by 2 desc`,
    [
      [
        ...[
          'orders',
          'external_orders',
          'debit_attempts',
          'delivery_attempts',
          'agreements',
          'claims',
          'hourly_figures',
          'daily_figures',
        ],
        ...[
          'external_orders_created',
          'external_orders_of_channel',
          'external_orders_of_product',
          'orders_ended',
          'orders_ended_of_channel',
          'orders_failed',
        ],
        ...[
          'orders_failed_of_channel',
          'debit_attempts_settled',
          'claims_claimed',
          'delivery_attempts_pushed',
          'agreements_card_tail',
        ],
        ...['external_orders_of_user', 'external_orders_number', 'orders_pkey', 'failed_payments'],
        ...['debit_attempts_at', 'debit_attempts_of_channel', 'refunds', 'refunds_of_channel'],
      ],
    ],
  );
}
