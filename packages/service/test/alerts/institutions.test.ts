import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveEndedAlerts } from '../../src/alerts/resolve-sql.js';
import { watchInstitutions } from '../../src/engine/jobs/institutions.js';
import { createCallCounter } from '../../src/gateways/call-counts.js';
import { findDecliningInstitutions, storeCalls } from '../../src/gateways/call-counts-sql.js';
import type { CallsSeen } from '../../src/gateways/calls-seen.js';
import { createInstitutionHealth } from '../../src/gateways/institution-health.js';
import { findSilentInstitutions, storeCallsSeen } from '../../src/gateways/institution-health-sql.js';
import { storeInstitutionHealth } from '../../src/gateways/store-health.js';
import { systemClock } from '../../src/platform/clock.js';
import { consoleClient } from '../console/support.js';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { institution as fakeInstitution } from '../orders/support.js';
import { attachBridge } from '../support/bridged-channel.js';
import { freshDatabase } from '../support/database.js';
import { demoChannel, requestAt } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { sampleValue, scrape } from '../support/scrape.js';

describe('an institution behind a bridge', () => {
  const testLimits = { readingSeconds: 0.1, healthSeconds: 0.1, alertSeconds: { resolved: 0.1, messages: 0.1 } };
  const { service, channel } = serviceOfFile({ clock: systemClock, engine: true, testLimits }, (made) => {
    made.clock.set(systemClock.now());
    return demoChannel(made);
  });
  let institution: ReferenceProgram | undefined;
  afterAll(() => institution?.stop());

  const createAt = async (code: string): Promise<string> =>
    (await channel.call('orders/create', requestAt(channel, code))).data.orderStatus;

  it('that stops answering raises an alert and a metric, which both end with its next answer', async () => {
    const port = await freePort();
    const { appId } = channel.credentials;
    const gatewayKey = await attachBridge(service.operator, appId, 'BRIDGE', `http://127.0.0.1:${port}`);
    const viewer = await consoleClient(service, 'viewer');
    const alerts = async () => (await viewer.get('/alerts?kind=institution-silent')).body.alerts;
    const silence = async () =>
      sampleValue(await scrape(service.baseUrl), 'perennial_institution_silent_seconds', { payment_channel: 'BRIDGE' });
    const failures = async () => {
      const [row] = await service.fresh.database.query<{ failures: number }>('select failures from institution_health');
      return row?.failures ?? 0;
    };
    await until('a reading', async () => (await silence()) === 0);

    // Nothing listens at the bridge's port yet.
    for (let n = 0; n < 3; n += 1) expect(await createAt('BRIDGE')).toBe('INITIALIZING');
    await until('three failures', async () => (await failures()) >= 3);
    expect(await alerts()).toEqual([]);
    await service.fresh.database.query(
      `update institution_health set failing_since = failing_since - interval '3 min'`,
    );
    const [alert] = await until('an alert', async () => ((await alerts()).length > 0 ? alerts() : undefined));
    expect(alert).toMatchObject({ subject: 'BRIDGE', seen: 1, resolvedAt: null });
    expect(alert.detail).toMatch(/^no answer since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: \d+ calls have failed$/);
    expect(alert.detailSaid).toMatchObject({ code: 'institution-silent' });
    await until('a metric', async () => ((await silence()) ?? 0) >= 180);

    institution = await startInstitution({
      port,
      key: Buffer.from(gatewayKey, 'base64'),
      clock: systemClock,
      noticeUrl: `${service.baseUrl}/gateway/v1/notices/BRIDGE`,
    });
    expect(await createAt('BRIDGE')).toBe('ACTIVE');
    await until('the end of the alert', async () => (await alerts()).length === 0);
    await until('the end of the silence', async () => (await silence()) === 0);
  });
});

describe('the debits of several nodes', () => {
  const fresh = ofFile(freshDatabase);
  beforeEach(() => fresh.database.query('truncate peer_calls, alerts'));

  /** Stores the results of debits at one node. */
  const store = async (declined: number, paid = 0) => {
    const counter = createCallCounter();
    for (let n = 0; n < declined; n += 1) counter.countDebit('PAY', { kind: 'declined' });
    for (let n = 0; n < paid; n += 1) counter.countDebit('PAY', { kind: 'success' });
    await storeCalls(fresh.database, counter.take());
  };
  const declining = async () => (await findDecliningInstitutions(fresh.database)).map(({ declined }) => declined);

  it('of which at least 20 were declined and none succeeded raise an alert, until one succeeds', async () => {
    await store(10);
    await store(9);
    expect(await declining()).toEqual([]);
    await store(1);
    expect(await declining()).toEqual([20]);
    await watchInstitutions(fresh.database);
    await watchInstitutions(fresh.database);
    const open = () =>
      fresh.database.query(`select subject, seen, detail from alerts
        where kind = 'institution-declining' and resolved_at is null`);
    const detail = expect.stringMatching(/^since .+ all 20 debits with a result were declined$/);
    expect(await open()).toEqual([{ subject: 'PAY', seen: 1, detail }]);
    await resolveEndedAlerts(fresh.database);
    expect(await open()).toHaveLength(1);
    await store(0, 1);
    expect(await declining()).toEqual([]);
    await resolveEndedAlerts(fresh.database);
    expect(await open()).toEqual([]);
  });

  it('are no alert if one of them succeeded, or if they were declined longer than ten minutes ago', async () => {
    await store(20, 1);
    expect(await declining()).toEqual([]);
    await fresh.database.query('truncate peer_calls');
    await store(20);
    await fresh.database.query(`update peer_calls set at = at - interval '11 min' where grain = 'MINUTE'`);
    expect(await declining()).toEqual([]);
  });

  it('are counted again at the next attempt if the database was away', async () => {
    const health = createInstitutionHealth();
    health.counter.countDebit('PAY', { kind: 'declined' });
    const away = { ...fresh.database, query: () => Promise.reject(new Error('away')) };
    await expect(storeInstitutionHealth(away, health)).rejects.toThrow('away');
    health.counter.countDebit('PAY', { kind: 'declined' });
    await storeInstitutionHealth(fresh.database, health);
    expect(await fresh.database.query('select grain, debits_declined from peer_calls order by 1')).toEqual([
      { grain: 'HOUR', debits_declined: 2 },
      { grain: 'MINUTE', debits_declined: 2 },
    ]);
  });
});

