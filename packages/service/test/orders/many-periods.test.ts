import { beforeAll, describe, expect, it } from 'vitest';
import { collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { stageOfFile } from './stage-of-file.js';
import { dailyProduct, rowCounts } from './support.js';

/**
 * Checks that an order of 9,999 periods costs as much as an order of 7, because periods that have not started are not
 * stored.
 */

const { service, channel } = stageOfFile();
beforeAll(async () => {
  await dailyProduct(service, 'DAYS_7', 7);
  await dailyProduct(service, 'DAYS_9999', 9999);
  // Makes one call first, because the first calls create rows that later calls reuse: a rate, a key for look-ups.
  await channel.call('orders/create', sharedRequest(channel));
});

/** Returns the number of rows that a call adds, by table. */
async function added(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await rowCounts(service.fresh.database);
  await work();
  const after = await rowCounts(service.fresh.database);
  return Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]));
}

/** Returns the rows that each step in the life of an order adds. */
async function lifeOf(productCode: string, mode: 'A' | 'B'): Promise<Record<string, Record<string, number>>> {
  const user = unique('user');
  const ask = mode === 'A' ? sharedRequest : collectRequest;
  const request = ask(channel, { channelUserId: user, productCode });
  const call = async (name: string, body: object) => {
    const reply = await channel.call(name, body, { idempotencyKey: unique('key') });
    expect(reply.code, reply.text).toBe('0');
    return reply.data;
  };
  let orderNo = '';
  const steps: Record<string, Record<string, number>> = {};
  steps['create'] = await added(async () => {
    ({ orderNo } = await call('orders/create', request));
  });
  steps['query'] = await added(() => call('orders/query', { orderNo }));
  if (mode === 'A') {
    const newSharedAgreement = sharedAgreement(channel, user);
    steps['replace'] = await added(() => call('agreements/replace', { orderNo, newSharedAgreement }));
  }
  steps['unsubscribe'] = await added(() => call('orders/unsubscribe', { orderNo }));
  return steps;
}

describe('an order of 9,999 periods', () => {
  it.each(['A', 'B'] as const)(
    'mode %s: the same rows in every table as for 7 periods, at every step',
    async (mode) => {
      const seven = await lifeOf('DAYS_7', mode);
      expect(await lifeOf('DAYS_9999', mode)).toEqual(seven);
      expect(seven['create']).toMatchObject({ orders: 1, payments: 1, benefits: 1, events: 2, external_orders: 1 });
      expect(seven['unsubscribe']).toMatchObject({ orders: 0, payments: 0, benefits: 0, events: 2 });
    },
  );
});
