import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { setCallback } from '../../dist/operator/provisioning/channel-settings.js';
import { provisionChannel, provisionInstitution, tokenOf } from '../channel.mjs';
import { cpuOfProcess } from '../cpu.mjs';
import { sent } from '../deliveries/rows.mjs';
import { machineFacts } from '../facts.mjs';
import { readKindOptions } from '../kind-options.mjs';
import { untilEventsAreGone, walBytes } from '../orders.mjs';
import { findPgbench, pgbenchEnvironment } from '../pgbench.mjs';
import { recordRequest } from '../recorded.mjs';
import { rowNamed } from '../rows.mjs';
import { ownTexts, scriptOf } from '../script.mjs';
import { openStage } from '../stage.mjs';
import { aligned, factsText } from '../table.mjs';

const ROWS = ['orders', 'locks', 'pushes'];

export const HELP = `npm run bench -- capacity [options]

  --orders N    that are created in each mode (20000)
  --seconds N   of each run of pgbench, for the locks (10)
  --clients N   of pgbench, for the locks (200)
  --rows A,B    only these: ${ROWS.join(', ')}
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, which allows fewer connections than the locks need
`;

const numbers = {
  orders: { usual: 20_000, most: 1_000_000 },
  seconds: { usual: 10, most: 60 },
  clients: { usual: 200, most: 900 },
};

export const readOptions = (args) => readKindOptions(args, { numbers, rows: ROWS });

/** The rounds of renewals. The first round is not counted: later rounds reuse the space of its dead rows. */
const ROUNDS = 3;
const CLIENTS = 32;
/** Longer than any run takes. A run ends when all orders are created. */
const LIMIT_SECONDS = 1_200;
const SAMPLE_MS = 100;
const CHANNELS = 20;
const PUSHES = 3_000;
/** The transactions of each pgbench client before the measurement. */
const WARM_UP = 4;

export async function bench({ rows, postgres, ...options }, { running, keep }) {
  const facts = await machineFacts();
  let number = 0;
  const kept = keep(async () => {
    const stage = await openStage(running, postgres);
    facts.postgres = stage.server.version;
    return { ...stage, next: () => ++number };
  });
  const measure = (row, work, more) => kept.measure({ row, ...more }, (stage) => work(stage, { ...options, ...more }));
  if (rows.has('orders')) {
    await measure('orders, mode B', measureOrders, { mode: 'B' });
    await measure('orders, mode A.2', measureOrders, { mode: 'A.2' });
  }
  if (rows.has('locks')) {
    await measure('8 connections, 20 channels', measureLocks, { clients: 8, channels: CHANNELS });
    await measure(`${options.clients} connections, 20 channels`, measureLocks, { channels: CHANNELS });
    await measure(`${options.clients} connections, 1 channel`, measureLocks, { channels: 1 });
  }
  if (rows.has('pushes')) {
    await measure('an address that answers after 50 ms', measurePushes, { delayMs: 50 });
    await measure('the same with PUSHES_PER_ADDRESS=64', measurePushes, { delayMs: 50, pushesPerAddress: 64 });
  }
  await kept.close();
  return { facts, results: kept.results };
}

/**
 * Measures what orders, their events, renewals and queries cost: the disk space that they take, and their WAL and CPU.
 * All rows are written by the service itself.
 */
