import pg from 'pg';
import { CAN_MEASURE, cpuOfProcess } from '../cpu.mjs';
import { walBytes } from '../orders.mjs';
import { makeChannels, makeEvents } from './events.mjs';

/** Sent before anything is measured, by the process that is measured then. */
const WARM_UP = 10_000;

/**
 * How fast so many events are sent that are all due, by the engine or by a peer. `pinned`: a transaction is open that began
 * before the first of them, and as many events as are measured have been sent since then, so that vacuum could remove
 * nothing of what these have left behind.
 */
export async function sent(bench, { label, events, peer, pinned = false }) {
  const ports = bench.ports.accepting;
  const channels = ports.length;
  return withWorker(bench, { peer, ports }, async (row) => {
    const pin = pinned ? await openTransaction(row.place.url) : undefined;
    try {
      const before = pinned ? events : Math.min(events, WARM_UP);
      await row.make(channels, before);
      await row.run(before);
      await row.maker.query('checkpoint');
      await row.make(channels, events);
      const measured = await measure(bench, row, events);
      if (!peer) await expectAll(row.maker, label, before + events);
      return { label, events, ...measured };
    } finally {
      await pin?.end();
    }
  });
}

/** How long healthy receivers wait for their events while every tenth event goes to one that hangs. */
export async function sentBesideHung(bench, { label, events, peer }) {
  const ports = [...bench.ports.accepting.slice(1), bench.ports.hung];
  return withWorker(bench, { peer, ports }, async (row) => {
    const healthy = ports.length - 1;
    await row.make(healthy, events);
    await row.run(events);
    await row.make(ports.length, events);
    await bench.receiver.ask('forget');
    const moment = Date.now();
    await row.run(events - Math.floor(events / ports.length));
    const { value } = await bench.receiver.ask('since', { moment });
    return { label, events, ...value };
  });
}

/** A database of its own, a channel for each port, and one process that sends. */
async function withWorker({ server, running }, { peer, ports }, work) {
  return server.withDatabase('deliveries', async (row) => {
    const { place, maker } = row;
    await makeChannels(row, ports);
    const worker = peer
      ? running.startHelper(peer, 'deliveries/peer.mjs')
      : running.startHelper('a node', 'deliveries/node.mjs');
    await worker.ask('open', { ...place, name: peer });
    const make = async (channels, count) => {
      await makeEvents(maker, channels, count);
      await worker.ask('prepare');
    };
    const run = async (count) => {
      const ran = await worker.ask('run', { count });
      if (ran.value !== count) throw new Error(`${ran.value} of ${count} events were accepted`);
      return ran;
    };
    const result = await work({ place, maker, make, run });
    await worker.ask('close');
    await worker.end();
    return result;
  });
}

/** What so many deliveries take, without the writing of their events. */
async function measure({ server, receiver }, { maker, run }, events) {
  const snapshot = async () => ({
    postgres: server.cpu(),
    receiver: CAN_MEASURE ? cpuOfProcess(receiver.pid) : undefined,
    wal: await walBytes(maker),
  });
  const before = await snapshot();
  const { seconds, cpu } = await run(events);
  const after = await snapshot();
  const each = (key) => (before[key] === undefined ? undefined : (after[key] - before[key]) / events);
  return {
    seconds,
    rate: events / seconds,
    cpu: cpu / events,
    postgresCpu: each('postgres'),
    receiverCpu: each('receiver'),
    walBytes: each('wal'),
  };
}

/** Sees the database as it is now, for as long as it is open. */
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