describe('the observations of several nodes', () => {
  const fresh = ofFile(freshDatabase);
  beforeEach(() => fresh.database.query('truncate institution_health'));

  const MINUTE = 60_000;
  const ago = (ms: number | undefined) => (ms === undefined ? undefined : performance.now() - ms);
  /**
   * Stores what a node has observed about an institution: how long ago the last answer was, and when and how often
   * calls failed after it.
   */
  const store = (calls: { answered?: number; failing?: [from: number, to: number, count: number] }) => {
    const [from, to, failures = 0] = calls.failing ?? [];
    const seen = { answeredAt: ago(calls.answered), failingSince: ago(from), failedAt: ago(to), failures };
    return storeCallsSeen(fresh.database, new Map([['PAY', seen]]));
  };
  const silent = async () => (await findSilentInstitutions(fresh.database)).map(({ failures }) => failures);

  it('failures for two minutes without an answer are a silence', async () => {
    await store({ failing: [2.5 * MINUTE, 2.5 * MINUTE, 1] });
    expect(await silent()).toEqual([]);
    await store({ failing: [2 * MINUTE, MINUTE, 4] });
    expect(await silent()).toEqual([5]);
  });

  it.each([
    ['a few seconds', { failing: [30_000, 0, 50] as [number, number, number] }],
    ['two calls', { failing: [10 * MINUTE, MINUTE, 2] as [number, number, number] }],
    ['many within seconds, long ago', { failing: [10 * MINUTE, 9.5 * MINUTE, 50] as [number, number, number] }],
  ])('%s are none', async (_what, calls) => {
    await store(calls);
    expect(await silent()).toEqual([]);
  });

  it('an answer at one node ends the failures of all, and earlier ones stored later do not count', async () => {
    await store({ failing: [10 * MINUTE, MINUTE, 9] });
    await store({ answered: 30_000 });
    expect(await silent()).toEqual([]);
    await store({ failing: [9 * MINUTE, 2 * MINUTE, 9] });
    expect(await silent()).toEqual([]);
    expect(await fresh.database.query('select failing_since, failures from institution_health')).toEqual([
      { failing_since: null, failures: 0 },
    ]);
  });

  it('failures count from the answer on, if a node had both', async () => {
    await store({ answered: 5 * MINUTE, failing: [4 * MINUTE, MINUTE, 3] });
    expect(await silent()).toEqual([3]);
    await store({ answered: 2 * MINUTE });
    expect(await silent()).toEqual([]);
  });
});

it('an answer of the bridge without its institution is a failure; a refusal and a pending debit are answers', async () => {
  const health = createInstitutionHealth();
  const fake = fakeInstitution();
  const gateway = await health.watch({ of: async () => fake }).of('PAY');
  const request = { appId: 'a', attemptNo: '1', institutionNo: '1', amountCent: 1, orderNo: '1', cycleNo: 1 };
  const debit = async (outcome: Awaited<ReturnType<typeof fake.onDebit>>) => {
    fake.onDebit = async () => outcome;
    await gateway.debit({ ...request, externalOrderNo: '1', startedAt: 0 });
    const seen: (CallsSeen | undefined)[] = [];
    await health.seen.flush(async (taken) => void seen.push(taken.get('PAY')));
    return seen[0];
  };
  const failed = { answeredAt: undefined, failures: 1 };
  expect(await debit({ kind: 'unknown' })).toMatchObject(failed);
  expect(await debit({ kind: 'pending', isUnheard: true })).toMatchObject(failed);
  const answered = { answeredAt: expect.any(Number), failures: 0, failingSince: undefined };
  expect(await debit({ kind: 'pending' })).toMatchObject(answered);
  expect(await debit({ kind: 'declined', decline: 'final', reason: 'no' })).toMatchObject(answered);
});
