import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ENDPOINTS, sha256Hex, signWebhook } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel } from '../support/demo.js';
import { packageRoot } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';
import { type Client, clients, type Outcome } from './clients.js';
import { type Fault, type FaultyProxy, faultyProxy, type Seen } from './faulty-proxy.js';
import { LANGUAGES, openShop } from './guides.js';

const NAMES = ['python', 'php', 'go', 'java', 'sh'] as const;
const VECTORS = path.join(packageRoot, '..', 'wire', 'vectors');
const STARTING = 300_000;

let folder = '';
let service: TestService;
let channel: ChannelClient;
let all: Client[] = [];
/** The sales in progress, by client. They run concurrently, because each of them waits a second or two. */
const sales = new Map<string, { line: FaultyProxy; file: string; outcome: Promise<Outcome> }>();

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-languages-'));
  all = clients(folder);
  service = await testService({ clock: systemClock });
  channel = await demoChannel(service);
  for (const client of all) {
    const line = await faultyProxy(service.baseUrl, FAULTS);
    const file = await channelFile(`${client.name}.json`, { baseUrl: line.url });
    const outcome = client.sell(file);
    outcome.catch(() => undefined);
    sales.set(client.name, { line, file, outcome });
  }
}, STARTING);

afterAll(async () => {
  for (const { line, outcome } of sales.values()) {
    await outcome.catch(() => undefined);
    line.close();
  }
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each(NAMES)('examples/%s', (name) => {
  const client = (): Client => {
    const found = all.find((one) => one.name === name);
    if (found === undefined) throw new Error(`there is no client in ${name}`);
    return found;
  };

  it('passes every vector, and fails on wrong ones', async () => {
    const { code, stdout, stderr } = await client().vectors(await wrongVectors());
    expect(stdout).toBe(casesOf(12, 6, 36, 30, 7));
    const wrong = 'wrong: another signature; a good value must be refused; another link\n';
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^vectors(\\.sh)?: ${wrong}$`))]);
  });

  it('sells in three ways over a bad line, queries, and ends an order', async () => {
    const { outcome, line, file } = sales.get(name) ?? {};
    const { stdout, stderr, code } = (await outcome) ?? {};
    expect([code, stderr]).toEqual([0, '']);
    const shown = new Map(stdout?.split('\n').map((one) => [one.slice(0, 10).trim(), one.slice(11)]));
    const numberIn = (of: string) => shown.get(of)?.split(' ')[0] ?? '';
    const [own, shared, collected] = ['A.1', 'A.2', 'B'].map(numberIn);
    expect(Object.fromEntries(shown)).toEqual({
      products: 'TEST_SPU_001 TEST_SPU_DAILY_7 TEST_SPU_ONCE',
      'A.1': `${own} ACTIVE, period 1 SUCCESS`,
      'A.2': `${shared} ACTIVE, period 1 SUCCESS`,
      B: `${collected} ACTIVE, period 1 BILLED`,
      again: `${collected} ACTIVE, period 1 BILLED`,
      query: `${shared} ACTIVE, period 1 SUCCESS`,
      list: '3 orders',
      period: `${own}0001 SUCCESS`,
      card: 'ends in 4567',
      ended: `${own} UNSUBSCRIBED, period 1 SUCCESS`,
      '': '',
    });
    service.clock.set(Date.now());
    for (const [orderNo, status, kind] of [
      [own, 'UNSUBSCRIBED', /^own-/],
      [shared, 'ACTIVE', /^shared-/],
      [collected, 'ACTIVE', /^collected-/],
    ] as const) {
      expect((await channel.call('orders/query', { orderNo })).data).toMatchObject({
        orderStatus: status,
        externalOrderNo: expect.stringMatching(kind),
      });
    }
    expectResendsOf(line?.seen ?? []);
    if (name === 'sh') expect((await stat(`${file}.token`)).mode & 0o777).toBe(0o600);
  });

  it('reports a refusal with its probable cause', async () => {
    const line = await faultyProxy(service.baseUrl, { 'auth/token': diagnosed });
    const explained = await client().sell(await channelFile(`${name}-explained.json`, { baseUrl: line.url }));
    line.close();
    const requestId = line.seen[0]?.headers['x-svc-request-id'];
    const said = `auth/token was refused: 401002 ${DIAGNOSED} (request ${requestId})`;
    expect(explained.stderr).toMatch(/^sell(\.sh)?: /);
    expect([explained.code, explained.stderr.replace(/^\S+ /, '')]).toEqual([1, `${said}\n`]);
  });

  it('accepts an event once, and refuses forged and old ones', async () => {
    const file = await channelFile(`${name}-receiver.json`, {});
    const receiver = await client().receive(file);
    try {
      const next = async () => (await receiver.lines.next()).value;
      expect(await push(receiver.url, {})).toEqual([200, '{"code":"0"}']);
      expect(await next()).toBe(
        'event     4711  2026-01-31 08:09:10  payment.status.changed  order 700000000000001  period 1 SUCCESS',
      );
      expect(await push(receiver.url, { retryNo: 1 })).toEqual([200, '{"code":"0"}']);
      expect(await next()).toBe('again     4711, retryNo 1: it was dealt with');
      for (const wrong of [...FORGED, { headers: { 'X-SVC-Event-Id': '4712' } }]) {
        expect([wrong, ...(await push(receiver.url, wrong))]).toEqual([wrong, 401, '{"code":"signature"}']);
        expect(await next()).toBe('refused: not signed by the service, or too old');
      }
      const types = [
        [{ eventType: 'order.status.changed', orderStatus: 'ACTIVE' }, 'order 700000000000001  ACTIVE'],
        [
          { eventType: 'payment.upcoming', cycleNo: 2, expectPayTime: '2026-02-28 08:09:10' },
          'order 700000000000001  period 2 is due 2026-02-28 08:09:10',
        ],
        [{ eventType: 'refund.status.changed' }, 'a type that is not known here'],
      ] as const;
      for (const [place, [{ eventType, ...about }, line]] of types.entries()) {
        const eventId = `472${place}`;
        const data = { orderNo: '700000000000001', ...about };
        expect(await push(receiver.url, { eventId, eventType, data })).toEqual([200, '{"code":"0"}']);
        expect(await next()).toBe(`event     ${eventId}  2026-01-31 08:09:10  ${eventType}  ${line}`);
      }
      expect((await push(`${receiver.url}/elsewhere`, {}))[0]).toBeGreaterThanOrEqual(400);
      expect(await push(receiver.url, { eventId: '4712', sentAgo: 290_000 })).toEqual([200, '{"code":"0"}']);
    } finally {
      await receiver.stop();
    }
  });
});

describe.each(LANGUAGES)('the guides in %s', (language) => {
  it('have programs that run as pasted: the first order, three ways to sell, a receiver', async () => {
    const credentials = { ...channel.credentials, baseUrl: service.baseUrl };
    const shop = await openShop(path.join(folder, `guides-${language}`), language, credentials);
    const first = await shop.order();
    expect([first.code, first.stdout], first.stderr).toEqual([
      0,
      expect.stringMatching(/\d{12}.*ACTIVE.*\/redeem\?orderNo=/s),
    ]);
    const sold = await shop.sellInThreeWays();
    expect(sold.code, sold.stderr).toBe(0);
    service.clock.set(Date.now());
    for (const [number, paymentStatus] of [
      ['1001', 'SUCCESS'],
      ['1002', 'SUCCESS'],
      ['1003', 'BILLED'],
    ] as const) {
      const { data } = await channel.call('orders/query', { externalOrderNo: `${language}-${number}` });
      expect(data).toMatchObject({
        orderStatus: 'ACTIVE',
        paymentRecords: expect.arrayContaining([expect.objectContaining({ cycleNo: 1, paymentStatus })]),
      });
    }

    const receiver = await shop.receive();
    try {
      const { url } = receiver;
      expect(await push(url, {})).toEqual([200, '{"code":"0"}']);
      expect(await push(url, { retryNo: 1 })).toEqual([200, '{"code":"0"}']);
      for (const wrong of FORGED) {
        expect([wrong, (await push(url, { eventId: '4712', ...wrong }))[0]]).toEqual([wrong, 401]);
      }
      const stored = path.join(shop.folder, 'events');
      expect(await readdir(stored)).toEqual(['4711.json']);
      expect(JSON.parse(await readFile(path.join(stored, '4711.json'), 'utf8')).data.orderNo).toBe('700000000000001');
      await rm(stored, { recursive: true });
      expect((await push(url, { eventId: '4713' }))[0]).toBe(500);
      await mkdir(stored);
      expect(await push(url, { eventId: '4713', retryNo: 1 })).toEqual([200, '{"code":"0"}']);
      expect(await readdir(stored)).toEqual(['4713.json']);
    } finally {
      await receiver.stop();
    }
  });
});

/** The pushes that a receiver must refuse. */
const FORGED: readonly Push[] = [
  { tamper: (body) => body.replace('SUCCESS', 'REFUND_FULL') },
  { tamper: (body) => JSON.stringify(JSON.parse(body)) },
  { sentAgo: 301_000 },
  { sentAgo: -330_000 },
  { secret: randomBytes(32) },
  { headers: { 'X-SVC-Signature': '' } },
];

/** The fault of the first request to each of these endpoints. */
const FAULTS: Readonly<Record<string, (seen: Seen) => Fault>> = {
  'agreements/bind-sms': () => 'lose-the-answer',
  'agreements/bind-confirm': (seen) => ({ status: 401, body: refusal(seen, '401005') }),
  'orders/create': (seen) => ({ status: 429, headers: { 'Retry-After': '0' }, body: refusal(seen, '429001') }),
  'orders/list': () => ({ status: 502, body: '<html>Bad Gateway</html>' }),
};

const DIAGNOSED =
  'signature does not match: decode the appSecret from base64 (secret-not-decoded); see http://127.0.0.1/developers/signature?request=r%2F1';

/** The sandbox's answer to a wrong signature. */
const diagnosed = (seen: Seen): Fault => ({
  status: 401,
  headers: { 'X-SVC-Diagnosis': 'secret-not-decoded' },
  body: refusal(seen, '401002', DIAGNOSED),
});

function refusal({ headers }: Seen, code: string, message = 'refused by the test'): string {
  const requestId = headers['x-svc-request-id'];
  return JSON.stringify({ code, message, data: null, requestId, timestamp: '2026-01-31 08:09:10', success: false });
}

/** Checks that each fault was followed by one retry: the same body and key, signed again. */
function expectResendsOf(seen: readonly Seen[]): void {
  const triesOf = (endpoint: string) => seen.filter((one) => one.endpoint === endpoint);
  for (const endpoint of Object.keys(FAULTS)) {
    const [first, second] = triesOf(endpoint);
    expect(second?.body, endpoint).toBe(first?.body);
    expect(second?.headers['idempotency-key'], endpoint).toBe(first?.headers['idempotency-key']);
    expect(second?.headers['x-svc-signature'], endpoint).not.toBe(first?.headers['x-svc-signature']);
  }
  expect(triesOf('orders/create')).toHaveLength(5); // three orders, one of them twice, and the postponed one
  expect(triesOf('agreements/bind-sms')).toHaveLength(2);
  expect(triesOf('orders/list')).toHaveLength(2);
  const tokens = new Set(triesOf('agreements/bind-confirm').map(({ headers }) => headers['authorization']));
  expect([triesOf('auth/token').length, tokens.size]).toEqual([2, 2]);
  const distinct = (header: string) => new Set(seen.map(({ headers }) => headers[header])).size;
  expect([distinct('x-svc-nonce'), distinct('x-svc-request-id')]).toEqual([seen.length, seen.length]);
  const writes = seen.filter(({ endpoint }) => ENDPOINTS[endpoint as keyof typeof ENDPOINTS].write);
  for (const { endpoint, headers } of writes) expect(headers['idempotency-key'], endpoint).toMatch(/^[\w-]{32,36}$/);
}

async function channelFile(name: string, more: Record<string, string>): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, JSON.stringify({ ...channel.credentials, baseUrl: service.baseUrl, ...more }, undefined, 2));
  return file;
}

const VECTOR_FILES = [
  'request-signature',
  'webhook-signature',
  'encrypted-fields',
  'encrypted-fields-v2',
  'redeem-link',
] as const;

/** Returns the output that a client prints for these numbers of cases per file. */
const casesOf = (...counts: readonly number[]): string =>
  VECTOR_FILES.map((name, at) => `${name.padEnd(20)} ${counts[at]} cases\n`).join('');

/** Copies the vectors and adds three wrong ones: another signature, another link, and a valid value marked invalid. */
async function wrongVectors(): Promise<string> {
  const copy = path.join(folder, 'wrong-vectors');
  await mkdir(copy, { recursive: true });
  for (const name of VECTOR_FILES) {
    const of = JSON.parse(await readFile(path.join(VECTORS, `${name}.json`), 'utf8'));
    if (name === 'request-signature')
      of.cases.push({ ...of.cases[0], name: 'another signature', signature: of.cases[1].signature });
    if (name === 'encrypted-fields') of.bad.push({ ...of.bad[1], name: 'a good value', value: of.good[0].value });
    if (name === 'redeem-link') of.cases.push({ ...of.cases[1], name: 'another link', url: of.cases[0].url });
    await writeFile(path.join(copy, `${name}.json`), JSON.stringify(of, undefined, 2));
  }
  return copy;
}

interface Push {
  readonly eventId?: string;
  readonly retryNo?: number;
  readonly eventType?: string;
  readonly data?: object;
  readonly sentAgo?: number;
  readonly secret?: Buffer;
  readonly headers?: Record<string, string>;
  readonly tamper?: (body: string) => string;
}

/** Pushes an event as the service does, with the given faults. Returns the HTTP status and text of the answer. */
async function push(url: string, { eventId = '4711', retryNo = 0, sentAgo = 0, secret, headers, tamper, ...of }: Push) {
  const paid = { orderNo: '700000000000001', externalOrderNo: '订单-🎈', cycleNo: 1, paymentStatus: 'SUCCESS' };
  const { eventType = 'payment.status.changed', data = paid } = of;
  const event = { eventId, eventType, occurredAt: '2026-01-31 08:09:10', retryNo, data };
  // The JSON has spaces that libraries do not produce by default, so that only the raw bytes verify.
  const body = JSON.stringify(event, undefined, 3);
  const timestamp = String(Date.now() - sentAgo);
  const nonce = randomBytes(16).toString('hex');
  const signature = signWebhook(
    { path: '/events', bodySha256: sha256Hex(Buffer.from(body)), timestamp, nonce, eventId },
    secret ?? Buffer.from(channel.credentials.callbackSecret, 'base64'),
  );
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-SVC-App-Id': channel.credentials.appId,
      'X-SVC-Timestamp': timestamp,
      'X-SVC-Nonce': nonce,
      'X-SVC-Event-Id': eventId,
      'X-SVC-Signature': signature,
      ...headers,
    },
    body: tamper ? tamper(body) : body,
  });
  return [response.status, await response.text()] as const;
}
