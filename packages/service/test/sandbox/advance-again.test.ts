import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { advanceOrderOfAnyChannel } from '../../src/operator/orders/advance-order.js';
import { type Database, openDatabase, wrapQuery } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherNode } from '../support/second-node.js';
import { statuses, timeMachine } from './support.js';

const machine = ofFile(timeMachine);

describe('sent again under the same key', () => {
  it('0: the first answer, and no further period', async () => {
    for (const orderNo of [await machine.deducted(), await machine.collected()]) {
      const idempotencyKey = randomUUID();
      const first = await machine.advance(orderNo, { cycles: 2 }, { idempotencyKey });
      const before = await machine.everything(orderNo);
      const again = await machine.advance(orderNo, { cycles: 2 }, { idempotencyKey });
      expect(again.data).toEqual(first.data);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(await machine.everything(orderNo)).toEqual(before);
      expect((await machine.advance(orderNo, { cycles: 3 }, { idempotencyKey })).code).toBe('409001');
    }
  });

  it('concurrent: one of them does it, all get its answer', async () => {
    const orderNo = await machine.deducted();
    const idempotencyKey = randomUUID();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => machine.advance(orderNo, { cycles: 3 }, { idempotencyKey })),
    );
    expect(new Set(replies.map(({ code, data }) => JSON.stringify([code, data]))).size).toBe(1);
    expect(statuses(await machine.query(orderNo)).filter((status) => status === 'SUCCESS')).toHaveLength(4);
  });
});

/**
 * Creates a node that dies after `commits` commits. No later statement reaches the database, not even the statement
 * that records that the node has finished the request.
 */
async function dyingNode(commits: number) {
  const real = openDatabase({ url: machine.service.fresh.url, pool: 4, name: 'dying node' });
  let left = commits;
  const alive = () => {
    if (left <= 0) throw new Error('this node is dead');
  };
  const database: Database = {
    ...real,
    get connections() {
      return real.connections;
    },
    query: wrapQuery(real, async (run) => {
      alive();
      return run();
    }),
    async transaction(work) {
      alive();
      return real.transaction(async (tx) => {
        const result = await work(tx);
        alive();
        left -= 1;
        return result;
      });
    },
  };
  const node = await anotherNode(machine.service, { database, testLimits: { idempotency: { leaseSeconds: 0.05 } } });
  return {
    client: node.client(machine.channel),
    close: async () => {
      await node.close();
      await real.close();
    },
  };
}

describe('after a crash in the middle', () => {
  const outcomes = ['SUCCESS', 'FAIL_RETRY', 'FAIL_RETRY'];

  // The first commit stores the request. The three periods then take 1, 5 and 1 steps, each with a commit. The last
  // commit stores the answer.
  it.each([1, 2, 3, 5, 7, 8])('0: cut off after %i commits, the resend continues to the same end', async (commits) => {
    const orderNo = await machine.deducted();
    const body = { orderNo, cycles: 3, outcomes };
    const options = { idempotencyKey: randomUUID() };
    const dying = await dyingNode(commits);
    const lost = await dying.client.call('sandbox/orders/advance', body, options);
    expect(lost.code).toBe('500001');
    await dying.close();
    const { code, data } = await machine.channel.call('sandbox/orders/advance', body, options);
    expect(code).toBe('0');
    expect(statuses(data).slice(0, 5)).toEqual(['SUCCESS', 'SUCCESS', 'FAIL', 'FAIL_RETRY', 'WAIT']);
    expect((await machine.told(orderNo)).slice(2)).toEqual([
      '2026-02-28 12:00:00 period 2 SUCCESS',
      '2026-03-31 12:00:00 period 3 FAIL_RETRY',
      '2026-04-01 12:00:00 period 3 FAIL_RETRY',
      '2026-04-04 12:00:00 period 3 FAIL_RETRY',
      '2026-04-09 12:00:00 period 3 FAIL_RETRY',
      '2026-04-16 12:00:00 period 3 FAIL',
      '2026-04-30 12:00:00 period 4 FAIL_RETRY',
    ]);
  });

  it('0: one further attempt of an open period is made once', async () => {
    const orderNo = await machine.deducted();
    await machine.advance(orderNo, { cycles: 1, outcomes: ['FAIL_RETRY'] });
    const body = { orderNo, cycles: 1, outcomes: ['FAIL_RETRY'] };
    const options = { idempotencyKey: randomUUID() };
    const dying = await dyingNode(2);
    expect((await dying.client.call('sandbox/orders/advance', body, options)).code).toBe('500001');
    await dying.close();
    const { data } = await machine.channel.call('sandbox/orders/advance', body, options);
    expect([statuses(data)[1], data.nextPayTime]).toEqual(['FAIL_RETRY', '2026-03-04 12:00:00']);
    expect(await machine.told(orderNo)).toHaveLength(2 + 2);
  });
});

