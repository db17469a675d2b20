import os from 'node:os';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { resolveEndedAlerts } from '../../src/alerts/resolve-sql.js';
import { FieldFailures, MAX_FIELD_FAILURES } from '../../src/catalog/channels/field-failures.js';
import { resetFutureTimes } from '../../src/engine/housekeeping/future-times-sql.js';
import { systemClock } from '../../src/platform/clock.js';
import type { Queryable } from '../../src/platform/db/database.js';
import { createClockWatch } from '../../src/platform/installation/clock-watch.js';
import { findGuessLock } from '../../src/redeem/guesses.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { channelClient, send } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { manualClock, testService } from '../support/service.js';

const service = ofFile(() => testService());

const NOW = Date.UTC(2026, 0, 31);

/** Returns a database whose clock shows this time. */
const databaseAt = (now: number): Queryable => ({ query: async () => [{ now }] as never });

function watchOf(ahead: number) {
  const { log, lines } = capturedLog();
  const clock = manualClock(NOW + ahead * 1000);
  const watch = createClockWatch({ database: databaseAt(NOW), clock, log });
  const messages = () => lines().map(({ level, msg }) => `${level} ${msg}`);
  return { clock, watch, messages };
}

describe('a node compares its clock with the database’s', () => {
  it.each([
    [0, true, false],
    [1.9, true, false],
    [-1.9, true, false],
    [3, true, false],
    [29.9, true, false],
    [-29.9, true, false],
    [31, false, true],
    [-31, false, true],
    [3600, false, true],
  ])('%d s ahead: right is %s, wrong is %s', async (ahead, right, wrong) => {
    const { watch } = watchOf(ahead);
    await watch.compare();
    expect([watch.isRight(), watch.isWrong()]).toEqual([right, wrong]);
    expect(watch.skewSeconds()).toBeCloseTo(ahead, 1);
  });

  it('before the first comparison it is neither right nor wrong', () => {
    const { watch } = watchOf(3600);
    expect([watch.isRight(), watch.isWrong(), watch.skewSeconds()]).toEqual([false, false, 0]);
  });

  it('a clock that is set between two comparisons is noticed at once', async () => {
    const { clock, watch } = watchOf(0);
    await watch.compare();
    clock.set(NOW + 3_600_000);
    expect([watch.isRight(), watch.isWrong()]).toEqual([false, true]);
    clock.set(NOW + 1_000);
    expect([watch.isRight(), watch.isWrong()]).toEqual([true, false]);
  });

  it('each change is reported once', async () => {
    const { clock, watch, messages } = watchOf(0);
    for (const ahead of [0, 0, 5, 6, -5, 60, 61, 1, 0]) {
      clock.set(NOW + ahead * 1000);
      await watch.compare();
    }
    expect(messages()).toEqual([
      'warn the clock of this node differs from the database’s',
      'error the clock of this node is too far from the database’s: the node is not ready and runs no jobs',
      'info the clock of this node is right again',
    ]);
  });

  it('half of the round-trip time is tolerated', async () => {
    let answer = () => {};
    const database = {
      query: () => new Promise((resolve) => (answer = () => resolve([{ now: NOW }]))),
    } as unknown as Queryable;
    const watch = createClockWatch({ database, clock: manualClock(NOW), log: pino({ level: 'silent' }) });
    const compared = watch.compare();
    setTimeout(() => answer(), 50);
    await compared;
    // The node's clock stood still during the round trip, so it seems to be half a round trip behind. The watch
    // tolerates that.
    expect(watch.skewSeconds()).toBeCloseTo(0, 6);
  });
});

describe('a node whose clock is wrong', () => {
  it('503001 on /readyz, and nothing is leased; ready and working again when it is corrected', async () => {
    const clock = manualClock(systemClock.now() + 3_600_000);
    const node = await anotherNode(service, { clock, engine: true, testLimits: { clockLimits: {} } });
    const ready = () => send(node.baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0));
    await until('it is noticed', async () => (await ready()).status === 503);
    expect(await ready()).toMatchObject({ code: '503001', envelope: { message: 'the clock of this node is wrong' } });
    const channel = await service.channel();
    const right = channelClient(node.baseUrl, channel.credentials, () => systemClock.now());
    const token = await channel.getToken();
    const createOrder = () => right.callBare('orders/create', collectRequest(right), { token });
    expect(await createOrder()).toMatchObject({ status: 503, code: '503001' });
    const page = () => send(node.baseUrl, 'GET', '/redeem/nothing', {}, Buffer.alloc(0));
    expect((await page()).status).toBe(503);
    const alerts = () =>
      service.fresh.database.query<{ subject: string; detail: string }>(
        `select subject, detail from alerts where kind = 'clock-wrong' and resolved_at is null`,
      );
    await until('the alert', async () => (await alerts()).length === 1);
    expect(await alerts()).toEqual([{ subject: os.hostname(), detail: expect.stringMatching(/by 3\d{3} s from/) }]);
    expect((await send(node.baseUrl, 'GET', '/healthz', {}, Buffer.alloc(0))).status).toBe(200);
    const leased = async () => (await service.fresh.database.query('select from delivery_nodes')).length;
    expect(await leased()).toBe(0);
    const timer = setInterval(() => clock.set(systemClock.now()), 10);
    await until('it is mended', async () => (await ready()).status === 200);
    await until('it is at work', async () => (await leased()) === 1);
    clearInterval(timer);
    expect((await page()).status).toBe(404);
    await resolveEndedAlerts(service.fresh.database);
    expect(await alerts()).toHaveLength(1);
    await service.fresh.database.query(`update alerts set last_seen_at = last_seen_at - interval '2 min'`);
    await resolveEndedAlerts(service.fresh.database);
    expect(await alerts()).toEqual([]);
    await node.close();
  });
});

describe('a clock that is set back', () => {
  it('a channel over its rate is not refused until the clock has caught up', async () => {
    const channel = await demoChannel(service);
    const { database } = service.fresh;
    const token = await channel.getToken();
    await database.query(`update rate_limits set tokens = 0, refilled_at = now() + interval '1 hour'`);
    await database.query(`update channels set rate_per_second = 1, rate_burst = 1, version = version + 1`);
    const list = () => channel.callBare('products/list', {}, { token });
    expect((await list()).code).toBe('429001');
    await resetFutureTimes(database);
    await until('the next second', async () => (await list()).code === '0');
  });

  it('failures of encrypted fields still expire after a minute', () => {
    const failures = new FieldFailures();
    for (let n = 0; n < MAX_FIELD_FAILURES; n += 1) failures.add();
    failures.startMinute(NOW);
    failures.forgetEndedMinute(NOW - 3_600_000);
    expect(failures.secondsLeft(NOW - 3_600_000)).toBe(60);
    failures.forgetEndedMinute(NOW - 3_600_000 + 60_000);
    expect(failures.tooMany).toBe(false);
  });

  it('a visitor with too many wrong digits waits as long as the longest lock, and not longer', () => {
    const lock = (ms: number) =>
      findGuessLock({ guesses: 6, visitors: { v: { wrong: 6, until: NOW + ms } } }, 'v', NOW);
    expect(lock(3_600_000)).toEqual({ seconds: 3_600 });
    expect(lock(3_600_001)).toBeUndefined();
  });
});
