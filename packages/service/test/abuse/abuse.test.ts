import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { HEADERS, MAX_BODY_BYTES, PATH_PREFIX } from '@perennial/wire';
import { beforeAll, expect, it } from 'vitest';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { ofFile } from '../orders/stage-of-file.js';
import { copyOrder } from '../orders/support.js';
import { type ChannelClient, channelClient, type Reply, send } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { collectRequest, unique } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { type Running, SHIPPED_MAIN, serviceUrl, until } from '../support/processes.js';
import { type SlowCaller, slowCall } from '../support/unread.js';

// Attacks on a separate service process, while another channel (the bystander) calls it normally. README.md describes
// them.

/** Heap limit of the node. Above it V8 aborts the process. */
const HEAP_MB = 96;
/** Resident memory above this means that the node buffers too much. */
const PEAK_MB = 512;

const fresh = ofFile(installation);
let node: Running;
let baseUrl: string;
let operator: Operator;
let bystander: ChannelClient;
beforeAll(async () => {
  const { database, env } = fresh;
  const vault = openVault([Buffer.from(env.MASTER_KEY, 'base64')]);
  operator = { database, vault, environment: 'sandbox', actor: 'test' };
  // Sets the semi-space too, because Node 24 makes it smaller if the old space is limited, and then collects garbage
  // constantly.
  const NODE_OPTIONS = `--max-old-space-size=${HEAP_MB} --max-semi-space-size=16`;
  node = fresh.node({ NODE_OPTIONS, LOG_LEVEL: 'warn' }, SHIPPED_MAIN);
  baseUrl = await serviceUrl(node);
  bystander = await channel();
});

/** Creates a channel. The default rate limits are so high that the tests never reach them. */
async function channel(limits = { ratePerSecond: 100_000, rateBurst: 1_000_000 }): Promise<ChannelClient> {
  const created = await createChannel(operator, { name: 'Abuse', ...limits });
  await authorizeProduct(operator, { appId: created.appId, productCode: 'TEST_SPU_001' });
  return channelClient(baseUrl, created);
}

const range = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Calls as the bystander, and returns a line for each wrong answer. */
async function wrongAnswers(): Promise<string[]> {
  const request = collectRequest(bystander);
  const made = await bystander.call('orders/create', request, { idempotencyKey: unique('key') });
  const { orderNo, paymentRecords } = made.data ?? {};
  const seen = await bystander.call('orders/query', { orderNo });
  const listed = await bystander.call('products/list', {});
  const isRight = {
    'orders/create': made.data?.orderStatus === 'ACTIVE' && made.data.redeemUrl.includes(orderNo),
    'orders/query': seen.data?.externalOrderNo === request.externalOrderNo,
    'its periods': seen.data?.paymentRecords.length === paymentRecords?.length,
    'products/list': listed.data?.items[0]?.productCode === 'TEST_SPU_001',
  };
  return Object.entries(isRight).flatMap(([what, right]) => (right ? [] : [`${what}: ${made.code} ${seen.code}`]));
}