async function measureOrders(stage, { orders, mode }) {
  const { server, running } = stage;
  return server.withDatabase('capacity', async (database) => {
    const { operator, maker, place, secrets, channel } = database;
    const receiver = running.startHelper('the receiver', 'deliveries/receiver.mjs');
    const { value: ports } = await receiver.ask('open', { receivers: 1 });
    const url = `http://127.0.0.1:${ports.accepting[0]}/events`;
    await setCallback({ ...operator, localCallbacks: true }, { appId: secrets.appId, url });
    if (mode !== 'B') {
      await provisionInstitution(database, (key) =>
        running.startInstitution({ dataDir: path.join(database.dataDir, `institution-${stage.next()}`), key }),
      );
    }
    const start = async (name, file) => {
      const helper = running.startHelper(name, file);
      return { ...helper, opened: (await helper.ask('open', place)).value };
    };
    const node = await start('a node', 'growth/node.mjs');
    const load = running.startHelper('the load', 'load.mjs');
    const own = { ...secrets, channelId: channel.channelId };
    const signer = { ...own, token: await tokenOf(node.opened, own) };

    /** Returns the cost of each of `count` items of work: CPU of the process and of PostgreSQL in µs, bytes of WAL. */
    const costOf = async ({ pid }, count, work) => {
      const snapshot = async () => [cpuOfProcess(pid), server.cpu(), Number(await walBytes(maker))];
      const before = await snapshot();
      await work();
      const [cpu, postgresCpu, wal] = (await snapshot()).map((value, at) => (value - before[at]) / count);
      return { cpu, postgresCpu, wal };
    };
    const send = async (row, channelOfRow, count, { mayFail = false } = {}) => {
      await load.ask('prepare', { row, channel: channelOfRow, count });
      const port = Number(new URL(node.opened).port);
      return costOf(node, count, async () => {
        const sending = { port, connections: CLIENTS, seconds: LIMIT_SECONDS, again: false };
        const { failed, firstFailure } = await load.ask('run', sending);
        if (failed > 0 && !mayFail) throw new Error(`${failed} of ${count} failed: ${firstFailure}`);
      });
    };
    const create = (count, options) => send(`growth create${mode === 'B' ? '' : ' A.2'} x16`, signer, count, options);
    const sizes = async () => {
      await maker.query('vacuum');
      return sizesOf(maker);
    };

    const warmUp = Math.ceil(orders / 4);
    // On a busy machine a node that has just started refuses some requests.
    await create(warmUp, { mayFail: true });
    const pushing = await start('a dispatcher', 'deliveries/node.mjs');
    const deliver = (count) =>
      costOf(pushing, count, async () => {
        await pushing.ask('prepare');
        await untilEventsAreGone(maker);
        await pushing.ask('finish');
      });
    await deliver(2 * warmUp);
    const empty = await sizes();
    await maker.query('checkpoint');
    const watched = watch(maker, `application_name = 'perennial service'`);
    const creation = await create(orders);
    const connections = await watched.end();
    const push = await deliver(2 * orders);
    const created = await sizes();

    const [{ first, all }] = await maker.query(
      'select min(order_no)::double precision as first, count(*)::integer as all from orders',
    );
    const readable = { ...signer, orders: { first, last: first + warmUp / 2 } };
    await send('orders/query x32', readable, warmUp, { mayFail: true });
    const query = await send('orders/query x32', readable, orders);

    const engine = await start('an engine', 'renewals/node.mjs');
    const renew = async () => {
      await maker.query(`update orders set next_due_at = now() - interval '1 minute'`);
      await maker.query('vacuum');
      await maker.query('checkpoint');
      const cost = await costOf(engine, all, async () => {
        const { value } = await engine.ask(mode === 'B' ? 'bill' : 'renew');
        if (value !== all) throw new Error(`${value} of ${all} orders were renewed`);
      });
      await deliver(all);
      return cost;
    };
    await renew();
    const renewed = await sizes();
    let renewal;
    for (let round = 0; round < ROUNDS; round += 1) renewal = await renew();
    const last = await sizes();
    for (const helper of [load, pushing, engine, node, receiver]) await helper.end();
    const grown = (after, before, count) =>
      after
        .map(({ table, rows, index }, at) => ({
          table,
          rows: (rows - before[at].rows) / count,
          index: (index - before[at].index) / count,
        }))
        .filter(({ rows, index }) => Math.abs(rows + index) >= 1);
    return {
      orders,
      connections,
      costs: { creation, push, query, renewal },
      perOrder: grown(created, empty, orders),
      perPeriod: grown(last, renewed, all * ROUNDS),
    };
  });
}

/** Returns the bytes of each table, and of its indexes. Partitions count for their table. */
const sizesOf = (maker) =>
  maker.query(
    `select coalesce(p.relname, c.relname) as table, sum(pg_table_size(c.oid))::double precision as rows,
       sum(pg_indexes_size(c.oid))::double precision as index
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1 order by 1`,
  );

/** Counts, until `end` is called, what the connections of this database do: their states, and what they wait for. */
function watch(maker, which = 'true') {
  let isOver = false;
  const waits = new Map();
  const counting = (async () => {
    let samples = 0;
    let most = 0;
    let busiest = 0;
    while (!isOver) {
      const found = await maker.query(
        `select state, coalesce(wait_event_type || ' ' || wait_event, 'CPU') as wait, count(*)::integer as count
         from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${which} group by 1, 2`,
      );
      const sum = (some) => some.reduce((total, { count }) => total + count, 0);
      const active = found.filter(({ state }) => state === 'active');
      for (const { wait, count } of active) waits.set(wait, (waits.get(wait) ?? 0) + count);
      samples += 1;
      most = Math.max(most, sum(found));
      busiest = Math.max(busiest, sum(active));
      await delay(SAMPLE_MS);
    }
    const total = [...waits.values()].reduce((sum, count) => sum + count, 0);
    const shares = [...waits].map(([wait, count]) => ({ wait, share: count / total }));
    return { open: most, busiest, active: total / samples, waits: shares.toSorted((a, b) => b.share - a.share) };
  })();
  return {
    end() {
      isOver = true;
      return counting;
    },
  };
}

/**
 * Measures what connections wait for while pgbench sends the statements of creations in mode B, recorded from the
 * service. No request shares a statement with another, so channels contend more than with the service.
 */
