import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedDatabase, openEmbedded } from '@perennial/embedded-postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answered, debitOf, gate, questionOf, startWorld, until, type World } from './support/world.js';

/** A separate database server, because the test stops it. */
let dataDir: string;
let server: EmbeddedDatabase;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-away-'));
  await startDatabase();
});
afterAll(async () => {
  await server.release();
  await rm(dataDir, { recursive: true, force: true });
});
async function startDatabase(): Promise<void> {
  server = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
}

const POINTS = ['book-written', 'institution-called', 'result-written'] as const;
const TAKEN_OVER_MS = 25_000;
const ALL_CUT = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'bridge'`;

it.each(['restarted', 'cut off'] as const)(
  'a book that is %s during calls makes the bridge fail, never lie, and nothing is paid twice',
  async (how) => {
    const reached = new Set<string>();
    const { until: letGo, open } = gate();
    const world = await startWorld({
      databaseUrl: server.url,
      pool: 10,
      at: async (point, number) => {
        if (!number.endsWith(point) || reached.has(number)) return;
        reached.add(number);
        await letGo;
      },
    });
    const { institution, clock, ask } = world;
    await ask('debit', debitOf('D0'));
    const debits = POINTS.map((point) => debitOf(`D-${point}`));
    const refunds = POINTS.map((point, index) => ({ refundNo: `R-${point}`, attemptNo: 'D0', amountCent: index + 1 }));
    const answers = [
      ...debits.map((debit) => answerOf(ask('debit', debit))),
      ...refunds.map((refund) => answerOf(ask('refund', refund))),
    ];
    await until('every call', () => reached.size === answers.length);

    if (how === 'restarted') await server.release();
    else await world.query(ALL_CUT);
    open();
    // SUCCESS is allowed too: the result may have been stored before the outage.
    for (const answer of await Promise.all(answers)) expect([500, 503, 'SUCCESS']).toContain(answer);
    const health = () => fetch(`${world.bridge.monitoringUrl}/health`).then(({ status }) => status);
    if (how === 'restarted') {
      expect(await answerOf(ask('debit', debitOf('D9')))).toBe(500);
      expect(await answerOf(ask('debit-query', questionOf('D0')))).toBe(500);
      expect(await health()).toBe(503);
      const metrics = await fetch(`${world.bridge.monitoringUrl}/metrics`);
      expect(metrics.status).toBe(503);
      await startDatabase();
    }
    await until('health', async () => (await health()) === 200);

    clock.ahead = TAKEN_OVER_MS;
    await untilTrue(world, 'debit', debits, (debit) =>
      institution.payments.some((paid) => paid.attemptNo === debit.attemptNo),
    );
    await untilTrue(world, 'refund', refunds, (refund) =>
      institution.paidBack.some((paid) => paid.refundNo === refund.refundNo),
    );
    const paid = institution.payments.map(({ attemptNo }) => attemptNo);
    expect(paid.toSorted()).toEqual(['D0', ...debits.map(({ attemptNo }) => attemptNo)].toSorted());
    const paidBack = institution.paidBack.map(({ refundNo }) => refundNo);
    expect(paidBack.toSorted()).toEqual(refunds.map(({ refundNo }) => refundNo).toSorted());
  },
);

it('a connection cut in a transaction fails only its request; refunds of one debit are serialised', async () => {
  const world = await startWorld({ databaseUrl: server.url });
  const { ask, query, institution, schema } = world;
  await ask('debit', debitOf('D1', { amountCent: 100 }));
  const holder = new pg.Client({ connectionString: server.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query(`select from ${schema}.debits where number = 'D1' for update`);
  const isWaiting = `from pg_stat_activity where application_name = 'bridge' and wait_event_type = 'Lock'`;
  const untilWaiting = (many: number) =>
    until('the lock', async () => (await query(`select ${isWaiting}`)).length === many);
  const refund = (refundNo: string) => answerOf(ask('refund', { refundNo, attemptNo: 'D1', amountCent: 60 }));

  const first = refund('R1');
  await untilWaiting(1);
  await query(`select pg_terminate_backend(pid) ${isWaiting}`);
  expect(await first).toBe(500);
  const both = [refund('R1'), refund('R2')];
  await untilWaiting(2);
  await holder.query('commit');
  await holder.end();
  expect((await Promise.all(both)).toSorted()).toEqual(['REFUSED', 'SUCCESS']);
  expect(institution.paidBack).toHaveLength(1);
});

/** Returns the answer's status field if the HTTP status is 200, otherwise the HTTP status. */
async function answerOf(answer: Promise<Answered>): Promise<unknown> {
  const { http, fields } = await answer;
  return http === 200 ? fields['status'] : http;
}

/** Queries and retries like the service until each number has succeeded. Every answer must agree with the payments. */
async function untilTrue<Sent extends { readonly attemptNo: string }>(
  { ask }: World,
  operation: 'debit' | 'refund',
  all: readonly Sent[],
  isPaid: (sent: Sent) => boolean,
): Promise<void> {
  for (const sent of all) {
    await until(JSON.stringify(sent), async () => {
      const said = await answerOf(ask(`${operation}-query`, sent));
      expect(['SUCCESS', 'PENDING', 'NOT_FOUND']).toContain(said);
      if (said === 'NOT_FOUND') {
        expect(isPaid(sent)).toBe(false);
        await ask(operation, sent);
      }
      if (said === 'SUCCESS') expect(isPaid(sent)).toBe(true);
      return said === 'SUCCESS';
    });
  }
}
