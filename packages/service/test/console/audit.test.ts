import { beforeEach, describe, expect, it } from 'vitest';
import { recordAudit } from '../../src/operator/audit/audit.js';
import { verifyAudit } from '../../src/operator/audit/audit-chain.js';
import { ofFile } from '../orders/stage-of-file.js';
import { testService } from '../support/service.js';
import { consoleClient } from './support.js';

const service = ofFile(testService);
beforeEach(async () => {
  await service.fresh.database.query('truncate audit_log, people, console_sessions cascade');
  await service.fresh.database.query(`update audit_head set chain_no = 0, chain = ''`);
});

const write = (subject: string, detail: object = { from: 1, to: 2 }) =>
  service.fresh.database.transaction((tx) =>
    recordAudit(tx, { actor: 'test', action: 'test.change', subject, detail: { ...detail } }),
  );
const broken = async () => (await verifyAudit(service.operator)).brokenAt;
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
    ['an order that was changed', `update audit_log set chain_no = 10 - chain_no where chain_no in (4, 5) `, '4'],
  ])('shows %s', async (_what, sql, at) => {
    for (let n = 1; n <= 5; n += 1) await write(`entry ${n}`);
    expect(await broken()).toBeNull();
    await alter(sql);
    expect(Number(await broken())).toBeGreaterThan(0);
    if (!sql.includes('10 -')) expect(await broken()).toBe(at);
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
