import { describe, expect, it, onTestFinished } from 'vitest';
import { createFulfilmentRegistry } from '../../src/fulfilment/fulfilment-registry.js';
import { setFulfilment, showBenefit } from '../../src/operator/provisioning/benefits.js';
import type { Database } from '../../src/platform/db/database.js';
import type { BenefitReference } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { createClaimer } from '../../src/subscriptions/steps/benefits/claim-benefit.js';
import { ofFile } from '../orders/stage-of-file.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { soakSize } from '../support/soak.js';
import { claimStage } from './support.js';

/** The number of codes in one import: a realistic number for one purchase. */
const CODES = soakSize('CODES', 20_000, 100_000);

const on = ofFile(claimStage);
let serial = 0;
let code: string;

/**
 * Sets an empty pool as the source of codes for a new benefit code. Returns a function that creates a benefit with this
 * code.
 */
async function freshPool(): Promise<() => Promise<BenefitReference>> {
  serial += 1;
  code = `POOL_${serial}`;
  await setFulfilment(on.operator, { benefitCode: code, kind: 'pool' });
  const own = code;
  return async () => {
    const benefit = await on.benefit(1);
    await on.database.query('update benefits set benefit_code = $2 where order_no = $1', [benefit.orderNo, own]);
    return benefit;
  };
}
const claim = (benefit: BenefitReference) => on.node.claim(on.node.channel, benefit);
const lines = (count: number, from = 1) => Array.from({ length: count }, (_, n) => `CODE-${from + n}`).join('\n');

describe('a pool', () => {
  it('hands out its codes in the order of import, each once', async () => {
    const benefit = await freshPool();
    await on.import(code, 'B\nA\n');
    await on.import(code, 'C\n');
    const given: (string | undefined)[] = [];
    for (let n = 0; n < 3; n += 1) {
      const one = await benefit();
      await claim(one);
      given.push(await on.codeOf(one));
    }
    expect(given).toEqual(['B', 'A', 'C']);
    expect(await showBenefit(on.operator, { benefitCode: code })).toMatchObject({
      kind: 'POOL',
      codesLeft: 0,
      waitingClaims: 0,
    });
  });

  it('hands out 40 codes to 40 concurrent users', async () => {
    const benefit = await freshPool();
    await on.import(code, lines(40));
    const other = await on.anotherNode();
    const benefits = await Promise.all(Array.from({ length: 40 }, () => benefit()));
    await Promise.all(benefits.map((one, n) => (n % 2 === 0 ? on.node : other).claim(on.node.channel, one)));
    await other.close();
    await on.node.serve();
    const given = await Promise.all(benefits.map((one) => on.codeOf(one)));
    expect(given.toSorted()).toEqual(lines(40).split('\n').toSorted());
  });

  it('that is empty keeps the claim and raises an alert; the next import serves the oldest claims first', async () => {
    const benefit = await freshPool();
    const waiting: BenefitReference[] = [];
    for (let n = 0; n < 3; n += 1) {
      const one = await benefit();
      on.service.clock.advance(1_000);
      expect(await claim(one)).toBe('CLAIMED');
      expect(await on.codeOf(one)).toBeUndefined();
      waiting.push(one);
    }
    expect(await claim(waiting[0] ?? (await benefit()))).toBe('CLAIMED_BEFORE');
    expect(await on.alerts()).toContainEqual({ kind: 'pool-empty', subject: code, seen: 3 });
    expect(await showBenefit(on.operator, { benefitCode: code })).toMatchObject({ waitingClaims: 3, codesLeft: 0 });

    expect(await on.import(code, 'X\nY\n')).toMatchObject({ imported: 2, served: 2, codesLeft: 0, waitingClaims: 1 });
    expect(await Promise.all(waiting.map((one) => on.codeOf(one)))).toEqual(['X', 'Y', undefined]);
    expect(await on.import(code, 'Z\nW\n')).toMatchObject({ imported: 2, served: 1, codesLeft: 1, waitingClaims: 0 });
    expect(await on.codeOf(waiting[2] ?? (await benefit()))).toBe('Z');
  });

  it('is served by the engine too, for a claim that was not committed during the import', async () => {
    const benefit = await freshPool();
    const own = code;
    const one = await benefit();
    // The claim finds no code. Its commit is delayed until codes were imported.
    const database: Database = {
      ...on.database,
      transaction: (work) =>
        on.database.transaction(async (tx) => {
          const result = await work(tx);
          expect(await on.import(own, 'LATE\nLATER\n')).toMatchObject({ imported: 2, served: 0 });
          return result;
        }),
    };
    const late = createClaimer({
      clock: on.service.clock,
      log: on.log.log,
      fulfilments: createFulfilmentRegistry({ ...on.operator, database: on.database, log: on.log.log }),
    });
    expect(await late(database, on.node.channel, one)).toBe('CLAIMED');
    expect(await on.codeOf(one)).toBeUndefined();
    const node = await anotherNode(on.service, { engine: true });
    onTestFinished(() => node.close());
    expect(await until('the code', () => on.codeOf(one))).toBe('LATE');
  });

  it(`takes ${CODES} codes in one go`, async () => {
    await freshPool();
    expect(await on.import(code, lines(CODES))).toMatchObject({ imported: CODES, codesLeft: CODES });
  });

  it('two concurrent imports of the same codes: each code once', async () => {
    await freshPool();
    const texts = [lines(500), lines(500).split('\n').toReversed().join('\n')];
    const done = await Promise.all(texts.map((text) => on.import(code, text)));
    expect(done.reduce((sum, { imported }) => sum + imported, 0)).toBe(500);
    expect(await showBenefit(on.operator, { benefitCode: code })).toMatchObject({ codesLeft: 500 });
  });
});
