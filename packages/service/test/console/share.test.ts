import http from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDevice } from '../../src/console/sessions/device.js';
import { csrfToken } from '../../src/console/sessions/sign-in.js';
import { OPERATIONS } from '../../src/operations/table.js';
import { findPerson } from '../../src/operator/people/people-sql.js';
import { openDatabase } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { ask, consoleClient } from './support.js';

const service = ofFile(testService);
/** The default pool has 16 connections: the console may use 4 of them, and one operator 2. */
const SHARE = 4;
const SHARE_OF_OPERATOR = 2;
const AT_ONCE = 60;

const GETS = OPERATIONS.filter(({ method }) => method === 'GET').map(({ path }) => path.replaceAll(/\{\w+\}/g, '1'));
const everyGet = Array.from({ length: Math.max(AT_ONCE, GETS.length) }, (_, n) => GETS[n % GETS.length] ?? '');

describe('the console’s share of the connections', () => {
  it('leaves the others to channels: 60 GETs of a viewer that hang do not disturb a channel', async () => {
    const viewer = await consoleClient(service, 'viewer');
    const channel = await service.channel();
    const other = openDatabase({ url: service.fresh.url, pool: 2, name: 'test of shares' });
    try {
      const asked = await other.transaction(async (tx) => {
        await tx.query('lock table console_sessions in access exclusive mode');
        const hanging = everyGet.slice(0, AT_ONCE).map((path) => viewer.get(path));
        await until('the console uses its share', async () => (await lockWaits(other)) >= SHARE_OF_OPERATOR);
        const answers = await Promise.all(Array.from({ length: 30 }, () => channel.call('products/list', {})));
        expect(answers.map(({ code }) => code)).toEqual(answers.map(() => '0'));
        expect(await lockWaits(other)).toBeLessThanOrEqual(SHARE);
        return { hanging };
      });
      const answers = await Promise.all(asked.hanging);
      for (const { status, headers } of answers) if (status === 503) expect(headers.get('retry-after')).toBe('1');
      expect(answers.map(({ status }) => status)).not.toContain(500);
    } finally {
      await other.close();
    }
  });

  it('is not used up by strangers, if an operator’s browser is known', async () => {
    const operator = await consoleClient(service, 'viewer');
    const person = await findPerson(service.fresh.database, operator.name);
    const device = createDevice(service.vault, person?.personId ?? 0);
    const headers = { cookie: `__Host-perennial=${operator.token}; __Host-perennial-device=${device}` };
    const other = openDatabase({ url: service.fresh.url, pool: 2, name: 'test of shares' });
    try {
      const strangers = await other.transaction(async (tx) => {
        await tx.query('lock table sign_in_failures in access exclusive mode');
        const hanging = Array.from({ length: SHARE }, (_, n) =>
          ask(service.baseUrl, 'POST', '/session', { body: { name: `stranger-${n}`, password: 'guessed' } }),
        );
        await until('strangers use their share', async () => (await lockWaits(other)) === SHARE_OF_OPERATOR);
        expect((await ask(service.baseUrl, 'GET', '/session', { headers })).status).toBe(200);
        expect(await lockWaits(other)).toBe(SHARE_OF_OPERATOR);
        return { hanging };
      });
      await Promise.all(strangers.hanging);
    } finally {
      await other.close();
    }
  });

  it('is never exceeded by any GET, neither by one operator nor by several', async () => {
    const { database } = service.fresh;
    const counted = { now: 0, most: 0 };
    const count = <T extends unknown[], R>(run: (...given: T) => Promise<R>) =>
      ((...given: T) => {
        counted.now += 1;
        counted.most = Math.max(counted.most, counted.now);
        return run(...given).finally(() => {
          counted.now -= 1;
        });
      }) as never;
    const operators = await Promise.all(
      (['viewer', 'admin', 'finance', 'support'] as const).map((role) => consoleClient(service, role)),
    );
    const { query, transaction } = database;
    vi.spyOn(database, 'query').mockImplementation(count(query));
    vi.spyOn(database, 'transaction').mockImplementation(count(transaction));
    const [viewer] = operators;
    await Promise.all(everyGet.map((path) => viewer?.get(path)));
    expect(counted.most).toBeLessThanOrEqual(SHARE);
    counted.most = 0;
    // A download whose next rows get no connection in time is cut off, because its head was sent before.
    const isCut = () => ({ status: 503 });
    const answers = await Promise.all(operators.flatMap((one) => everyGet.map((path) => one.get(path).catch(isCut))));
    expect(counted.most).toBe(SHARE);
    expect(answers.map(({ status }) => status)).not.toContain(500);
    vi.restoreAllMocks();
  });
});

