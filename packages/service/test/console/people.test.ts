import { beforeEach, describe, expect, it } from 'vitest';
import { createPerson } from '../../src/operator/people/people.js';
import { ofFile } from '../orders/stage-of-file.js';
import { testService } from '../support/service.js';
import { ask, consoleClient, createPersonWithPassword, PASSWORD } from './support.js';

const service = ofFile(testService);
beforeEach(async () => {
  await service.fresh.database.query('truncate people, console_sessions cascade');
});

describe('people', () => {
  it('are made by an admin, with a link by which they set their password', async () => {
    const admin = await consoleClient(service, 'admin', 'ann');
    const made = await admin.post('/people', { name: 'bo@example.com', role: 'finance' });
    expect(made.body.person).toMatchObject({
      name: 'bo@example.com',
      role: 'finance',
      hasPassword: false,
      createdBy: 'ann',
    });
    expect(made.body.setupLink).toMatch(/^https:\/\/pay\.example\/console\/setup#[\w-]{32}$/);
    const token = made.body.setupLink.split('#')[1];
    expect((await ask(service.baseUrl, 'POST', '/setup', { body: { token, password: PASSWORD } })).status).toBe(200);
    const { body } = await admin.get('/people');
    expect(body.people.map(({ name, hasPassword }: Record<string, unknown>) => [name, hasPassword])).toEqual([
      ['ann', false],
      ['bo@example.com', true],
    ]);
  });

  it('have no name that is odd, and no password that is short, of one character or the name', async () => {
    for (const name of ['', ' ann', 'a b', 'ann\n', '<script>', 'ä', 'a'.repeat(65)])
      await expect(createPerson(service.operator, { name, role: 'viewer' }), name).rejects.toThrow('a name must be');
    const person = { name: 'annabelle', role: 'viewer' };
    for (const password of ['too short', 'aaaaaaaaaaaaaaaa', 'annabelle-annabelle'])
      await expect(createPerson(service.operator, { ...person, password }), password).rejects.toThrow(
        'a password must',
      );
  });

  it('have each name once, however it is written', async () => {
    const admin = await consoleClient(service, 'admin', 'ann');
    const twice = await admin.post('/people', { name: 'ANN', role: 'viewer' });
    expect([twice.status, twice.body.detail]).toEqual([409, 'there is already somebody called "ANN"']);
  });

  it('always have an admin among them: two cannot disable each other at once', async () => {
    const ann = await consoleClient(service, 'admin', 'ann');
    expect((await ann.post('/people/ann/disable')).body.detail).toContain('is the only admin');
    expect((await ann.put('/people/ann/role', { role: 'viewer' })).status).toBe(409);
    const bo = await consoleClient(service, 'admin', 'bo');
    const both = await Promise.all([ann.post('/people/bo/disable'), bo.post('/people/ann/disable')]);
    const { body } = await (both[0].status === 200 ? ann : bo).get('/people');
    const active = body.people.filter(({ status }: { status: string }) => status === 'ACTIVE');
    expect(active).toHaveLength(1);
  });

  it('always have an admin among them who can sign in: one without a password or single sign-on does not count', async () => {
    await createPersonWithPassword(service, 'ann', 'admin');
    const ann = await consoleClient(service, 'admin', 'ann');
    await createPerson(service.operator, { name: 'bo', role: 'admin' });
    for (const refused of [
      await ann.put('/people/ann/role', { role: 'viewer' }),
      await ann.post('/people/ann/disable'),
    ]) {
      expect([refused.status, refused.body.detail]).toEqual([
        409,
        'ann is the only admin who can sign in; another one has to set a password first',
      ]);
    }
    expect((await ann.put('/people/bo/role', { role: 'viewer' })).status).toBe(200);
    expect((await ann.put('/people/bo/role', { role: 'admin' })).status).toBe(200);
    await service.fresh.database.query(`update people set single_sign_on = 'https://id.example bo' where name = 'bo'`);
    expect((await ann.put('/people/ann/role', { role: 'viewer' })).status).toBe(200);
  });
});
