import { beforeEach, describe, expect, it } from 'vitest';
import { type AlertKind, raiseAlert, resolveAlert } from '../../src/alerts/alerts-sql.js';
import { storeAlertMessage } from '../../src/alerts/messages-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { putOrder } from '../settlement/support.js';
import { testService } from '../support/service.js';
import { personOfFile, walk } from './support.js';

const service = ofFile(testService);
const viewer = personOfFile(() => service, 'viewer');
const support = personOfFile(() => service, 'support');
const finance = personOfFile(() => service, 'finance');
beforeEach(() => service.fresh.database.query('truncate alerts, alert_comments, alert_messages, orders'));

const ORDER = 100000001000;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const raise = (kind: AlertKind, subject: string) =>
  raiseAlert(service.fresh.database, kind, subject, `about ${subject}`);
const list = async (query = '') => {
  const { status, body } = await viewer.get(`/alerts?${query}`);
  expect(status).toBe(200);
  return body;
};
const subjects = async (query = '') => (await list(query)).alerts.map(({ subject }: { subject: string }) => subject);
const one = (kind: string, subject: string) =>
  viewer.get(`/alerts/one?${new URLSearchParams({ kind, subject }).toString()}`);

describe('GET /alerts', () => {
  it('lists open alerts, latest first, with the number of each kind', async () => {
    await raise('refund-refused', '1');
    await raise('webhook-given-up', 'test_one');
    await raise('webhook-given-up', 'test_two');
    await resolveAlert(service.fresh.database, 'refund-refused', '1', 'done');
    expect(await list()).toEqual({
      alerts: [
        {
          kind: 'webhook-given-up',
          severity: 'warning',
          subject: 'test_two',
          detail: 'about test_two',
          detailSaid: null,
          seen: 1,
          firstSeenAt: TIME,
          lastSeenAt: TIME,
          owner: null,
          acknowledgedBy: null,
          acknowledgedAt: null,
          resolvedAt: null,
          resolvedBecause: null,
          resolvedSaid: null,
          comments: 0,
          orderNo: null,
        },
        expect.objectContaining({ subject: 'test_one' }),
      ],
      nextCursor: null,
      kinds: [{ kind: 'webhook-given-up', open: 2 }],
    });
    expect(await subjects('which=all')).toEqual(['test_two', 'test_one', '1']);
    // The service's own texts have a code, for pages in other languages.
    await raiseAlert(service.fresh.database, 'webhook-given-up', 'test_two', '12 events given up together');
    expect((await one('webhook-given-up', 'test_two')).body.alert).toMatchObject({
      detail: '12 events given up together',
      detailSaid: { code: 'webhook-given-up', values: ['12'] },
    });
    expect(await subjects('which=all&kind=refund-refused')).toEqual(['1']);
  });

  it('lists the most severe open alerts first, on all pages; all alerts are listed by time', async () => {
    const raised: readonly [AlertKind, string][] = [
      ['database-full', 'database'],
      ['pool-empty', 'COUPON'],
      ['debit-late-success', '1'],
      ['refund-refused', '2'],
      ['order-number-of-another-channel', '3'],
    ];
    for (const one of raised) await raise(...one);
    await resolveAlert(service.fresh.database, 'database-full', 'database', 'done');
    const walked = (query: string) => walk(viewer, `/alerts?limit=1${query}`, 'alerts', 'subject');
    expect(await walked('')).toEqual(['COUPON', '2', '3', '1']);
    expect(await walked('&which=all')).toEqual(['3', '2', '1', 'COUPON', 'database']);
    const severities = (await list()).alerts.map(({ severity }: { severity: string }) => severity);
    expect(severities).toEqual(['critical', 'warning', 'info', 'info']);
    expect((await viewer.get('/overview')).body.alerts[0]).toMatchObject({ kind: 'pool-empty', severity: 'critical' });
  });

  it('pages by a cursor, also through alerts of the same moment', async () => {
    await service.fresh.database.query(
      `insert into alerts (kind, subject, detail) select 'refund-refused', n::text, '' from generate_series(10, 16) n`,
    );
    expect(await walk(viewer, '/alerts?limit=2', 'alerts', 'subject')).toEqual([
      '16',
      '15',
      '14',
      '13',
      '12',
      '11',
      '10',
    ]);
  });

  it.each<[AlertKind, string, string | null]>([
    ['debit-contradiction', `${ORDER}000101`, `${ORDER}`],
    ['refund-refused', `R${ORDER}000101`, `${ORDER}`],
    ['claim-refused', `C${ORDER}000102`, `${ORDER}`],
    ['billing-failed', `${ORDER}`, `${ORDER}`],
    ['debit-contradiction', '999999999999000101', null],
    ['notice-for-unknown-attempt', `${ORDER}000101`, null],
    ['webhook-given-up', `${ORDER}`, null],
  ])('%s about %s is about order %s', async (kind, subject, orderNo) => {
    await putOrder(service.fresh.database, { orderNo: ORDER, channelId: '1' });
    await raise(kind, subject);
    expect((await list()).alerts).toMatchObject([{ kind, subject, orderNo }]);
  });
});

