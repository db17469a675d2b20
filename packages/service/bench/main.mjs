// npm run bench: the service on a database of its own, beside a bare fastify route, on this machine only.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ENDPOINTS } from '@perennial/wire';
import { authenticationAlone } from './authentication.mjs';
import { provisionChannel } from './channel.mjs';
import { machineFacts } from './facts.mjs';
import { measureRow, warmUp } from './measure.mjs';
import { HELP, readOptions, UsageError } from './options.mjs';
import { processes } from './processes.mjs';
import { ROWS } from './rows.mjs';
import { call } from './signed.mjs';
import { authenticationTable, factsText, resultTable } from './table.mjs';

async function bench({ seconds, runs, rows, logLevel, profile }, running, say) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  try {
    const facts = await machineFacts(dataDir);
    const { pid, baseUrl } = await running.startService({ dataDir, logLevel, profile });
    const { channel, vault, postgres } = await provisionChannel({ dataDir, baseUrl });
    const answers = {};
    for (const row of rows) answers[ENDPOINTS[row.endpoint].path] = await call(baseUrl, row, channel);
    const bare = { name: 'the bare route', ...(await running.startBare(answers)) };
    const service = { name: 'the service', pid, baseUrl, isService: true };
    const parts = { service, bare, load: running.startLoad(), channel, seconds, runs };
    const warm = new Set();
    const results = [];
    for (const row of rows) {
      say(`  ${row.name}: ${runs} x ${seconds} s, in turn with the bare route\n`);
      if (!warm.has(row.endpoint)) await warmUp(row, parts);
      warm.add(row.endpoint);
      results.push(await measureRow(row, parts));
    }
    const alone = authenticationAlone({ row: ROWS[0], channel, vault });
    return {
      facts: { ...facts, postgres, logLevel },
      seconds,
      runs,
      results,
      authentication: authenticationCost(results, alone),
    };
  } finally {
    await running.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function authenticationCost(results, { signature, token }) {
  const row = results.find((result) => result.endpoint === 'products/list');
  const node = row && row.measured.cpu - row.reference.cpu;
  return {
    row: row?.name,
    node,
    signature,
    token,
    rest: node - signature - token,
    postgres: row?.measured.postgresCpu,
  };
}

function report({ facts, seconds, runs, results, authentication }) {
  const lines = [
    factsText(facts),
    resultTable(results),
    `Closed loop: each client waits for its answer. Medians of ${runs} runs of ${seconds} s; "of bare" is the rate\n` +
      'divided by that of the bare route just before it. CPU is per request; batch is requests per admission statement.\n',
    authenticationTable(authentication),
  ];
  if (authentication.row === undefined) lines.push('n/a: products/list was not among the rows.\n');
  else lines.push(`From the row ${authentication.row}.\n`);
  return lines.join('\n');
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(HELP);
    return;
  }
  const say = (text) => process.stderr.write(text);
  const running = processes();
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // What is being waited for fails once the processes are gone, and the folder is removed on the way out.
    process.on(signal, () => {
      interrupted = true;
      void running.stop();
    });
  }
  try {
    const result = await bench(options, running, say);
    if (options.json) process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
    (options.json ? process.stderr : process.stdout).write(`\n${report(result)}`);
  } catch (error) {
    say(interrupted ? 'bench: stopped\n' : `${running.output()}bench: ${error.stack}\n`);
    process.exitCode = interrupted ? 130 : 1;
  }
}

await main().catch((error) => {
  process.stderr.write(error instanceof UsageError ? `bench: ${error.message}\n\n${HELP}` : `bench: ${error.stack}\n`);
  process.exitCode = 1;
});
