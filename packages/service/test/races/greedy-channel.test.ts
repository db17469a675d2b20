import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { perennial as runPerennial } from '../cli/perennial.js';
import { type ChannelClient, type ChannelCredentials, channelClient } from '../support/channel-client.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { collectRequest, unique } from '../support/demo.js';
import { MAIN, type Running, serviceUrl, start } from '../support/processes.js';

/** A node as operators run it, a channel that asks for very much at once, and one that goes about its business. */
const EVENTS = 20_000;
const GIVEN_UP = 5_000;

let fresh: FreshDatabase;
let dataDir: string;
let env: Record<string, string>;
let node: Running;
let greedy: ChannelClient;
let bystander: ChannelClient;
beforeAll(async () => {
  fresh = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-greedy-'));
  env = {
    DATABASE_URL: fresh.url,
    DATA_DIR: dataDir,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
    LOG_LEVEL: 'error',
  };
  node = start(MAIN, env);
  const baseUrl = await serviceUrl(node);
  const demo: ChannelCredentials = JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8'));
  const other = await perennial('channel', 'create', '--name', 'Bystander');
  await perennial('channel', 'authorize-product', other.appId, 'TEST_SPU_001');
  for (const { appId } of [demo, other]) {
    await perennial('channel', 'set-limits', appId, '--rate', '10000', '--burst', '10000');
  }
  greedy = channelClient(baseUrl, demo);
  bystander = channelClient(baseUrl, other);
  await tellALot(demo.appId);
}, 120_000);
afterAll(async () => {
  node.child.kill('SIGTERM');
  await node.exited;
  await fresh.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function perennial(...args: string[]) {
  const ran = await runPerennial([...args, '--json'], env);
  expect(ran.code, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout);
}

/** Events of the past: all accepted but the oldest, which were given up. */
async function tellALot(appId: string): Promise<void> {
  await fresh.database.transaction(async (tx) => {
    await tx.query('alter table events disable trigger queue_events');
    await tx.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
       select channel_id, 1, 'payment.status.changed', now(), '{}', now() - interval '1 h' - n * interval '1 ms'
       from channels, generate_series(1, ${EVENTS}) n where app_id = $1`,
      [appId],
    );
    await tx.query('alter table events enable trigger queue_events');
    await tx.query(
      `insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
       select channel_id, event_no, 0, order_no, true, recorded_at, 10, 'GIVE_UP' from events order by recorded_at limit ${GIVEN_UP}`,
    );
    await tx.query(
      `insert into delivery_attempts
         (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, http_status, latency_ms, at, outcome)
       select channel_id, event_no, recorded_at, true, 0, 0, 200, 5, recorded_at + interval '1 s', 'ACCEPTED'
       from events order by recorded_at offset ${GIVEN_UP}`,
    );
  });
}

/** What a channel does all day, until the other has all its answers. */
async function dayOf(client: ChannelClient, isOver: () => boolean): Promise<string[]> {
  const codes: string[] = [];
  while (!isOver()) {
    const request = collectRequest(client);
    const { code, data } = await client.call('orders/create', request, { idempotencyKey: unique('key') });
    codes.push(code);
    if (code !== '0') continue;
    for (const [name, body] of [
      ['orders/query', { orderNo: data.orderNo }],
      ['orders/list', { channelUserId: request.channelUserId }],
      ['events/list', { orderNo: data.orderNo }],
      ['orders/unsubscribe', { orderNo: data.orderNo }],
      ['payments/query', { paymentOrderNo: data.paymentRecords[0].paymentOrderNo }],
    ] as const) {
      codes.push((await client.call(name, body)).code);
    }
  }
  return codes;
}

const ALLOWED = ['0', '429001', '503001'];

it.each<[string, number, string, () => object]>([
  ['far pages', 40, 'events/list', () => ({ deliveryStatus: 'DELIVERED', page: 140, size: 100 })],
  ['replays', 60, 'events/replay', () => ({ from: '2000-01-01 00:00:00' })],
])('%s, many at once: the other channel gets all it asks for, and nobody a fault', async (_what, count, name, body) => {
  let isOver = false;
  const asked = Promise.all(Array.from({ length: count }, () => greedy.call(name, body()))).finally(() => {
    isOver = true;
  });
  const days = await Promise.all([1, 2, 3].map(() => dayOf(bystander, () => isOver)));
  expect(new Set(days.flat())).toEqual(new Set(['0']));
  const answers = await asked;
  expect(ALLOWED).toEqual(expect.arrayContaining([...new Set(answers.map(({ code }) => code))]));
  for (const { status, headers } of answers) if (status !== 200) expect(headers['retry-after']).toBeDefined();
});
