// npm run bench: the service on a separate database, compared with a bare fastify route, with pgbench, or with itself
// without the load of a console's viewer, on the same machine.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENDPOINTS } from '@perennial/wire';
import { authenticationAlone } from './authentication.mjs';
import * as capacity from './capacity/main.mjs';
import { openBeside, provisionChannel, provisionInstitution, tokenOf } from './channel.mjs';
import { CannotCompare, compareWithBaseline, writeBaseline } from './compare.mjs';
import * as consoleReads from './console/main.mjs';
import * as deliveries from './deliveries/main.mjs';
import { machineFacts } from './facts.mjs';
import * as growth from './growth/main.mjs';
import { keepRows } from './kept-rows.mjs';
import { bareTarget, measureRow, serviceTarget, warmUp } from './measure.mjs';
import { HELP, readOptions, UsageError } from './options.mjs';
import { makeOrders, textsOf, untilEventsAreGone, walBytes } from './orders.mjs';
import { commitOf, documentOf } from './outcome.mjs';
import { OUTPUT_HELP, takeOutputOptions } from './output-options.mjs';
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
import { besideViewer, createViewer, quietTarget } from './viewer.mjs';

async function bench({ seconds, runs, rows, logLevel, profile }, { running, keep }) {
  const facts = { ...(await machineFacts()), logLevel };
  const kept = keep(async () => {
    const stage = await openStage({ logLevel, profile }, running);
    facts.postgres = stage.postgres;
    return stage;
  });
  for (const row of rows) {
    const { name, kind, connections, beside } = row;
    await kept.measure({ row: name, kind, connections, beside }, (stage) => measureOn(stage, row, { seconds, runs }));
  }
  await kept.close();
  return { facts, seconds, runs, results: kept.results, authentication: authenticationCost(kept.results) };
}

