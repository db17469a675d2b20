import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { CAN_MEASURE, cpuOfProcess } from '../cpu.mjs';
import { walBytes } from '../orders.mjs';
import { makeChannels, makeEvents } from './events.mjs';

/** The number of events sent before the measurement, by the same process. */
const WARM_UP = 10_000;

/**
 * Measures how fast the engine or a job queue sends events that are all due. With `pinned`, a transaction is opened
 * first and stays open, so that vacuum cannot remove dead rows. Then `events` events are sent, which creates dead rows,
 * and then `events` further events are measured.
 */
export async function sent(bench, { label, events, peer, processes, pinned = false, pushesPerAddress }) {
  const ports = bench.ports.accepting;
  const channels = ports.length;
  return withWorkers(bench, { peer, ports, processes, pushesPerAddress }, async (row) => {
    const pin = pinned ? await openTransaction(row.place.url) : undefined;
    try {
      const before = pinned ? events : Math.min(events, WARM_UP);
      await row.make(channels, before);
      await row.run(before);
      await row.maker.query('checkpoint');
      await row.make(channels, events);
      const measured = await measure(bench, row, events);
      if (!peer) await expectAll(row.maker, label, before + events);
      return { events, processes, ...measured };
    } finally {
      await pin?.end();
    }
  });
}

/** Measures how long healthy receivers wait while every tenth event goes to a receiver that hangs. */
export async function sentBesideHung(bench, { events, peer, processes }) {
  const ports = [...bench.ports.accepting.slice(1), bench.ports.hung];
  return withWorkers(bench, { peer, ports, processes }, async (row) => {
    const healthy = ports.length - 1;
    await row.make(healthy, events);
    await row.run(events);
    await row.make(ports.length, events);
    const moment = Date.now();
    await row.run(events - Math.floor(events / ports.length));
    const { value } = await bench.receiver.ask('since', { moment });
    return { events, processes, ...value };
  });
}

/** Runs `work` with a separate database, a channel for each port, and sending processes. */
async function withWorkers({ server, running, receiver }, { peer, ports, processes, pushesPerAddress }, work) {
  return server.withDatabase('deliveries', async (row) => {
    const { place, maker } = row;
    await makeChannels(row, ports);
    const file = peer ? 'deliveries/peer.mjs' : 'deliveries/node.mjs';
    const workers = Array.from({ length: processes }, () => running.startHelper(peer ?? 'a node', file));
    const [first] = workers;
    const all = (command, options) => Promise.all(workers.map((worker) => worker.ask(command, options)));
    for (const worker of workers) await worker.ask('open', { ...place, name: peer, pushesPerAddress });
    const make = async (channels, count) => {
      await receiver.ask('forget');
      if (peer) {
        await makeEvents(maker, channels, count);
        await first.ask('prepare');
        return;
      }
      await all('prepare');
      await shared(maker, processes);
      await makeEvents(maker, channels, count);
    };
    /** Lets the processes send until `count` pushes are accepted and recorded. */
    const run = async (count) => {
      const since = performance.now();
      await all('begin', { count });
      while ((await receiver.ask('count')).value < count) await delay(10);
      await all('finish');
      return (performance.now() - since) / 1000;
    };
    const result = await work({ place, maker, make, run, pids: workers.map(({ pid }) => pid) });
    await all('close');
    for (const worker of workers) await worker.end();
    return result;
  });
}

/** Waits until each node owns its share of the delivery shards. */
async function shared(maker, nodes) {
  for (;;) {
    const owners = await maker.query('select owner, count(*)::integer as shards from delivery_shards group by owner');
    const isFair = owners.every(({ owner, shards }) => owner !== null && shards <= Math.ceil(16 / nodes));
    if (owners.length === nodes && isFair) return;
    await delay(50);
  }
}

/** Measures how long the given number of deliveries takes, after their events were written. */
async function measure({ server, receiver }, { maker, run, pids }, events) {
  const cpuOf = (all) => (CAN_MEASURE ? all.reduce((sum, pid) => sum + cpuOfProcess(pid), 0) : undefined);
  const snapshot = async () => ({
    node: cpuOf(pids),
    postgres: server.cpu(),
    receiver: cpuOf([receiver.pid]),
    wal: await walBytes(maker),
  });
  const before = await snapshot();
  const seconds = await run(events);
  const after = await snapshot();
  const each = (key) => (before[key] === undefined ? undefined : (after[key] - before[key]) / events);
  return {
    seconds,
    rate: events / seconds,
    cpu: each('node'),
    postgresCpu: each('postgres'),
    receiverCpu: each('receiver'),
    walBytes: each('wal'),
  };
}

/** Opens a transaction that keeps its snapshot until the connection ends. */
async function openTransaction(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select from channels');
  return client;
}

async function expectAll(maker, label, events) {
  const [{ accepted, left }] = await maker.query(
    `select (select count(distinct event_no) from delivery_attempts where outcome = 'ACCEPTED')::integer as accepted,
       (select count(*) from due_events)::integer as left`,
  );
  if (accepted === events && left === 0) return;
  throw new Error(`${label}: of ${events} events ${accepted} are written down as accepted, and ${left} are left`);
}
