import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CODES } from '@perennial/wire';
import { setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { openDatabase } from '../../src/platform/db/database.js';
import { NotBegun } from '../../src/platform/db/sharing/caller.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { type ChannelClient, channelClient } from './channel-client.js';
import { collectRequest } from './demo.js';
import { freePort } from './free-port.js';
import { type ServerFigures, startHaproxy } from './haproxy.js';
import { type Running, SHIPPED_MAIN, serviceUrl, start, until } from './processes.js';

const UNAVAILABLE = CODES.UNAVAILABLE.code;

export interface RollingOptions {
  /** The URL of an empty database. */
  readonly databaseUrl: string;
  readonly haproxy: string;
  readonly nodes: 3;
  readonly rounds: number;
  readonly callers: number;
  /** The pause of each caller after it has created and queried an order. */
  readonly pauseMs?: number;
  readonly drainSeconds: number;
  readonly checkMs: number;
  readonly log?: (line: string) => void;
  /** Called with each started process, so that a test can kill it. */
  readonly onStarted?: (running: Running) => void;
}

export interface RollingFigures {
  readonly requests: number;
  /** Failures, one line each. */
  readonly failures: readonly string[];
  /**
   * The number of requests refused with 503001 because the node could not start them within 2 s: the machine is
   * overloaded.
   */
  readonly refusedUnderLoad: number;
  readonly seconds: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly restarts: number;
  /** The number of orders that callers got an answer about. `ordersStored` is the number of orders in the database. */
  readonly ordersAnswered: number;
  readonly ordersStored: number;
  readonly servers: readonly ServerFigures[];
}

/** Restarts every node of an installation, one after another, while callers continue. */
export async function rollingRestart(options: RollingOptions): Promise<RollingFigures> {
  const { databaseUrl, drainSeconds, checkMs, callers, pauseMs = 0, rounds } = options;
  const { log = () => undefined, onStarted = () => undefined } = options;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-rolling-'));
  const masterKey = randomBytes(32);
  const nodePorts: number[] = [];
  while (nodePorts.length < options.nodes) nodePorts.push(await freePort());
  const [frontPort, statisticsPort] = [await freePort(), await freePort()];
  const everStarted: Running[] = [];
  const startNode = (port: number): Running => {
    const node = start(SHIPPED_MAIN, {
      DATABASE_URL: databaseUrl,
      MASTER_KEY: masterKey.toString('base64'),
      DATA_DIR: folder,
      PORT: String(port),
      TRUSTED_PROXIES: '127.0.0.1',
      DRAIN_SECONDS: String(drainSeconds),
      DATABASE_POOL: '8',
      LOG_LEVEL: 'info',
    });
    onStarted(node);
    everStarted.push(node);
    return node;
  };
  // Starts the nodes one after another, because the first creates the schema and the demo channel.
  const nodes: Running[] = [];
  for (const port of nodePorts) {
    const node = startNode(port);
    nodes.push(node);
    await serviceUrl(node);
  }
  const credentials = JSON.parse(await readFile(path.join(folder, 'demo-channel.json'), 'utf8'));
  const database = openDatabase({ url: databaseUrl, pool: 2, name: 'rolling restart' });
  const operator = { database, vault: openVault([masterKey]), environment: 'sandbox', actor: 'test' } as const;
  await setLimits(operator, { appId: credentials.appId, ratePerSecond: 100_000 });
  const haproxy = await startHaproxy({
    program: options.haproxy,
    folder,
    frontPort,
    statisticsPort,
    nodePorts,
    checkMs,
  });
  onStarted(haproxy.running);
  const allUp = () =>
    until('haproxy has every node', async () => (await haproxy.figures()).every(({ isUp }) => isUp) || undefined);
  try {
    await allUp();
    const client = channelClient(`http://127.0.0.1:${frontPort}`, credentials);
    const load = steadyLoad(client, callers, pauseMs);
    let restarts = 0;
    for (let round = 1; round <= rounds; round += 1) {
      for (const [index, port] of nodePorts.entries()) {
        await load.answered(callers * 4);
        nodes[index]?.child.kill('SIGTERM');
        const code = await nodes[index]?.exited;
        if (code !== 0) throw new Error(`a node ended with ${code}: ${nodes[index]?.stderr()}`);
        const node = startNode(port);
        nodes[index] = node;
        await serviceUrl(node);
        await allUp();
        restarts += 1;
        log(`restarted ${restarts} of ${rounds * nodePorts.length}: ${load.requests()} requests so far`);
      }
    }
    await load.answered(callers * 4);
    const { refusals, ...figures } = await load.stop();
    const failures = [...figures.failures];
    let refusedUnderLoad = 0;
    for (const { requestId, text } of refusals) {
      const why = await whyRefused(everStarted, requestId);
      if (why === new NotBegun().message) refusedUnderLoad += 1;
      else failures.push(`${text}: ${why}`);
    }
    const [stored] = await database.query<{ orders: number }>('select count(*) as orders from orders');
    return {
      ...figures,
      failures,
      refusedUnderLoad,
      restarts,
      ordersStored: stored?.orders ?? 0,
      servers: await haproxy.figures(),
    };
  } finally {
    await haproxy.stop();
    for (const node of nodes) node.child.kill('SIGKILL');
    await Promise.all(nodes.map((node) => node.exited));
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the reason for a refusal from the nodes' logs. A node writes the line after the response. */
function whyRefused(nodes: readonly Running[], requestId: string): Promise<string> {
  return until(`the line of ${requestId} in a log`, () => {
    const line = nodes.flatMap((node) => node.stdout().split('\n')).find((one) => one.includes(requestId));
    return line && (JSON.parse(line).why ?? 'no reason was logged');
  }).catch(String);
}

interface Refusal {
  readonly requestId: string;
  readonly text: string;
}

/** Runs callers. Each sends its next request after a response: creates an order, queries it, creates the next. */
function steadyLoad(client: ChannelClient, callers: number, pauseMs: number) {
  const since = performance.now();
  const latencies: number[] = [];
  const failures: string[] = [];
  const refusals: Refusal[] = [];
  let orders = 0;
  let isOver = false;

  async function timed(what: string, call: () => ReturnType<ChannelClient['call']>): Promise<string | undefined> {
    const begun = performance.now();
    try {
      const { code, text, data, envelope } = await call();
      if (code === '0') return data.orderNo;
      if (code === UNAVAILABLE) refusals.push({ requestId: envelope.requestId, text: `${what}: ${text}` });
      else failures.push(`${what}: ${text}`);
    } catch (error) {
      failures.push(`${what}: ${error instanceof Error ? error.message : error}`);
    } finally {
      latencies.push(performance.now() - begun);
    }
    return undefined;
  }

  async function caller(): Promise<void> {
    while (!isOver) {
      const request = collectRequest(client);
      const orderNo = await timed('create', () =>
        client.call('orders/create', request, { idempotencyKey: request.externalOrderNo }),
      );
      if (orderNo === undefined) continue;
      orders += 1;
      await timed('query', () => client.call('orders/query', { orderNo }));
      if (pauseMs > 0) await setTimeout(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: callers }, caller));
  return {
    requests: () => latencies.length,
    /** Waits for `count` more responses. */
    async answered(count: number): Promise<void> {
      const wanted = latencies.length + count;
      await until('requests are answered', () => latencies.length >= wanted);
    },
    async stop() {
      isOver = true;
      await running;
      const sorted = latencies.toSorted((a, b) => a - b);
      return {
        requests: sorted.length,
        failures,
        refusals,
        ordersAnswered: orders,
        seconds: (performance.now() - since) / 1000,
        medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
        slowestMs: sorted.at(-1) ?? 0,
      };
    },
  };
}
