import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { formatClaimNo } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { localSupplier, supplied } from './suppliers.js';
import { type ClaimingNode, type ClaimStage, claimStage } from './support.js';

const AT_ONCE = 100;

let on: ClaimStage;
let other: ClaimingNode;
beforeAll(async () => {
  on = await claimStage();
  other = await on.anotherNode();
});
afterAll(async () => {
  await other.close();
  await on.close();
});

/** Half of them on each of two nodes. */
async function claimAtOnce(position: number) {
  const benefit = await on.benefit(position);
  const outcomes = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, n) => {
      const { claim, channel } = n % 2 === 0 ? on.node : other;
      return claim(channel, benefit);
    }),
  );
  expect(outcomes.filter((outcome) => outcome === 'CLAIMED')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'CLAIMED_BEFORE')).toHaveLength(AT_ONCE - 1);
  return benefit;
}

describe(`${AT_ONCE} claims of one benefit at once, on two nodes`, () => {
  it('are one code that is generated', async () => {
    const benefit = await claimAtOnce(1);
    expect(await on.codeOf(benefit)).toMatch(/^\w{16}$/);
    expect(await on.database.query('select from claims where order_no = $1', [benefit.orderNo])).toHaveLength(1);
  });

  it('are one code of the pool', async () => {
    await setFulfilment(on.operator, { benefitCode: 'COUPON', kind: 'pool' });
    await on.import('COUPON', 'FIRST\nSECOND\n');
    const benefit = await claimAtOnce(2);
    expect(await on.codeOf(benefit)).toBe('FIRST');
    expect(await on.database.query('select given_to from pool_codes where given_to is not null')).toEqual([
      { given_to: formatClaimNo(benefit) },
    ]);
  });

  it('are one order at the supplier', async () => {
    const supplier = await localSupplier(on.service.clock);
    await supplied(on.operator, 'VIP_PASS', supplier.url);
    const benefit = await claimAtOnce(1);
    const handedOut = await supplier.handedOut();
    expect(handedOut).toMatchObject([
      { claimNo: formatClaimNo(benefit), benefitCode: 'VIP_PASS', faceValueCent: 1500, arrivals: 1 },
    ]);
    expect(await on.codeOf(benefit)).toBe(handedOut[0]?.code);
  });
});
