import { beforeAll, describe, expect, it } from 'vitest';
import { type LoggedRequest, requestList } from '../../src/catalog/channels/request-log-sql.js';
import { createRequestLog } from '../../src/http/request-log.js';
import type { Database } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { personOfFile, walk } from './support.js';

const log = capturedLog();
const service = ofFile(() => testService({ requestLog: true, log: log.log }));
let channel: ChannelClient;
const viewer = personOfFile(() => service, 'viewer');
let appId: string;
beforeAll(async () => {
  channel = await service.channel();
  ({ appId } = channel.credentials);
});

interface Line {
  readonly code: string;
  readonly requestId: string;
}

const path = () => `/channels/${appId}/requests`;
/** Polls for the log entry of a request, because the log is written within a second. */
const logged = (requestId: string, of = path()): Promise<Record<string, unknown>> =>
  until(`a line about ${requestId}`, async () => (await viewer.get(`${of}?requestId=${requestId}`)).body.requests[0]);

describe('a request of a channel', () => {
  const HEADERS = { 'X-SVC-Nonce': 'short' };
  const CARD = '4111111111111111';
  const ODD = ['{"a",\\b}NULL', '%'.repeat(1024)];
  let refused: Reply;
  let other: ChannelClient;
  // Sends all requests before the tests look for the first one, because the log is written up to a second later.
  beforeAll(async () => {
    await channel.call('products/list', {}, { requestId: 'good-1' });
    refused = await channel.call('orders/query', { orderNo: 'x'.repeat(100) }, { requestId: 'bad-1' });
    await channel.callBare('auth/token', {}, { requestId: 'forged-1', signRaw: 'another body' });
    await channel.callBare('auth/token', {}, { requestId: 'short-1', headers: HEADERS });
    await channel.callBare('auth/token', {}, { requestId: 'nobody', headers: { 'X-SVC-App-Id': 'test_nobody' } });
    await channel.call('products/list', {}, { requestId: CARD });
    await channel.callBare('auth/token', {}, { requestId: CARD, headers: { 'X-SVC-App-Id': '5555555555554444' } });
    other = await service.channel();
    await other.callBare('auth/token', {}, { requestId: 'unmet-1', headers: HEADERS });
    for (const requestId of ODD) await channel.call('products/list', {}, { requestId });
    await channel.call('orders/query', { orderNo: '424242424242' }, { requestId: 'private-1' });
  });

  it('is logged with its code, its duration and its address', async () => {
    expect(await logged('good-1')).toEqual({
      at: '2026-01-31 12:00:00',
      endpoint: '/openapi/v1/products/list',
      code: '0',
      httpStatus: 200,
      durationMs: expect.any(Number),
      requestId: 'good-1',
      reason: null,
      address: '127.0.0.1',
    });
    for (const requestId of ODD) expect(await logged(encodeURIComponent(requestId))).toMatchObject({ requestId });
  });

  it('is logged without a card number that is its id; the id still finds it', async () => {
    expect(await logged(CARD)).toMatchObject({ requestId: '411111******1111' });
    expect(
      log
        .lines()
        .map((line) => JSON.stringify(line))
        .filter((line) => line.includes(CARD)),
    ).toEqual([]);
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ requestId: '411111******1111', appId: '555555******4444' }),
    );
  });

  it('is logged with the reason given to the caller, if it was refused', async () => {
    expect(await logged('bad-1')).toMatchObject({ code: refused.code, reason: refused.envelope.message });
  });

  it('is logged under the channel that it claims to be, if it is not authenticated', async () => {
    const why = /^signature does not match: no known mistake .*; see https:\/\/pay\.example\/developers\//;
    expect(await logged('forged-1')).toMatchObject({
      ...{ endpoint: '/openapi/v1/auth/token', code: '401002', httpStatus: 401, reason: expect.stringMatching(why) },
    });
    const reason = 'header X-SVC-Nonce must be 32 hex characters';
    expect(await logged('short-1')).toMatchObject({ code: '401001', reason });
  });

  it('is logged for a channel that this node has not met, and not for an unknown one', async () => {
    expect(await logged('unmet-1', `/channels/${other.credentials.appId}/requests`)).toMatchObject({ code: '401001' });
    expect(await service.fresh.database.query(`select from request_log where request_id = 'nobody'`)).toEqual([]);
  });

  it('is logged at most sixty times a minute, if anybody could have made it under this app id', async () => {
    const third = await service.channel();
    for (let n = 0; n < 70; n += 1) await third.callBare('auth/token', {}, { signRaw: 'another body' });
    await third.call('products/list', {}, { requestId: 'own-1' });
    await logged('own-1', `/channels/${third.credentials.appId}/requests`);
    const stored = await service.fresh.database.query(
      `select from request_log l join channels c using (channel_id) where c.app_id = $1 and l.code like '401%'`,
      [third.credentials.appId],
    );
    expect(stored).toHaveLength(60);
  });

  it('is logged without its body and answer', async () => {
    await logged('private-1');
    const [row] = await service.fresh.database.query<{ all: string }>(
      `select json_agg(l)::text as all from request_log l where request_id = 'private-1'`,
    );
    expect(row?.all).not.toContain('424242424242');
  });
});

