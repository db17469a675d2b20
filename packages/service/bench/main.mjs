// npm run bench: the service on a database of its own, beside a bare fastify route or pgbench, on this machine only.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ENDPOINTS } from '@perennial/wire';
import { authenticationAlone } from './authentication.mjs';
import { openBeside, provisionChannel, provisionInstitution, tokenOf } from './channel.mjs';
import { machineFacts } from './facts.mjs';
import { bareTarget, measureRow, serviceTarget, warmUp } from './measure.mjs';
import { HELP, readOptions, UsageError } from './options.mjs';
import { makeNumbers, makeOrders, textsOf, walBytes } from './orders.mjs';
import { findPgbench, pgbench } from './pgbench.mjs';
import { processes } from './processes.mjs';
import { ROWS } from './rows.mjs';
import { call } from './signed.mjs';
import { authenticationTable, factsText, resultTable } from './table.mjs';

async function bench({ seconds, runs, rows, logLevel, profile }, running, say) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let beside;
  try {
    const facts = await machineFacts(dataDir);
    const service = await running.startService({ dataDir, logLevel, profile });
    beside = await openBeside(dataDir);
    const provisioned = await provision({ rows, dataDir, beside, running, ...service });
    const { channel, institutionPid } = provisioned;
    const load = running.startLoad();
    const references = {
      bare: await bareReference({ rows, running, channel, load, ...service }),
      pgbench: await pgbenchReference({ rows, beside, channel, ...service }),
    };
    const written = () => walBytes(beside.database);
    const target = serviceTarget({ ...service, institutionPid, walBytes: written, load });
    const warm = new Set();
    const results = [];
    for (const row of rows) {
      const reference = references[row.reference];
      const parts = { service: target, reference, load, channel, seconds, runs };
      say(`  ${row.name}: ${runs} x ${seconds} s, ${reference ? `in turn with ${NAMES[row.reference]}` : MISSING}\n`);
      if (!warm.has(row.kind)) await warmUp(row, parts);
      warm.add(row.kind);
      results.push(await measureRow(row, parts));
    }
    const alone = authenticationAlone({ row: ROWS[0], channel, vault: beside.vault });
    return {
      facts: { ...facts, postgres: provisioned.postgres, logLevel },
      seconds,
      runs,
      results,
      authentication: authenticationCost(results, alone),
    };
  } finally {
    await beside?.close().catch(() => undefined);
    await running.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const NAMES = { bare: 'the bare route', pgbench: 'pgbench' };
const MISSING = 'alone, as pgbench is missing (Debian: postgresql-contrib or postgresql-15)';

/** A channel with all that the rows need. */
async function provision({ rows, dataDir, baseUrl, beside, running }) {
  const channel = await provisionChannel(beside);
  const institutionPid = rows.some((row) => row.needsInstitution)
    ? await provisionInstitution(beside, (key) =>
        running.startInstitution({ dataDir: path.join(dataDir, 'institution'), key }),
      )
    : undefined;
  const orders = rows.some((row) => row.needsOrders) ? await makeOrders(beside.database, channel.channelId) : undefined;
  const [{ version }] = await beside.database.query(`select current_setting('server_version') as version`);
  const token = await tokenOf(baseUrl, channel);
  return { channel: { ...channel, token, orders }, institutionPid, postgres: version };
}

async function bareReference({ rows, running, baseUrl, channel, load }) {
  const answers = {};
  for (const row of rows.filter(({ reference }) => reference === 'bare')) {
    answers[ENDPOINTS[row.endpoint].path] = await call(baseUrl, row, channel);
  }
  return bareTarget({ ...(await running.startBare(answers)), load });
}

/** One real order for each script tells pgbench the sizes of what it writes. */
async function pgbenchReference({ rows, beside, baseUrl, channel, pid }) {
  const program = await findPgbench();
  if (program === undefined) return undefined;
  const variables = {};
  for (const row of rows.filter(({ reference }) => reference === 'pgbench')) {
    const { data } = JSON.parse(await call(baseUrl, row, channel));
    const texts = row.needsOrders ? channel.orders : await textsOf(beside.database, data.orderNo);
    variables[row.script] = { channel: channel.channelId, ...texts };
  }
  await makeNumbers(beside.database);
  return pgbench({ program, url: beside.url, servicePid: pid, variables });
}

function authenticationCost(results, { signature, token }) {
  const row = results.find((result) => result.kind === 'products/list');
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
  const tables = Object.keys(NAMES).map((beside) => resultTable(results, beside));
  const lines = [
    factsText(facts),
    ...tables.filter((table) => table !== undefined),
    `Closed loop: each client waits for its answer. Medians of ${runs} runs of ${seconds} s; "of bare" and "of pgbench"\n` +
      'are the rate divided by that of the reference just before it. CPU is per request; batch is requests per admission\n' +
      "statement. pgbench runs the row's statements alone, on the same database, with the clients that suit it best.\n",
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
