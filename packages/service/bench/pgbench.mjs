import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cpuOfDescendants, cpuOfEnded } from './cpu.mjs';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
const CLIENTS = [2, 4, 8, 16, 32];

/** The program, from the PATH or where Debian keeps it. Undefined when it is not installed. */
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

/**
 * pgbench on the database that the service uses, with the number of clients that suits it best: what the database itself
 * gives for a row's statements when nothing is asked but them.
 */
export function pgbench({ program, url, servicePid, variables }) {
  const { hostname, port, username, password, pathname } = new URL(url);
  const env = {
    PATH: process.env['PATH'] ?? '',
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
    PGOPTIONS: '-c TimeZone=Asia/Shanghai',
  };
  const best = new Map();

  async function runOnce({ script }, clients, seconds) {
    const file = fileURLToPath(new URL(`pgbench/${script}`, import.meta.url));
    const defined = Object.entries(variables[script]).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
    const options = ['-n', '-M', 'prepared', '-c', clients, '-j', Math.min(2, clients), '-T', seconds, '-f', file];
    const snapshot = () => ({ load: cpuOfEnded(process.pid), postgres: cpuOfDescendants(servicePid) });
    const before = snapshot();
    const { stdout } = await run(program, [...options.map(String), ...defined], { env });
    const after = snapshot();
    const number = (pattern) => Number(pattern.exec(stdout)?.[1]);
    const transactions = number(/number of transactions actually processed: (\d+)/);
    const failed = number(/number of failed transactions: (\d+)/) || 0;
    const rate = number(/tps = ([\d.]+)/);
    if (!(rate > 0)) throw new Error(`pgbench said nothing that can be read:\n${stdout}`);
    if (failed > 0) throw new Error(`pgbench, ${script}: ${failed} transactions failed`);
    return {
      rate,
      failed,
      clients,
      requests: transactions,
      loadCpu: (after.load - before.load) / transactions,
      postgresCpu: (after.postgres - before.postgres) / transactions,
    };
  }

  return {
    name: 'pgbench',
    async prepare(row) {
      if (best.has(row.script)) return;
      const tried = [];
      for (const clients of CLIENTS) tried.push(await runOnce(row, clients, 1));
      best.set(row.script, tried.reduce((a, b) => (b.rate > a.rate ? b : a)).clients);
    },
    measure: (row, seconds) => runOnce(row, best.get(row.script), seconds),
  };
}