it('a request that got no connection in time is no fault, whatever requests came before it', async () => {
  const { log, lines } = capturedLog();
  const node = await anotherNode(service, { log });
  onTestFinished(() => node.close());
  const setUp = (token: string) =>
    ask(node.baseUrl, 'POST', '/setup', { body: { token, password: 'a good password' } });
  expect((await setUp('unknown')).status).toBe(409);
  const other = openDatabase({ url: service.fresh.url, pool: 2, name: 'test of shares' });
  onTestFinished(() => other.close());
  const hanging = await other.transaction(async (tx) => {
    await tx.query('lock table people in access exclusive mode');
    const asked = Array.from({ length: SHARE_OF_OPERATOR }, () => setUp('unknown'));
    await until('the share is used up', async () => (await lockWaits(other)) === SHARE_OF_OPERATOR);
    const late = await setUp('unknown');
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
    return { asked };
  });
  await Promise.all(hanging.asked);
  expect(lines().filter(({ msg }) => msg === 'fault')).toEqual([]);
});

describe('bodies of operators', () => {
  it('have limited memory: of two large files that do not end, one is refused', async () => {
    const small = await testService({ testLimits: { consoleBodies: { bytesPerOwner: 200_000 } } });
    onTestFinished(() => small.close());
    const support = await consoleClient(small, 'support');
    const statuses = [1, 2].map(
      () =>
        new Promise<object>((resolve, reject) => {
          const headers = {
            cookie: `__Host-perennial=${support.token}; perennial=${support.token}`,
            'x-csrf-token': csrfToken(support.token),
            'content-type': 'application/json',
            'content-length': '6000000',
          };
          const request = http.request(`${small.baseUrl}/console/api/benefits/X/codes`, { method: 'POST', headers });
          onTestFinished(() => void request.destroy());
          request.on('error', reject).on('response', async (response) => resolve(JSON.parse(await text(response))));
          request.write('x'.repeat(100_000));
        }),
    );
    const first = await Promise.race(statuses);
    for (const one of statuses) one.catch(() => undefined);
    const title = 'The service is busy. Try again in a moment';
    expect(first).toMatchObject({ status: 503, code: 'busy', title, retryAfterSeconds: 1 });
    expect((await support.post('/benefits/X/codes', { codes: 'A\nB' })).status).toBe(200);
  });

  it('may come slowly, at 25 KB in 5 s; 408 if they stall', async () => {
    const support = await consoleClient(service, 'support');
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const body = JSON.stringify({ codes: Array.from({ length: 20_000 }, (_, n) => `CODE${n}`).join('\n') });
    const raw = rawConnection(service.baseUrl);
    onTestFinished(raw.close);
    const headers = {
      ...{
        Cookie: `__Host-perennial=${support.token}; perennial=${support.token}`,
        'X-CSRF-Token': csrfToken(support.token),
      },
      ...{ 'Content-Type': 'application/json', 'Content-Length': `${body.length}` },
    };
    const send = async (text: string, ms: number) => {
      raw.write(text);
      // Another request is answered after the service has read the text.
      await support.get('/session');
      vi.advanceTimersByTime(ms);
    };
    raw.write(requestBytes('/console/api/benefits/SLOW/codes', headers));
    for (let at = 0; at < body.length; at += 25_000) await send(body.slice(at, at + 25_000), 5_000);
    expect((await raw.replies(1)).map(({ status }) => status)).toEqual([200]);

    raw.write(requestBytes('/console/api/benefits/SLOW/codes', headers));
    await send(body.slice(0, 100_000), 20_000);
    // Three, because the first may pass before the service has read all of the text.
    for (const ms of [20_000, 20_000, 20_000]) await send('', ms);
    const [, reply] = await raw.replies(2);
    expect([reply?.status, reply?.code, reply?.headers['connection']]).toEqual([408, 'too-slow', 'close']);
    expect(reply?.envelope.title).toBe('The upload was too slow and was stopped. Try again over a faster connection');
  });
});