describe('concurrent requests with different keys', () => {
  it('0: no period of an order is billed or debited twice', async () => {
    for (const orderNo of [await machine.deducted(), await machine.collected()]) {
      const node = await anotherNode(machine.service);
      const clients = [machine.channel, node.client(machine.channel)];
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          clients[n % 2]?.call('sandbox/orders/advance', { orderNo, cycles: 1 + (n % 3) }),
        ),
      );
      await node.close();
      // A request is refused if the order is completed or if another request holds its lease.
      for (const reply of replies) expect(['0', '409002', '420004']).toContain(reply?.code);
      const order = await machine.query(orderNo);
      const paid = statuses(order).filter((status) => status !== 'WAIT').length;
      expect(order.totalPaidAmountCent).toBe(paid * 1990);
      const told = await machine.told(orderNo);
      const periods = told.filter((line) => line.includes('period'));
      expect(new Set(periods).size).toBe(periods.length);
      expect(periods).toHaveLength(paid);
      const benefits = await machine.service.fresh.database.query('select from benefits where order_no = $1', [
        orderNo,
      ]);
      expect(benefits).toHaveLength(2 * paid);
    }
  });

  it('0: each runs its own period, or is refused with 409002 and runs none', async () => {
    const node = await anotherNode(machine.service);
    const clients = [machine.channel, node.client(machine.channel)];
    for (const orderNo of [await machine.deducted(), await machine.collected()]) {
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, n) => clients[n % 2]?.call('sandbox/orders/advance', { orderNo, cycles: 1 })),
      );
      const done = replies.filter((reply) => reply?.code === '0');
      expect(done.length).toBeGreaterThan(0);
      const paidCents = done.map((reply) => reply?.data.totalPaidAmountCent).sort((a, b) => a - b);
      expect(paidCents).toEqual(done.map((_, n) => (n + 2) * 1990));
      expect((await machine.query(orderNo)).totalPaidAmountCent).toBe((done.length + 1) * 1990);
      for (const reply of replies.filter((one) => one?.code !== '0')) {
        expect(reply?.envelope).toMatchObject({
          code: '409002',
          message: 'another request is advancing this order: resend this one when the other has ended',
        });
      }
      expect((await machine.advance(orderNo, { cycles: 1 })).code).toBe('0');
    }
    await node.close();
  });

  it('409002 while a dead request holds the lease of the order; once it has expired the next one begins', async () => {
    const orderNo = await machine.deducted();
    const dying = await dyingNode(2);
    expect((await dying.client.call('sandbox/orders/advance', { orderNo, cycles: 3 })).code).toBe('500001');
    await dying.close();
    expect((await machine.advance(orderNo, { cycles: 1 })).code).toBe('409002');
    const operator = {
      ...machine.service.operator,
      clock: machine.service.clock,
      gateways: { of: async () => machine.institution },
    };
    await expect(advanceOrderOfAnyChannel(operator, { orderNo, cycles: 1 })).rejects.toThrow(
      `order ${orderNo} stays: another request is advancing this order`,
    );
    await machine.service.fresh.database.query('update order_journeys set lease_until = now() where order_no = $1', [
      orderNo,
    ]);
    expect((await machine.advance(orderNo, { cycles: 1 })).data.totalPaidAmountCent).toBe(3 * 1990);
  });

  it('0: together with the engine, which finds the same periods due', async () => {
    const orderNos = [await machine.deducted(), await machine.collected()];
    await Promise.all([
      ...orderNos.map((orderNo) => machine.advance(orderNo, { to: '2026-06-30 12:00:00' })),
      machine.renew(),
      machine.renew(),
    ]);
    for (const orderNo of orderNos) {
      // Advances again, because the request ended early if the engine had a debit in flight.
      await machine.advance(orderNo, { to: '2026-06-30 12:00:00' });
      const order = await machine.query(orderNo);
      const paid = statuses(order).filter((status) => status !== 'WAIT').length;
      expect(paid).toBeGreaterThanOrEqual(6);
      expect(order.totalPaidAmountCent).toBe(paid * 1990);
    }
  });
});
