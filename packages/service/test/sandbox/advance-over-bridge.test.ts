import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { paid } from '../orders/support.js';
import { attachBridge } from '../support/bridged-channel.js';
import { requestAt } from '../support/demo.js';
import { statuses, timeMachine } from './support.js';

/**
 * Tests time travel with a payment channel behind a bridge: its institution is really called, because it decides the
 * outcome.
 */
const machine = ofFile(timeMachine);
beforeAll(() => attachBridge(machine.service.operator, 'test_demo', 'BANKPAY', 'http://127.0.0.1:1'));
beforeEach(() => machine.institution.reset());

const bridged = () => machine.create(requestAt(machine.channel, 'BANKPAY'));

describe('over a bridge', () => {
  it('0: each period is debited at the institution once, and paid if it succeeds there', async () => {
    const orderNo = await bridged();
    const bookedAt = Date.UTC(2026, 0, 31, 4, 5, 6);
    machine.institution.onDebit = async (request) => paid(request, { paidAt: bookedAt });
    const { data } = await machine.advance(orderNo, { cycles: 2 });
    expect(statuses(data).slice(0, 4)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS', 'WAIT']);
    expect(machine.institution.debits.map(({ attemptNo }) => attemptNo.slice(orderNo.length))).toEqual([
      '000101',
      '000201',
      '000301',
    ]);
    expect(data.paymentRecords[1].paidAt).toBe('2026-01-31 12:05:06');
    expect((await machine.told(orderNo)).slice(2)).toEqual([
      '2026-02-28 12:00:00 period 2 SUCCESS',
      '2026-03-31 12:00:00 period 3 SUCCESS',
    ]);
  });

  it('0: a declined debit is declined here', async () => {
    const orderNo = await bridged();
    machine.institution.onDebit = async () => ({ kind: 'declined', decline: 'retryable', reason: 'no money' });
    const { data } = await machine.advance(orderNo, { cycles: 1 });
    expect([statuses(data)[1], data.nextPayTime]).toEqual(['FAIL_RETRY', '2026-03-01 12:00:00']);
  });

  it.each([
    ['says that it takes longer', async () => ({ kind: 'pending' }) as const],
    ['does not say', async () => ({ kind: 'unknown' }) as const],
    ['breaks', async () => Promise.reject(new Error('connection reset'))],
    ['debits another amount', async (request: Parameters<typeof paid>[0]) => paid(request, { amountCent: 1 })],
  ])('0: when it %s, the order stands still until the result is there', async (_what, answer) => {
    const orderNo = await bridged();
    machine.institution.onDebit = answer;
    for (const _ of [1, 2]) {
      const { code, data } = await machine.advance(orderNo, { cycles: 3 });
      expect([code, ...statuses(data).slice(1, 3)]).toEqual(['0', 'PROCESSING', 'WAIT']);
    }
    expect(machine.institution.debits).toHaveLength(2);
    machine.institution.onQuery = async (request) => paid(request);
    await machine.askPending();
    machine.institution.onDebit = async (request) => paid(request);
    const { data } = await machine.advance(orderNo, { cycles: 1 });
    expect(statuses(data).slice(1, 4)).toEqual(['SUCCESS', 'SUCCESS', 'WAIT']);
  });

  it('400001: the channel may not choose outcomes', async () => {
    const orderNo = await bridged();
    const before = await machine.everything(orderNo);
    for (const outcome of ['SUCCESS', 'FAIL']) {
      expect((await machine.advance(orderNo, { cycles: 1, outcomes: [outcome] })).code).toBe('400001');
    }
    expect((await machine.advance(orderNo, { to: '2026-02-01 00:00:00', outcomes: [] })).code).toBe('0');
    expect(await machine.everything(orderNo)).toEqual(before);
  });

  it('an interrupted attempt that the job has settled is not repeated by the resend', async () => {
    const orderNo = await bridged();
    const body = { orderNo, cycles: 1 };
    const options = { idempotencyKey: randomUUID() };
    machine.institution.onDebit = async () => ({ kind: 'declined', decline: 'retryable', reason: 'no money' });
    // Creates the state in which a node has crashed between the debit and its settlement, and the job has then settled
    // the debit.
    await machine.advance(orderNo, { cycles: 1 });
    await machine.service.fresh.database.query(
      `insert into idempotency (channel_id, key, path, body_sha256, state, owner, lease_until, subject)
       select channel_id, $2, '/openapi/v1/sandbox/orders/advance', sha256($3::bytea), 'RUNNING', gen_random_uuid(), now(), $4
       from orders where order_no = $1`,
      [
        orderNo,
        options.idempotencyKey,
        Buffer.from(JSON.stringify(body)),
        JSON.stringify({ orderNo: Number(orderNo), from: 2, to: { cycleNo: 2, tryNo: 1 } }),
      ],
    );
    const { code, data } = await machine.channel.call('sandbox/orders/advance', body, options);
    expect([code, statuses(data)[1], data.nextPayTime]).toEqual(['0', 'FAIL_RETRY', '2026-03-01 12:00:00']);
    expect(machine.institution.debits).toHaveLength(2);
  });
});
