import { describe, expect, it } from 'vitest';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import type { Transactional } from '../../src/platform/db/database.js';
import { type BenefitReference, formatClaimNo } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { ofFile } from '../orders/stage-of-file.js';
import { until } from '../support/processes.js';
import { localSupplier, supplied, type TestSupplier } from './suppliers.js';
import { claimStage } from './support.js';

const DAY_MS = 86_400_000;

const on = ofFile(claimStage);

/** Starts the reference supplier for VIP_PASS, and creates one benefit to claim there. */
async function attached() {
  const supplier = await localSupplier(on.service.clock);
  await supplied(on.operator, 'VIP_PASS', supplier.url);
  return { supplier, benefit: await on.benefit(1) };
}
const claim = (benefit: BenefitReference) => on.node.claim(on.node.channel, benefit);
const handedOut = async (supplier: TestSupplier, benefit: BenefitReference) =>
  (await supplier.handedOut()).filter(({ claimNo }) => claimNo === formatClaimNo(benefit));
/** Checks that the supplier handed out one code, and that the user sees this code. */
async function isFulfilled(supplier: TestSupplier, benefit: BenefitReference, arrivals: number): Promise<void> {
  const orders = await handedOut(supplier, benefit);
  expect(orders).toMatchObject([{ arrivals }]);
  expect(await on.codeOf(benefit)).toBe(orders[0]?.code);
}
const alertsAbout = async (benefit: BenefitReference) =>
  (await on.alerts()).filter(({ subject }) => subject === formatClaimNo(benefit));

const SCHEDULE = [10, 30, 60, 300, 900, 3600];

/**
 * Returns the back-off in seconds that was scheduled for the claim's next query: the shortest back-off that is not less
 * than the remaining time. Returns undefined if no query is scheduled.
 */
async function askedAfter({ orderNo }: BenefitReference): Promise<number | undefined> {
  const [row] = await on.database.query<{ seconds: number | null }>(
    'select extract(epoch from ask_at - now())::double precision as seconds from claims where order_no = $1',
    [orderNo],
  );
  const seconds = row?.seconds ?? Number.POSITIVE_INFINITY;
  return SCHEDULE.find((pause) => seconds <= pause);
}

/** Makes all pending queries due, and runs those of VIP_PASS. Returns their number. */
async function askNow(): Promise<number> {
  await on.database.query('update claims set ask_at = now() where ask_at is not null');
  return on.node.ask('VIP_PASS');
}