/** Returns the node's resident memory, or 0 on systems other than Linux. */
async function memoryMb(): Promise<number> {
  const status = await readFile(`/proc/${node.pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Runs an attack while the bystander calls. `rounds` returns the number of the bystander's finished rounds. */
async function attack<T>(work: (rounds: () => number) => Promise<T>): Promise<T> {
  const wrong: string[] = [];
  let [rounds, peakMb, isOver] = [0, 0, false];
  const calling = (async () => {
    do {
      wrong.push(...(await wrongAnswers()));
      peakMb = Math.max(peakMb, await memoryMb());
      rounds += 1;
    } while (!isOver);
  })();
  const result = await work(() => rounds).finally(() => {
    isOver = true;
  });
  await calling;
  expect(wrong).toEqual([]);
  expect(node.child.exitCode).toBeNull();
  expect((await send(baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status).toBe(200);
  expect(peakMb).toBeLessThan(PEAK_MB);
  return result;
}

/** Returns the distinct codes of the replies, and fails if one is not in `mayBe`. */
function expectCodes(replies: readonly Pick<Reply, 'code'>[], mayBe: readonly string[]): string[] {
  const codes = [...new Set(replies.map(({ code }) => code))];
  expect(codes.filter((code) => !mayBe.includes(code))).toEqual([]);
  return codes;
}

/**
 * Runs the statement `lock` and sends requests that have to wait for its locks. Releases the locks after five rounds of
 * the bystander.
 */
const attackWhileLocked = (lock: string, calls: () => Promise<Reply>[]) =>
  attack(async (rounds) => {
    let inFlight: Promise<Reply>[] = [];
    await fresh.database.transaction(async (tx) => {
      await tx.query(lock);
      inFlight = calls();
      await until('a blocked statement', async () => (await lockWaits(fresh.database)) > 0);
      const before = rounds();
      await until('answers to the bystander', () => rounds() >= before + 5);
    });
    return Promise.all(inFlight);
  });

const idOf = async ({ credentials }: ChannelClient) => {
  const rows = await fresh.database.query<{ id: number }>('select channel_id as id from channels where app_id = $1', [
    credentials.appId,
  ]);
  return rows[0]?.id ?? 0;
};

/** Inserts events of a channel without a callback address, so that they go to `undelivered_events`. */
const writeEvents = (channelId: number, count: number) =>
  fresh.database.query(
    `insert into events (channel_id, order_no, event_type, occurred_at, data)
     select ${channelId}, n, 'order.status.changed', now(), '{"orderNo":"' || n || '"}' from generate_series(1, ${count}) n`,
  );

it('lists larger than the heap: callers hang up, do not read, or read everything', async () => {
  const product = { productCode: 'LONG', productName: 'Long', settlementModes: ['CHANNEL_COLLECT'] };
  const benefits = [{ benefitCode: 'DAY_PASS', name: 'Day pass', faceValueCent: 100 }];
  const periods = { periodType: 'DAY', period: 1, totalCycles: 9_999, amountCent: 100 };
  await createProduct(operator, { ...product, ...periods, benefits });
  const attacker = await channel();
  await authorizeProduct(operator, { appId: attacker.credentials.appId, productCode: 'LONG' });
  const long = { channelUserId: 'hoarder', productCode: 'LONG' };
  const { data } = await attacker.call('orders/create', collectRequest(attacker, long));
  // Stores all periods of the order as started, each paid at a different time of day.
  await fresh.database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select o.order_no, n, o.channel_id, 'BILLED', at, at + n * interval '1 s', 100
     from orders o, generate_series(2, 9999) n, lateral (select o.created_at + (n - 1) * interval '1 day' as at)
     where o.order_no = $1`,
    [data.orderNo],
  );
  await fresh.database.query('update orders set cycle_no = 9999 where order_no = $1', [data.orderNo]);
  const other = await attacker.call('orders/create', collectRequest(attacker, long));
  await copyOrder(fresh.database, data.orderNo, 9);
  await copyOrder(fresh.database, other.data.orderNo, 89);

  const list = () => slowCall(baseUrl, attacker, 'orders/list', { channelUserId: 'hoarder' });
  await attack(async () => {
    const unread = await Promise.all(range(6, list));
    const [bytes] = await Promise.all([
      readWhole(await list()),
      ...range(4, async () => {
        for (let round = 0; round < 2; round += 1) expectCodes([{ code: await hangUpEarly(await list()) }], ['0']);
      }),
    ]);
    expect(bytes).toBeGreaterThan(1.5 * HEAP_MB * 1024 * 1024);
    for (const caller of unread) caller.hangUp();
    const codes = await Promise.all(range(16, async () => hangUpEarly(await list())));
    expectCodes(
      codes.map((code) => ({ code })),
      ['0', '429001'],
    );
  });
});

/** Reads the code at the beginning of an answer, then hangs up. */
async function hangUpEarly({ socket, hangUp }: SlowCaller): Promise<string> {
  const text = await new Promise<string>((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString('latin1')));
    socket.once('close', () => resolve(''));
    socket.resume();
  });
  hangUp();
  return /"code":"(\d+)"/.exec(text)?.[1] ?? 'none';
}

/** Reads a whole answer and returns its length in bytes. */
async function readWhole({ socket, hangUp }: SlowCaller): Promise<number> {
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error(`closed after ${bytes} bytes`)));
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (chunk.subarray(-5).toString() === '0\r\n\r\n') resolve();
    });
    socket.resume();
  });
  hangUp();
  return bytes;
}

it('concurrent signed bodies of 1 MB', async () => {
  /**
   * The beginning, the repeated part and the end of a JSON object that is filled to nearly the maximum size. All its
   * fields are unknown to the service, which must ignore them.
   */
  const shapes: readonly (readonly [open: string, more: (n: number) => string, close: string])[] = [
    ['{"a":[{}', () => ',{}', ']}'],
    ['{"a":"', () => '\\u00e9', '"}'],
    ['{"a":[0', () => `,${'['.repeat(28)}${']'.repeat(28)}`, ']}'],
    ['{"a":0', (n) => `,"key${n}":0`, '}'],
  ];
  const bodies = shapes.map(([open, more, close]) => {
    let text = open;
    for (let n = 0; text.length + 100 + close.length < MAX_BODY_BYTES; n += 1) text += more(n);
    return text + close;
  });
  const attacker = await channel();
  await attacker.call('products/list', {});
  const replies = await attack(() =>
    Promise.all(range(12, (n) => attacker.call('products/list', {}, { raw: bodies[n % bodies.length] ?? '' }))),
  );
  expectCodes(replies, ['0', '400001', '429001']);
});

