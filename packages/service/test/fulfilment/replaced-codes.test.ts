import { expect, it } from 'vitest';
import { replaceCode } from '../../src/operator/orders/codes.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { createCodesShown } from '../../src/redeem/codes-shown.js';
import { type BenefitReference, formatClaimNo } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { settleClaim } from '../../src/subscriptions/steps/benefits/settle-claim.js';
import { ofFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { localSupplier, supplied } from './suppliers.js';
import { claimStage } from './support.js';

const on = ofFile(claimStage);

const replace = (benefit: BenefitReference, replaced = 0) =>
  replaceCode(on.operator, {
    orderNo: String(benefit.orderNo),
    claimNo: formatClaimNo(benefit),
    replaced,
    reason: 'the shop refuses it',
  });
const claimed = async (position: number) => {
  const benefit = await on.benefit(position);
  expect(await on.node.claim(on.node.channel, benefit)).toBe('CLAIMED');
  return benefit;
};
/** Runs the job that queries the supplier about all pending claims. */
async function ask() {
  await on.database.query('update claims set ask_at = now() where ask_at is not null');
  return on.node.ask('VIP_PASS');
}
const replacedOf = ({ orderNo }: BenefitReference) =>
  on.database.query<{ nth: number; by: string }>(
    'select nth, replaced_by as by from replaced_codes where order_no = $1 order by nth',
    [orderNo],
  );

it('a generated code is replaced by another, once per code', async () => {
  const benefit = await claimed(1);
  const first = await on.codeOf(benefit);
  expect(await replace(benefit)).toMatchObject({ status: 'FULFILLED', replaced: 1, changed: true });
  const second = await on.codeOf(benefit);
  expect(second).toMatch(/^[2-9A-Z]{16}$/);
  expect(second).not.toBe(first);
  // A request that is sent again, for example after a lost answer.
  expect(await replace(benefit)).toMatchObject({ replaced: 1, changed: false });
  expect(await on.codeOf(benefit)).toBe(second);
  expect(await replacedOf(benefit)).toEqual([{ nth: 0, by: on.operator.actor }]);
  expect(await replace(benefit, 1)).toMatchObject({ replaced: 2, changed: true });
});

it('a page that has shown the former code does not count as a view of the new code', async () => {
  const benefit = await claimed(1);
  await replace(benefit);
  const shown = createCodesShown({ database: on.database, clock: on.service.clock, log: capturedLog().log });
  const views = async () => {
    const [row] = await on.database.query<{ views: number }>(
      'select count(first_shown_at)::integer as views from claims where order_no = $1',
      [benefit.orderNo],
    );
    return row?.views;
  };
  shown.add({ ...benefit, replaced: 0, shownAt: null });
  await shown.stop();
  expect(await views()).toBe(0);
  shown.add({ ...benefit, replaced: 1, shownAt: null });
  await shown.stop();
  expect(await views()).toBe(1);
});

it('of concurrent replacements, one takes a code of the pool', async () => {
  await setFulfilment(on.operator, { benefitCode: 'COUPON', kind: 'pool' });
  await on.import('COUPON', 'FIRST-1\nSECOND-2\nTHIRD-3\n');
  const benefit = await claimed(2);
  expect(await on.codeOf(benefit)).toBe('FIRST-1');
  const done = await Promise.all([replace(benefit), replace(benefit), replace(benefit)]);
  expect(done.filter(({ changed }) => changed)).toHaveLength(1);
  expect(await on.codeOf(benefit)).toBe('SECOND-2');
  expect(await replace(benefit, 1)).toMatchObject({ status: 'FULFILLED' });
  expect(await on.codeOf(benefit)).toBe('THIRD-3');

  // The pool is empty now: the claim has no code until the next import, and the former code is gone.
  expect(await replace(benefit, 2)).toMatchObject({ status: 'PENDING' });
  expect(await on.codeOf(benefit)).toBeUndefined();
  expect(await on.alerts()).toContainEqual(expect.objectContaining({ kind: 'pool-empty', subject: 'COUPON' }));
  await expect(replace(benefit, 3)).rejects.toThrow('has no code yet');
  await on.import('COUPON', 'FOURTH-4\n');
  expect(await on.codeOf(benefit)).toBe('FOURTH-4');
});

it('a supplier issues the new code under a new number, and is told which code it replaces', async () => {
  const supplier = await localSupplier(on.service.clock);
  await supplied(on.operator, 'VIP_PASS', supplier.url);
  const benefit = await claimed(1);
  const claimNo = formatClaimNo(benefit);
  const first = await on.codeOf(benefit);
  expect(await replace(benefit)).toMatchObject({ status: 'PENDING', replaced: 1 });
  expect(await on.codeOf(benefit)).toBeUndefined();

  // A late answer about the former number does not bring the former code back.
  const late = { kind: 'fulfilled', code: first ?? '' } as const;
  const deps = { database: on.database, clock: on.service.clock };
  await settleClaim(deps, on.node.channel, { ...benefit, replaced: 0 }, late);
  expect(await on.codeOf(benefit)).toBeUndefined();

  await supplier.fault('answer-lost', { times: 1 });
  await ask();
  expect(await on.codeOf(benefit)).toBeUndefined();
  await ask();
  const issued = (await supplier.handedOut()).filter((one) => one.claimNo.startsWith(claimNo));
  expect(issued).toMatchObject([{ claimNo }, { claimNo: `${claimNo}-1`, replaces: claimNo }]);
  expect(await on.codeOf(benefit)).toBe(issued[1]?.code);
  expect(issued[1]?.code).not.toBe(first);
});

it('a node of the previous release cannot store the former code again', async () => {
  const supplier = await localSupplier(on.service.clock);
  await supplied(on.operator, 'VIP_PASS', supplier.url);
  const benefit = await claimed(1);
  await replace(benefit);
  // The statement of 1.0.0, which knows no replacements.
  const store = on.database.query(
    `update claims set status = 'FULFILLED', code = 'former', fulfilled_at = now(), ask_at = null
     where order_no = $1 and status = 'PENDING'`,
    [benefit.orderNo],
  );
  await expect(store).rejects.toThrow('claims_code_is_current');
});
