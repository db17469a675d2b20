import { beforeEach, describe, expect, it } from 'vitest';
import { reportFailedSignIns } from '../../src/engine/jobs/failed-sign-ins.js';
import { ofFile } from '../orders/stage-of-file.js';
import { collectRequest, mobileOf, sharedRequest } from '../support/demo.js';
import { operatorStage } from './operators.js';
import { ask, consoleClient, createPersonWithPassword } from './support.js';

/** Failed sign-ins and reads of personal data are in the audit log. Searches by mobile number are limited. */

const on = ofFile(operatorStage);
const traced = async (action: string) =>
  on.sql<{ actor: string; subject: string; address: string; detail: Record<string, unknown> }>(
    'select actor, subject, address, detail from audit_log where action = $1 order by audit_id',
    [action],
  );

describe('failed sign-ins', () => {
  beforeEach(async () => {
    await on.sql('truncate sign_in_failures, sign_in_traces, alerts');
  });
  const fail = (name: string) =>
    ask(on.service.baseUrl, 'POST', '/session', { body: { name, password: 'wrong password' } });
  /** Ends the minute in which the failures are counted, and reports the failures. */
  const report = async () => {
    await on.sql(`update sign_in_traces set minute = minute - interval '10 minutes'`);
    await reportFailedSignIns(on.service.fresh.database);
  };
  const alerts = () => on.sql<{ detail: string }>(`select detail from alerts where kind = 'sign-in-failures'`);

  it('are in the audit log by account and address, without names that may be passwords', async () => {
    await createPersonWithPassword(on.service, 'dora', 'support');
    for (const name of [...Array<string>(6).fill('dora'), 'DORA', 'my secret pass']) await fail(name);
    const [row] = await on.sql<{ text: string }>('select string_agg(t::text, $1) as text from sign_in_traces t', ['']);
    expect(row?.text).not.toContain('secret');
    await report();
    await report();
    // Attempts that were refused without a check count too. The minute may have changed meanwhile, so the test adds up
    // the failures.
    expect(
      await on.sql(`select actor, subject, address, sum((detail ->> 'failures')::integer)::integer as failures
        from audit_log where action = 'session.fail' group by actor, subject, address order by subject`),
    ).toEqual([
      { actor: 'console', subject: 'dora', address: '127.0.0.1', failures: 7 },
      { actor: 'console', subject: 'unknown', address: '127.0.0.1', failures: 1 },
    ]);
  });

  it('from many addresses make few entries', async () => {
    await on.sql(`insert into sign_in_traces (minute, name, address)
      select date_trunc('minute', now()) + m * interval '1 minute', '', '192.0.2.' || n
      from generate_series(0, 2) m, generate_series(1, 20) n`);
    for (const name of ['a', 'b', 'c']) await fail(name);
    expect(
      await on.sql(`select name, address, sum(failures)::integer as failures from sign_in_traces
        where address not like '192.%' group by name, address`),
    ).toEqual([{ name: '', address: '', failures: 3 }]);
  });

  it('raise an alert if there are ten in a minute', async () => {
    const failed = (failures: number) =>
      on.sql(`insert into sign_in_traces values (date_trunc('minute', now()), '', '192.0.2.1', 1),
        (date_trunc('minute', now()), 'ann', '192.0.2.2', ${failures - 1})`);
    await failed(9);
    await report();
    expect(await alerts()).toEqual([]);
    await failed(10);
    await report();
    expect(await alerts()).toEqual([{ detail: '10 failed sign-ins within a minute, of 2 names, from 2 addresses' }]);
  });
});

