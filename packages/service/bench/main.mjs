// npm run bench: the service on a database of its own, beside a bare fastify route or pgbench, on this machine only.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENDPOINTS } from '@perennial/wire';
import { authenticationAlone } from './authentication.mjs';
import { openBeside, provisionChannel, provisionInstitution, tokenOf } from './channel.mjs';
import * as consoleReads from './console/main.mjs';
import * as deliveries from './deliveries/main.mjs';
import { machineFacts } from './facts.mjs';
import { bareTarget, measureRow, serviceTarget, warmUp } from './measure.mjs';
import { HELP, readOptions, UsageError } from './options.mjs';
import { makeOrders, textsOf, walBytes } from './orders.mjs';
import * as overload from './overload/main.mjs';
import { findPgbench, pgbench } from './pgbench.mjs';
import { processes } from './processes.mjs';
import { recordRequest } from './recorded.mjs';
import { makeRedeemable } from './redeem.mjs';
import * as renewals from './renewals/main.mjs';
import { ROWS } from './rows.mjs';
import { ownTexts, scriptOf } from './script.mjs';
import { answerOf, call } from './signed.mjs';
import { authenticationTable, factsText, resultTable } from './table.mjs';

async function bench({ seconds, runs, rows, workers, logLevel, profile }, running, say) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let beside;
  try {
    const facts = await machineFacts(dataDir);
    const service = await running.startService({ dataDir, logLevel, profile, workers });
    beside = await openBeside(dataDir);
    const provisioned = await provision({ rows, dataDir, beside, running, ...service });
    const { channel, institutionPid } = provisioned;
    const load = running.startLoad();
    const references = {
      bare: [await bareReference({ rows, running, channel, load, ...service })],
      pgbench: await pgbenchReferences({ rows, beside, channel, dataDir, ...service }),
    };
    const written = () => walBytes(beside.database);
    const target = serviceTarget({ ...service, institutionPid, walBytes: written, load });
    const warm = new Set();
    const results = [];
    for (const row of rows) {
      const parts = { service: target, references: references[row.beside], load, channel, seconds, runs };
      say(`  ${row.name}: ${runs} x ${seconds} s, ${parts.references.length > 0 ? TOGETHER[row.beside] : MISSING}\n`);
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

const TOGETHER = { bare: 'in turn with the bare route', pgbench: 'in turn with pgbench' };
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
  if (rows.some((row) => row.needsRedeemable)) await makeRedeemable(beside.database, channel.channelId);
  const [{ version }] = await beside.database.query(`select current_setting('server_version') as version`);
  const token = await tokenOf(baseUrl, channel);
  return { channel: { ...channel, token, orders }, institutionPid, postgres: version };
}

async function bareReference({ rows, running, baseUrl, channel, load }) {
  const answers = {};
  for (const row of rows.filter(({ beside }) => beside === 'bare')) {
    answers[row.path ?? ENDPOINTS[row.endpoint].path] = await answerOf(baseUrl, row, channel);
  }
  return bareTarget({ ...(await running.startBare(answers)), load });
}

/**
 * Twice: with the statements that one request of the row was recorded with, each request by itself; and with a script by
 * hand that only has the rows, and texts of the size that one real order has.
 */
async function pgbenchReferences({ rows, beside, baseUrl, channel, dataDir, pid }) {
  const program = await findPgbench();
  if (program === undefined) return [];
  const same = new Map();
  const alone = new Map();
  for (const row of rows) {
    if (row.beside !== 'pgbench' || same.has(row.kind)) continue;
    const recorded = await recordRequest({ row, channel, beside });
    const own = await ownTexts(beside.database, recorded, { picks: row.needsOrders });
    const { text, variables } = scriptOf({ statements: recorded.statements, own });
    const file = path.join(dataDir, row.script);
    await writeFile(file, text);
    same.set(row.kind, { file, variables: { ...variables, ...channel.orders } });

    const { data } = JSON.parse(await call(baseUrl, row, channel));
    const texts = row.needsOrders ? channel.orders : await textsOf(beside.database, data.orderNo);
    const byHand = fileURLToPath(new URL(`pgbench/${row.script}`, import.meta.url));
    alone.set(row.kind, { file: byHand, variables: { channel: channel.channelId, ...texts } });
  }
  const shared = { program, url: beside.url, servicePid: pid };
  return [pgbench({ ...shared, name: 'same', scripts: same }), pgbench({ ...shared, name: 'rows', scripts: alone })];
}

function authenticationCost(results, { signature, token }) {
  const row = results.find((result) => result.kind === 'products/list');
  const node = row && row.measured.cpu - row.references[0].measured.cpu;
  return {
    row: row?.name,
    node,
    signature,
    token,
    rest: node - signature - token,
    postgres: row?.measured.postgresCpu,
  };
}

const legend = (
  runs,
  seconds,
) => `Closed loop: each client waits for its answer. Medians of ${runs} runs of ${seconds} s. "of bare", "of same" and "of rows"
are the rate divided by that of the reference just before it. CPU is per request; batch is requests per admission
statement. pgbench runs on the same database with the clients that suit it best, twice:
  same statements  all that the service asks of PostgreSQL for one request, admission included, as recorded from the
                   service's own code, with new numbers each time; one request at a time, nothing gathered
  rows alone       a script by hand (bench/pgbench) that writes or reads the rows and checks nothing: no nonce, no
                   rate limit, no look-up of a key, number, user or mobile
`;

function report({ facts, seconds, runs, results, authentication }) {
  const tables = Object.keys(TOGETHER).map((beside) => resultTable(results, beside));
  const lines = [
    factsText(facts),
    ...tables.filter((table) => table !== undefined),
    legend(runs, seconds),
    authenticationTable(authentication),
  ];
  if (authentication.row === undefined) lines.push('n/a: products/list was not among the rows.\n');
  else lines.push(`From the row ${authentication.row}.\n`);
  return lines.join('\n');
}

/** `npm run bench -- renewals`, `-- deliveries`, `-- overload` and `-- console` have options and a table of their own. */
const KINDS = new Map(Object.entries({ renewals, deliveries, overload, console: consoleReads }));
const asked = process.argv.slice(2);
const named = KINDS.get(asked[0]);
const kind = named ?? { HELP, readOptions, bench, report };

async function main(args) {
  const options = kind.readOptions(args);
  if (!options) {
    process.stdout.write(kind.HELP);
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
    const result = await kind.bench(options, running, say);
    if (options.json) process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
    (options.json ? process.stderr : process.stdout).write(`\n${kind.report(result)}`);
  } catch (error) {
    say(interrupted ? 'bench: stopped\n' : `${running.output()}bench: ${error.stack}\n`);
    process.exitCode = interrupted ? 130 : 1;
  }
}

await main(named ? asked.slice(1) : asked).catch((error) => {
  process.stderr.write(
    error instanceof UsageError ? `bench: ${error.message}\n\n${kind.HELP}` : `bench: ${error.stack}\n`,
  );
  process.exitCode = 1;
});
