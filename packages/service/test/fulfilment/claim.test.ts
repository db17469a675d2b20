import { describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { formatClaimNo } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { revokeBenefits } from '../../src/subscriptions/steps/benefits/revoke-benefits.js';
import { ofFile } from '../orders/stage-of-file.js';
import { localSupplier, supplied } from './suppliers.js';
import { claimStage } from './support.js';

const DAY_MS = 86_400_000;

const on = ofFile(claimStage);

describe('a claim', () => {
  it('returns a code of 16 unambiguous characters, which does not change', async () => {
    const benefit = await on.benefit(1);
    expect(await on.node.claim(on.node.channel, benefit)).toBe('CLAIMED');
    const code = await on.codeOf(benefit);
    expect(code).toMatch(/^[2-9A-HJ-NP-Z]{16}$/);
    on.service.clock.advance(5_000);
    expect(await on.node.claim(on.node.channel, benefit)).toBe('CLAIMED_BEFORE');
    expect(await on.codeOf(benefit)).toBe(code);
    expect(await on.codeOf({ ...benefit, position: 2 })).toBeUndefined();
  });

  it("is refused for an unknown benefit, period or order, and for another channel's", async () => {
    const benefit = await on.benefit(1);
    const { claim, channel } = on.node;
    expect(await claim(channel, { ...benefit, position: 3 })).toBe('UNKNOWN');
    expect(await claim(channel, { ...benefit, cycleNo: 2 })).toBe('UNKNOWN');
    expect(await claim(channel, { ...benefit, orderNo: 1 })).toBe('UNKNOWN');
    const { appId } = await createChannel(on.operator, { name: 'Other' });
    const other = await createChannelRegistry(on.database, on.service.vault).get(appId);
    if (!other) throw new Error('the other channel is there');
    expect(await claim(other, benefit)).toBe('UNKNOWN');
    expect(await on.codeOf(benefit)).toBeUndefined();
  });

  it('is refused from the second in which the benefit expires, whether it is marked or not', async () => {
    const last = await on.benefit(1);
    const late = await on.benefit(1);
    const marked = await on.benefit(1);
    await on.database.query(`update benefits set status = 'EXPIRED' where order_no = $1`, [marked.orderNo]);
    const now = on.service.clock.now();
    on.service.clock.set(now + 90 * DAY_MS - 1);
    expect(await on.node.claim(on.node.channel, last)).toBe('CLAIMED');
    on.service.clock.set(now + 90 * DAY_MS);
    expect(await on.node.claim(on.node.channel, late)).toBe('EXPIRED');
    expect(await on.node.claim(on.node.channel, marked)).toBe('EXPIRED');
    expect(await on.codeOf(late)).toBeUndefined();
    on.service.clock.set(now);
  });

  it('against a refund: one of them wins, and a code exists exactly if the claim did', async () => {
    const benefits = await Promise.all(Array.from({ length: 20 }, () => on.benefit(1)));
    const outcomes = await Promise.all(
      benefits.flatMap((benefit) => [
        on.node.claim(on.node.channel, benefit),
        on.database.transaction((tx) => revokeBenefits(tx, benefit, { inFull: true, sumCent: 1990 })),
      ]),
    );
    for (const [n, benefit] of benefits.entries()) {
      const [row] = await on.database.query<{ status: string; claimNo: string | null }>(
        'select status, claim_no as "claimNo" from benefits where order_no = $1 and position = 1',
        [benefit.orderNo],
      );
      const claimed = outcomes[2 * n] === 'CLAIMED';
      expect(row).toEqual(
        claimed ? { status: 'CLAIMED', claimNo: formatClaimNo(benefit) } : { status: 'REVOKED', claimNo: null },
      );
      expect((await on.codeOf(benefit)) !== undefined).toBe(claimed);
    }
  });
});

const AT_ONCE = 100;

const other = ofFile(() => on.anotherNode());

/** Claims one benefit concurrently, with half of the claims at each of two nodes. */
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
  it('yield one generated code', async () => {
    const benefit = await claimAtOnce(1);
    expect(await on.codeOf(benefit)).toMatch(/^\w{16}$/);
    expect(await on.database.query('select from claims where order_no = $1', [benefit.orderNo])).toHaveLength(1);
  });

  it('yield one code of the pool', async () => {
    await setFulfilment(on.operator, { benefitCode: 'COUPON', kind: 'pool' });
    await on.import('COUPON', 'FIRST\nSECOND\n');
    const benefit = await claimAtOnce(2);
    expect(await on.codeOf(benefit)).toBe('FIRST');
    expect(await on.database.query('select given_to from pool_codes where given_to is not null')).toEqual([
      { given_to: formatClaimNo(benefit) },
    ]);
  });

  it('yield one order at the supplier', async () => {
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
