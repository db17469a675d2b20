import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FilledDemo, fillDemo } from '../../src/operator/demo/fill-demo.js';
import type { Changed, OperatorWithGateways } from '../../src/operator/operator.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { manualClock } from '../support/service.js';

/** Enough for each scene to occur, and some of them twice. */
const ORDERS = 90;
const END = Date.UTC(2026, 10, 16, 4, 0, 0);

let fresh: FreshDatabase;
let operator: OperatorWithGateways;
let filled: Changed<FilledDemo>;

const NO_GATEWAYS = {
  of: async () => {
    throw new Error('no institution is asked');
  },
};

const operatorOn = ({ database }: FreshDatabase): OperatorWithGateways => ({
  database,
  vault: openVault([randomBytes(32)]),
  environment: 'sandbox',
  actor: 'test',
  clock: manualClock(END),
  gateways: NO_GATEWAYS,
});

beforeAll(async () => {
  fresh = await freshDatabase();
  operator = operatorOn(fresh);
  const began = performance.now();
  filled = await fillDemo(operator, { orders: ORDERS });
  console.log(filled, performance.now() - began);
});
afterAll(() => fresh.close());

const query = <Row>(text: string) => fresh.database.query<Row>(text);
const values = async (text: string) => (await query<{ value: string }>(text)).map(({ value }) => value).toSorted();

describe('demo fill', () => {
  it('has every status of orders', async () => {
    expect(await values('select distinct status as value from orders')).toEqual(
      ['ACTIVE', 'COMPLETED', 'INITIALIZING', 'TERMINATED', 'UNSUBSCRIBED'],
    );
  });
});
