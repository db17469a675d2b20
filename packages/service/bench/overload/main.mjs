import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openBeside, provisionChannel, provisionInstitution, tokenOf } from '../channel.mjs';
import { CAN_PIN, pin } from '../cpu.mjs';
import { machineFacts } from '../facts.mjs';
import { rowNamed } from '../rows.mjs';

export { HELP, readOptions } from './options.mjs';
export { ratiosOf, report } from './table.mjs';

/**
 * `most`: the number of requests that are signed in advance for each second of a run. It is more than the node can
 * serve.
 */
const KINDS = {
  a2: { row: 'orders/create A.2 over the bridge x32', most: 1_000 },
  b: { row: 'orders/create B x32', most: 4_000 },
};
const BYSTANDER = 'orders/create B x32';
/** The bystander's requests per second. */
const BYSTANDER_RATE = 10;
/** The number of callers, enough to keep the node busy. */
const CLIENTS = 32;

/**
 * 1. Measures the sustained rate. 2. Sends a multiple of the sustained rate from callers that do not wait for
 * responses, while a second channel (the bystander) sends few requests. 3. Floods again, then sends half the sustained
 * rate and measures the recovery.
 */
export async function bench({ rows, ...given }, { running, keep, say }) {
  const { seconds } = given;
  const facts = await machineFacts();
  const kept = keep(async () => ({ close: () => running.stop() }));
  for (const kind of rows) {
    const about = { row: KINDS[kind].row, seconds };
    await kept.measure(about, () => measure(KINDS[kind], given, running, say));
  }
  await kept.close();
  return { facts, ...given, isPinned: CAN_PIN, results: kept.results };
}

async function measure({ row, most }, { seconds, times, connections, proxy }, running, say) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let beside;
  try {
    const { pid, baseUrl } = await running.startService({ dataDir, logLevel: 'warn' });
    pin(pid, false);
    beside = await openBeside(dataDir);
    const channel = await provisionChannel(beside);
    const bystander = await provisionChannel(beside, 'test_bystander');
    if (rowNamed(row).needsInstitution) {
      await provisionInstitution(beside, (key) =>
        running.startInstitution({ dataDir: path.join(dataDir, 'institution'), key }),
      );
    }
    for (const one of [channel, bystander]) one.token = await tokenOf(baseUrl, one);
    const port =
      proxy === undefined ? Number(new URL(baseUrl).port) : await startProxy(running, proxy, dataDir, baseUrl);
    const { ask: load, pid: loadPid } = running.startHelper('the load', 'load.mjs');
    const flood = running.startHelper('the flood', 'overload/flood.mjs');
    for (const caller of [loadPid, flood.pid]) pin(caller, true);
    const stored = async () => (await beside.database.query('select count(*)::integer as n from orders'))[0].n;

    const sustain = async (forSeconds) => {
      await load('prepare', { row, channel, count: forSeconds * most });
      const { rate, requests, failed, p50, p99 } = await load('run', {
        port,
        connections: CLIENTS,
        seconds: forSeconds,
        again: false,
      });
      return { rate: (rate * (requests - failed)) / requests, failed, p50, p99 };
    };
    await sustain(2);
    say(`  ${row}: what can be sustained, ${seconds} s\n`);
    const sustained = await sustain(seconds);
    const offered = Math.round(sustained.rate * times);
    const send = async (rate) => {
      await flood.ask('prepare', {
        streams: [
          { row, channel, count: rate * seconds },
          { row: BYSTANDER, channel: bystander, count: BYSTANDER_RATE * seconds },
        ],
      });
      return flood.ask('run', { port, seconds, connections });
    };
    const before = await stored();
    say(`  ${row}: ${offered} a second, ${seconds} s\n`);
    const [flooded, beside10] = await send(offered);
    // All responses have arrived. Waits for late writes, then counts the orders whose callers got no success.
    const answered = [...flooded, ...beside10].filter(({ code }) => code === '0').length;
    await delay(3_000);
    const unheard = (await stored()) - before - answered;
    // Floods again and immediately afterwards sends half the sustained rate, to measure the recovery.
    say(`  ${row}: and after it, ${seconds} s\n`);
    const half = Math.round(sustained.rate / 2);
    const after = await recovery({ flood, row, channel, port, seconds, connections, offered, half });
    return {
      sustained,
      offered,
      served: figures(flooded, '0', seconds),
      refused: figures(flooded, '503001', seconds),
      limited: figures(flooded, '429001', seconds),
      others: flooded.filter(({ code }) => !['0', '503001', '429001'].includes(code)).length,
      bystander: { sent: beside10.length, served: figures(beside10, '0', seconds) },
      unheard,
      bySecond: bySecond(flooded, seconds),
      recoveredMs: after,
    };
  } finally {
    await beside?.close().catch(() => undefined);
    await running.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const EXAMPLE = new URL('../../../../deploy/haproxy/haproxy.cfg', import.meta.url);

/** Starts the proxy of deploy/ on a free port in front of one node. Returns its port. */
async function startProxy(running, program, dataDir, baseUrl) {
  const port = await freePort();
  const config = (await readFile(EXAMPLE, 'utf8'))
    .replace(/^ {2}log \/dev\/log.*$/m, '')
    // Allows fewer connections, because a shell's limit of open files is too low for 20,000 connections.
    .replace('maxconn 20000', 'maxconn 8000')
    .replace(/bind 127\.0\.0\.1:\d+/, `bind 127.0.0.1:${port}`)
    .replace(/^ {2}acl public.*$/m, '$& /healthz')
    .replaceAll(/^ {2}server node[2-9].*$/gm, '')
    .replace(/(server node1) \S+/, `$1 ${new URL(baseUrl).host}`);
  const file = path.join(dataDir, 'haproxy.cfg');
  await writeFile(file, config);
  pin(running.startProgram('the proxy', program, ['-db', '-f', file]), true);
  await untilAnswers(`http://127.0.0.1:${port}/healthz`);
  return port;
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilAnswers(url) {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    if (tries === 100) throw new Error('the proxy does not answer');
    await delay(100);
  }
}

/**
 * Floods, then sends half the sustained rate. Returns the milliseconds after which no request is refused or slow any
 * more.
 */
async function recovery({ flood, row, channel, port, seconds, connections, offered, half }) {
  await flood.ask('prepare', { streams: [{ row, channel, count: offered * 2 }] });
  await flood.ask('run', { port, seconds: 2, connections });
  await flood.ask('prepare', { streams: [{ row, channel, count: half * seconds }] });
  const [results] = await flood.ask('run', { port, seconds, connections });
  const bad = results.filter(({ code, ms }) => code !== '0' || ms > 1_000);
  return bad.length === 0 ? 0 : Math.max(...bad.map(({ at }) => at));
}

/** Returns, for each second in which requests were sent, how many were served and refused, and their latency. */
function bySecond(results, seconds) {
  return Array.from({ length: seconds }, (_, second) => {
    const sent = results.filter(({ at }) => Math.floor(at / 1000) === second);
    const [served, refused] = ['0', '503001'].map((code) => figures(sent, code, 1));
    return { served: served.count, servedP99: served.p99, refused: refused.count, refusedP99: refused.p99 };
  });
}

function figures(results, code, seconds) {
  const times = results.filter((one) => one.code === code).map(({ ms }) => ms);
  times.sort((a, b) => a - b);
  const quantile = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return {
    count: times.length,
    rate: times.length / seconds,
    p50: quantile(0.5),
    p99: quantile(0.99),
    most: times.at(-1),
  };
}
