import { beforeEach, describe, expect, it } from 'vitest';
import type { AlertMessage } from '../../src/alerts/message.js';
import { AlertNotTaken } from '../../src/alerts/transport.js';
import { createAuditJob } from '../../src/engine/jobs/audit.js';
import { listAudit, recordAudit } from '../../src/operator/audit/audit.js';
import { readAuditHead, sealAudit, verifyAudit, verifyAuditOnSchedule } from '../../src/operator/audit/audit-chain.js';
import { type Checkpoint, findCheckpoint, storeCheckpoint } from '../../src/operator/audit/seals-sql.js';
import type { Sign } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { testService } from '../support/service.js';
import { consoleClient } from './support.js';

const service = ofFile(testService);
beforeEach(async () => {
  await service.fresh.database.query(
    'truncate audit_log, audit_seals, audit_checkpoint, alerts, people, console_sessions cascade',
  );
  await service.fresh.database.query(`update audit_head set chain_no = 0, chain = ''`);
});

const write = (subject: string, detail: object = { from: 1, to: 2 }) =>
  service.fresh.database.transaction((tx) =>
    recordAudit(tx, { actor: 'test', action: 'test.change', subject, detail: { ...detail } }),
  );
const broken = async () => (await verifyAudit(service.operator, { all: true })).brokenAt;
const alter = (sql: string) => service.fresh.database.query(sql);

