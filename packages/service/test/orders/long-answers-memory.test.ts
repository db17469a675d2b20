import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { type ChannelClient, channelClient, send } from '../support/channel-client.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { collectRequest, unique } from '../support/demo.js';
import { MAIN, type Running, serviceUrl, start } from '../support/processes.js';
import { slowCall } from '../support/unread.js';
import { copyOrder } from './support.js';

// Hundreds of megabytes of JSON take their time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

/** A node whose heap may grow to 96 MB, and lists of 100 orders with 9,999 periods: 170 MB each. */

const HEAP_MB = 96;
const ORDERS = 100;
let fresh: FreshDatabase;
let dataDir: string;
let node: Running;
let baseUrl: string;
let operator: Operator;

beforeAll(async () => {
  fresh = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-memory-'));
  const masterKey = randomBytes(32);
  operator = { database: fresh.database, vault: openVault([masterKey]), environment: 'sandbox', actor: 'test' };
  node = start(MAIN, {
    // Node 24 makes the young part small with the old one, and collects all the time.
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --max-semi-space-size=16`,
    DATABASE_URL: fresh.url,
    MASTER_KEY: masterKey.toString('base64'),
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
  });
  baseUrl = await serviceUrl(node);
  await createProduct(operator, {
    productCode: 'DAYS_9999',
    productName: 'Many days',
    settlementModes: ['CHANNEL_COLLECT'],
    periodType: 'DAY',
    period: 1,
    totalCycles: 9999,
    amountCent: 100,
    benefits: [{ benefitCode: 'DAY_PASS', name: 'Day pass', faceValueCent: 100 }],
  });
});
afterAll(async () => {
  node.child.kill('SIGTERM');
  await node.exited;
  await fresh.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function channelWithOrder(): Promise<{ client: ChannelClient; user: string; orderNo: string }> {
  const created = await createChannel(operator, { name: 'Long orders', ratePerSecond: 10_000 });
  await authorizeProduct(operator, { appId: created.appId, productCode: 'DAYS_9999' });
  const client = channelClient(baseUrl, created);
  const user = unique('user');
  const { data } = await client.call(
    'orders/create',
    collectRequest(client, { channelUserId: user, productCode: 'DAYS_9999' }),
  );
  return { client, user, orderNo: data.orderNo };
}

it('serves several times what its heap holds, to callers who read, who hang up and who do not read, and to others meanwhile', async () => {
  const greedy = await channelWithOrder();
  // Ten of the orders have all of their periods started, each paid at another time of its day.
  await fresh.database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select o.order_no, n, o.channel_id, 'BILLED', at, at + n * interval '1 s', 100
     from orders o, generate_series(2, 9999) n, lateral (select o.created_at + (n - 1) * interval '1 day' as at)
     where o.order_no = $1`,
    [greedy.orderNo],
  );
  const many = await greedy.client.call(
    'orders/create',
    collectRequest(greedy.client, { channelUserId: greedy.user, productCode: 'DAYS_9999' }),
  );
  await fresh.database.query('update orders set cycle_no = 9999 where order_no = $1', [greedy.orderNo]);
  await copyOrder(fresh.database, greedy.orderNo, 9);
  await copyOrder(fresh.database, many.data.orderNo, ORDERS - 11);
  const other = await channelWithOrder();

  const call = () => slowCall(baseUrl, greedy.client, 'orders/list', { channelUserId: greedy.user });
  const unread = await Promise.all(Array.from({ length: 6 }, call));
  const hangUps = Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 2; round += 1) {
        const caller = await call();
        await caller.readSome();
        caller.hangUp();
      }
    }),
  );
  const reader = (async () => {
    const caller = await call();
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      caller.socket.on('error', reject);
      caller.socket.on('close', () => reject(new Error(`closed after ${bytes} bytes`)));
      caller.socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (chunk.subarray(-5).toString() === '0\r\n\r\n') resolve();
      });
      caller.socket.resume();
    });
    caller.hangUp();
    return bytes;
  })();
  let done = false;
  const codes = new Set<string>();
  const others = (async () => {
    do {
      for (const [name, body] of [
        ['orders/query', { orderNo: other.orderNo }],
        ['products/list', {}],
        ['orders/create', collectRequest(other.client, { productCode: 'DAYS_9999' })],
      ] as const) {
        codes.add((await other.client.call(name, body)).code);
      }
    } while (!done);
  })();
  const [bytes] = await Promise.all([reader, hangUps]);
  done = true;
  await others;
  for (const caller of unread) caller.hangUp();

  expect(bytes).toBeGreaterThan(1.5 * HEAP_MB * 1024 * 1024);
  expect([...codes]).toEqual(['0']);
  expect(node.child.exitCode).toBeNull();
  expect((await send(baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status).toBe(200);
});