describe('GET /alerts/one', () => {
  it('has its comments and the messages that name it, whatever characters its subject contains', async () => {
    const subject = 'UNI PAY/ü? 2026-01-31';
    await raise('reconciliation-difference', subject);
    for (const [what, about] of [
      ['OPEN', subject],
      ['OPEN', 'another'],
    ] as const) {
      const content = { alerts: [{ subject: about }] };
      const message = { way: 'WEBHOOK', what, kind: 'reconciliation-difference', content } as const;
      await storeAlertMessage(service.fresh.database, message);
    }
    const named = { kind: 'reconciliation-difference', subject };
    expect((await support.post('/alerts/comments', { ...named, text: ' called the bank\r\nthey look ' })).status).toBe(
      200,
    );
    expect((await finance.post('/alerts/comments', { ...named, text: 'they found it' })).status).toBe(200);
    expect((await one(named.kind, subject)).body).toEqual({
      alert: expect.objectContaining({ ...named, comments: 2 }),
      comments: [
        { author: support.name, at: TIME, text: 'called the bank\nthey look' },
        { author: finance.name, at: TIME, text: 'they found it' },
      ],
      messages: [{ way: 'WEBHOOK', what: 'OPEN', writtenAt: TIME, sentAt: null, failure: null }],
    });
  });
});

describe('an alert', () => {
  const named = { kind: 'refund-refused', subject: '1' };
  beforeEach(() => raise('refund-refused', '1'));

  it('has an owner, who is an active operator, under the stored name', async () => {
    const owner = finance.name.toUpperCase();
    expect((await support.post('/alerts/owner', { ...named, owner })).body).toEqual({ changed: true });
    expect((await support.post('/alerts/owner', { ...named, owner })).body).toEqual({ changed: false });
    expect(await subjects(`owner=${finance.name}`)).toEqual(['1']);
    expect(await subjects(`owner=${support.name}`)).toEqual([]);
    await raise('refund-refused', '2');
    expect(await subjects('unowned=true')).toEqual(['2']);
    await support.post('/alerts/acknowledge', { kind: 'refund-refused', subject: '2' });
    await raise('refund-refused', '1');
    expect((await list()).alerts).toMatchObject([{ owner: finance.name, seen: 2 }]);
    expect((await finance.post('/alerts/owner', { ...named, owner: null })).body).toEqual({ changed: true });
    expect((await finance.post('/alerts/owner', { ...named, owner: 'nobody-here' })).status).toBe(404);
    const { body } = await viewer.get('/audit?action=alert.set-owner');
    expect(body.entries.map(({ actor, detail }: Record<string, unknown>) => ({ actor, detail }))).toEqual([
      { actor: finance.name, detail: { kind: 'refund-refused', from: finance.name, to: null } },
      { actor: support.name, detail: { kind: 'refund-refused', from: null, to: finance.name } },
    ]);
  });

  it('keeps its comments out of the audit log', async () => {
    await support.post('/alerts/comments', { ...named, text: 'his mobile is 13800000000' });
    const { body } = await viewer.get('/audit?action=alert.comment');
    expect(JSON.stringify(body)).not.toContain('13800000000');
    expect(body.entries[0]).toMatchObject({ subject: '1', detail: { kind: 'refund-refused' } });
  });

  it.each([
    ['an empty comment', '/alerts/comments', { text: '  ' }, 400],
    ['a comment with control characters', '/alerts/comments', { text: 'a\u001b[2J' }, 400],
    ['a comment that is too long', '/alerts/comments', { text: 'x'.repeat(2001) }, 400],
    ['one that is not there', '/alerts/acknowledge', { subject: 'nothing' }, 404],
    ['one that is not there', '/alerts/owner', { subject: 'nothing', owner: null }, 404],
    ['one that is not there', '/alerts/comments', { subject: 'nothing', text: 'x' }, 404],
  ])('%s is refused by %s', async (_what, path, more, status) => {
    expect((await support.post(path, { ...named, ...more })).status).toBe(status);
  });
});