it('concurrent replays of all undelivered events, none of which ends', async () => {
  const attacker = await channel();
  const channelId = await idOf(attacker);
  await writeEvents(channelId, 5_000);
  await attacker.call('products/list', {});
  const replies = await attackWhileLocked(
    `select from undelivered_events where channel_id = ${channelId} for update`,
    () => range(30, () => attacker.call('events/replay', { from: '2020-01-01 00:00:00' })),
  );
  expectCodes(replies, ['0', '429001']);
});

it('concurrent distant pages of delivered events, none of which ends', async () => {
  const attacker = await channel();
  const channelId = await idOf(attacker);
  await writeEvents(channelId, 20_000);
  await fresh.database.query(
    `with aside as (delete from undelivered_events where channel_id = ${channelId} returning *)
     insert into delivery_attempts
       (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, http_status, latency_ms, at, outcome)
     select channel_id, event_no, recorded_at, is_payment, 0, 0, 200, 5, now(), 'ACCEPTED' from aside`,
  );
  await attacker.call('products/list', {});
  const page = { deliveryStatus: 'DELIVERED', page: 190, size: 100 };
  const replies = await attackWhileLocked('lock table delivery_attempts in access exclusive mode', () =>
    range(20, () => attacker.call('events/list', page)),
  );
  expectCodes(replies, ['0', '400001', '429001']);
  for (const { code, data } of replies) {
    if (code !== '0') continue;
    const statuses = data.events.map(({ deliveryStatus }: { deliveryStatus: string }) => deliveryStatus);
    expect(statuses).toEqual(Array(100).fill('DELIVERED'));
  }
});

it('calls far above a limit of 20 per second: refused calls write no nonce', async () => {
  const attacker = await channel({ ratePerSecond: 20, rateBurst: 40 });
  await attacker.call('products/list', {});
  const channelId = await idOf(attacker);
  const nonces = async () => (await fresh.database.query(`select from nonces where channel_id = ${channelId}`)).length;
  const before = await nonces();
  const replies: Reply[] = [];
  await attack(async () => {
    for (let round = 0; round < 16; round += 1) {
      replies.push(...(await Promise.all(range(32, () => attacker.call('products/list', {})))));
    }
  });
  expect(expectCodes(replies, ['0', '429001'])).toContain('429001');
  expect((await nonces()) - before).toBe(replies.filter(({ code }) => code === '0').length);
});

it('requests and notices with wrong signatures, from the address of the bystander', async () => {
  const attacker = await channel();
  const list = (headers: Record<string, string>) => attacker.callBare('products/list', {}, { headers });
  const noise = () => randomBytes(32).toString('base64');
  const { appId } = bystander.credentials;
  const body = Buffer.from('{}');
  const at = (place: string, headers: Record<string, string>) => send(baseUrl, 'POST', place, headers, body);
  // The attacker can resend a captured request, but cannot sign it again.
  const captured = attacker.signedHeaders('products/list', body, { token: await attacker.getToken() });
  const PATH = `${PATH_PREFIX}products/list`;
  expect((await at(PATH, captured)).code).toBe('0');
  const bridge = (signature: string) => ({
    'Content-Type': 'application/json',
    'X-Bridge-Timestamp': String(Date.now()),
    'X-Bridge-Nonce': randomBytes(16).toString('hex'),
    'X-Bridge-Request-Id': 'N1',
    'X-Bridge-Signature': signature,
  });
  const wrong = () => ({ [HEADERS.signature]: noise(), [HEADERS.authorization]: 'Bearer x', [HEADERS.appId]: appId });
  const kinds: readonly (readonly [string, () => Promise<Reply>])[] = [
    ['401001', () => at(PATH, {})],
    ['401002', () => list({ ...wrong(), [HEADERS.appId]: 'test_nobody' })],
    ['401002', () => list(wrong())],
    ['401003', () => list({ ...wrong(), [HEADERS.timestamp]: '1700000000000' })],
    ['401004', () => at(PATH, captured)],
    ['401002', () => at('/gateway/v1/notices/MOCKPAY', bridge(noise()))],
  ];
  const codes = new Set<string>();
  await attack(async () => {
    for (let round = 0; round < 225; round += 1) {
      const replies = await Promise.all(kinds.map(([, call]) => call()));
      for (const [index, reply] of replies.entries()) expectCodes([reply], [kinds[index]?.[0] ?? '', '429001']);
      for (const { code } of replies) codes.add(code);
    }
  });
  expect([...codes]).toEqual(expect.arrayContaining(['401001', '401002', '401003', '401004']));
});
