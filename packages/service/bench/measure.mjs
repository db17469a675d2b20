import { CAN_MEASURE, cpuOfDescendants, cpuOfProcess } from './cpu.mjs';
import { median } from './table.mjs';

/** By count, not by time: on busy cores V8 was seen compiling after many seconds, and requests cost more CPU until then. */
const WARM_UP = { requests: 25_000, connections: 32, seconds: 6 };
const PROBE = { seconds: 1, requests: 20_000 };

/** Compiles what the row needs, in the service and in the bare route. Once for each endpoint. */
export async function warmUp(row, { service, bare, load, channel }) {
  await load('prepare', { row: row.name, channel, count: WARM_UP.requests });
  for (const target of [bare, service]) await runOnce({ ...row, ...WARM_UP }, target, load, WARM_UP.seconds);
}

/**
 * A row and the bare route in turn, A B A B, with the same bytes: what drifts on this machine hits both. Figures are
 * medians over the runs; the ratio is the median of each pair's own.
 */
export async function measureRow(row, { service, bare, load, channel, seconds, runs }) {
  const prepare = (count) => load('prepare', { row: row.name, channel, count });
  const once = (target) => runOnce(row, target, load, seconds, { again: target === bare });

  await prepare(PROBE.requests);
  const { rate } = await runOnce(row, service, load, PROBE.seconds);

  const pairs = [];
  for (let run = 0; run < runs; run += 1) {
    // Twice what the probe's rate would need; a run that is faster still ends early and is divided by its own time.
    await prepare(Math.ceil(rate * seconds * 2) + 1000);
    const reference = await once(bare);
    pairs.push({ reference, measured: await once(service) });
  }
  const ratios = pairs.map(({ reference, measured }) => measured.rate / reference.rate);
  return {
    name: row.name,
    endpoint: row.endpoint,
    connections: row.connections,
    ofBare: median(ratios),
    ofBareRange: [Math.min(...ratios), Math.max(...ratios)],
    measured: medians(pairs.map((pair) => pair.measured)),
    reference: medians(pairs.map((pair) => pair.reference)),
  };
}

async function runOnce(row, { name, pid, baseUrl, isService }, load, seconds, { again = false } = {}) {
  const port = Number(new URL(baseUrl).port);
  const snapshot = async () => ({
    own: CAN_MEASURE ? cpuOfProcess(pid) : undefined,
    postgres: CAN_MEASURE && isService ? cpuOfDescendants(pid) : undefined,
    ...(isService ? await admissionBatches(baseUrl) : {}),
  });
  const before = await snapshot();
  const result = await load('run', { port, connections: row.connections, seconds, again });
  const after = await snapshot();
  if (result.failed > 0 || result.requests === 0) {
    throw new Error(
      `${row.name} on ${name}: ${result.failed} of ${result.requests} failed, e.g.\n${result.firstFailure}`,
    );
  }
  const perRequest = (key) => (after[key] === undefined ? undefined : (after[key] - before[key]) / result.requests);
  return {
    ...result,
    cpu: perRequest('own'),
    postgresCpu: perRequest('postgres'),
    batch: isService ? (after.sum - before.sum) / (after.count - before.count) : undefined,
  };
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
  const keys = ['rate', 'p50', 'p99', 'cpu', 'postgresCpu', 'batch', 'loadCpu'];
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  return { ...Object.fromEntries(keys.map((key) => [key, over(key)])), failed, runs };
}
