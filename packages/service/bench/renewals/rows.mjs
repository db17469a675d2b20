import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { provisionInstitution } from '../channel.mjs';
import { CAN_MEASURE, cpuOfProcess } from '../cpu.mjs';
import { walBytes } from '../orders.mjs';
import { BRIDGE } from '../rows.mjs';
import { makeCollected, makeDeducted } from './orders.mjs';

/** The number of attempts that must be settled before a node is killed, in the measurement of a take-over. */
const SETTLED_BEFORE_KILL = 500;

/** Measures renewals in mode B, by the service's engine or by the job queue that it is compared with. */
export async function collected(bench, { label, due, idle = 0, productCode = 'MONTHLY', peer }) {
  return bench.server.withDatabase('renewals_b', async (row) => {
    const { channelId } = row.channel;
    await makeCollected(row.maker, { channelId, productCode, due, idle });
    const measured = await run(bench, row, { command: peer ? 'run' : 'bill', peer, mode: 'B', due });
    const [{ periods, events, left }] = await row.maker.query(
      `select (select count(*) from payments where paid_at > now() - interval '1 hour')::integer as periods,
         (select count(*) from events)::integer as events,
         (select count(*) from orders where next_due_at <= now())::integer as left`,
    );
    expectAll(label, due, { periods, events, left });
    return { due, idle, ...measured };
  });
}

/**
 * Measures renewals in mode A, by the service's engine or by the job queue that it is compared with. Both debit at the
 * reference institution.
 */
export async function deducted(bench, { label, due, peer }) {
  return withInstitution(bench, async (row) => {
    await makeDeducted(row.maker, { channel: row.channel, productCode: 'MONTHLY', due, paymentChannelCode: BRIDGE });
    const measured = await run(bench, row, { command: peer ? 'run' : 'renew', peer, mode: 'A', due });
    expectAll(label, due, await settledIn(row.maker));
    return { due, ...measured };
  });
}

/**
 * Runs two nodes and kills one with debits in flight. Measures the time from the kill until every attempt that was open
 * at the kill is settled. Attempts of the surviving node count too, but they take only milliseconds.
 */
export async function takeOver(bench, { label, due }) {
  if (due < 2 * SETTLED_BEFORE_KILL)
    throw new Error(`a killed node has no debits in flight with fewer than ${2 * SETTLED_BEFORE_KILL} due`);
  return withInstitution(bench, async (row) => {
    await makeDeducted(row.maker, { channel: row.channel, productCode: 'MONTHLY', due, paymentChannelCode: BRIDGE });
    const nodes = [0, 1].map(() => bench.running.startHelper('a node', 'renewals/node.mjs'));
    for (const node of nodes) await node.ask('open', row.place);
    for (const node of nodes) await node.ask('work');
    while ((await settledIn(row.maker)).periods < SETTLED_BEFORE_KILL) await delay(20);
    nodes[0].kill();
    const [{ killed }] = await row.maker.query('select clock_timestamp()::text as killed');
    // Waits a second: statements that the killed node had already sent to the server can still commit.
    const open = `started_at <= $1::timestamptz and (settled_at is null or settled_at > $1::timestamptz)`;
    await delay(1000);
    const [{ held }] = await row.maker.query(`select count(*)::integer as held from debit_attempts where ${open}`, [
      killed,
    ]);
    while (await anyOpen(row.maker, killed)) await delay(100);
    const [{ seconds, asked }] = await row.maker.query(
      `select extract(epoch from max(settled_at) - $1::timestamptz)::double precision as seconds,
         count(*) filter (where asked > 0)::integer as asked
       from debit_attempts where ${open}`,
      [killed],
    );
    while ((await settledIn(row.maker)).left > 0) await delay(100);
    await nodes[1].end();
    if (asked === 0) throw new Error(`${label}: the killed node had no debits in flight`);
    expectAll(label, due, await settledIn(row.maker));
    return { due, held, asked, seconds };
  });
}

const anyOpen = async (maker, killed) =>
  (
    await maker.query(`select from debit_attempts where status = 'STARTED' and started_at <= $1::timestamptz limit 1`, [
      killed,
    ])
  ).length > 0;

async function settledIn(maker) {
  const [row] = await maker.query(
    `select (select count(*) from debit_attempts where status = 'SUCCESS')::integer as periods,
       (select count(*) from events)::integer as events,
       (select count(*) from orders where next_due_at is null or next_due_at <= now())::integer as left`,
  );
  return row;
}

function expectAll(label, due, { periods, events, left }) {
  if (periods === due && events === due && left === 0) return;
  throw new Error(`${label}: of ${due} due orders ${periods} have a period and ${events} an event, ${left} are left`);
}

async function withInstitution(bench, work) {
  return bench.server.withDatabase('renewals_a', async (row) => {
    let institution;
    await provisionInstitution(row, async (key) => {
      institution = await bench.running.startInstitution({
        dataDir: path.join(row.dataDir, `institution-${bench.next()}`),
        key,
      });
      return institution;
    });
    return work({ ...row, institutionPid: institution.pid });
  });
}

/** Runs the row's whole work in one new process, after a checkpoint. */
async function run({ server, running }, { place, maker, institutionPid }, { command, peer, mode, due }) {
  const worker = peer
    ? running.startHelper(peer, 'renewals/peer.mjs')
    : running.startHelper('a node', 'renewals/node.mjs');
  await worker.ask('open', { ...place, name: peer, mode });
  await maker.query('checkpoint');
  const snapshot = async () => ({
    postgres: server.cpu(),
    institution: CAN_MEASURE && institutionPid !== undefined ? cpuOfProcess(institutionPid) : undefined,
    wal: await walBytes(maker),
  });
  const before = await snapshot();
  const { value, seconds, cpu } = await worker.ask(command, { count: due });
  const after = await snapshot();
  if (value !== due) throw new Error(`${value} of ${due} orders were renewed`);
  await worker.ask('close');
  await worker.end();
  const each = (key) => (before[key] === undefined ? undefined : (after[key] - before[key]) / due);
  return {
    seconds,
    rate: due / seconds,
    cpu: cpu / due,
    postgresCpu: each('postgres'),
    institutionCpu: each('institution'),
    walBytes: each('wal'),
  };
}
