import { CAN_MEASURE, cpuOfDescendants, cpuOfProcess } from './cpu.mjs';
import { median } from './table.mjs';

/**
 * The limits of the warm-up, by number of requests and by time. Requests cost more CPU until V8 has compiled the code,
 * which takes many seconds: a creation in mode A took 1,050 µs after 6 s and 850 µs after 15 s.
 */
const WARM_UP = { requests: 25_000, connections: 32 };
const WARM_UP_SECONDS = { service: 15, reference: 6 };
const PROBE = { seconds: 1, requests: 20_000 };

/** Sends requests to the service and the references before the measurement. Called once per kind of row. */
export async function warmUp(row, { service, references, load, channel }) {
  await load('prepare', { row: row.name, channel, count: WARM_UP.requests });
  const warming = { ...row, ...WARM_UP };
  for (const reference of references) await reference.warm?.(warming, WARM_UP_SECONDS.reference);
  await service.warm(warming, WARM_UP_SECONDS.service);
}

/**
 * Measures a row and its references in turn, A B C A B C, so that a slow change of the machine's speed affects all of
 * them. Figures are medians over the runs; a ratio is the median over the turns. Without references there is no ratio.
 */
export async function measureRow(row, { service, references, load, channel, seconds, runs }) {
  const prepare = (count) => load('prepare', { row: row.name, channel, count });

  for (const reference of references) await reference.prepare?.(row);
  await prepare(PROBE.requests);
  const { rate } = await service.measure(row, PROBE.seconds);

  const turns = [];
  for (let run = 0; run < runs; run += 1) {
    // Prepares twice as many requests as the probe's rate needs. A faster run uses them up and ends early; its rate is
    // computed from its own time.
    await prepare(Math.ceil(rate * seconds * 2) + 1000);
    const beside = [];
    for (const reference of references) beside.push(await reference.measure(row, seconds));
    turns.push({ beside, measured: await service.measure(row, seconds) });
  }
  return {
    measured: medians(turns.map((turn) => turn.measured)),
    references: references.map(({ name }, index) => {
      const ratios = turns.map(({ beside, measured }) => measured.rate / beside[index].rate);
      return {
        name,
        ratio: median(ratios),
        ratioRange: [Math.min(...ratios), Math.max(...ratios)],
        measured: medians(turns.map((turn) => turn.beside[index])),
      };
    }),
  };
}

/** Returns the bare route as a target. It receives the same requests repeatedly, because it keeps no state. */
export function bareTarget({ pid, baseUrl, load }) {
  const target = { name: 'bare', pid, baseUrl };
  const measure = (row, seconds) => runOnce(row, target, load, seconds, { again: true });
  return { name: 'bare', warm: (row, seconds) => runOnce(row, target, load, seconds), measure };
}

/** Returns the service as a target, with the CPU of its database and of the institution, if there is one. */
export function serviceTarget({ pid, baseUrl, institutionPid, walBytes, untilIdle, load }) {
  const snapshot = async () => ({
    postgres: CAN_MEASURE ? cpuOfDescendants(pid) : undefined,
    institution: CAN_MEASURE && institutionPid !== undefined ? cpuOfProcess(institutionPid) : undefined,
    wal: await walBytes(),
    ...(await admissionBatches(baseUrl)),
  });
  const measure = async (row, seconds) => {
    await untilIdle();
    const before = await snapshot();
    const result = await runOnce(row, { name: 'the service', pid, baseUrl }, load, seconds);
    const after = await snapshot();
    const grown = (key) => (after[key] === undefined ? undefined : (after[key] - before[key]) / result.requests);
    return {
      ...result,
      postgresCpu: grown('postgres'),
      institutionCpu: row.needsInstitution ? grown('institution') : undefined,
      walBytes: grown('wal'),
      batch: (after.sum - before.sum) / (after.count - before.count),
    };
  };
  return { warm: measure, measure };
}

async function runOnce(row, { name, pid, baseUrl }, load, seconds, { again = false } = {}) {
  const port = Number(new URL(baseUrl).port);
  const before = cpuOfProcess(pid);
  const result = await load('run', { port, connections: row.connections, seconds, again });
  const used = cpuOfProcess(pid) - before;
  if (result.failed > 0 || result.requests === 0) {
    throw new Error(
      `${row.name} on ${name}: ${result.failed} of ${result.requests} failed, e.g.\n${result.firstFailure}`,
    );
  }
  return { ...result, cpu: CAN_MEASURE ? used / result.requests : undefined };
}

async function admissionBatches(baseUrl) {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const value = (name) => Number(new RegExp(`^perennial_admission_batch_size_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { sum: value('sum'), count: value('count') };
}

function medians(runs) {
  const over = (key) => {
    const values = runs.map((run) => run[key]).filter((value) => value !== undefined);
    return values.length === runs.length ? median(values) : undefined;
  };
  const keys = [
    'rate',
    'p50',
    'p99',
    'cpu',
    'postgresCpu',
    'institutionCpu',
    'loadCpu',
    'walBytes',
    'batch',
    'clients',
  ];
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  return { ...Object.fromEntries(keys.map((key) => [key, over(key)])), failed, runs };
}
