import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChannelClient, channelClient, isToBeSentAgain, send } from '../support/channel-client.js';
import { preparedDataDir } from '../support/data-dir.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { collectRequest } from '../support/demo.js';
import { killEverything, MAIN, type Running, serviceUrl, start, until } from '../support/processes.js';
import { sampleValue, scrape } from '../support/scrape.js';

/** Half of them are enough for a node to be ready: of three, two. */
const WORKERS = 3;
const CLIENTS = 4;

/** One node for all tests, which they leave with all its workers but the last one, which ends it. */
let fresh: FreshDatabase;
let dataDir: string;
let env: Record<string, string>;
let node: Running;
let baseUrl: string;
let operationsUrl: string;
let channel: ChannelClient;

beforeAll(async () => {
  fresh = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-workers-'));
  env = {
    DATABASE_URL: fresh.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: dataDir,
    PORT: '0',
    METRICS_PORT: '0',
    WORKERS: String(WORKERS),
    DATABASE_POOL: '9',
    DRAIN_SECONDS: '5',
    NODE_ID: 'east-1',
  };
  node = start(MAIN, env);
  baseUrl = await serviceUrl(node);
  operationsUrl = /Operations\s+(\S+)\/readyz/.exec(node.stderr())?.[1] ?? '';
  channel = channelClient(baseUrl, JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8')));
});

afterAll(async () => {
  node.child.kill('SIGKILL');
  await node.exited;
  await fresh.close();
  await rm(dataDir, { recursive: true, force: true });
});

interface Line {
  readonly msg: string;
  readonly node: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly endpoint?: string;
  readonly signal?: string;
  readonly againIn?: number;
}

const lines = (running = node): Line[] =>
  running
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** The workers that serve now, by their number, as the log tells it. */
function pids(running = node): Map<number, number> {
  const now = new Map<number, number>();
  for (const { msg, worker = 0, pid = 0 } of lines(running)) {
    if (msg === 'a worker serves') now.set(worker, pid);
    if (msg.startsWith('a worker has ended')) now.delete(worker);
  }
  return now;
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const get = (place: string, url = baseUrl) => send(url, 'GET', place, {}, Buffer.alloc(0));

const listed = async () =>
  sampleValue(await scrape(operationsUrl), 'perennial_http_requests_total', {
    endpoint: '/openapi/v1/products/list',
    status: '200',
  }) ?? 0;

it('new connections go to all workers in turn; /metrics is the whole node’s, wherever it is asked', async () => {
  expect(node.stderr()).toMatch(/Workers +3 processes/);
  const sent = WORKERS * 3;
  for (let nth = 0; nth < sent; nth += 1) expect((await channel.call('products/list', {})).code).toBe('0');
  const answered = await until('all lines', () => {
    const found = lines().filter(({ endpoint }) => endpoint?.endsWith('products/list'));
    return found.length === sent && found;
  });
  expect(new Set(answered.map(({ worker }) => worker))).toEqual(new Set([1, 2, 3]));
  expect(new Set(lines().map((line) => line.node))).toEqual(new Set(['east-1']));

  const scrapes = await Promise.all(Array.from({ length: WORKERS }, () => scrape(operationsUrl)));
  for (const metrics of scrapes) {
    const value = (name: string, labels: Record<string, string> = {}) => sampleValue(metrics, name, labels);
    const endpoint = '/openapi/v1/products/list';
    expect(value('perennial_http_requests_total', { endpoint, status: '200', code: '0' })).toBe(sent);
    const times = metrics.get('perennial_http_request_seconds')?.samples ?? [];
    expect(times.find(({ name, labels }) => name.endsWith('_count') && labels['endpoint'] === endpoint)?.value).toBe(
      sent,
    );
    for (const worker of ['1', '2', '3'])
      expect(value('perennial_worker_requests_total', { worker })).toBeGreaterThan(2);
    expect(value('perennial_workers', { state: 'serving' })).toBe(WORKERS);
    // Not three times as many: it is one installation, and one version.
    expect(value('perennial_build_info')).toBe(1);
    expect(metrics.get('perennial_alerts_open')?.type).toBe('gauge');
    expect(value('perennial_reading_age_seconds')).toBeLessThan(60);
    // Three of nine connections each.
    expect(value('perennial_database_connections', { state: 'total' })).toBeLessThanOrEqual(9);
  }
});

it('what one worker has said about a request that it refused, all of them know', async () => {
  const requestId = randomUUID();
  const reply = await channel.call('products/list', {}, { requestId, signRaw: 'another body' });
  expect([reply.code, reply.data]).toEqual(['401002', null]);
  for (let nth = 0; nth < WORKERS; nth += 1) {
    const { diagnosis } = JSON.parse((await get(`/developers/refused/${requestId}`)).text);
    expect(diagnosis.lines).toHaveLength(7);
    expect(diagnosis.lines).toContain(requestId);
  }
  expect((await get('/developers/refused/nobody-sent-this')).status).toBe(404);
});

it('kill -9 of a worker under load: what was acknowledged is there, another takes its place, and no counter falls', async () => {
  const before = await listed();
  const victim = pids().get(2) ?? 0;
  const acknowledged: { readonly externalOrderNo: string; readonly orderNo: string }[] = [];
  let isOver = false;
  const createOrders = async () => {
    while (!isOver) {
      const order = collectRequest(channel);
      const reply = await channel.call('orders/create', order, { idempotencyKey: randomUUID() }).catch(() => undefined);
      if (reply && !isToBeSentAgain(reply)) {
        expect(reply.code).toBe('0');
        acknowledged.push({ externalOrderNo: order.externalOrderNo, orderNo: reply.data.orderNo });
      }
    }
  };
  const clients = Array.from({ length: CLIENTS }, createOrders);
  await until('orders', () => acknowledged.length > 20);
  process.kill(victim, 'SIGKILL');
  const next = await until('another one', () => {
    const pid = pids().get(2);
    return pid !== undefined && pid !== victim && pid;
  });
  const meanwhile = acknowledged.length;
  await until('orders after that', () => acknowledged.length > meanwhile + 20);
  isOver = true;
  await Promise.all(clients);

  expect(isAlive(victim)).toBe(false);
  expect(isAlive(next)).toBe(true);
  const stored = await fresh.database.query<{ externalOrderNo: string; orderNo: string }>(
    'select external_order_no as "externalOrderNo", order_no::text as "orderNo" from orders',
  );
  const orderNos = new Map(stored.map(({ externalOrderNo, orderNo }) => [externalOrderNo, orderNo]));
  expect(acknowledged.filter(({ externalOrderNo, orderNo }) => orderNos.get(externalOrderNo) !== orderNo)).toEqual([]);
  expect(lines()).toContainEqual(
    expect.objectContaining({ level: 'warn', worker: 2, pid: victim, signal: 'SIGKILL', againIn: 0 }),
  );
  const metrics = await scrape(operationsUrl);
  expect(sampleValue(metrics, 'perennial_worker_ends_total')).toBe(1);
  expect(await listed()).toBe(before);
}, 120_000);

it('with fewer than half of them a node is not ready; one that dies again and again is waited for longer each time', async () => {
  expect((await get('/readyz')).status).toBe(200);
  for (const worker of [2, 3]) process.kill(pids().get(worker) ?? 0, 'SIGKILL');
  const refused = await until('not ready', async () => {
    // A connection that one of them had just been given ends with it.
    const reply = await get('/readyz', operationsUrl).catch(() => undefined);
    return reply?.status === 503 && reply;
  });
  expect(refused.code).toBe('503001');
  // Requests that come all the same are served.
  expect((await channel.call('products/list', {})).code).toBe('0');
  const again = await until('it again', () => pids().get(3));
  process.kill(again, 'SIGKILL');
  await until('its end', () => !pids().has(3));
  await until('all of them', () => pids().size === WORKERS);
  expect((await get('/readyz')).status).toBe(200);
  const ends = lines().filter(({ msg, worker }) => msg.startsWith('a worker has ended') && worker === 3);
  expect(ends.map(({ againIn }) => againIn)).toEqual([0, 1]);
}, 120_000);

it('a port that is taken is said once, and ends them all', async () => {
  const { port } = new URL(baseUrl);
  const second = start(MAIN, { ...env, PORT: port, WORKERS: '2' });
  expect(await second.exited).toBe(1);
  expect(second.stderr().trim().split('\n')).toEqual([expect.stringMatching(/EADDRINUSE.*; set PORT to another one$/)]);
});

it('SIGTERM: not ready first, then all workers finish, and the node ends with 0', async () => {
  const workers = [...pids().values()];
  // As a supervisor does it that tells every process.
  for (const pid of [...workers, node.pid]) process.kill(pid, 'SIGTERM');
  await until('not ready', async () => (await get('/readyz')).status === 503);
  expect(await node.exited).toBe(0);
  expect(workers.filter(isAlive)).toEqual([]);
  expect(lines().at(-1)).toMatchObject({ msg: 'stopped' });
  expect(node.stderr().match(/Stopping: /g)).toHaveLength(1);
});

it('on the embedded database: one process has it for all, and kill -9 of that one leaves no worker behind', async () => {
  const folder = await preparedDataDir();
  const running = start(MAIN, { DATA_DIR: folder, PORT: '0', WORKERS: '2' });
  const url = await serviceUrl(running);
  expect((await get('/readyz', url)).status).toBe(200);
  const workers = [...pids(running).values()];
  expect(workers.filter(isAlive)).toHaveLength(2);
  process.kill(running.pid, 'SIGKILL');
  await until('none of them', () => !workers.some(isAlive));
  killEverything(running, folder);
  await running.exited;
  await rm(folder, { recursive: true, force: true });
});
