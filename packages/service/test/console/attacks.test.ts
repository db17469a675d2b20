import { describe, expect, it } from 'vitest';
import { csrfToken } from '../../src/console/sessions/sign-in.js';
import { disablePerson } from '../../src/operator/people/people.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { createOrderWithEvents } from '../webhooks/outcomes.js';
import { operatorStage } from './operators.js';
import { consoleClient, PASSWORD } from './support.js';

/** Attacks by operators, and by sites that operators visit. */

const written = capturedLog();
const on = ofFile(() => operatorStage({ refundApprovalCent: 1000, log: written.log }));

describe('a body', () => {
  const refund = { amountCent: 100, note: 'x', key: 'k' };
  it.each([
    ['who has approved it', { approval: { approvalId: '1', requestedBy: 'bob', amountCent: 1 } }, 'approval'],
    ['that nobody has to', { withoutApproval: 'me' }, 'withoutApproval'],
    ['that it is about another order', { orderNo: '1' }, 'orderNo'],
    ['what every object has', { constructor: 'x' }, 'constructor'],
  ])('cannot say %s: a field that the operation does not have is refused', async (_what, more, name) => {
    const orderNo = await on.paidOrder();
    const reply = await on.ann.post(`/orders/${orderNo}/periods/1/refund`, { ...refund, ...more });
    expect([reply.status, reply.body.code, reply.body.detail]).toEqual([400, 'invalid', `unknown field "${name}"`]);
    expect(await on.sql('select from refunds where order_no = $1', [orderNo])).toEqual([]);
  });

  it('must not contain such a field at a deeper level either', async () => {
    const benefits = [{ benefitCode: 'B', name: 'b', faceValueCent: 1, productCode: 'OTHER' }];
    const product = {
      ...{ productCode: 'P', productName: 'p', amountCent: 1, periodType: 'MONTH', period: 1, totalCycles: 1 },
      ...{ settlementModes: ['SVC_DEDUCT'], retryDelays: [], benefits },
    };
    const reply = await on.admin.post('/products', product);
    expect([reply.status, reply.body.detail]).toEqual([400, 'unknown field "productCode"']);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'text/plain; application/json', undefined])(
    'that comes as %s, as a form of another site could send it, signs nobody in',
    async (type) => {
      const reply = await fetch(`${on.service.baseUrl}/console/api/session`, {
        method: 'POST',
        headers: type === undefined ? {} : { 'content-type': type },
        body: Buffer.from(JSON.stringify({ name: 'ann', password: PASSWORD })),
      });
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({ code: 'invalid', detail: 'Content-Type must be application/json' });
      expect(reply.headers.get('set-cookie')).toBeNull();
    },
  );
});

describe('a request before sign-in that is no error of the service', () => {
  const faults = () => written.lines().filter(({ level }) => level >= 50);

  it.each(['', ';', 'application', 'application/json, text/plain', 'a b/c'])(
    'is 400: Content-Type "%s"',
    async (type) => {
      const raw = rawConnection(on.service.baseUrl);
      raw.write(requestBytes('/console/api/session', { 'Content-Type': type, 'Content-Length': '2' }, '{}'));
      const [reply] = await raw.replies(1);
      raw.close();
      expect([reply?.status, reply?.code]).toEqual([400, 'invalid']);
      expect(faults()).toEqual([]);
    },
  );

  it('is logged as hung up if it ends within its body', async () => {
    const raw = rawConnection(on.service.baseUrl);
    raw.write(requestBytes('/console/api/session', { 'Content-Type': 'application/json', 'Content-Length': '9' }, '{'));
    // Another request is answered after the service has read the first bytes.
    await on.viewer.get('/session');
    raw.close();
    await until('the line', async () => written.text().includes('the client hung up'));
    expect(faults()).toEqual([]);
  });
});

describe('a body that comes slowly', () => {
  const ofPerson = 'where person_id = (select person_id from people where name = $1)';
  it.each([
    ['is disabled', (name: string) => disablePerson(on.operator, { name }), 401, 'not-signed-in'],
    [
      'is signed out',
      (name: string) => on.sql(`delete from console_sessions ${ofPerson}`, [name]),
      401,
      'not-signed-in',
    ],
    [
      'gets another role',
      (name: string) => on.sql(`update people set role = 'viewer' where name = $1`, [name]),
      403,
      'not-allowed',
    ],
    [
      'has proved too long ago who they are',
      (name: string) =>
        on.sql(`update console_sessions set proven_at = now() - interval '6 minutes' ${ofPerson}`, [name]),
      403,
      'proof-needed',
    ],
  ])('refunds nothing for a person who meanwhile %s', async (_what, change, status, code) => {
    const orderNo = await on.paidOrder();
    const { name, token } = await consoleClient(on.service, 'finance');
    await on.sql(`update console_sessions set last_seen_at = now() - interval '2 minutes' ${ofPerson}`, [name]);
    const body = JSON.stringify({ amountCent: 100, note: 'x', key: 'slow' });
    const raw = rawConnection(on.service.baseUrl);
    const headers = {
      ...{ Cookie: `__Host-perennial=${token}`, 'X-CSRF-Token': csrfToken(token) },
      ...{ 'Content-Type': 'application/json', 'Content-Length': `${body.length}` },
    };
    raw.write(requestBytes(`/console/api/orders/${orderNo}/periods/1/refund`, headers, body.slice(0, 5)));
    // Waits until the service has checked the session. The check stores the time of the session's last use.
    await until('the session was judged', async () => {
      const used = `select from console_sessions ${ofPerson} and last_seen_at > now() - interval '1 minute'`;
      return (await on.sql(used, [name])).length === 1;
    });
    await change(name);
    raw.write(body.slice(5));
    const [reply] = await raw.replies(1);
    raw.close();
    expect([reply?.status, reply?.code]).toEqual([status, code]);
    expect(await on.sql('select from refunds where order_no = $1', [orderNo])).toEqual([]);
  });
});

describe('a period in an address', () => {
  it.each(['1e0', '01', '%201', '1%20', '+1', '1.0', '0x1', '0', '-1', '10000', '１'])(
    'that is written as %s names none',
    async (written) => {
      const orderNo = await on.paidOrder();
      const path = `/orders/${orderNo}/periods/${encodeURI(decodeURI(written))}`;
      const replies = await Promise.all([
        on.ann.post(`${path}/refund`, { amountCent: 100, note: 'x', key: 'k' }),
        on.ann.get(`${path}/refund/preview`),
        on.support.post(`${path}/retry`),
      ]);
      expect(replies.map(({ status, body }) => [status, body.code])).toEqual(
        Array(3).fill([400, 'number-out-of-range']),
      );
      expect(await on.sql('select from refunds where order_no = $1', [orderNo])).toEqual([]);
    },
  );
});

describe('a viewer', () => {
  it('sees the user of an event masked', async () => {
    const { orderNo, payment } = await createOrderWithEvents(on.service.fresh.database, on.channel);
    const path = `/channels/test_demo/events/${payment}`;
    const [order] = await on.sql<{ user: string }>('select channel_user_id as user from orders where order_no = $1', [
      orderNo,
    ]);
    const user = order?.user ?? '';
    expect(user.length).toBeGreaterThan(4);
    expect((await on.support.get(path)).body.data.channelUserId).toBe(user);
    const seen = await on.viewer.get(path);
    expect(seen.body.data.channelUserId).toBe(`${user.slice(0, 2)}****${user.slice(-2)}`);
    expect(JSON.stringify(seen.body)).not.toContain(user);
  });
});
