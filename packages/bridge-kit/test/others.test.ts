import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Statement } from '../src/index.js';
import { readBridgeSettings } from '../src/settings.js';
import { FakeInstitution } from './support/fake-institution.js';
import { ask, debitOf, gate, isRefused, KEY, questionOf, startWorld, until, type World } from './support/world.js';

type Line = Statement['lines'][number];

/** The number of the advisory lock with which the test delays inserts. */
const WAIT = 7391;

const CARD = {
  bankCardNo: '6222020000001234567',
  certificateNo: '110101199001011234',
  certType: 'ID_CARD',
  realName: 'Zhang San',
  bankMobile: '13800000009',
};

describe('the currency', () => {
  it('is stated in the handshake, and a request in another one reaches neither book nor institution', async () => {
    const institution = Object.assign(new FakeInstitution(), { currency: 'EUR' });
    const world = await startWorld({ institution });
    expect(await world.ask('handshake', { currency: 'CNY' })).toEqual({ http: 200, fields: { currency: 'EUR' } });
    expect(world.log()).toContain('the service uses CNY, but this bridge EUR');
    const other = { http: 409, fields: { error: 'the service uses CNY, but this bridge uses EUR' } };
    for (const currency of ['CNY', undefined]) {
      expect(await world.ask('debit', debitOf('D1', { currency }))).toEqual(other);
      expect(await world.ask('refund', { refundNo: 'R1', attemptNo: 'D1', amountCent: 1, currency })).toEqual(other);
      expect(await world.ask('statement', { day: '2026-01-01', cursor: null, currency })).toEqual(other);
    }
    expect(await world.ask('debit', debitOf('D1', { currency: 'euro' }))).toMatchObject({ http: 400 });
    expect(institution.calls).toEqual([]);
    expect(await world.query(`select from ${world.schema}.debits`)).toEqual([]);

    const slow = { institutionNo: 'SLOW', currency: 'EUR' };
    expect((await world.ask('debit', debitOf('D2', slow))).fields).toMatchObject({ status: 'PENDING' });
    const outcome = { status: 'DECLINED', decline: 'FINAL', reason: 'no' };
    await world.tell([{ about: 'debit', attemptNo: 'D2', outcome }]);
    await until('the notice', () => world.taker.taken.length === 1);
    expect(world.taker.taken[0]).toMatchObject({ attemptNo: 'D2', status: 'DECLINED', currency: 'EUR' });
  });

  it('is CNY by default, and one without hundredths is refused at the start', async () => {
    const world = await startWorld();
    expect((await world.ask('handshake', {})).fields).toEqual({ currency: 'CNY' });
    expect((await world.ask('debit', debitOf('D1'))).fields).toMatchObject({ status: 'SUCCESS' });
    expect((await world.ask('debit', debitOf('D2', { currency: 'CNY' }))).fields).toMatchObject({ status: 'SUCCESS' });
    const inYen = Object.assign(new FakeInstitution(), { currency: 'JPY' });
    await expect(world.start({ institution: inYen })).rejects.toThrow('JPY cannot be used');
  });
});