/** Opens the service on a separate database with a channel, and the load generator. */
async function openStage({ logLevel, profile }, running) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let beside;
  const close = async () => {
    await beside?.close().catch(() => undefined);
    await running.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const service = await running.startService({ dataDir, logLevel, profile });
    beside = await openBeside(dataDir);
    const channel = await provisionChannel(beside);
    channel.token = await tokenOf(service.baseUrl, channel);
    const [{ version }] = await beside.database.query(`select current_setting('server_version') as version`);
    const shared = { dataDir, running, beside, channel, load: running.startLoad(), ...service };
    return { ...shared, postgres: version, references: new Map(), made: new Map(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function measureOn(stage, row, { seconds, runs }) {
  const { baseUrl, pid, beside, channel, load, references } = stage;
  const institutionPid = await provisionFor(stage, row);
  const isFirst = !references.has(row.kind);
  const alone = serviceTarget({
    pid,
    baseUrl,
    institutionPid,
    walBytes: () => walBytes(beside.database),
    untilIdle: () => untilEventsAreGone(beside.database),
    load,
  });
  if (isFirst) references.set(row.kind, await REFERENCES[row.beside](stage, row, alone));
  const service = row.beside === 'quiet' ? await besideViewer(stage, alone) : alone;
  const parts = { service, references: references.get(row.kind), load, channel, seconds, runs };
  if (isFirst) await warmUp(row, parts);
  const measured = await measureRow(row, parts);
  const authentication = () => authenticationAlone({ row: ROWS[0], channel, vault: beside.vault });
  return { ...measured, ...(row.kind === 'products/list' ? { alone: authentication() } : {}) };
}

/** Creates what this row needs, unless an earlier row has already created it. */
async function provisionFor({ made, dataDir, beside, running, channel }, row) {
  const once = async (name, make) => {
    if (!made.has(name)) made.set(name, await make());
    return made.get(name);
  };
  if (row.needsOrders) channel.orders = await once('orders', () => makeOrders(beside.database, channel.channelId));
  if (row.beside === 'quiet') channel.viewer = await once('viewer', () => createViewer(beside));
  if (row.needsRedeemable) await once('redeemable', () => makeRedeemable(beside.database, channel.channelId));
  if (!row.needsInstitution) return undefined;
  const start = (key) => running.startInstitution({ dataDir: path.join(dataDir, 'institution'), key });
  return once('institution', () => provisionInstitution(beside, start));
}

const REFERENCES = {
  bare: bareReferences,
  pgbench: pgbenchReferences,
  quiet: async (stage, _row, service) => [quietTarget(stage, service)],
};

async function bareReferences({ running, baseUrl, channel, load }, row) {
  const answer = await answerOf(baseUrl, row, channel);
  const bare = await running.startBare({ [row.path ?? ENDPOINTS[row.endpoint].path]: answer });
  return [bareTarget({ ...bare, load })];
}

/**
 * Returns two pgbench references: the statements recorded from one request of the row, each sent separately, and a
 * handwritten script that only reads rows, or writes rows and texts of the same size as those of a real order. Returns
 * none if pgbench is not installed.
 */
async function pgbenchReferences({ beside, baseUrl, channel, dataDir, pid }, row) {
  const program = await findPgbench();
  if (program === undefined) return [];
  const recorded = await recordRequest({ row, channel, beside });
  const own = await ownTexts(beside.database, recorded, { picks: row.needsOrders });
  const { text, variables } = scriptOf({ statements: recorded.statements, own });
  const file = path.join(dataDir, row.script);
  await writeFile(file, text);
  const same = { file, variables: { ...variables, ...channel.orders } };

  const { data } = JSON.parse(await call(baseUrl, row, channel));
  const texts = row.needsOrders ? channel.orders : await textsOf(beside.database, data.orderNo);
  const byHand = fileURLToPath(new URL(`pgbench/${row.script}`, import.meta.url));
  const alone = { file: byHand, variables: { channel: channel.channelId, ...texts } };

  const shared = { program, url: beside.url, servicePid: pid };
  return [
    pgbench({ ...shared, name: 'same', scripts: new Map([[row.kind, same]]) }),
    pgbench({ ...shared, name: 'rows', scripts: new Map([[row.kind, alone]]) }),
  ];
}

function authenticationCost(results) {
  const found = results.find(({ alone }) => alone !== undefined);
  if (found === undefined) return {};
  const { row, measured, references, alone } = found;
  const node = measured.cpu - references[0].measured.cpu;
  return { row, node, ...alone, rest: node - alone.signature - alone.token, postgres: measured.postgresCpu };
}

/**
 * Returns two ratios for each row and reference: the row's rate to the reference's rate, and the reference's CPU to the
 * row's CPU. For a row that is measured beside the load of a console's viewer, the second ratio is instead the
 * reference's p99 latency to the row's. The CPU is that of node and PostgreSQL, and for pgbench also that of the load
 * generator.
 */
function ratiosOf({ results }) {
  const cpuOf = ({ cpu = 0, postgresCpu = 0, loadCpu = 0 }, beside) =>
    beside === 'pgbench' ? cpu + postgresCpu + loadCpu : cpu + postgresCpu;
  return results.flatMap(({ row, beside, measured, references = [] }) =>
    references.flatMap(({ name, ratio, measured: reference }) => [
      { row, of: name, ratio },
      // Beside a console's viewer, CPU cannot be compared: the database's CPU time includes the viewer's statements.
      beside === 'quiet'
        ? { row, of: `${name}, p99`, ratio: reference.p99 / measured.p99 }
        : { row, of: `${name}, CPU`, ratio: cpuOf(reference, beside) / cpuOf(measured, beside) },
    ]),
  );
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
"of quiet" compares a row beside a viewer of the console, who requests every page 60 at a time, with the row alone; its
p99 must be at most twice that of the row alone.
`;

function report({ facts, seconds, runs, results, authentication }) {
  const tables = Object.keys(REFERENCES).map((beside) => resultTable(results, beside));
  const lines = [
    factsText(facts),
    ...tables.filter((table) => table !== undefined),
    legend(runs, seconds),
    authenticationTable(authentication),
  ];
  if (authentication.row === undefined) lines.push('n/a: products/list was not measured.\n');
  else lines.push(`From the row ${authentication.row}.\n`);
  return lines.join('\n');
}

/** The kinds of bench besides requests, such as `npm run bench -- renewals`, each with its own options and tables. */
const KINDS = new Map(Object.entries({ renewals, deliveries, overload, console: consoleReads, growth, capacity }));
const asked = process.argv.slice(2);
const name = KINDS.has(asked[0]) ? asked[0] : 'requests';
const kind = KINDS.get(name) ?? { HELP, readOptions, bench, report, ratiosOf };
const say = (text) => process.stderr.write(text);

async function main(args) {
  const { rest, ...output } = takeOutputOptions(args);
  const options = kind.readOptions(rest);
  if (!options) {
    process.stdout.write(`${kind.HELP}${OUTPUT_HELP}`);
    return;
  }
  const document = output.from ? JSON.parse(await readFile(output.from, 'utf8')) : await measure(options, output);
  if (document.rows.some(({ failure }) => failure !== undefined)) process.exitCode ||= 1;
  if (output.writeBaseline) await writeBaseline(output.writeBaseline, document);
  if (!output.compare || process.exitCode === 130) return;
  const { text, isWorse } = await compareWithBaseline(output.compare, document, output.tolerance);
  (output.json === true ? process.stderr : process.stdout).write(`\n${text}`);
  if (isWorse) process.exitCode ||= 2;
}

/** Prints every row that was measured, even if a later row fails. */
async function measure(options, { json, limitSeconds }) {
  const commit = commitOf();
  const running = processes();
  let interrupted = false;
  // Rejects at the first signal. This ends the current row without a result. `keepRows` or `kept.close()` then closes
  // what the rows share.
  const interruption = new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        interrupted = true;
        reject(new Error('stopped'));
      });
    }
  });
  interruption.catch(() => undefined);
  const keep = (open) => keepRows({ open, running, say, limitSeconds, interruption, isInterrupted: () => interrupted });
  const result = await kind.bench(options, { running, keep, say });
  const document = documentOf({ kind: name, commit, options, result, ratios: kind.ratiosOf(result) });
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (json === true) process.stdout.write(text);
  else if (json !== undefined) await writeFile(json, text);
  (json === true ? process.stderr : process.stdout).write(`\n${kind.report(result)}`);
  if (interrupted) {
    say('bench: stopped\n');
    process.exitCode = 130;
  }
  return document;
}

await main(name === 'requests' ? asked : asked.slice(1)).catch((error) => {
  const isUsage = error instanceof UsageError;
  say(`bench: ${isUsage || error instanceof CannotCompare ? error.message : error.stack}\n`);
  if (isUsage) say(`\n${kind.HELP}${OUTPUT_HELP}`);
  process.exitCode = 1;
});
