import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PLAN_SETTINGS } from '../dist/platform/db/session.js';
import { cpuOfDescendants, cpuOfEnded, cpuOfProcess } from './cpu.mjs';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
const CLIENTS = [2, 4, 8, 16, 32];
/** The first order number of pgbench, above the numbers that the service assigns. */
const FIRST_NUMBER = 600_000_000_000;
let runs = 0;

/** Returns the program from the PATH or Debian's folder, or undefined if it is not installed. */
export async function findPgbench() {
  const versions = await readdir(DEBIAN).catch(() => []);
  const debian = versions.sort((a, b) => Number(b) - Number(a)).map((version) => path.join(DEBIAN, version, 'bin'));
  for (const folder of [...(process.env['PATH'] ?? '').split(path.delimiter), ...debian]) {
    const program = path.join(folder, 'pgbench');
    const found = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return program;
  }
  return undefined;
}

/** Returns the environment of pgbench for a database. */
export function pgbenchEnvironment(url) {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    PATH: process.env['PATH'] ?? '',
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
    // pgbench's connections have the same settings as the service's connections, and use the generic plan from the
    // first transaction on.
    PGOPTIONS: Object.entries({ ...PLAN_SETTINGS, enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  };
}

/**
 * Runs pgbench on the service's database with the number of clients that gives the highest rate. `scripts` has one
 * script per kind of row.
 */
export function pgbench({ name, program, url, servicePid, scripts }) {
  const env = pgbenchEnvironment(url);
  const best = new Map();

  async function runOnce({ kind }, clients, seconds) {
    const { file, variables } = scripts.get(kind);
    runs += 1;
    // Starts at an order number that no earlier run has used, with a million numbers per client.
    const all = { ...variables, i: 0, base: FIRST_NUMBER + runs * 100_000_000 };
    const defined = Object.entries(all).flatMap(([key, value]) => ['-D', `${key}=${value}`]);
    // Adds two seconds. The first second warms up the connections, because the service's connections are warm too.
    // pgbench may not report the last second.
    const duration = seconds + 2;
    const threads = Math.min(2, clients);
    const options = ['-n', '-M', 'prepared', '-P', 1, '-c', clients, '-j', threads, '-T', duration, '-f', file];
    const ended = cpuOfEnded(process.pid);
    const running = run(program, [...options.map(String), ...defined], { env });
    const [{ stdout, stderr }, warm] = await Promise.all([
      running,
      delay(1000).then(() => ({
        load: cpuOfProcess(running.child.pid),
        postgres: cpuOfDescendants(servicePid),
      })),
    ]);
    const failed = Number(/number of failed transactions: (\d+)/.exec(stdout)?.[1]) || 0;
    if (failed > 0) throw new Error(`pgbench, ${kind}: ${failed} transactions failed`);
    const rates = [...stderr.matchAll(/^progress: [\d.]+ s, ([\d.]+) tps/gm)].map(([, tps]) => Number(tps));
    const [warmingUp = 0, ...counted] = rates;
    const requests = Number(/number of transactions actually processed: (\d+)/.exec(stdout)?.[1]) - warmingUp;
    if (counted.length < seconds) throw new Error(`pgbench said nothing that can be read:\n${stderr}${stdout}`);
    return {
      rate: counted.reduce((sum, rate) => sum + rate, 0) / counted.length,
      failed,
      clients,
      requests,
      loadCpu: (cpuOfEnded(process.pid) - ended - warm.load) / requests,
      postgresCpu: (cpuOfDescendants(servicePid) - warm.postgres) / requests,
    };
  }

  return {
    name,
    async prepare(row) {
      if (best.has(row.kind)) return;
      const tried = [];
      for (const clients of CLIENTS) tried.push(await runOnce(row, clients, 1));
      const { clients, rate } = tried.reduce((a, b) => (b.rate > a.rate ? b : a));
      if (rate === 0) throw new Error(`pgbench, ${row.kind}: not one transaction in a second`);
      best.set(row.kind, clients);
    },
    measure: (row, seconds) => runOnce(row, best.get(row.kind), seconds),
  };
}