async function measureLocks(stage, { clients, channels, seconds }) {
  const { server, running } = stage;
  const program = await findPgbench();
  if (program === undefined) throw new Error('pgbench is not installed');
  return server.withDatabase('capacity', async (database) => {
    const { operator, maker, place, dataDir } = database;
    const beside = { database: operator.database, vault: operator.vault, operator };
    const ids = [];
    let first;
    for (let n = 0; n < channels; n += 1) {
      const channel = await provisionChannel(beside, `test_bench_${n}`);
      ids.push(channel.channelId);
      first ??= channel;
    }
    const row = rowNamed('growth create x16');
    const node = running.startHelper('a node', 'growth/node.mjs');
    const { value: baseUrl } = await node.ask('open', place);
    const recorded = await recordRequest({ row, channel: { ...first, token: await tokenOf(baseUrl, first) }, beside });
    await node.end();
    const own = await ownTexts(operator.database, recorded, { picks: false });
    const script = scriptOf({ statements: recorded.statements, own, channelId: first.channelId });
    const file = path.join(dataDir, `create-${stage.next()}.sql`);
    await writeFile(file, script.text);
    const variables = { ...script.variables, i: 0, base: 600_000_000_000, first_channel: ids[0], channels };
    const defined = Object.entries(variables).flatMap(([key, value]) => ['-D', `${key}=${value}`]);
    const options = ['-n', '-M', 'prepared', '-P', 1, '-c', clients, '-j', 2, '-T', LIMIT_SECONDS, '-f', file];
    const child = spawn(program, [...options.map(String), ...defined], {
      env: pgbenchEnvironment(place.url),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      let done = 0;
      const rates = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
      const until = async (isOver) => {
        while (!isOver()) {
          const { value: line, done: hasEnded } = await rates.next();
          if (hasEnded) throw new Error('pgbench ended early');
          done += Number(/^progress: [\d.]+ s, ([\d.]+) tps/.exec(line)?.[1] ?? 0);
        }
      };
      // Every connection plans the statements in its first transactions.
      await until(() => done >= WARM_UP * clients);
      const before = { done, cpu: server.cpu(), at: performance.now() };
      const watched = watch(maker, `application_name = 'pgbench'`);
      await until(() => performance.now() - before.at >= seconds * 1000);
      const connections = await watched.end();
      const count = done - before.done;
      const rate = (count / (performance.now() - before.at)) * 1000;
      return { clients, channels, rate, postgresCpu: (server.cpu() - before.cpu) / count, connections };
    } finally {
      child.kill();
    }
  });
}

/** Measures the rate at which events leave for a single address whose answers take time. */
async function measurePushes(stage, { delayMs, pushesPerAddress }) {
  const receiver = stage.running.startHelper('the receiver', 'deliveries/receiver.mjs');
  const { value: ports } = await receiver.ask('open', { receivers: 1, delayMs });
  const pushed = await sent(
    { ...stage, receiver, ports },
    {
      label: 'the engine',
      events: PUSHES,
      processes: 1,
      pushesPerAddress,
    },
  );
  await receiver.end();
  return { pushed };
}

const percent = (share) => `${(share * 100).toFixed(0)} %`;
const whole = (value) => value.toFixed(0);

function bytesTable(title, tables) {
  const total = tables.reduce(
    (sum, { rows, index }) => ({ table: 'all', rows: sum.rows + rows, index: sum.index + index }),
    { rows: 0, index: 0 },
  );
  const lines = [...tables.toSorted((a, b) => b.rows + b.index - a.rows - a.index), total];
  return aligned([
    [title, 'table', 'indexes', 'both'],
    ...lines.map(({ table, rows, index }) => [table, whole(rows), whole(index), whole(rows + index)]),
  ]);
}

const costsTable = (costs) =>
  aligned([
    ['cost of each', 'node us', 'postgres us', 'WAL bytes'],
    ...Object.entries(costs).map(([name, { cpu, postgresCpu, wal }]) => [name, ...[cpu, postgresCpu, wal].map(whole)]),
  ]);

const waitsText = ({ open, busiest, active, waits }) =>
  `${open} connections, at most ${busiest} active, ${active.toFixed(1)} on average: ${waits
    .filter(({ share }) => share >= 0.01)
    .map(({ wait, share }) => `${wait} ${percent(share)}`)
    .join(', ')}\n`;

export function report({ facts, results }) {
  const parts = results.map(
    ({ row, failure, orders, perOrder, perPeriod, costs, connections, rate, postgresCpu, pushed }) => {
      if (failure !== undefined) return `${row} failed: ${failure}\n`;
      if (pushed !== undefined) return `${row}: ${whole(pushed.rate)} pushes/s\n`;
      if (rate !== undefined)
        return `${row}: ${whole(rate)}/s, ${whole(postgresCpu)} us of PostgreSQL each; ${waitsText(connections)}`;
      return [
        `${row}, ${orders} orders. The node has ${waitsText(connections)}`,
        costsTable(costs),
        bytesTable('for each order', perOrder),
        bytesTable('for each period', perPeriod),
      ].join('\n');
    },
  );
  return [factsText({ ...facts, logLevel: 'warn' }), ...parts].join('\n');
}

/** The results are figures for a model, and are not compared with a reference. */
export const ratiosOf = () => [];
