import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrderWithEvents } from '../webhooks/outcomes.js';
import { type OperatorStage, operatorStage } from './operators.js';
import { PASSWORD } from './support.js';

/** What somebody tries who may sign in, or who has a page of their own that others open. */

let on: OperatorStage;
beforeAll(async () => {
  on = await operatorStage({ refundApprovalCent: 1000 });
});
afterAll(() => on.close());

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
    expect([reply.status, reply.body.code, reply.body.detail]).toEqual([400, 'invalid', `there is no field "${name}"`]);
    expect(await on.sql('select from refunds where order_no = $1', [orderNo])).toEqual([]);
  });

  it('has no such field deeper inside either', async () => {
    const benefits = [{ benefitCode: 'B', name: 'b', faceValueCent: 1, productCode: 'OTHER' }];
    const product = {
      ...{ productCode: 'P', productName: 'p', amountCent: 1, periodType: 'MONTH', period: 1, totalCycles: 1 },
      ...{ settlementModes: ['SVC_DEDUCT'], retryDelays: [], benefits },
    };
    const reply = await on.admin.post('/products', product);
    expect([reply.status, reply.body.detail]).toEqual([400, 'there is no field "productCode"']);
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
      expect(await reply.json()).toMatchObject({ code: 'invalid', detail: 'send application/json' });
      expect(reply.headers.get('set-cookie')).toBeNull();
    },
  );
});

describe('a viewer', () => {
  it('sees the user of an event masked, as everywhere else', async () => {
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