describe('GET /channels/{appId}/requests', () => {
  beforeAll(async () => {
    await service.fresh.database.query(
      `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, reason, address)
       select timestamptz '2026-01-30 12:00:00+08' + n % 3 * interval '1 second' + n * interval '1 ms', c.channel_id, '/openapi/v1/orders/list',
         case when n % 5 = 0 then '429001' else '0' end, 200, 1, 'row-' || n, null, '127.0.0.1'
       from channels c, generate_series(1, 20) n where c.app_id = $1`,
      [appId],
    );
  });
  const find = async (query: string): Promise<Line[]> => {
    const { status, body } = await viewer.get(`${path()}?to=2026-01-31&${query}`);
    expect(status).toBe(200);
    return body.requests;
  };

  it('pages by a cursor, newest first, each once', async () => {
    const seen = await walk(viewer, `${path()}?to=2026-01-31&limit=3`, 'requests', 'requestId');
    expect(seen).toHaveLength(20);
    expect(new Set(seen).size).toBe(20);
    expect(seen).toEqual((await find('limit=200')).map(({ requestId }) => requestId));
  });

  it('finds by code, by failure, by endpoint, by request id and by time', async () => {
    expect((await find('code=429001')).length).toBe(4);
    expect((await find('code=failed')).map(({ code }) => code)).toEqual(Array(4).fill('429001'));
    expect((await find('code=0')).length).toBe(16);
    expect(await find('endpoint=/openapi/v1/orders/create')).toEqual([]);
    expect((await find('requestId=row-7')).map(({ requestId }) => requestId)).toEqual(['row-7']);
    expect((await find('from=2026-01-30%2012:00:02')).length).toBe(7);
  });

  it('finds one request by the index of ids, without reading a whole day', async () => {
    const { text, values, byIndex } = requestList(1, { requestId: 'row-7' }, undefined, 51);
    const rows = await service.fresh.database.query({ text: `explain (format json) ${text}`, byIndex }, values);
    const plan = JSON.stringify(rows);
    expect(plan).toMatch(/"Index Name":"request_log_\w*request_id_idx"/);
    expect(plan).not.toMatch(/"Seq Scan"|channel_id_at_idx/);
  });

  it('counts the codes of the last 24 hours, most frequent first, with their meaning', async () => {
    service.clock.set(Date.UTC(2026, 0, 31, 3, 59, 0));
    const { body } = await viewer.get(`${path()}/summary`);
    expect(body.codes.slice(0, 2)).toEqual([
      { code: '0', meaning: expect.any(String), count: expect.any(Number) },
      { code: '429001', meaning: 'too many requests', count: 4 },
    ]);
    service.clock.set(Date.UTC(2026, 1, 28));
    expect((await viewer.get(`${path()}/summary`)).body.codes).toEqual([]);
    service.clock.set(Date.UTC(2026, 0, 31, 4, 0, 0));
  });
});

