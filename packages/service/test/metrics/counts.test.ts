import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CountedPush } from '../../src/delivery/counts.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { ofFile } from '../orders/stage-of-file.js';
import { stage as orderStage, paid } from '../orders/support.js';
import { claim, stage as pageStage } from '../redeem/support.js';
import { collectRequest, demoChannel, sharedRequest } from '../support/demo.js';
import { sampleValue, scrape } from '../support/scrape.js';
import { manualClock, testService } from '../support/service.js';
import { createSendingNode, registerReceiver } from '../webhooks/sending.js';

describe('perennial_debits_total', () => {
  const on = ofFile(orderStage);
  afterEach(() => on.institution.reset());

  const debits = async () => {
    const metrics = await scrape(on.service.baseUrl);
    const of = (outcome: string) =>
      sampleValue(metrics, 'perennial_debits_total', { payment_channel: 'MOCKPAY', outcome }) ?? 0;
    return { success: of('success'), declined: of('declined'), pending: of('pending'), unknown: of('unknown') };
  };
  const create = () => on.channel.call('orders/create', sharedRequest(on.channel));

  it('counts a first debit by its result, and a pending one again once it is settled', async () => {
    await create();
    expect(await debits()).toEqual({ success: 1, declined: 0, pending: 0, unknown: 0 });
    on.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'no' });
    await create();
    expect(await debits()).toEqual({ success: 1, declined: 1, pending: 0, unknown: 0 });
    on.institution.onDebit = async () => ({ kind: 'pending' });
    await create();
    expect(await debits()).toEqual({ success: 1, declined: 1, pending: 1, unknown: 0 });
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    await create();
    expect(await debits()).toEqual({ success: 1, declined: 1, pending: 1, unknown: 1 });
    const [last] = on.institution.debits.slice(-1);
    if (!last) throw new Error('it was debited');
    const notice = { kind: 'debit', attemptNo: last.attemptNo, outcome: paid(last) } as const;
    await on.notice(notice);
    await on.notice(notice);
    expect(await debits()).toEqual({ success: 2, declined: 1, pending: 1, unknown: 1 });
  });
});

describe('perennial_claims_total', () => {
  const on = ofFile(pageStage);
  beforeAll(() => setFulfilment(on.service.operator, { benefitCode: 'COUPON', kind: 'pool' }));

  it('counts claims by their outcome', async () => {
    const order = await on.order();
    const page = await on.get(order.path);
    await claim(on, page, 'VIP pass 1');
    await claim(on, page, 'VIP pass 1');
    await claim(on, page, 'Coupon 1');
    const metrics = await scrape(on.service.baseUrl);
    const of = (outcome: string) => sampleValue(metrics, 'perennial_claims_total', { outcome });
    expect([of('fulfilled'), of('repeated'), of('waiting'), of('gone')]).toEqual([1, 1, 1, 0]);
  });
});

describe('perennial_webhook_pushes_total and perennial_webhook_given_up_total', () => {
  const service = ofFile(testService);

  it('count each push, and each event that was given up', async () => {
    const channel = await demoChannel(service);
    const receiver = await registerReceiver(service, channel, {
      answer: ({ eventType }) => (eventType === 'order.status.changed' ? 'accept' : 'refuse'),
    });
    const pushed: CountedPush[] = [];
    let givenUp = 0;
    const counts = {
      countDebit: () => undefined,
      countClaim: () => undefined,
      countPush: (outcome: CountedPush) => void pushed.push(outcome),
      countGivenUp(events: number) {
        givenUp += events;
      },
    };
    const clock = manualClock(Date.now() + 3_600_000);
    const node = createSendingNode(service, { dueBy: clock, counts });
    await channel.call('orders/create', collectRequest(channel));
    for (let push = 0; push < 11; push += 1) {
      await node.turn();
      clock.advance(1_800_000);
    }
    expect(pushed.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
    expect(pushed.filter((outcome) => outcome === 'refused')).toHaveLength(11);
    expect(givenUp).toBe(1);
    await node.stop();
    await receiver.close();
  });
});