describe('the audit log', () => {
  it('is a valid chain, also of concurrent entries', async () => {
    expect(await verifyAudit(service.operator)).toMatchObject({ entries: 0, brokenAt: null, last: { chainNo: 0 } });
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(`at once ${n}`)));
    const { entries, brokenAt, last } = await verifyAudit(service.operator);
    expect([entries, brokenAt, last.chainNo]).toEqual([20, null, 20]);
    expect(last.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has no gap after a rollback', async () => {
    await write('one');
    await expect(
      service.fresh.database.transaction(async (tx) => {
        await recordAudit(tx, { actor: 'test', action: 'test.change', subject: 'undone', detail: {} });
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await write('two');
    expect(await verifyAudit(service.operator)).toMatchObject({ entries: 2, brokenAt: null });
  });

  it.each([
    ['the detail', `update audit_log set detail = '{"to":3}' where chain_no = 3`, '3'],
    ['the actor', `update audit_log set actor = 'somebody else' where chain_no = 3`, '3'],
    ['the time', `update audit_log set at = at + interval '1 microsecond' where chain_no = 3`, '3'],
    ['the number', `update audit_log set audit_id = default where chain_no = 3`, '3'],
    ['the hash', `update audit_log set chain = sha256('x') where chain_no = 3`, '3'],
    ['an entry that is gone', `delete from audit_log where chain_no = 3`, '4'],
    ['the first that is gone', `delete from audit_log where chain_no = 1`, '2'],
    ['the last that is gone', `delete from audit_log where chain_no = 5`, '5'],
    ['all that are gone', `delete from audit_log`, '1'],
    [
      'a text that is stored apart',
      `update audit_texts set texts = '{"reason":"another"}' where audit_id = (
      select audit_id from audit_log where chain_no = 3)`,
      '3',
    ],
    ['an order that was changed', `update audit_log set chain_no = 10 - chain_no where chain_no in (4, 5) `, '4'],
  ])('shows %s', async (_what, sql, at) => {
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`, { reason: 'asked by phone', to: n });
    expect(await broken()).toBeNull();
    await alter(sql);
    expect(Number(await broken())).toBeGreaterThan(0);
    if (!sql.includes('10 -')) expect(await broken()).toBe(at);
  });

  it('shows texts about users, and is broken when they are deleted', async () => {
    await write('one', { reason: 'asked by phone', note: null, to: 2 });
    const shown = async () => (await listAudit(service.operator, { subject: 'one' }))[0]?.detail;
    expect(await shown()).toEqual({ reason: 'asked by phone', note: null, to: 2 });
    await alter('delete from audit_texts');
    expect(await shown()).toEqual({ note: null, to: 2, textsHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await verifyAudit(service.operator, { all: true })).toMatchObject({ brokenAt: '1', problem: 'changed' });
  });

  it('is broken when texts are removed as an erasure would, without its seal', async () => {
    await write('one', { reason: 'asked by phone' });
    await write('two', { reason: 'asked by letter' });
    await alter('update audit_texts set texts = null');
    expect(await verifyAudit(service.operator, { all: true })).toMatchObject({ brokenAt: '1', faults: 2 });
  });

  it('is not broken by erasures of earlier releases, which have deleted texts', async () => {
    await write('one', { reason: 'asked by phone' });
    await service.fresh.database.transaction(async (tx) => {
      const detail = { orders: 1, auditTextsKept: 0, reason: 'by letter' };
      await recordAudit(tx, { actor: 'ann', action: 'user.erase', subject: 'user-x', detail });
    });
    await alter(`delete from audit_texts where texts like '%phone%'`);
    expect(await broken()).toBeNull();
    await alter('delete from audit_texts');
    expect(await broken()).toBe('2');
  });

  it('names the operator and the address for actions in the console', async () => {
    const ann = await consoleClient(service, 'admin', 'ann');
    await ann.post('/people', { name: 'bo', role: 'viewer' });
    const { body } = await ann.get('/audit?subject=bo');
    expect(body.entries).toMatchObject([
      { actor: 'ann', address: '127.0.0.1', action: 'person.create', subject: 'bo', detail: { role: 'viewer' } },
    ]);
    expect((await ann.get('/audit/verify')).body).toMatchObject({ brokenAt: null });
  });

  it('is verified once at a time, by an admin', async () => {
    const ann = await consoleClient(service, 'admin', 'ann');
    const viewer = await consoleClient(service, 'viewer');
    expect((await viewer.get('/audit/verify')).status).toBe(403);
    await write('one');
    const both = await service.fresh.database.transaction(async (tx) => {
      // Blocks the first verification, so that the second one is refused because the first is still running.
      await tx.query('lock table audit_log in access exclusive mode');
      const asked = [ann.get('/audit/verify'), ann.get('/audit/verify')];
      expect((await Promise.race(asked)).body).toMatchObject({ code: 'audit-being-verified' });
      return { asked };
    });
    const statuses = (await Promise.all(both.asked)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409]);
    expect((await ann.get('/audit/verify')).body).toMatchObject({ brokenAt: null });
  });

  it('is verified from the last verified entry on, unless all entries are requested', async () => {
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`);
    expect(await verifyAudit(service.operator)).toMatchObject({ entries: 5, checked: 5, sealedFrom: 1 });
    await write('entry 6');
    expect(await verifyAudit(service.operator)).toMatchObject({ entries: 6, checked: 1, brokenAt: null });
    expect(await verifyAudit(service.operator, { all: true })).toMatchObject({
      entries: 6,
      checked: 6,
      brokenAt: null,
    });
  });

  it('is read page by page, by actor, action and subject', async () => {
    for (let n = 1; n <= 7; n += 1) await write(`entry ${n}`);
    const viewer = await consoleClient(service, 'viewer');
    const first = await viewer.get('/audit?actor=test&limit=5');
    expect(first.body.entries.map(({ subject }: { subject: string }) => subject)).toEqual(
      [7, 6, 5, 4, 3].map((n) => `entry ${n}`),
    );
    const second = await viewer.get(`/audit?actor=test&limit=5&cursor=${first.body.nextCursor}`);
    expect(second.body.entries).toHaveLength(2);
    expect(second.body.nextCursor).toBeNull();
    expect((await viewer.get('/audit?action=session.begin')).body.entries).toHaveLength(1);
    expect((await viewer.get('/audit?cursor=x')).status).toBe(400);
    expect((await viewer.get('/audit?nonsense=1')).status).toBe(400);
  });
});

/** SQL of a database writer who changes entry 3 and recomputes its hash and all later hashes. */
const RELINK = `do $$
  declare
    entry record;
    hash bytea := (select chain from audit_log where chain_no = 2);
  begin
    update audit_log set detail = '{"to":3}' where chain_no = 3;
    for entry in select * from audit_log where chain_no >= 3 order by chain_no loop
      hash := audit_link(hash, entry.chain_no, entry.audit_id, entry.at, entry.actor, entry.address, entry.action,
        entry.subject, entry.detail);
      update audit_log set chain = hash where chain_no = entry.chain_no;
    end loop;
    update audit_head set chain = hash;
  end $$`;
/** SQL of a database writer who removes everything after entry 2 and makes the rest consistent. */
const TRUNCATE_LOG = `delete from audit_log where chain_no > 2;
  update audit_head set (chain_no, chain) = (select chain_no, chain from audit_log where chain_no = 2)`;
const TRUNCATE = `${TRUNCATE_LOG}; delete from audit_seals where chain_no > 2`;
const FORGE_CHECKPOINT = `update audit_checkpoint set (chain_no, chain) = (select chain_no, chain from audit_head)`;

describe('a database writer', () => {
  const verify = (input = {}) => verifyAudit(service.operator, input);
  const copySeals = `update audit_seals set seal = (select seal from audit_seals where chain_no = 2) where chain_no >= 3`;
  const addEntry = `insert into audit_log (actor, action, subject, detail) values ('ann', 'order.refund', '1', '{}')`;
  beforeEach(async () => {
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`);
  });

  it.each([
    ['relinks the chain', RELINK, '3', 'replaced'],
    ['relinks it and removes the seals', `${RELINK}; delete from audit_seals where chain_no >= 3`, '3', 'unsealed'],
    ['relinks it and copies a seal', `${RELINK}; ${copySeals}`, '3', 'replaced'],
    ['relinks it and moves the checkpoint', `${RELINK}; ${FORGE_CHECKPOINT}`, '3', 'replaced'],
    ['adds an entry', addEntry, '6', 'unsealed'],
    ['adds a second entry 5', `${addEntry}; update audit_log set chain_no = 5 where chain_no = 6`, '5', 'changed'],
    ['removes the end', TRUNCATE, '3', 'replaced'],
    ['removes the end and the checkpoint', `${TRUNCATE_LOG}; delete from audit_checkpoint`, '3', 'replaced'],
    ['removes the seals', 'delete from audit_seals', '1', 'unsealed'],
  ])('%s: detected', async (_what, sql, brokenAt, problem) => {
    expect(await verify()).toMatchObject({ brokenAt: null });
    await alter(sql);
    expect(await verify()).toMatchObject({ brokenAt, problem });
    await write('an entry of the service');
    expect(await verify({ all: true })).toMatchObject({ problem });
  });

  it('replaces the function that hashes: a changed entry is still detected', async () => {
    const [former] = await service.fresh.database.query<{ sql: string }>(
      `select pg_get_functiondef('audit_link'::regproc) as sql`,
    );
    await alter(
      former?.sql.replace(/\$function\$.*\$function\$/s, "'select a.chain from audit_log a where a.chain_no = no'") ??
        '',
    );
    try {
      await alter(`update audit_log set detail = '{"to":3}' where chain_no = 3`);
      expect(await verify()).toMatchObject({ brokenAt: '3', problem: 'changed' });
    } finally {
      await alter(former?.sql ?? '');
    }
  });

  it('restores an earlier state: detected by a node that has seen the end, and by a stored head', async () => {
    const { last } = await verify();
    const head = await readAuditHead(service.operator);
    expect(await verify({ head })).toMatchObject({ brokenAt: null });
    await alter(`${TRUNCATE}; delete from audit_checkpoint`);
    expect(await verify()).toMatchObject({ brokenAt: null, last: { chainNo: 2 } });
    const seen = { chainNo: last.chainNo, chain: Buffer.from(last.hash, 'hex') };
    expect(await verify({ seen })).toMatchObject({ brokenAt: '3', problem: 'replaced' });
    expect(await verify({ head })).toMatchObject({ brokenAt: '3', problem: 'replaced' });
    for (let n = 3; n <= 6; n += 1) await write(`another entry ${n}`);
    expect(await verify({ head })).toMatchObject({ brokenAt: '5', problem: 'replaced' });
    await expect(verify({ head: { ...head, chainNo: 2 } })).rejects.toThrow('not a head of this installation');
  });
});

it('entries of an earlier release are reported until an operator seals them', async () => {
  const ofEarlierRelease = (subject: string) =>
    service.fresh.database.query(
      `insert into audit_log (actor, action, subject, detail) values ('old', 'x', '${subject}', '{}')`,
    );
  await ofEarlierRelease('before the first seal');
  await write('sealed');
  expect(await verifyAudit(service.operator, { all: true })).toMatchObject({
    entries: 2,
    sealedFrom: 2,
    brokenAt: null,
  });
  await ofEarlierRelease('during the upgrade');
  await write('sealed');
  expect(await verifyAudit(service.operator)).toMatchObject({ brokenAt: '3', problem: 'unsealed' });
  expect(await sealAudit(service.operator)).toEqual({ entries: 1, from: 3, to: 3, changed: true });
  expect(await verifyAudit(service.operator, { all: true })).toMatchObject({ entries: 5, brokenAt: null });
  expect(await sealAudit(service.operator)).toMatchObject({ entries: 0, changed: false });
  await alter(`update audit_log set detail = '{"to":3}' where chain_no = 3`);
  await expect(sealAudit(service.operator)).rejects.toThrow('broken at number 3');
});

describe('a node', () => {
  const sender = { environment: 'sandbox', service: 'https://pay.example' };
  const findAlerts = () => service.fresh.database.query(`select detail from alerts where kind = 'audit-chain-broken'`);

  it('reports the end of the log once, in its log and by webhook, and resends a message that was not accepted', async () => {
    const captured = capturedLog();
    const taken: AlertMessage[] = [];
    let isDown = true;
    const webhook = {
      way: 'WEBHOOK' as const,
      async send(_id: string, message: AlertMessage) {
        if (isDown) throw new AlertNotTaken('HTTP 502');
        taken.push(message);
      },
      close: async () => undefined,
    };
    const run = createAuditJob({
      database: service.fresh.database,
      log: captured.log,
      alertWays: [webhook],
      alertSender: () => sender,
    });
    await write('one');
    await run();
    isDown = false;
    await run();
    await run();
    expect(taken).toMatchObject([{ type: 'audit.head', head: { chainNo: 1, sealedFrom: 1 }, ...sender }]);
    const head = taken[0]?.head as never;
    expect(captured.lines().filter(({ level }) => level === 'info')).toMatchObject([{ auditHead: head }]);
    expect(await verifyAudit(service.operator, { head })).toMatchObject({ brokenAt: null });
    await write('two');
    await run();
    expect(taken).toHaveLength(1);
    // Without a checkpoint the verification is due.
    await alter('delete from audit_checkpoint');
    await run();
    expect(taken).toMatchObject([{}, { head: { chainNo: 2 } }]);
  });

  it('raises an alert if the log is broken, and again if more entries are wrong', async () => {
    const run = createAuditJob({ database: service.fresh.database, log: capturedLog().log });
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`);
    await run();
    expect(await findAlerts()).toEqual([]);
    const runWhenDue = () => alter('delete from audit_checkpoint').then(run);
    await alter(`update audit_log set detail = '{"to":3}' where chain_no = 3`);
    await runWhenDue();
    expect(await findAlerts()).toEqual([
      { detail: 'entry 3 or one before it was changed or removed; wrong entries: 1' },
    ]);
    await alter(`update audit_log set detail = '{"to":3}' where chain_no = 4`);
    await runWhenDue();
    expect(await findAlerts()).toEqual([
      { detail: 'entry 3 or one before it was changed or removed; wrong entries: 2' },
    ]);
  });

  it('verifies a broken log from the first entry once a day', async () => {
    const { database } = service.fresh;
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`);
    /**
     * Verifies the log `wholeHours` hours after the last intact verification and `scheduledHours` after the last
     * scheduled one.
     */
    const verifyAfter = async (wholeHours: number, scheduledHours: number) => {
      const hoursAgo = (hours: number) => (Date.now() - hours * 3_600_000) * 1000;
      await database.transaction(async (tx) => {
        const sign = tx.sign as Sign;
        const former = (await findCheckpoint(tx, sign)) as Checkpoint;
        const times = { wholeAt: hoursAgo(wholeHours), scheduledAt: hoursAgo(scheduledHours) };
        await storeCheckpoint(tx, sign, { ...former, ...times });
      });
      return verifyAuditOnSchedule({ database }, undefined);
    };
    expect(await verifyAuditOnSchedule({ database }, undefined)).toMatchObject({ checked: 5, brokenAt: null });
    await alter(`update audit_log set detail = '{"to":3}' where chain_no = 3`);
    expect(await verifyAfter(25, 2)).toMatchObject({ checked: 5, brokenAt: '3' });
    expect(await verifyAfter(25, 0.5)).toMatchObject({ checked: 0 });
    expect(await verifyAfter(48, 0.5)).toMatchObject({ checked: 5, brokenAt: '3' });
  });

  it('raises an alert if another session prevents the verification for an hour', async () => {
    const run = createAuditJob({ database: service.fresh.database, log: capturedLog().log });
    await write('one');
    await service.fresh.database.transaction(async (tx) => {
      // Any role can take this lock.
      await tx.query('select pg_advisory_xact_lock(1635083369)');
      for (let n = 0; n < 5; n += 1) await run();
      expect(await findAlerts()).toEqual([]);
      await run();
    });
    expect(await findAlerts()).toEqual([{ detail: 'the log was not verified for an hour: a session may hold a lock' }]);
  });

  it('remembers the end of the log, and raises an alert if it is removed', async () => {
    const run = createAuditJob({ database: service.fresh.database, log: capturedLog().log });
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`);
    await run();
    await alter(`${TRUNCATE}; delete from audit_checkpoint`);
    await run();
    expect(await findAlerts()).toEqual([
      { detail: 'entry 3 has a wrong seal, or the entry that was seen under this number is gone; wrong entries: 1' },
    ]);
  });
});