describe('reads of personal data', () => {
  const searchFor = (client: typeof on.support, q: string) => client.get(`/search?q=${encodeURIComponent(q)}`);

  it('are in the audit log, with a hash of what was looked for', async () => {
    const channelUserId = 'user-of-traces';
    await on.channel.call('orders/create', collectRequest(on.channel, { channelUserId }));
    const mobile = mobileOf(channelUserId);
    const client = await consoleClient(on.service, 'support');
    // The last text is the start of an order number.
    for (const q of [mobile, `+86 ${mobile}`, '19900000000', '10000000100']) await searchFor(client, q);
    await client.get(`/users?appId=test_demo&channelUserId=${channelUserId}`);
    await client.get(`/users?appId=test_demo&channelUserId=${channelUserId}`);
    await client.get(`/orders.csv?appId=test_demo&channelUserId=${channelUserId}`);
    const hash = expect.stringMatching(/^[0-9a-f]{16}$/);
    const by = { actor: client.name, address: '127.0.0.1' };
    // A repeated search is recorded once.
    expect(await traced('search.mobile')).toEqual(Array(2).fill({ ...by, subject: 'mobile', detail: { hash } }));
    const subject = expect.stringMatching(/^user-[0-9a-f]{64}$/);
    expect(await traced('user.open')).toEqual([{ ...by, subject, detail: { hash, appId: 'test_demo' } }]);
    expect(await traced('orders.export')).toEqual([{ ...by, subject: 'orders', detail: { hash, appId: 'test_demo' } }]);
    const [row] = await on.sql<{ text: string }>('select string_agg(a::text, $1) as text from audit_log a', ['']);
    for (const value of [mobile, channelUserId]) expect(row?.text).not.toContain(value);
  });

  it('cannot reveal masked digits: sixty mobile numbers an hour, also concurrently', async () => {
    const client = await consoleClient(on.service, 'support');
    await on.sql(
      `insert into audit_log (at, actor, action, subject, detail)
       select now(), $1, 'search.mobile', 'mobile', jsonb_build_object('hash', n) from generate_series(1, 55) n`,
      [client.name],
    );
    const numbers = Array.from({ length: 10 }, (_, n) => `1380000000${n}`);
    const replies = await Promise.all(numbers.map((number) => searchFor(client, number)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.map(({ body }) => [body.code, body.values])).toEqual(Array(5).fill(['reads-used-up', ['60']]));
    expect((await searchFor(client, 'anything else')).status).toBe(200);
    expect((await searchFor(await consoleClient(on.service, 'support'), '13800000000')).status).toBe(200);
  });

  it('reveal at most sixty mobile numbers an hour', async () => {
    const client = await consoleClient(on.service, 'support');
    await on.sql(
      `insert into audit_log (at, actor, action, subject, detail)
       select now(), $1, 'order.unmask', '1', '{"reason": "x"}' from generate_series(1, 59)`,
      [client.name],
    );
    const orderNo = await on.paidOrder();
    const reveal = () => client.post(`/orders/${orderNo}/unmask`, { reason: 'called' });
    expect((await reveal()).status).toBe(200);
    const refused = await reveal();
    expect([refused.status, refused.body.code, refused.body.mobile]).toEqual([429, 'reads-used-up', undefined]);
  });

  it('do not confirm a guessed user id to a viewer', async () => {
    const channelUserId = 'guessed-id-77';
    await on.channel.call('orders/create', collectRequest(on.channel, { channelUserId }));
    const answers = async (id: string) =>
      Promise.all(
        [
          `/search?q=${id}`,
          `/users?appId=test_demo&channelUserId=${id}`,
          ...['/orders', '/orders/totals', '/orders.csv'].map((path) => `${path}?channelUserId=${id}`),
        ].map(async (path) => {
          const { status, body } = await on.viewer.get(path);
          const { requestId: _, ...said } = typeof body === 'string' ? { body } : body;
          return [status, said];
        }),
      );
    const right = await answers(channelUserId);
    expect(right).toEqual(await answers('guessed-id-78'));
    expect(right.map(([status]) => status)).toEqual([200, 403, 403, 403, 403]);
  });
});

describe('card numbers and ID numbers', () => {
  it.each([
    ...[
      '4111111111111111',
      'card 4111 1111 1111 1111 of 2026',
      '卡号６２２２０２００００００１２３９８７０',
      '3782-822463-10005',
      'card 5 6222-0200-0000-1239-870 7',
    ],
    ...['6222 0200 0000 1239 870', '955880 0200000000006', '4111  1111  1111  1111', '4111111111111111123'],
    ...['11010519491231002X', '身份证：110105 19491231 002x', '１１０１０５１９４９１２３１００２Ｘ'],
  ])('are refused in notes and reasons: %s', async (text) => {
    const orderNo = await on.paidOrder();
    const note = await on.support.post(`/orders/${orderNo}/notes`, { text: `please look: ${text}` });
    expect([note.status, note.body.code, note.body.values]).toEqual([400, 'holds-card-or-id-number', ['the note']]);
    const reason = await on.support.post(`/orders/${orderNo}/unsubscribe`, { reason: text });
    expect([reason.status, reason.body.code]).toEqual([400, 'holds-card-or-id-number']);
    expect(JSON.stringify([note.body, reason.body])).not.toContain(text.slice(-6));
  });

  it('are refused in the name of a channel and of its seller', async () => {
    const { appId } = on.channel.credentials;
    for (const [path, body] of [
      [`/channels/${appId}`, { name: 'Shop 4111 1111 1111 1111' }],
      [`/channels/${appId}/branding`, { displayName: '4111111111111111' }],
    ] as const) {
      expect((await on.admin.put(path, body)).body.code).toBe('holds-card-or-id-number');
    }
  });

  it.each([
    '1000000010000006',
    'R100000001000000101, attempt 100000001000000101',
    '202611180000012347',
    '2026-11-18 100000001000 490',
    '4111111111111112',
    'call 13812345678',
    '110105194912310021',
  ])('are not seen in other numbers: %s', async (text) => {
    const orderNo = await on.paidOrder();
    expect((await on.support.post(`/orders/${orderNo}/notes`, { text })).status).toBe(200);
  });

  it('are accepted in the free texts of channels; a reason is stored masked, and the console masks the reference', async () => {
    const channelAgreementRef = '6222-0200-0000-1239-870';
    const created = await on.channel.call('orders/create', collectRequest(on.channel, { channelAgreementRef }));
    const { orderNo } = created.data;
    const reason = 'refund to 4111 1111 1111 1111, please';
    const ended = await on.channel.call('orders/unsubscribe', { orderNo, reason });
    expect([created.code, ended.code, ended.data.orderStatus]).toEqual(['0', '0', 'UNSUBSCRIBED']);
    const stored = 'select unsubscribe_reason, channel_agreement_ref from orders where order_no = $1';
    const masked = 'refund to 411111******1111, please';
    expect(await on.sql(stored, [orderNo])).toEqual([
      { unsubscribe_reason: masked, channel_agreement_ref: channelAgreementRef },
    ]);
    expect((await on.admin.get(`/orders/${orderNo}`)).body.order).toMatchObject({
      unsubscribeReason: masked,
      channelAgreementRef: '622202******9870',
    });
  });

  it('in numbers and texts of a channel are masked for every role; the whole id still finds the order', async () => {
    const [externalOrderNo, channelUserId] = ['own-4111 1111 1111 1111', '6222020000001239870'];
    const request = sharedRequest(on.channel, { externalOrderNo, channelUserId });
    const { orderNo } = (await on.channel.call('orders/create', request)).data;
    // Stored before the service masked reasons.
    await on.sql(
      `update orders set status = 'UNSUBSCRIBED', next_due_at = null, unsubscribed_at = now(), unsubscribe_source = 'CHANNEL',
         unsubscribe_reason = 'to 3782-822463-10005', channel_agreement_ref = '5555555555554444' where order_no = $1`,
      [orderNo],
    );
    const found = encodeURIComponent(externalOrderNo);
    const month = new Date(on.service.clock.now() + 8 * 3_600_000).toISOString().slice(0, 7);
    const paths = [
      `/orders/${orderNo}`,
      '/orders?appId=test_demo',
      '/orders.csv?appId=test_demo',
      '/payments.csv?appId=test_demo',
      `/settlement/${month}/lines?appId=test_demo`,
      `/search?q=${found}`,
      `/users?appId=test_demo&channelUserId=${channelUserId}`,
    ];
    for (const path of paths) {
      const { status, body } = await on.admin.get(path);
      const text = JSON.stringify(body);
      expect([path, status]).toEqual([path, 200]);
      expect([path, text.match(/4111 1111|822463|5555555555554444|6222020000001239870/)]).toEqual([path, null]);
      expect([path, text]).toEqual([path, expect.stringMatching(/411111\*{6}1111|622202\*{6}9870/)]);
    }
    const shown = (await on.admin.get(`/orders/${orderNo}`)).body.order;
    expect(shown).toMatchObject({ unsubscribeReason: 'to 378282******0005', channelAgreementRef: '555555******4444' });
    const [result] = (await on.support.get(`/search?q=${channelUserId}`)).body.results;
    expect(result).toMatchObject({ kind: 'user', id: '622202******9870', title: '622202******9870', channelUserId });
    const revealed = await on.support.post(`/orders/${orderNo}/unmask`, { reason: 'the user calls' });
    expect(revealed.body.channelUserId).toBe(channelUserId);
    // The channel gets its own number back as it sent it, also in its settlement report.
    const report = await on.admin.get(`/settlement/${month}/lines/csv?appId=test_demo`);
    expect(report.body).toContain(externalOrderNo);
    expect((await on.channel.call('orders/query', { externalOrderNo })).data).toMatchObject({
      orderNo,
      externalOrderNo,
    });
  });
});