describe('refunds', () => {
  it('are executed once per number, and never exceed the debit in total', async () => {
    const world = await startWorld();
    const { institution } = world;
    const say = async (operation: string, body: object) => (await world.ask(operation, body)).fields;
    await world.ask('debit', debitOf('D1', { amountCent: 100 }));
    const refund = { refundNo: 'R1', attemptNo: 'D1', amountCent: 60 };
    const first = await say('refund', refund);
    expect(first).toEqual({
      ...{ refundNo: 'R1', status: 'SUCCESS', amountCent: 60, refundedAt: 1_700_000_000_000 },
      institutionRef: 'back-pay-1',
    });
    expect(await say('refund', refund)).toEqual(first);
    expect(await say('refund-query', { refundNo: 'R1' })).toEqual(first);
    expect(await world.ask('refund', { ...refund, amountCent: 61 })).toMatchObject({ http: 409 });
    expect(await world.ask('refund', { ...refund, attemptNo: 'D2' })).toMatchObject({ http: 409 });

    // Makes both refunds wait after their insert, so that each is in the table before either sum is computed.
    const { schema, query } = world;
    await query(
      `create function ${schema}.wait() returns trigger language plpgsql as
         'begin perform pg_advisory_xact_lock_shared(${WAIT}); return new; end';
       create trigger wait after insert on ${schema}.refunds for each row execute function ${schema}.wait()`,
    );
    await query(`select pg_advisory_lock(${WAIT})`);
    const both = ['R2', 'R3'].map((refundNo) => say('refund', { ...refund, refundNo, amountCent: 40 }));
    await until('both', async () => {
      const waiting = await query(
        `select from pg_locks where locktype = 'advisory' and objid = ${WAIT} and not granted`,
      );
      return waiting.length === 2;
    });
    await query(`select pg_advisory_unlock(${WAIT})`);
    expect((await Promise.all(both)).map(({ status }) => status).toSorted()).toEqual(['REFUSED', 'SUCCESS']);
    expect(await say('refund', { refundNo: 'R4', attemptNo: 'never', amountCent: 1 })).toMatchObject({
      status: 'REFUSED',
    });
    expect(await say('refund-query', { refundNo: 'R9' })).toEqual({ refundNo: 'R9', status: 'NOT_FOUND' });

    // The answer is lost, and the refund is then queried.
    await world.ask('debit', debitOf('D2', { amountCent: 100 }));
    institution.mishaps.set('refund', 'fails-after');
    const lost = { refundNo: 'R5', attemptNo: 'D2', amountCent: 100 };
    expect(await say('refund', lost)).toEqual({ refundNo: 'R5', status: 'PENDING', institutionAnswered: false });
    institution.mishaps.clear();
    expect(await say('refund', lost)).toMatchObject({ status: 'SUCCESS' });
    await world.query(`truncate ${world.schema}.refunds`);
    expect(await say('refund-query', { refundNo: 'R5' })).toMatchObject({ status: 'SUCCESS' });
    expect(await say('refund', lost)).toMatchObject({ status: 'SUCCESS' });
    expect(institution.calls.filter((call) => call === 'refund R5')).toHaveLength(1);
    expect(institution.paidBack).toHaveLength(3);
  });

  it('count while open and not if refused; unpaid debits are not refunded', async () => {
    const world = await startWorld();
    const { institution, clock } = world;
    const word = async (operation: string, body: object) => (await world.ask(operation, body)).fields['status'];
    const refund = (refundNo: string, attemptNo: string, amountCent: number) =>
      word('refund', { refundNo, attemptNo, amountCent });
    await world.ask('debit', debitOf('D1', { amountCent: 100 }));
    expect(await refund('R1', 'D1', 101)).toBe('REFUSED');
    institution.mishaps.set('refund', 'fails-before');
    expect(await refund('R2', 'D1', 60)).toBe('PENDING');
    institution.mishaps.clear();
    expect(await refund('R3', 'D1', 60)).toBe('REFUSED');
    expect(await refund('R4', 'D1', 40)).toBe('SUCCESS');

    await world.ask('debit', debitOf('D2', { institutionNo: 'SLOW' }));
    expect(await world.ask('refund', { refundNo: 'R5', attemptNo: 'D2', amountCent: 1 })).toMatchObject({ http: 503 });
    await world.ask('debit', debitOf('D3', { institutionNo: 'POOR' }));
    expect(await refund('R6', 'D3', 1)).toBe('REFUSED');

    await world.ask('debit', debitOf('D4', { amountCent: 100 }));
    const { until: opened, open } = gate();
    institution.mishaps.set('refund', { until: opened });
    const both = [refund('R7', 'D4', 50), refund('R7', 'D4', 50)];
    await until('the call', () => institution.calls.includes('refund R7'));
    expect(await world.ask('refund', { refundNo: 'R7', attemptNo: 'D4', amountCent: 51 })).toMatchObject({ http: 409 });
    const question = word('refund-query', { refundNo: 'R7' });
    open();
    expect(await Promise.all([...both, question])).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    expect(institution.calls.filter((call) => call === 'refund R7')).toHaveLength(1);

    // The institution does not know the refund, and no longer guarantees to execute it only once.
    clock.ahead = institution.repeatableForMs + 1_000;
    await until('the end of the question', async () => {
      expect(await refund('R2', 'D1', 60)).toBe('PENDING');
      return institution.calls.filter((call) => call === 'findRefund R2').length > 1;
    });
    expect(institution.paidBack.map(({ refundNo }) => refundNo)).toEqual(['R4', 'R7']);

    // The once-only guarantee covers only refunds here: a lost refund is executed again, a lost debit is not.
    institution.mishaps.set('debit', 'fails-before');
    expect(await word('debit', debitOf('D5'))).toBe('PENDING');
    institution.mishaps.clear();
    const repeatableForMs = { debits: 0, refunds: clock.ahead + 60_000 };
    const other = await world.start({ institution: Object.assign(institution, { repeatableForMs }) });
    const wordOf = async (operation: string, body: object) =>
      (await world.ask(operation, body, other)).fields['status'];
    await until('the question', async () => {
      expect(await wordOf('debit', debitOf('D5'))).toBe('PENDING');
      return institution.calls.includes('findDebit D5');
    });
    await until('the refund', async () => {
      return (await wordOf('refund', { refundNo: 'R2', attemptNo: 'D1', amountCent: 60 })) === 'SUCCESS';
    });
    expect(institution.payments.map(({ attemptNo }) => attemptNo)).not.toContain('D5');
  });

  it('and debits are found by the institution’s own number, in a statement and by a webhook', async () => {
    const world = await startWorld();
    const { institution, tell } = world;
    for (const attemptNo of ['D1', 'D2']) await world.ask('debit', debitOf(attemptNo));
    await world.ask('debit', debitOf('D3', { institutionNo: 'SLOW' }));
    const parts = { R1: 'D1', R2: 'D2', R3: 'D2' };
    for (const [refundNo, attemptNo] of Object.entries(parts)) {
      await world.ask('refund', { refundNo, attemptNo, amountCent: 1 });
    }
    // Two refunds share the reference back-pay-2.
    const refs = { DEBIT: ['pay-1', 'pay-2', 'slow-1', 'none'], REFUND: ['pay-1', 'back-pay-1', 'back-pay-2'] };
    Object.assign(institution.booked, refs);
    const { lines } = (await world.ask('statement', { day: '2026-03-20', cursor: null })).fields as { lines: Line[] };
    expect(lines.map(({ kind, institutionRef, number }) => `${kind} ${institutionRef} ${number}`)).toEqual([
      'DEBIT pay-1 D1',
      'DEBIT pay-2 D2',
      'DEBIT slow-1 D3',
      'REFUND back-pay-1 R1',
    ]);
    await tell([{ about: 'debit', institutionRef: 'slow-1', outcome: institution.paid('D3', 1990) }]);
    expect((await world.ask('debit-query', questionOf('D3'))).fields).toMatchObject({ status: 'SUCCESS' });
  });

  it.each(['book-written', 'institution-called'] as const)('survive a crash at %s', async (point) => {
    const world = await startWorld({
      at: (reached, number) => {
        if (reached === point && number === 'R1') throw new Error('killed');
      },
    });
    const refund = { refundNo: 'R1', attemptNo: 'D1', amountCent: 1 };
    await world.ask('debit', debitOf('D1'));
    expect(await world.ask('refund', refund)).toMatchObject({ http: 500 });
    const other = await world.start({ at: () => undefined });
    world.clock.ahead = 25_000;
    await until('the refund', async () => (await world.ask('refund', refund, other)).fields['status'] === 'SUCCESS');
    expect(world.institution.paidBack).toHaveLength(1);
  });
});

