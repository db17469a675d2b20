import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { perennialProcess, type Ran, perennial as runPerennial } from '../cli/perennial.js';
import { type ChannelCredentials, channelClient, type Reply } from '../support/channel-client.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { MAIN, type Running, serviceUrl, start } from '../support/processes.js';

/** Two real processes on one database, and the command line beside them. */
let fresh: FreshDatabase;
let dataDir: string;
let env: Record<string, string>;
const nodes: Running[] = [];
let urls: string[];
let demo: ChannelCredentials;

beforeAll(async () => {
  fresh = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-nodes-'));
  env = {
    DATABASE_URL: fresh.url,
    DATA_DIR: dataDir,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
    LOG_LEVEL: 'error',
  };
  nodes.push(start(MAIN, env), start(MAIN, env));
  urls = await Promise.all(nodes.map(serviceUrl));
  demo = JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8'));
});

afterAll(async () => {
  for (const { child } of nodes) child.kill('SIGTERM');
  await Promise.all(nodes.map((node) => node.exited));
  await fresh.close();
  await rm(dataDir, { recursive: true, force: true });
});

const client = (node: number, credentials = demo) => channelClient(urls[node] ?? '', credentials);

/** The command line, in this process: a new one for each takes longer than all its work. */
async function perennial(...args: string[]) {
  return answerOf(await runPerennial([...args, '--json'], env));
}

function answerOf({ code, stdout, stderr }: Ran) {
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

it('a nonce used on one node is used on the other, also after that was killed and started again', async () => {
  const nonce = randomBytes(16).toString('hex');
  const token = await client(0).getToken();
  const options = { nonce, token };
  expect((await client(0).callBare('products/list', {}, options)).code).toBe('0');
  expect((await client(1).callBare('products/list', {}, options)).code).toBe('401004');
  nodes[1]?.child.kill('SIGKILL');
  await nodes[1]?.exited;
  nodes[1] = start(MAIN, env);
  urls[1] = await serviceUrl(nodes[1]);
  expect((await client(1).callBare('products/list', {}, options)).code).toBe('401004');
});

it('a replay at another node is the first answer byte for byte, though the nodes have different PUBLIC_URLs', async () => {
  expect(urls[0]).not.toBe(urls[1]);
  // What is not the request's own: requestId and timestamp are.
  const answered = ({ text }: Reply) => text.replace(/"requestId":"[^"]*","timestamp":"[^"]*"/, '');
  const [one, other] = [client(0), client(1)];
  let orderNo = '';
  for (const request of [
    () => ['orders/create', sharedRequest(one)] as const,
    () => ['orders/create', collectRequest(one)] as const,
    () => ['sandbox/orders/advance', { orderNo, cycles: 1 }] as const,
    () => ['orders/unsubscribe', { orderNo }] as const,
  ]) {
    const [name, body] = request();
    const options = { idempotencyKey: randomUUID() };
    const first = await one.call(name, body, options);
    expect(first.code, first.text).toBe('0');
    ({ orderNo } = first.data);
    const replay = await other.call(name, body, options);
    expect(replay.headers['idempotency-replayed'], name).toBe('true');
    expect(answered(replay), name).toBe(answered(first));
    if (name !== 'orders/unsubscribe') expect(first.data.redeemUrl, name).toContain(`${urls[0]}/redeem?`);
  }
});

it('reset credentials: old secret and live tokens end at once on both nodes, the new secret works at once on both', async () => {
  const created = await perennial('channel', 'create', '--name', 'Reset me');
  const tokens = [await client(0, created).getToken(), await client(1, created).getToken()];
  // By a process of its own, as a person does it.
  const args = ['channel', 'reset-credentials', created.appId, '--json'];
  const reset = { ...created, ...answerOf(await perennialProcess(args, env)) };
  expect(reset.appSecret).not.toBe(created.appSecret);
  for (const node of [0, 1]) {
    for (const token of tokens) {
      expect((await client(node, created).callBare('products/list', {}, { token })).code).toBe('401002');
      expect((await client(node, reset).callBare('products/list', {}, { token })).code).toBe('401005');
    }
    expect((await client(node, reset).call('products/list', {})).code).toBe('0');
  }
});

it('the rate is one for both nodes together', async () => {
  const created = await perennial('channel', 'create', '--name', 'Limited');
  await perennial('channel', 'set-limits', created.appId, '--rate', '1', '--burst', '20');
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      client(n % 2, created).callBare('auth/token', { grantType: 'client_credentials', appId: created.appId }),
    ),
  );
  const granted = replies.filter((reply) => reply.code === '0').length;
  const [row] = await fresh.database.query<{ seconds: number }>(
    `select extract(epoch from now() - created_at)::float8 as seconds from channels where app_id = $1`,
    [created.appId],
  );
  expect(granted).toBeGreaterThanOrEqual(20);
  // One more for every second that has passed, and not one beyond that.
  expect(granted).toBeLessThanOrEqual(20 + Math.ceil(row?.seconds ?? 0));
  const refused = replies.filter((reply) => reply.code !== '0');
  expect(refused.every((reply) => reply.status === 429 && reply.code === '429001')).toBe(true);
  expect(refused.every((reply) => Number(reply.headers['retry-after']) >= 1)).toBe(true);
});

it('suspension and products change on both nodes at once', async () => {
  const created = await perennial('channel', 'create', '--name', 'Changing');
  const clients = [client(0, created), client(1, created)] as const;
  const list = (node: 0 | 1) => clients[node].call('products/list', {});
  expect((await list(0)).data.items).toEqual([]);
  expect((await list(1)).data.items).toEqual([]);
  await perennial('channel', 'authorize-product', created.appId, 'TEST_SPU_001');
  expect((await list(0)).data.items).toHaveLength(1);
  expect((await list(1)).data.items).toHaveLength(1);
  await perennial('channel', 'suspend', created.appId);
  expect((await list(0)).code).toBe('403002');
  expect((await list(1)).code).toBe('403002');
  await perennial('channel', 'resume', created.appId);
  expect((await list(0)).code).toBe('0');
  expect((await list(1)).code).toBe('0');
});
