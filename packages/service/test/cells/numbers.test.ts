import { expect, it } from 'vitest';
import { moveLaggingSequences } from '../../src/platform/db/sequences.js';
import { person, sendCode } from '../agreements/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel, copyOrder, stage } from '../orders/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { becomeCell } from './support.js';

const on = ofFile(async () => {
  const stages = await Promise.all([stage(), stage(), stage()]);
  return { stages, close: () => Promise.all(stages.map((one) => one.close())) };
});

interface Numbers {
  readonly channel: number;
  readonly orders: readonly number[];
  readonly agreements: readonly number[];
  readonly events: readonly number[];
  readonly attempts: readonly string[];
}

/** Makes a service a cell, and creates something of every kind that has a number. */
async function numbersOf(cell: number, place: number): Promise<Numbers> {
  const its = on.stages[place];
  if (!its) throw new Error('there are three stages');
  const { database } = its.service.fresh;
  await becomeCell(database, cell);
  const channel = await anotherChannel(its.service);
  for (const request of [collectRequest, sharedRequest]) {
    expect((await channel.call('orders/create', request(channel))).code).toBe('0');
  }
  expect((await sendCode(channel, person())).code).toBe('0');
  const { appId } = channel.credentials;
  const [row] = await database.query<Omit<Numbers, 'attempts'>>(
    `select c.channel_id as channel,
       (select json_agg(order_no) from orders o where o.channel_id = c.channel_id) as orders,
       (select json_agg(agreement_id) from agreements a where a.channel_id = c.channel_id) as agreements,
       (select json_agg(event_no) from events e where e.channel_id = c.channel_id) as events
     from channels c where app_id = $1`,
    [appId],
  );
  if (!row) throw new Error('the channel exists');
  return { ...row, attempts: its.institution.debits.map(({ attemptNo }) => attemptNo) };
}

it('cells give out different numbers for everything that others see', async () => {
  const all = await Promise.all([numbersOf(0, 0), numbersOf(1, 1), numbersOf(88, 2)]);
  for (const kind of ['channel', 'orders', 'agreements', 'events', 'attempts'] as const) {
    const numbers = all.flatMap((one): unknown[] => [one[kind]].flat()).map(String);
    expect(numbers.length, kind).toBeGreaterThanOrEqual(3);
    expect(new Set(numbers).size, kind).toBe(numbers.length);
  }
  const [first, second, last] = all;
  expect(first?.orders.every((one) => one < 1e12)).toBe(true);
  expect(second?.channel).toBe(10_100_001);
  for (const numbers of [second?.orders, second?.agreements, second?.events]) {
    for (const number of numbers ?? []) expect(`${number}`).toMatch(/^101\d{12}$/);
  }
  for (const number of last?.attempts ?? []) expect(number).toMatch(/^188\d{12}000101$/);
});

it('a sequence is not moved by rows of another cell', async () => {
  const [its] = on.stages;
  const { orderNo } = (await its?.channel.call('orders/create', collectRequest(its.channel)))?.data ?? {};
  const database = its?.service.fresh.database;
  if (!database) throw new Error('there are three stages');
  await copyOrder(database, orderNo, 1);
  expect(await moveLaggingSequences(database)).toEqual([]);
});

it('PostgreSQL refuses a number beyond the range of the cell', async () => {
  const database = on.stages[1]?.service.fresh.database;
  await expect(database?.query(`select setval('order_numbers', 102000000000000)`)).rejects.toThrow('out of bounds');
  await expect(database?.query(`select setval('order_numbers', 100000001000)`)).rejects.toThrow('out of bounds');
});
