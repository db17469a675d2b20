import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { inTransaction } from '../../src/operator/operator.js';
import { isPassword } from '../../src/operator/people/passwords.js';
import { createPerson, disablePerson, enablePerson, resetPerson, setRole } from '../../src/operator/people/people.js';
import type { Role } from '../../src/operator/people/roles.js';
import { beginTotp, confirmTotp } from '../../src/operator/people/second-factor.js';
import { totpCode, totpStep } from '../../src/operator/people/totp.js';
import { keyPlaces } from '../../src/platform/secrets/stored-keys.js';
import { ofFile } from '../orders/stage-of-file.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { ask, CHEAP_HASH, type ConsoleClient, consoleClient, createPersonWithPassword, PASSWORD } from './support.js';

const service = ofFile(testService);
beforeEach(async () => {
  await service.fresh.database.query('truncate people, console_sessions, sign_in_failures cascade');
});

const create = (name: string, role: Role = 'support') => createPersonWithPassword(service, name, role);
const signIn = (name: string, password = PASSWORD, more: object = {}, headers: Record<string, string> = {}) =>
  ask(service.baseUrl, 'POST', '/session', { body: { name, password, ...more }, headers });
const tokenOf = (reply: { headers: Headers }) => /=([^;]+)/.exec(reply.headers.get('set-cookie') ?? '')?.[1] ?? '';
const asked = (token: string) =>
  ask(service.baseUrl, 'GET', '/session', { headers: { cookie: `__Host-perennial=${token}` } });
const setUp = (token: string | null, password = PASSWORD) =>
  ask(service.baseUrl, 'POST', '/setup', { body: { token, password } });
const type = (reply: { body: { type: string } }) => reply.body.type.replace('urn:perennial:problem:', '');

describe('signing in', () => {
  it('creates a session, a CSRF token, and a cookie for this host only', async () => {
    await create('ann', 'admin');
    const reply = await signIn('ann');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ name: 'ann', role: 'admin', environment: 'sandbox', hasTotp: false });
    expect(reply.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-perennial=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/),
      expect.stringMatching(
        /^__Host-perennial-device=\d+\.[\w.-]{66}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Strict; Secure$/,
      ),
    ]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    const session = await asked(tokenOf(reply));
    expect(session.body).toEqual(reply.body);
    expect(session.body.csrfToken).toMatch(/^[\w-]{43}$/);
  });

  it('uses another cookie over plain HTTP, and accepts no other', async () => {
    const plain = await anotherNode(service, { publicUrl: () => 'http://127.0.0.1:1' });
    onTestFinished(() => plain.close());
    await create('ann');
    const reply = await ask(plain.baseUrl, 'POST', '/session', { body: { name: 'ann', password: PASSWORD } });
    expect(reply.headers.getSetCookie()[0]).toMatch(/^perennial=[\w-]{43}; .*SameSite=Strict$/);
    const token = tokenOf(reply);
    for (const [cookie, status] of [
      [`__Host-perennial=${token}`, 401],
      [`perennial=${token}`, 200],
    ] as const) {
      expect((await ask(plain.baseUrl, 'GET', '/session', { headers: { cookie } })).status).toBe(status);
    }
  });

  it('answers the same for a wrong password, an unknown name, and a disabled operator', async () => {
    await create('ann', 'admin');
    await create('bo');
    await disablePerson(service.operator, { name: 'bo' });
    for (const [name, password] of [
      ['ann', 'not this one, no'],
      ['nobody', PASSWORD],
      ['bo', PASSWORD],
    ] as const) {
      const reply = await signIn(name, password);
      expect([reply.status, type(reply), reply.headers.get('set-cookie')]).toEqual([401, 'wrong-proof', null]);
      expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(reply.body.requestId).toMatch(/^[\w-]+$/);
    }
  });

  it('creates a new session each time, so a planted one is worthless', async () => {
    await create('ann');
    const planted = 'A'.repeat(43);
    const reply = await signIn('ann', PASSWORD, {}, { cookie: `__Host-perennial=${planted}` });
    expect(tokenOf(reply)).not.toBe(planted);
    expect((await asked(planted)).status).toBe(401);
  });

  it('ends the former session of the browser', async () => {
    await create('ann');
    const before = tokenOf(await signIn('ann'));
    const elsewhere = tokenOf(await signIn('ann'));
    const after = tokenOf(await signIn('ann', PASSWORD, {}, { cookie: `__Host-perennial=${before}` }));
    expect((await asked(before)).status).toBe(401);
    for (const token of [after, elsewhere]) expect((await asked(token)).status).toBe(200);
  });

  it('is refused from another site', async () => {
    await create('ann');
    const reply = await signIn('ann', PASSWORD, {}, { 'sec-fetch-site': 'cross-site' });
    expect([reply.status, type(reply)]).toEqual([403, 'csrf']);
  });
});