describe('the log', () => {
  const countLogged = async () => (await service.fresh.database.query('select from request_log')).length;

  it.each([
    ['nothing else is said', {}],
    ['the node only reads', { requestLog: true, readsOnly: true }],
  ])('is off when %s', async (_when, more) => {
    const before = await countLogged();
    const node = await anotherNode(service, more);
    await node.client(channel).callBare('auth/token', {});
    await node.close();
    expect(await countLogged()).toBe(before);
  });

  it('is flushed when a node stops', async () => {
    const before = await countLogged();
    const node = await anotherNode(service, { requestLog: true });
    for (let n = 0; n < 5; n += 1) await node.client(channel).callBare('auth/token', {});
    await node.close();
    expect(await countLogged()).toBe(before + 5);
  });

  const request = (app: string, n: number): LoggedRequest => ({
    at: service.clock.now(),
    appId: app,
    endpoint: '/openapi/v1/orders/list',
    code: '400001',
    httpStatus: 200,
    durationMs: 1,
    requestId: `held-${n}`,
    reason: 'a\0b',
    address: '127.0.0.1',
  });

  /** Creates a log on a database that answers only when the test tells it to. */
  function heldLog() {
    const batches: number[] = [];
    const answers: ((how: 'taken' | 'away') => void)[] = [];
    const dropped: Record<string, number> = { full: 0, failed: 0, refused: 0 };
    const query = (_statement: unknown, values: readonly (readonly unknown[])[]) => {
      batches.push(values[6]?.length ?? 0);
      return new Promise((resolve, reject) => {
        answers.push((how) => (how === 'taken' ? resolve([]) : reject(new Error('away'))));
      });
    };
    const log = createRequestLog({
      database: { query } as unknown as Database,
      clock: { now: () => 0 },
      log: capturedLog().log,
      isKnown: (app) => app === 'test_known',
      countDropped: (why, count) => {
        dropped[why] = (dropped[why] ?? 0) + count;
      },
    });
    return { log, batches, answers, dropped };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('is written in batches of 500, one at a time; entries beyond the buffer are dropped and counted', async () => {
    const { log, batches, answers, dropped } = heldLog();
    for (let n = 0; n < 30_000; n += 1) log.add(request('test_known', n));
    expect(batches).toEqual([500]);
    expect(dropped).toEqual({ full: 30_000 - 500 - 20_000, failed: 0, refused: 0 });
    answers[0]?.('away');
    await turn();
    // The next batch is not written immediately, but within a second or when the log stops.
    expect(batches).toEqual([500]);
    expect(dropped['failed']).toBe(500);
    const stopped = log.stop();
    while (batches.length < 41) {
      answers.at(-1)?.('taken');
      await turn();
    }
    answers.at(-1)?.('taken');
    await stopped;
    expect(batches).toEqual(Array(41).fill(500));
  });

  it('does not delay the stop of a node if the database is away', async () => {
    const { log, batches, answers, dropped } = heldLog();
    for (let n = 0; n < 5_000; n += 1) log.add(request('test_known', n));
    const stopped = log.stop();
    answers[0]?.('away');
    await stopped;
    expect(batches).toEqual([500]);
    expect(dropped).toEqual({ full: 0, failed: 5_000, refused: 0 });
  });

  it('gives less room to app ids that may be forged', async () => {
    const { log, dropped, batches, answers } = heldLog();
    for (let n = 0; n < 2_000; n += 1) log.add(request(`test_${n}`, n));
    for (let n = 0; n < 100; n += 1) log.add(request('test_known', n));
    // 500 log entries are being written, and 1,000 entries of unknown app ids wait. The other 500 entries were dropped.
    expect(dropped['full']).toBe(500);
    const stopped = log.stop();
    while (batches.length < 4) {
      answers.at(-1)?.('taken');
      await turn();
    }
    answers.at(-1)?.('taken');
    await stopped;
    expect(batches).toEqual([500, 500, 500, 100]);
  });

  it('stores few of the calls that anybody can make with the app ids of others', async () => {
    const { log, dropped, batches, answers } = heldLog();
    for (let n = 0; n < 1_000; n += 1) log.add(request('test_known', n), false);
    expect(dropped['refused']).toBe(940);
    for (let n = 0; n < 2_000; n += 1) log.add(request(`test_${n}`, n), false);
    expect(dropped['refused']).toBe(940 + 1_460);
    // Calls of the channel itself are not affected.
    for (let n = 0; n < 500; n += 1) log.add(request('test_known', n));
    expect(dropped['refused']).toBe(940 + 1_460);
    const stopped = log.stop();
    while (batches.length < 3) {
      answers.at(-1)?.('taken');
      await turn();
    }
    answers.at(-1)?.('taken');
    await stopped;
    expect(batches.reduce((sum, count) => sum + count)).toBe(600 + 500);
  });

  it('accepts a reason that PostgreSQL would refuse', async () => {
    const log = createRequestLog({
      database: service.fresh.database,
      clock: service.clock,
      log: capturedLog().log,
      isKnown: () => true,
      countDropped: () => undefined,
    });
    log.add(request(appId, 0));
    await log.stop();
    expect(await logged('held-0')).toMatchObject({ reason: 'ab' });
  });
});