describe('webhooks and notices', () => {
  it('a webhook settles once: early, repeated, late, or contradicting the stored result', async () => {
    const world = await startWorld();
    const { institution, taker, ask: say, tell, log, query, schema, bridge } = world;
    await say('debit', debitOf('D1', { institutionNo: 'SLOW' }));
    const success = institution.paid('D1', 1990);
    const told = { about: 'debit', attemptNo: 'D1', outcome: success };
    expect(await tell([told], 'forged')).toBe(401);
    expect((await query(`select state, institution_ref from ${schema}.debits`))[0]).toEqual({
      state: 'OPEN',
      institution_ref: 'slow-1',
    });
    taker.answers = [500, 401, 503];
    expect(await tell([told])).toBe(200);
    expect(await tell([told, told])).toBe(200);
    await untilAnswered(world, 4);
    expect(taker.statuses).toEqual([500, 401, 503, 200]);
    expect(taker.nonces.size).toBe(4);
    const { noticeNo, ...notice } = taker.taken[0] ?? {};
    expect(notice).toEqual({ kind: 'DEBIT', attemptNo: 'D1', currency: 'CNY', ...success });

    // The webhook reports PENDING and then the opposite result: the stored result is kept.
    expect(await tell([{ ...told, outcome: { status: 'PENDING' } }])).toBe(200);
    expect(await tell([{ ...told, outcome: { status: 'DECLINED', decline: 'FINAL', reason: 'no' } }])).toBe(200);
    expect((await say('debit-query', questionOf('D1'))).fields['status']).toBe('SUCCESS');
    expect(log()).toContain('contradicts a stored result');
    // A number that is not in the book, then a number of ours with a result that the protocol cannot express.
    expect(await tell([{ ...told, attemptNo: 'somebody-else' }])).toBe(200);
    await say('debit', debitOf('D2', { institutionNo: 'SLOW' }));
    expect(await tell([{ ...told, attemptNo: 'D2', outcome: { ...success, amountCent: 0 } }])).toBe(500);

    // Webhooks with a valid signature but a wrong body. The log must not contain any part of an unreadable body.
    const send = async (body: string) =>
      (await fetch(`${bridge.url}/webhooks`, { method: 'POST', headers: { 'x-fake-signature': 'good' }, body })).status;
    expect(await send('{}')).toBe(400);
    expect(await send('hello\n    at Zhang San')).toBe(500);
    expect(log()).toMatch(/"error":{"type":"SyntaxError","message":"invalid JSON","at":"at JSON.parse/);
    expect(log()).not.toMatch(/hello|Zhang/);
    for (const odd of [
      { ...told, attemptNo: null },
      { about: 'refund', refundNo: '\0' },
    ])
      expect(await tell([odd])).toBe(200);
    expect(await tell([{ about: 'agreement-ended', institutionNo: '\0', reason: '' }])).toBe(200);

    const ended = { about: 'agreement-ended', institutionNo: 'GOOD', reason: 'by the customer' };
    expect(await tell([ended, ended])).toBe(200);
    await until('the notice of the end', () => taker.taken.length === 2);
    expect(taker.taken[1]).toMatchObject({
      kind: 'AGREEMENT_CANCELED',
      institutionNo: 'GOOD',
      reason: 'by the customer',
    });
    expect((await say('debit', debitOf('D3'))).fields).toMatchObject({ decline: 'AGREEMENT_INVALID' });
    expect(institution.payments).toHaveLength(1);

    const health = await fetch(`${bridge.monitoringUrl}/health`);
    expect({ status: health.status, ...((await health.json()) as object) }).toEqual({ status: 'ok' });
    const metrics = await (await fetch(`${bridge.monitoringUrl}/metrics`)).text();
    expect(metrics).toContain('bridge_contradictions_total{about="debit"} 1');
    expect(metrics).toContain('bridge_requests_total{operation="debit",outcome="PENDING"} 2');
    expect(metrics).toContain('bridge_notices_owed 0');
    expect(metrics).toContain('bridge_open{about="debits"} 1');
  });

  it('a notice refused eight times is given up; one with Retry-After waits', async () => {
    const world = await startWorld();
    const { taker, tell, ask: say, clock, log, query, schema, institution } = world;
    await say('debit', debitOf('D1', { institutionNo: 'SLOW' }));
    taker.answers = [400, 413, 500, 400, 400, 400, 400, 400, 400];
    await tell([{ about: 'debit', attemptNo: 'D1', outcome: institution.paid('D1', 1990) }]);
    await untilAnswered(world, 9);
    await until('the end', () => log().includes('given up'));
    clock.ahead += 400_000;
    expect(await query(`select ended from ${schema}.notices`)).toEqual([{ ended: 'GIVEN_UP' }]);
    expect(taker.taken).toEqual([]);

    await say('debit', debitOf('D2', { institutionNo: 'SLOW' }));
    taker.answers = [429];
    taker.retryAfter = '120';
    const before = clock.now();
    await tell([{ about: 'debit', attemptNo: 'D2', outcome: institution.paid('D2', 1990) }]);
    await until('the answer', async () => {
      const [row] = await query(
        `select send_at::float8 as at from ${schema}.notices where ended is null and tries = 1`,
      );
      return Number(row?.['at']) >= before + 120_000;
    });
    clock.ahead += 121_000;
    await until('the notice', () => taker.taken.length === 1);

    // While one process sends a notice, no other process sends it.
    const { until: opened, open } = gate();
    taker.hold = opened;
    for (const attemptNo of ['D3', 'D4']) await say('debit', debitOf(attemptNo, { institutionNo: 'SLOW' }));
    const settled = (attemptNo: string) => ({ about: 'debit', attemptNo, outcome: institution.paid(attemptNo, 1990) });
    await tell([settled('D3')]);
    await until('the first', () => taker.came.includes('D3'));
    await tell([settled('D4')], 'good', await world.start());
    await until('the second', () => taker.came.includes('D4'));
    open();
    await until('both', () => taker.taken.length === 3);
    expect(taker.came.filter((attemptNo) => attemptNo === 'D3')).toHaveLength(1);
  });
});

describe('agreements', () => {
  it('are canceled once, bound once, and card data is stored nowhere', async () => {
    const world = await startWorld();
    const { institution, log } = world;
    const say = async (operation: string, body: object) => (await world.ask(operation, body)).fields;
    const cancellation = { agreementNo: 'A1', institutionNo: '约'.repeat(1024) };
    institution.mishaps.set('cancelAgreement', 'fails-before');
    expect(await world.ask('agreement-cancel', cancellation)).toMatchObject({ http: 503 });
    institution.mishaps.clear();
    for (let times = 0; times < 2; times += 1) {
      expect(await say('agreement-cancel', cancellation)).toEqual({ status: 'CANCELED' });
    }
    expect(institution.canceled).toHaveLength(1);
    const kept = { agreementNo: 'A2', institutionNo: 'KEPT' };
    expect(await say('agreement-cancel', kept)).toEqual({ status: 'REFUSED', reason: 'card … is kept' });
    expect(await say('debit', debitOf('D0', { institutionNo: 'KEPT' }))).toMatchObject({ status: 'SUCCESS' });
    expect(await say('debit', debitOf('D1', { institutionNo: cancellation.institutionNo }))).toMatchObject({
      decline: 'AGREEMENT_INVALID',
    });

    const binding = { appId: 'a', bindOrderNo: 'B1', bankCode: null, card: CARD };
    expect(await say('bind-code', binding)).toEqual({ status: 'SENT', reference: 'ref' });
    institution.mishaps.set('bindCode', 'fails-before');
    expect(await world.ask('bind-code', binding)).toMatchObject({ http: 503 });
    institution.mishaps.clear();
    const confirmation = { appId: 'a', bindOrderNo: 'B1', reference: 'ref', smsCode: '0' };
    expect(await say('bind-confirm', confirmation)).toMatchObject({ status: 'WRONG_CODE' });
    const bound = await say('bind-confirm', { ...confirmation, smsCode: '1234' });
    expect(bound).toMatchObject({ status: 'BOUND' });
    expect(await say('bind-confirm', { ...confirmation, smsCode: '1234' })).toEqual(bound);
    const confirmed = () => institution.calls.filter((call) => call === 'bindConfirm').length;
    expect(confirmed()).toBe(2);
    const { until: opened, open } = gate();
    institution.mishaps.set('bindConfirm', { until: opened });
    const processes = [world.bridge, await world.start()];
    const other = { ...confirmation, bindOrderNo: 'B3', smsCode: '1234' };
    const both = processes.map((of) => world.ask('bind-confirm', other, of));
    await until('both calls', () => confirmed() === 4);
    open();
    const [one, two] = await Promise.all(both);
    expect(one).toEqual(two);
    expect(await say('bind-code', binding)).toMatchObject({ status: 'NOT_SENT' });
    for (let times = 0; times < 12; times += 1) await say('bind-code', { ...binding, bindOrderNo: 'B2' });
    expect(institution.codes).toBe(11);

    const tables = ['debits', 'refunds', 'bindings', 'notices', 'ended_agreements'];
    const rows = await Promise.all(tables.map((table) => world.query(`select * from ${world.schema}.${table}`)));
    for (const secret of Object.values(CARD).filter((text) => text !== 'ID_CARD')) {
      expect(log() + JSON.stringify(rows)).not.toContain(secret);
    }
  });
});

describe('starts and stops', () => {
  it('several processes create one book; a stop waits for requests in flight', async () => {
    const world = await startWorld();
    const { institution } = world;
    const others = await Promise.all([world.start(), world.start()]);
    const [first] = others;
    const { until: opened, open } = gate();
    institution.mishaps.set('debit', { until: opened });
    const url = first?.url ?? '';
    const answer = ask(url, 'debit', debitOf('D1'));
    await until('the call', () => institution.calls.length === 1);
    const stopped = first?.stop();
    await until('the port closed', () => isRefused(url));
    open();
    expect((await answer).fields['status']).toBe('SUCCESS');
    await stopped;
    expect((await world.ask('debit-query', questionOf('D1'))).fields['status']).toBe('SUCCESS');

    // A stop also waits for the request of a caller that has disconnected.
    const hold = gate();
    institution.mishaps.set('debit', { until: hold.until });
    const caller = new AbortController();
    const gone = expect(ask(others[1]?.url ?? '', 'debit', debitOf('D2'), { signal: caller.signal })).rejects.toThrow();
    await until('the call', () => institution.calls.includes('debit D2'));
    caller.abort();
    await gone;
    const end = others[1]?.stop();
    await until('the port closed', () => isRefused(others[1]?.url ?? ''));
    hold.open();
    await end;
    expect(await world.query(`select state from ${world.schema}.debits where number = 'D2'`)).toEqual([
      { state: 'SETTLED' },
    ]);
  });

  it('a failed start names the reason', async () => {
    const world = await startWorld();
    const refusals: [Partial<Parameters<typeof world.start>[0]>, RegExp][] = [
      [{ key: Buffer.alloc(31) }, /32 bytes/],
      [{ schema: 'a;b' }, /^DATABASE_SCHEMA: /],
      ...['ftp://service/gateway/v1/notices/X', 'http://service', 'http://service/gateway/v1/notices/X?a', 'X'].map(
        (serviceNoticeUrl) => [{ serviceNoticeUrl }, /^NOTICE_URL must be /] as [object, RegExp],
      ),
      [{ databaseUrl: 'postgres://u:secret@127.0.0.1:1/x' }, /^DATABASE_URL: .*ECONNREFUSED/],
      [{ databaseUrl: 'postgres://u:secret@[' }, /^DATABASE_URL: (?!.*secret)/],
      [{ port: Number(new URL(world.bridge.url).port) }, /EADDRINUSE/],
    ];
    for (const [wrong, why] of refusals) await expect(world.start(wrong)).rejects.toThrow(why);
    // A book belongs to one bridge, even if the book is from a release in which books had no owner.
    const another = { institution: Object.assign(new FakeInstitution(), { name: 'other' }) };
    const whose = `DATABASE_SCHEMA: ${world.schema} is the book of the bridge "fake": choose another schema for "other"`;
    await expect(world.start(another)).rejects.toThrow(whose);
    await world.query(
      `drop table ${world.schema}.owner; drop index ${world.schema}.debits_by_ref, ${world.schema}.refunds_by_ref;
       delete from ${world.schema}.steps where step >= 3`,
    );
    await world.start();
    await expect(world.start(another)).rejects.toThrow(whose);
    await world.query(`insert into ${world.schema}.steps values (99)`);
    await expect(world.start()).rejects.toThrow(/newer version/);
  });

  it('settings are read from the environment, and a wrong one is named', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-settings-'));
    const keyFile = path.join(folder, 'key');
    await writeFile(keyFile, KEY.toString('base64'));
    const env = { BRIDGE_KEY_FILE: keyFile, DATABASE_URL: 'postgres://x' };
    expect(await readBridgeSettings(env)).toMatchObject({ schema: 'bridge', port: 8091, keepDays: 400 });
    expect(await readBridgeSettings({ ...env, KEEP_DAYS: '30', PORT: '1' })).toMatchObject({ keepDays: 30, port: 1 });
    const wrong = {
      KEEP_DAYS: '29',
      PORT: '65536',
      BASE_PATH: '/a/',
      DATABASE_URL: '',
      BRIDGE_KEY_FILE: folder,
      LOG_LEVEL: 'loud',
    };
    for (const [name, value] of Object.entries(wrong)) {
      await expect(readBridgeSettings({ ...env, [name]: value })).rejects.toThrow(name);
    }
    await writeFile(keyFile, `${KEY.toString('base64')}!`);
    await expect(readBridgeSettings(env)).rejects.toThrow(/^BRIDGE_KEY_FILE: \S+ the file must contain 32 bytes/);
    await rm(folder, { recursive: true });
  });
});

/** Waits for each answer and skips the retry delay after it. */
async function untilAnswered({ taker, clock, query, schema }: World, times: number): Promise<void> {
  for (let answered = 1; answered <= times; answered += 1) {
    await until('an answer', () => taker.statuses.length >= answered);
    await until('the pause', async () => {
      const held = await query(`select from ${schema}.notices where ended is null and in_hand_until > 0`);
      return held.length === 0;
    });
    clock.ahead += 310_000;
  }
}