describe('failed attempts', () => {
  const wrongBefore = (key: string, failures: number) =>
    service.fresh.database.query('insert into sign_in_failures (key, failures) values ($1, $2)', [key, failures]);

  const fromHere = 'pair 127.0.0.1 ann';

  it('lock the account for the address after five, also for the right password, for longer each time', async () => {
    await create('ann');
    await wrongBefore(fromHere, 3);
    for (const password of ['wrong password', 'another one']) expect((await signIn('ann', password)).status).toBe(401);
    const locked = await signIn('ann');
    expect([locked.status, type(locked)]).toEqual([429, 'locked']);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(50);
    await service.fresh.database.query('update sign_in_failures set locked_until = now() where key = $1', [fromHere]);
    expect((await signIn('ann', 'wrong password')).status).toBe(401);
    expect(Number((await signIn('ann')).headers.get('retry-after'))).toBeGreaterThan(110);
    await service.fresh.database.query('update sign_in_failures set locked_until = now() where key = $1', [fromHere]);
    expect((await signIn('ann')).status).toBe(200);
    expect((await signIn('ann', 'wrong password')).status).toBe(401);
  });

  it('are checked up to five times, if many are concurrent', async () => {
    await create('ann');
    await wrongBefore(fromHere, 2);
    const replies = await Promise.all(Array.from({ length: 20 }, () => signIn('ann', 'wrong password')));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(3);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(17);
  });

  it.each(['İ', 'ı'])('count for the name as it is stored: with %s it is another name', async (letter) => {
    await create('vie');
    const reply = await signIn(`v${letter}e`);
    expect([reply.status, type(reply)]).toEqual([401, 'wrong-proof']);
    expect((await signIn('VIE')).status).toBe(200);
  });

  it('lock unknown names the same way', async () => {
    await wrongBefore('pair 127.0.0.1 nobody', 4);
    expect((await signIn('nobody')).status).toBe(401);
    expect((await signIn('nobody')).status).toBe(429);
  });

  it('of a stranger do not lock the account for other addresses, until there are fifty of many strangers', async () => {
    const behindProxy = await anotherNode(service, { trustedProxies: ['127.0.0.1'] });
    onTestFinished(() => behindProxy.close());
    await create('ann');
    const from = async (address: string, password = PASSWORD) => {
      const options = { body: { name: 'ann', password }, headers: { 'x-forwarded-for': address } };
      return (await ask(behindProxy.baseUrl, 'POST', '/session', options)).status;
    };
    for (let tries = 0; tries < 5; tries += 1) expect(await from('192.0.2.7', 'wrong password')).toBe(401);
    expect([await from('192.0.2.7'), await from('192.0.2.8')]).toEqual([429, 200]);
    await wrongBefore('name ann', 49);
    expect(await from('192.0.2.9', 'wrong password')).toBe(401);
    expect(await from('192.0.2.8')).toBe(429);
  });

  it('of strangers lock no device in which the operator has signed in, and a forged device is a stranger', async () => {
    await create('ann');
    await create('bo');
    const deviceOf = async (name: string) => (await signIn(name)).headers.getSetCookie()[1]?.split(';')[0] ?? '';
    const [ann, bo] = [await deviceOf('ann'), await deviceOf('bo')];
    await wrongBefore('name ann', 49);
    expect((await signIn('ann', 'wrong password')).status).toBe(401);
    for (const [cookie, status] of [
      ['', 429],
      [bo, 429],
      [ann.replace(/.(?=.{9}$)/, (one) => (one === 'A' ? 'B' : 'A')), 429],
      [ann, 200],
    ] as const) {
      expect([cookie, (await signIn('ann', PASSWORD, {}, { cookie })).status]).toEqual([cookie, status]);
    }
    for (let tries = 0; tries < 5; tries += 1)
      expect((await signIn('ann', 'wrong password', {}, { cookie: ann })).status).toBe(401);
    expect((await signIn('ann', PASSWORD, {}, { cookie: ann })).status).toBe(429);
  });

  it('of others do not lock out signed-in operators, whose attempts are counted by session', async () => {
    await create('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    const elsewhere = await consoleClient(service, 'support', 'ann');
    await wrongBefore('name ann', 4);
    await wrongBefore('address 127.0.0.1', 29);
    expect((await signIn('ann', 'wrong password')).status).toBe(401);
    expect((await signIn('ann')).status).toBe(429);
    const prove = (by: typeof ann, password: string) => by.post('/session/proof', { password });
    expect((await prove(ann, PASSWORD)).status).toBe(200);
    for (let tries = 0; tries < 5; tries += 1) expect((await prove(ann, 'wrong password')).status).toBe(401);
    const locked = await prove(ann, PASSWORD);
    expect([locked.status, type(locked)]).toEqual([429, 'locked']);
    expect((await ann.put('/account/password', { current: PASSWORD, password: 'another good one' })).status).toBe(429);
    expect((await prove(elsewhere, PASSWORD)).status).toBe(200);
  });

  it('of a flood of strangers keep out other strangers, but neither a known device nor a signed-in operator', async () => {
    await create('ann');
    const [, device = ''] = (await signIn('ann')).headers.getSetCookie();
    const ann = await consoleClient(service, 'support', 'ann');
    let isOver = false;
    // Fills all places of strangers, and takes each free place again before another request can.
    const flood = Array.from({ length: 51 }, async () => {
      while (!isOver) await isPassword('wrong password', CHEAP_HASH, undefined).catch(() => new Promise(setImmediate));
    });
    const [cookie = ''] = device.split(';');
    const busy = await signIn('ann', 'wrong password');
    expect([busy.status, type(busy), busy.headers.get('retry-after')]).toEqual([503, 'busy', '2']);
    expect(await service.fresh.database.query('select key from sign_in_failures where failures > 0')).toEqual([]);
    expect((await signIn('ann', PASSWORD, {}, { cookie })).status).toBe(200);
    expect((await ann.post('/session/proof', { password: PASSWORD })).status).toBe(200);
    isOver = true;
    await Promise.all(flood);
    expect((await signIn('ann')).status).toBe(200);
  });

  it('of one operator take five places in the queue of password checks', async () => {
    const asked = Array.from({ length: 7 }, () => isPassword('wrong password', CHEAP_HASH, 'ann'));
    const other = isPassword(PASSWORD, CHEAP_HASH, 'bo');
    await expect(asked.pop()).rejects.toThrow('too many sign-ins are in progress');
    expect(await Promise.all(asked)).toEqual(Array(6).fill(false));
    expect(await other).toBe(true);
  });

  it('lock the address after thirty, whatever the names', async () => {
    await create('ann');
    await wrongBefore('address 127.0.0.1', 28);
    for (const name of ['bo', 'chen']) expect((await signIn(name)).status).toBe(401);
    expect((await signIn('ann')).status).toBe(429);
  });
});

describe('codes of an authenticator app', () => {
  const codeOf = async (name: string, column: 'totp_pending' | 'totp_secret') => {
    const [row] = await service.fresh.database.query<{ id: number; wrapped: string }>(
      `select person_id as id, ${column} as wrapped from people where name = $1`,
      [name],
    );
    const secret = Buffer.from(service.vault.unwrapKey(row?.wrapped ?? '', keyPlaces.secondFactor(row?.id ?? 0)));
    return totpCode(secret, totpStep(service.clock.now()));
  };
  const withCodes = async (name: string): Promise<Buffer> => {
    await create(name);
    const operator = { ...service.operator, clock: service.clock };
    await beginTotp(operator, { name });
    const [row] = await service.fresh.database.query<{ id: number; pending: string }>(
      'select person_id as id, totp_pending as pending from people where name = $1',
      [name],
    );
    const secret = Buffer.from(service.vault.unwrapKey(row?.pending ?? '', keyPlaces.secondFactor(row?.id ?? 0)));
    await confirmTotp(operator, { name, code: totpCode(secret, totpStep(service.clock.now())) });
    return secret;
  };

  it('of one person are not accepted from another, even if a database writer copies the secret', async () => {
    const own = await withCodes('mallory');
    await withCodes('ann');
    await service.fresh.database.query(
      `update people set totp_secret = (select totp_secret from people where name = 'mallory') where name = 'ann'`,
    );
    service.clock.advance(60_000);
    const answer = await signIn('ann', PASSWORD, { code: totpCode(own, totpStep(service.clock.now())) });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  it('lock the account after five wrong first codes, in every session, until it is reset', async () => {
    await create('ann');
    const [ann, elsewhere] = [
      await consoleClient(service, 'support', 'ann'),
      await consoleClient(service, 'support', 'ann'),
    ];
    await ann.post('/account/totp');
    const code = await codeOf('ann', 'totp_pending');
    const wrong = code === '000000' ? '111111' : '000000';
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => elsewhere.put('/account/totp', { code: wrong })),
    );
    expect(replies.filter(({ body }) => body.code === 'code-wrong')).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15);
    const locked = await ann.put('/account/totp', { code });
    expect([locked.status, type(locked), locked.body.recoveryCodes]).toEqual([429, 'locked', undefined]);
    expect((await ann.get('/audit?action=person.fail-totp&subject=ann')).body.entries).toHaveLength(5);
    await resetPerson(service.operator, { name: 'ann' });
    const again = await consoleClient(service, 'support', 'ann');
    await again.post('/account/totp');
    expect((await again.put('/account/totp', { code: await codeOf('ann', 'totp_pending') })).status).toBe(200);
  });

  it('need a confirmed identity for the first one too', async () => {
    await create('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    await ann.post('/account/totp');
    await service.fresh.database.query(`update console_sessions set proven_at = now() - interval '6 minutes'`);
    const refused = await ann.put('/account/totp', { code: await codeOf('ann', 'totp_pending') });
    expect([refused.status, type(refused)]).toEqual([403, 'proof-needed']);
  });

  it('are not turned on by a setup that was canceled or is older than ten minutes', async () => {
    await create('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    const begin = async () => {
      await ann.post('/account/totp');
      return codeOf('ann', 'totp_pending');
    };
    const isRefused = async (code: string) => {
      const { status, body } = await ann.put('/account/totp', { code });
      expect([status, body.code]).toEqual([409, 'codes-not-begun']);
    };
    const canceled = await begin();
    for (let n = 0; n < 2; n += 1) expect((await ann.delete('/account/totp')).status).toBe(200);
    await isRefused(canceled);
    const old = await begin();
    await service.fresh.database.query(
      `update people set totp_pending_until = totp_pending_until - interval '11 minutes'`,
    );
    await isRefused(old);
    expect((await ann.put('/account/totp', { code: await begin() })).status).toBe(200);
    expect((await ann.delete('/account/totp')).status).toBe(200);
    expect((await ann.get('/session')).body.hasTotp).toBe(true);
    expect((await ann.get('/audit?action=person.cancel-totp&subject=ann')).body.entries).toHaveLength(1);
  });

  it('are required after the right password, and each can be used once', async () => {
    const secret = await withCodes('ann');
    expect(type(await signIn('ann'))).toBe('code-needed');
    expect(type(await signIn('ann', 'wrong password'))).toBe('wrong-proof');
    service.clock.advance(60_000);
    const code = totpCode(secret, totpStep(service.clock.now()));
    expect(type(await signIn('ann', PASSWORD, { code: '000000' === code ? '111111' : '000000' }))).toBe('wrong-proof');
    expect((await signIn('ann', PASSWORD, { code })).status).toBe(200);
    expect(type(await signIn('ann', PASSWORD, { code }))).toBe('wrong-proof');
  });

  it('confirm an identity together with the password, and neither does alone', async () => {
    const secret = await withCodes('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    await service.fresh.database.query(`update console_sessions set proven_at = now() - interval '6 minutes'`);
    const prove = (proof: object) => ann.post('/session/proof', proof);
    const isProven = async () => (await ann.post('/orders/1/unmask', { reason: 'call' })).status !== 403;
    service.clock.advance(60_000);
    const code = totpCode(secret, totpStep(service.clock.now()));
    // A request without a code does not count as a wrong attempt, so it never locks the session.
    for (let n = 0; n < 7; n += 1) expect(type(await prove({ password: PASSWORD }))).toBe('code-needed');
    expect(type(await prove({ code }))).toBe('wrong-proof');
    expect(type(await prove({ password: 'wrong password', code }))).toBe('wrong-proof');
    const password = 'another good passphrase';
    expect((await ann.put('/account/password', { current: PASSWORD, password })).status).toBe(200);
    expect(await isProven()).toBe(false);
    expect((await prove({ password, code })).status).toBe(200);
    expect(await isProven()).toBe(true);
  });

  it('can be replaced by ten recovery codes, each once, which are stored as hashes', async () => {
    await create('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    expect((await ann.post('/account/recovery-codes')).body.code).toBe('codes-not-set-up');
    await ann.post('/account/totp');
    const code = await codeOf('ann', 'totp_pending');
    const { recoveryCodes } = (await ann.put('/account/totp', { code })).body;
    expect(recoveryCodes).toHaveLength(10);
    expect(new Set(recoveryCodes).size).toBe(10);
    const [first, second, third, ...others] = recoveryCodes;
    const left = async () => (await ann.get('/session')).body.recoveryCodesLeft;
    expect(await left()).toBe(10);

    expect((await signIn('ann', PASSWORD, { code: first })).status).toBe(200);
    expect(type(await signIn('ann', PASSWORD, { code: first }))).toBe('wrong-proof');
    expect(type(await signIn('ann', 'wrong password', { code: second }))).toBe('wrong-proof');
    expect((await ann.post('/session/proof', { password: PASSWORD, code: second.toLowerCase() })).status).toBe(200);
    expect(await left()).toBe(8);
    const [stored] = await service.fresh.database.query<{ person: string }>(
      `select to_jsonb(p)::text as person from people p where name = 'ann'`,
    );
    for (const one of others) expect(stored?.person).not.toContain(one.replaceAll('-', ''));
    const { body } = await ann.get('/audit?action=person.use-recovery-code');
    expect(body.entries.map(({ detail }: { detail: object }) => detail)).toEqual([{ left: 8 }, { left: 9 }]);

    const fresh = (await ann.post('/account/recovery-codes')).body.recoveryCodes;
    expect(fresh).toHaveLength(10);
    expect(type(await signIn('ann', PASSWORD, { code: third }))).toBe('wrong-proof');
    expect(await left()).toBe(10);
    expect((await ann.post('/account/totp/remove', { code: fresh[0] })).status).toBe(200);
    expect(await left()).toBe(0);
    const [row] = await service.fresh.database.query(`select recovery_hashes from people where name = 'ann'`);
    expect(row).toEqual({ recovery_hashes: [] });
  });

  it('of a recovery code: one of two concurrent uses succeeds', async () => {
    await create('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    await ann.post('/account/totp');
    const code = await codeOf('ann', 'totp_pending');
    const { recoveryCodes } = (await ann.put('/account/totp', { code })).body;
    const [used] = recoveryCodes;
    // Holds the operator's row until both requests wait for it.
    const { database } = service.fresh;
    const uses = await database.transaction(async (tx) => {
      await tx.query(`select from people where name = 'ann' for update`);
      const both = [1, 2].map(() => signIn('ann', PASSWORD, { code: used }));
      await until('two waiting uses', async () => {
        const [row] = await database.query<{ waiting: number }>(
          `select count(*)::integer as waiting from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%recovery_hashes%'`,
        );
        return row?.waiting === 2;
      });
      return both;
    });
    const statuses = (await Promise.all(uses)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 401]);
  });

  it('are removed by an unused code, not by the password', async () => {
    const secret = await withCodes('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    const remove = (code: string) => ann.post('/account/totp/remove', { code });
    expect((await ann.post('/account/totp/remove', {})).status).toBe(400);
    const used = totpCode(secret, totpStep(service.clock.now()));
    for (const code of [used, PASSWORD.slice(0, 16)]) {
      const { status, body } = await remove(code);
      expect([status, body.code]).toEqual([409, 'code-not-right']);
    }
    expect((await ann.get('/session')).body.hasTotp).toBe(true);
    service.clock.advance(60_000);
    expect((await remove(totpCode(secret, totpStep(service.clock.now())))).status).toBe(200);
    expect((await ann.get('/session')).body.hasTotp).toBe(false);
  });

  it('are set up before anything else by roles that need them, unless the identity provider has authenticated', async () => {
    const strict = await anotherNode(service, { totpRoles: ['finance'] });
    onTestFinished(() => strict.close());
    const of = async (role: Role) =>
      consoleClient({ fresh: service.fresh, vault: service.vault, clock: service.clock, ...strict }, role);
    const [finance, support] = [await of('finance'), await of('support')];
    expect((await finance.get('/session')).body.needsTotp).toBe(true);
    const refused = await finance.get('/orders');
    expect([refused.status, type(refused)]).toEqual([403, 'codes-needed']);
    expect((await support.get('/orders')).status).toBe(200);
    const begun = await finance.post('/account/totp');
    expect(begun.status).toBe(200);
    const [row] = await service.fresh.database.query<{ id: number; pending: string }>(
      'select person_id as id, totp_pending as pending from people where name = $1',
      [finance.name],
    );
    const secret = Buffer.from(service.vault.unwrapKey(row?.pending ?? '', keyPlaces.secondFactor(row?.id ?? 0)));
    expect((await finance.put('/account/totp', { code: totpCode(secret, totpStep(service.clock.now())) })).status).toBe(
      200,
    );
    expect((await finance.get('/orders')).status).toBe(200);
    await service.fresh.database.query('update people set totp_secret = null');
    expect((await finance.get('/orders')).status).toBe(403);
    await service.fresh.database.query('update console_sessions set by_single_sign_on = true');
    expect((await finance.get('/orders')).status).toBe(200);
  });

  it('follow RFC 6238', () => {
    const secret = Buffer.from('12345678901234567890');
    expect([59, 1111111109, 20000000000].map((seconds) => totpCode(secret, Math.floor(seconds / 30)))).toEqual([
      '287082',
      '081804',
      '353130',
    ]);
  });
});

describe('a session', () => {
  it('ends on sign-out, 15 minutes after its last use, after 12 hours, and when the operator is disabled', async () => {
    const admin = await consoleClient(service, 'admin');
    const { database } = service.fresh;
    const open = async () => {
      const ann = await consoleClient(service, 'support', 'ann');
      expect((await ann.get('/session')).status).toBe(200);
      return ann;
    };
    const out = await open();
    expect((await out.delete('/session')).status).toBe(204);
    expect((await out.get('/session')).status).toBe(401);
    const idle = await open();
    await database.query(`update console_sessions set last_seen_at = now() - interval '16 minutes'
      where person_id = (select person_id from people where name = 'ann')`);
    expect((await idle.get('/session')).status).toBe(401);
    const old = await open();
    await database.query(
      `update console_sessions set expires_at = now() where person_id = (select person_id from people where name = 'ann')`,
    );
    expect((await old.get('/session')).status).toBe(401);
    const disabled = await open();
    expect((await admin.post('/people/ann/disable')).body).toMatchObject({
      changed: true,
      person: { status: 'DISABLED' },
    });
    expect((await disabled.get('/session')).status).toBe(401);
    expect((await admin.post('/people/ann/enable')).status).toBe(200);
    expect((await disabled.get('/session')).status).toBe(401);
  });

  it('ends with a new role, a reset and a new password, except the one that set it', async () => {
    const first = await consoleClient(service, 'support', 'ann');
    await setRole(service.operator, { name: 'ann', role: 'finance' });
    expect((await first.get('/session')).status).toBe(401);
    const second = await consoleClient(service, 'support', 'ann');
    expect((await second.get('/session')).body.role).toBe('finance');
    const { setupToken } = await resetPerson(service.operator, { name: 'ann' });
    expect((await second.get('/session')).status).toBe(401);
    const set = await setUp(setupToken);
    expect(set.body).toEqual({ name: 'ann' });
    const third = await consoleClient(service, 'support', 'ann');
    const fourth = await consoleClient(service, 'support', 'ann');
    const changed = await third.put('/account/password', { current: PASSWORD, password: 'another good password' });
    expect(changed.status).toBe(200);
    expect([(await third.get('/session')).status, (await fourth.get('/session')).status]).toEqual([200, 401]);
    expect((await signIn('ann')).status).toBe(401);
    expect((await signIn('ann', 'another good password')).status).toBe(200);
  });

  it.each([
    ['sign-in', 'reset', () => signIn('ann')],
    ['sign-in', 'disabled', () => signIn('ann')],
    [
      'change of the password',
      'reset',
      (ann: ConsoleClient) => ann.put('/account/password', { current: PASSWORD, password: 'another good password' }),
    ],
  ] as const)('does not survive a %s that was in progress when the operator was %s', async (_what, how, send) => {
    await create('ann');
    const ann = await consoleClient(service, 'support', 'ann');
    const { database } = service.fresh;
    const { sent, setupToken } = await inTransaction(service.operator, async (_tx, joined) => {
      const reset = how === 'reset' ? await resetPerson(joined, { name: 'ann' }) : undefined;
      if (!reset) await disablePerson(joined, { name: 'ann' });
      const reply = send(ann);
      await until('a request that waits for the row', async () => (await lockWaits(database)) > 0);
      return { sent: reply, setupToken: reset?.setupToken ?? null };
    });
    const token = tokenOf(await sent);
    await enablePerson(service.operator, { name: 'ann' });
    expect((await asked(token)).status).toBe(401);
    expect((await signIn('ann', 'another good password')).status).toBe(401);
    if (how === 'reset') expect((await setUp(setupToken, 'a third good password')).body).toEqual({ name: 'ann' });
  });

  it("is extended by the operator's actions, not by background requests of a page", async () => {
    const ann = await consoleClient(service, 'support', 'ann');
    const { database } = service.fresh;
    const idleMinutes = async () => {
      const [row] = await database.query<{ minutes: number }>(
        `select round(extract(epoch from now() - last_seen_at) / 60)::integer as minutes from console_sessions`,
      );
      return row?.minutes;
    };
    await database.query(`update console_sessions set last_seen_at = now() - interval '14 minutes'`);
    for (const path of ['/waiting', '/session', '/orders']) {
      expect((await ann.send('GET', path, { headers: { 'x-unattended': 'true' } })).status).toBe(200);
    }
    expect(await idleMinutes()).toBe(14);
    expect((await ann.get('/waiting')).status).toBe(200);
    expect(await idleMinutes()).toBe(0);
    await database.query(`update console_sessions set last_seen_at = now() - interval '16 minutes'`);
    expect((await ann.send('GET', '/waiting', { headers: { 'x-unattended': 'true' } })).status).toBe(401);
  });

  it('is listed and ended by its owner only', async () => {
    const ann = await consoleClient(service, 'support', 'ann');
    const other = await consoleClient(service, 'support', 'ann');
    const bo = await consoleClient(service, 'support', 'bo');
    const { body } = await ann.get('/sessions');
    expect(body.sessions).toHaveLength(2);
    const [one] = body.sessions.filter(({ isThis }: { isThis: boolean }) => !isThis);
    expect((await bo.delete(`/sessions/${one.sessionId}`)).status).toBe(404);
    expect((await ann.delete(`/sessions/${one.sessionId}`)).status).toBe(200);
    expect((await other.get('/session')).status).toBe(401);
  });

  it('is stored without its token', async () => {
    const ann = await consoleClient(service, 'support', 'ann');
    const [row] = await service.fresh.database.query<{ text: string }>(
      'select s::text as text from console_sessions s',
    );
    expect(row?.text).not.toContain(ann.token);
  });
});

describe('a one-time link', () => {
  it('sets a password once, within a day', async () => {
    const { setupToken: token } = await createPerson(service.operator, { name: 'ann', role: 'viewer' });
    expect((await signIn('ann', PASSWORD)).status).toBe(401);
    expect((await setUp(token, 'too short')).status).toBe(400);
    expect((await setUp(token)).status).toBe(200);
    const again = await setUp(token);
    expect([again.status, type(again)]).toEqual([409, 'not-possible']);
    const { setupToken } = await resetPerson(service.operator, { name: 'ann' });
    await service.fresh.database.query(`update people set setup_until = now()`);
    const late = await setUp(setupToken);
    expect(late.status).toBe(409);
  });
});

describe('actions that move money or reveal a secret', () => {
  it('need an identity confirmed within the last five minutes', async () => {
    const ann = await consoleClient(service, 'admin', 'ann');
    const { setupToken } = await resetPerson(service.operator, { name: 'ann' });
    await setUp(setupToken);
    const again = await consoleClient(service, 'admin', 'ann');
    expect((await ann.get('/session')).status).toBe(401);
    const make = () => again.post('/people', { name: `new${Math.random()}`.slice(0, 10), role: 'viewer' });
    expect((await make()).status).toBe(200);
    await service.fresh.database.query(`update console_sessions set proven_at = now() - interval '6 minutes'`);
    const refused = await make();
    expect([refused.status, type(refused)]).toEqual([403, 'proof-needed']);
    expect(type(await again.post('/session/proof', { password: 'wrong password' }))).toBe('wrong-proof');
    expect((await make()).status).toBe(403);
    // The service checks the proof of identity before it looks anything up, so unknown ids are refused in the same way.
    for (const [method, path, body] of [
      ['post', '/orders/1/periods/1/retry', {}],
      ['post', '/orders/1/unmask', { reason: 'call' }],
      ['post', '/people/none/disable', {}],
      ['put', '/channels/test_none/payment-channels/NONE', { isDefault: true }],
      ['put', '/channels/test_none/products/NONE', {}],
      ['post', '/products/NONE/versions', { amountCent: 1 }],
      ['post', '/bulk/1/start', { confirmation: 'RETRY 1' }],
      ['post', '/settlement/2026-01/close', { confirmation: '2026-01', note: 'x' }],
      ['put', '/channels/test_none', { callback: { eventType: '*', url: 'https://thief.example/' } }],
    ] as const) {
      expect([path, type(await again[method](path, body))]).toEqual([path, 'proof-needed']);
    }
    for (const path of ['/channels/test_none/products/NONE', '/channels/test_none/payment-channels/NONE']) {
      expect([path, type(await again.delete(path))]).toEqual([path, 'proof-needed']);
    }
    expect((await again.post('/session/proof', { password: PASSWORD })).status).toBe(200);
    expect((await make()).status).toBe(200);
  });
});

describe('operators', () => {
  it('are created by an admin, with a link to set their password', async () => {
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

  it('have no odd name, and no password that is short, of one character or the name', async () => {
    for (const name of ['', ' ann', 'a b', 'ann\n', '<script>', 'ä', 'a'.repeat(65)])
      await expect(createPerson(service.operator, { name, role: 'viewer' }), name).rejects.toThrow('a name must be');
    const person = { name: 'annabelle', role: 'viewer' };
    for (const password of ['too short', 'aaaaaaaaaaaaaaaa', 'annabelle-annabelle'])
      await expect(createPerson(service.operator, { ...person, password }), password).rejects.toThrow(
        'a password must',
      );
  });

  it.each([
    ...[
      'password1234',
      'P@ssw0rd2026!',
      'Welcome12345',
      'administrator1',
      'qwertyuiop12',
      '123456789012',
      'abcdefghijkl',
      '0123456789987654321',
      '98765432108642',
    ],
    ...['1q2w3e4r5t6y', 'iloveyou1234', 'abcdeabcdeabcde', 'correct horse battery staple', 'ｐａｓｓｗｏｒｄ1234'],
  ])('cannot choose a common password: %s', async (password) => {
    await expect(createPerson(service.operator, { name: 'ann', role: 'viewer', password })).rejects.toThrow(
      'guessed first',
    );
  });

  it.each([
    'correct horse battery',
    'another good one',
    'test kettle umbrella',
    'x7#Kpq!mZ2vL',
    '我的猫喜欢吃三文鱼和土豆',
    // A pattern that backtracks would take years for this password.
    `987654321${'0123456789987654321'.repeat(51)}x`,
  ])('may have the password %.30s', async (password) => {
    await createPerson(service.operator, { name: 'ann', role: 'viewer', password });
  });

  it('do not choose one of their last five passwords again', async () => {
    const { setupToken } = await createPerson(service.operator, { name: 'ann', role: 'viewer' });
    const passwords = ['kettle', 'umbrella', 'harbour', 'glacier', 'tangerine', 'lantern'].map(
      (word) => `${word} and some more`,
    );
    const [first = '', ...later] = passwords;
    expect((await setUp(setupToken, first)).status).toBe(200);
    const ann = await consoleClient(service, 'viewer', 'ann');
    let current = first;
    const change = async (password: string) => {
      const { status, body } = await ann.put('/account/password', { current, password });
      if (status === 200) current = password;
      return status === 200 ? status : body.code;
    };
    expect(await change(first)).toBe('password-used');
    for (const password of later.slice(0, 4)) expect(await change(password)).toBe(200);
    expect(await change(first)).toBe('password-used');
    const again = await resetPerson(service.operator, { name: 'ann' });
    expect((await setUp(again.setupToken, current)).body.code).toBe('password-used');
    expect((await setUp(again.setupToken, passwords[5])).status).toBe(200);
    expect(
      await service.fresh.database.query(`select from people where cardinality(former_passwords) = 5`),
    ).toHaveLength(1);
  });

  it('are unlinked from the identity provider by an admin', async () => {
    const admin = await consoleClient(service, 'admin', 'ann');
    const bo = await consoleClient(service, 'support', 'bo');
    await service.fresh.database.query(`update people set single_sign_on = 'https://id.example bo' where name = 'bo'`);
    expect((await bo.post('/people/bo/unbind')).status).toBe(403);
    const { body } = await admin.post('/people/bo/unbind');
    expect(body).toMatchObject({ changed: true, person: { hasSingleSignOn: false } });
    expect((await bo.get('/session')).status).toBe(401);
    expect((await admin.post('/people/bo/unbind')).body.changed).toBe(false);
    await service.fresh.database.query(
      `update people set single_sign_on = 'https://id.example ann' where name = 'ann'`,
    );
    expect((await admin.post('/people/ann/unbind')).body.code).toBe('only-admin');
  });

  it('have unique names, regardless of case', async () => {
    const admin = await consoleClient(service, 'admin', 'ann');
    const twice = await admin.post('/people', { name: 'ANN', role: 'viewer' });
    expect([twice.status, twice.body.detail]).toEqual([409, 'there is already an operator called "ANN"']);
  });

  it('always include an admin: two cannot disable each other concurrently', async () => {
    const ann = await consoleClient(service, 'admin', 'ann');
    expect((await ann.post('/people/ann/disable')).body.detail).toContain('is the only admin');
    expect((await ann.put('/people/ann/role', { role: 'viewer' })).status).toBe(409);
    const bo = await consoleClient(service, 'admin', 'bo');
    const both = await Promise.all([ann.post('/people/bo/disable'), bo.post('/people/ann/disable')]);
    const { body } = await (both[0].status === 200 ? ann : bo).get('/people');
    const active = body.people.filter(({ status }: { status: string }) => status === 'ACTIVE');
    expect(active).toHaveLength(1);
  });

  it('always include an admin who can sign in: one without a password or single sign-on does not count', async () => {
    await createPersonWithPassword(service, 'ann', 'admin');
    const ann = await consoleClient(service, 'admin', 'ann');
    await createPerson(service.operator, { name: 'bo', role: 'admin' });
    for (const refused of [
      await ann.put('/people/ann/role', { role: 'viewer' }),
      await ann.post('/people/ann/disable'),
    ]) {
      expect([refused.status, refused.body.detail]).toEqual([
        409,
        'ann is the only admin who can sign in; another admin must set a password first',
      ]);
    }
    expect((await ann.put('/people/bo/role', { role: 'viewer' })).status).toBe(200);
    expect((await ann.put('/people/bo/role', { role: 'admin' })).status).toBe(200);
    await service.fresh.database.query(`update people set single_sign_on = 'https://id.example bo' where name = 'bo'`);
    expect((await ann.put('/people/ann/role', { role: 'viewer' })).status).toBe(200);
  });
});