describe('a claim at a supplier', () => {
  it.each([
    'error-after',
    'answer-lost',
    'wrong-claim',
    'bad-code',
    'forged-answer',
    'garbage-answer',
    'oversized-answer',
  ])('after %s is asked about, and gets the code that was handed out then', async (fault) => {
    const { supplier, benefit } = await attached();
    await supplier.fault(fault, { times: 1 });
    expect(await claim(benefit)).toBe('CLAIMED');
    await isAskedAboutOnce(supplier, benefit);
  });

  it('that is not answered in time is queried likewise', async () => {
    const { supplier, benefit } = await attached();
    await supplier.fault('delay', { times: 1 });
    const impatient = await on.anotherNode({ deadlineMs: 3_000 });
    expect(await impatient.claim(impatient.channel, benefit)).toBe('CLAIMED');
    await impatient.close();
    await isAskedAboutOnce(supplier, benefit);
  });

  /**
   * Checks that the supplier is queried only when the query is due, and that it then reports the code that it handed
   * out.
   */
  async function isAskedAboutOnce(supplier: TestSupplier, benefit: BenefitReference): Promise<void> {
    expect(await on.codeOf(benefit)).toBeUndefined();
    expect(await askedAfter(benefit)).toBe(10);
    // Makes the query due in an hour, so that it is not due now, however slow this machine is.
    await on.database.query(`update claims set ask_at = now() + interval '1 hour' where ask_at is not null`);
    expect(await on.node.ask('VIP_PASS')).toBe(0);

    expect(await askNow()).toBe(1);
    await isFulfilled(supplier, benefit, 1);
    expect(await askNow()).toBe(0);
  }

  it('that the supplier does not know is sent again with the same number', async () => {
    const { supplier, benefit } = await attached();
    await supplier.fault('error-before', { times: 1 });
    await claim(benefit);
    expect(await handedOut(supplier, benefit)).toEqual([]);
    await askNow();
    await isFulfilled(supplier, benefit, 2);
  });

  it('waits while the supplier is away, and is queried on the schedule of debits', async () => {
    const { supplier, benefit } = await attached();
    await supplier.stop();
    expect(await claim(benefit)).toBe('CLAIMED');
    const pauses: (number | undefined)[] = [];
    for (let n = 0; n < 6; n += 1) {
      await askNow();
      pauses.push(await askedAfter(benefit));
    }
    expect(pauses).toEqual([30, 60, 300, 900, 3600, 3600]);
    expect(await alertsAbout(benefit)).toEqual([]);

    on.service.clock.advance(DAY_MS + 1_000);
    await askNow();
    await askNow();
    on.service.clock.advance(-DAY_MS - 1_000);
    expect(await alertsAbout(benefit)).toMatchObject([{ kind: 'claim-unknown-for-a-day', seen: 1 }]);
    const back = await localSupplier(on.service.clock);
    await setFulfilment(on.operator, { benefitCode: 'VIP_PASS', kind: 'supplier', supplierUrl: back.url });
    await askNow();
    await isFulfilled(back, benefit, 1);
  });

  it('that is refused waits, raises an alert, and is requested again every hour', async () => {
    const { supplier, benefit } = await attached();
    await supplier.fault('refuse', { times: 2 });
    expect(await claim(benefit)).toBe('CLAIMED');
    expect(await askedAfter(benefit)).toBe(3600);
    expect(await alertsAbout(benefit)).toEqual([{ kind: 'claim-refused', subject: formatClaimNo(benefit), seen: 1 }]);
    await askNow();
    expect(await askedAfter(benefit)).toBe(3600);
    expect(await alertsAbout(benefit)).toMatchObject([{ seen: 1 }]);
    expect(await supplier.refused()).toMatchObject([{ claimNo: formatClaimNo(benefit) }]);
    await askNow();
    await isFulfilled(supplier, benefit, 3);
  });

  it('keeps its code after its supplier was replaced, and is not sent to the new one', async () => {
    const { benefit } = await attached();
    await claim(benefit);
    const code = await on.codeOf(benefit);
    const liar = await localSupplier(on.service.clock);
    await supplied(on.operator, 'VIP_PASS', liar.url);
    await askNow();
    expect(await on.codeOf(benefit)).toBe(code);
    expect(await liar.handedOut()).toEqual([]);
  });

  it('stays with its supplier after the source of codes was changed', async () => {
    const { supplier, benefit } = await attached();
    await supplier.fault('answer-lost', { times: 1 });
    await claim(benefit);
    await setFulfilment(on.operator, { benefitCode: 'VIP_PASS', kind: 'generated' });
    const later = await on.benefit(1);
    await claim(later);
    expect(await on.codeOf(later)).toMatch(/^\w{16}$/);
    await askNow();
    const orders = await supplier.handedOut();
    expect(orders.map(({ claimNo }) => claimNo)).toEqual([formatClaimNo(benefit)]);
    expect(await on.codeOf(benefit)).toBe(orders[0]?.code);
  });

  it('is queried by one node at a time', async () => {
    const { supplier, benefit } = await attached();
    const more = await Promise.all(Array.from({ length: 10 }, () => on.benefit(1)));
    await supplier.fault('error-before', { times: 11 });
    await Promise.all([benefit, ...more].map(claim));
    await on.database.query('update claims set ask_at = now() where ask_at is not null');
    const other = await on.anotherNode();
    const asked = await Promise.all([on.node.ask('VIP_PASS'), other.ask('VIP_PASS')]);
    await other.close();
    expect(asked[0] + asked[1]).toBe(11);
    expect((await supplier.handedOut()).map(({ arrivals }) => arrivals)).toEqual(Array(11).fill(2));
  });

  it('pressed twice shows the code to both', async () => {
    const { supplier, benefit } = await attached();
    await supplier.control({ action: 'delay', answerMs: 200 });
    await supplier.fault('delay', { times: 1 });
    const press = async () => ({ outcome: await claim(benefit), hasCode: (await on.codeOf(benefit)) !== undefined });
    const pressed = await Promise.all([press(), press()]);
    expect(pressed.map(({ outcome }) => outcome).toSorted()).toEqual(['CLAIMED', 'CLAIMED_BEFORE']);
    expect(pressed.map(({ hasCode }) => hasCode)).toEqual([true, true]);
    await isFulfilled(supplier, benefit, 1);
  });

  it('pressed twice shows the code to both, even if the commit of the first is reported late', async () => {
    const { supplier, benefit } = await attached();
    const another = await on.benefit(1);
    let report = () => {};
    const reported = new Promise<void>((resolve) => {
      report = resolve;
    });
    const late: Transactional = {
      ...on.database,
      transaction: async (work) => {
        const result = await on.database.transaction(work);
        await reported;
        return result;
      },
    };
    const first = on.node.claim(on.node.channel, benefit, late);
    const stored = 'select from claims where order_no = $1';
    await until('a commit', async () => (await on.database.query(stored, [benefit.orderNo])).length > 0);
    const second = claim(benefit).then(() => on.codeOf(benefit));
    await Promise.race([second, claim(another)]);
    report();
    expect([await first, await second]).toEqual(['CLAIMED', expect.any(String)]);
    await isFulfilled(supplier, benefit, 1);
  });

  it('stays pending if the answer cannot be stored, and is queried', async () => {
    const { supplier, benefit } = await attached();
    await on.database.query('alter table claims add constraint no_room check (fulfilled_at is null) not valid');
    expect(await claim(benefit)).toBe('CLAIMED');
    await on.database.query('alter table claims drop constraint no_room');
    expect(await on.codeOf(benefit)).toBeUndefined();
    await askNow();
    await isFulfilled(supplier, benefit, 1);
  });
});
