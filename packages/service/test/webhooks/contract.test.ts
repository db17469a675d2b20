import { EVENT_CONTRACT, type EventScenario, type EventScenarioName, WEBHOOK_EVENTS } from '@perennial/wire';
import { Ajv } from 'ajv';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { setVoidedPeriodEvents } from '../../src/operator/provisioning/channel-settings.js';
import { later, ofFile } from '../orders/stage-of-file.js';
import { dailyProduct } from '../orders/support.js';
import { timeMachine } from '../sandbox/support.js';
import { bindCard, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { registerReceiver, sendingNodeOf, statusIn } from './sending.js';

const ajv = new Ajv({ allowUnionTypes: true });
const scene = ofFile(timeMachine);
const receiver = ofFile(() => registerReceiver(scene.service, scene.channel));
const node = sendingNodeOf(
  ofFile,
  later(() => scene.service),
);
beforeAll(() => dailyProduct(scene.service, 'ONE_DAY', 1));
beforeEach(() => scene.institution.reset());

const SEVEN = { productCode: 'TEST_SPU_DAILY_7' };
const PERIODS = 7;

/**
 * A scenario. `before` prepares an order, and the events of this preparation are not counted. `act` is the scenario
 * itself.
 */
interface Play {
  before?(): Promise<string>;
  act(orderNo: string): Promise<unknown>;
}

const create = async (request: object) => {
  const reply = await scene.channel.call('orders/create', request);
  expect(reply.code, reply.text).toBe('0');
  return reply.data.orderNo as string;
};
/** Leaves the outcome of debits unknown, so that they cause no event. */
const silent = () => {
  scene.institution.onDebit = async () => ({ kind: 'unknown' });
};
const pending = async () => {
  silent();
  return create(sharedRequest(scene.channel, SEVEN));
};
const declined = { kind: 'declined', decline: 'final', reason: 'no' } as const;
const deducted = () => scene.deducted(SEVEN);
const collected = () => scene.collected(SEVEN);
const advance =
  (cycles: number, ...outcomes: string[]) =>
  async (orderNo: string) => {
    const reply = await scene.advance(orderNo, { cycles, outcomes });
    expect(reply.code, reply.text).toBe('0');
  };
const beforeLast = async () => {
  const orderNo = await deducted();
  await advance(PERIODS - 2)(orderNo);
  return orderNo;
};
/**
 * Returns a longer preparation: one more period fails, and it still waits for its retry when the next period becomes
 * due.
 */
const waitingForRetry = (before: () => Promise<string>) => async () => {
  const orderNo = await before();
  await advance(1, 'FAIL_RETRY')(orderNo);
  return orderNo;
};
const timeGoesBy = async () => {
  silent();
  await scene.renew();
};
const unsubscribedInFlight = async () => {
  const orderNo = await deducted();
  await timeGoesBy();
  await unsubscribe(orderNo);
  return orderNo;
};
const answered = (outcome?: typeof declined) => () => {
  if (outcome) scene.institution.onQuery = async () => outcome;
  return scene.askPending();
};
const unsubscribe = (orderNo: string) => scene.channel.call('orders/unsubscribe', { orderNo });
const refund = (amountCent: number) => (orderNo: string) => {
  const { service, institution } = scene;
  const operator = { ...service.operator, clock: service.clock, gateways: { of: async () => institution } };
  return refundPayment(operator, { orderNo, cycleNo: 1, amountCent });
};

const PLAYS: Readonly<Record<EventScenarioName, Play>> = {
  'deduct-create-succeeded': { act: deducted },
  'deduct-create-failed': {
    act: () => {
      scene.institution.onDebit = async () => declined;
      return create(sharedRequest(scene.channel, SEVEN));
    },
  },
  'deduct-create-pending': { act: pending },
  'deduct-pending-succeeded': { before: pending, act: answered() },
  'deduct-pending-failed': { before: pending, act: answered(declined) },
  'deduct-pending-succeeded-agreement-ended': {
    before: async () => {
      silent();
      const request = sharedRequest(scene.channel, SEVEN);
      const orderNo = await create(request);
      const institutionNo = request.sharedAgreement.sharedAgreementNo;
      await scene.notice({ kind: 'agreement-canceled', institutionNo, reason: 'closed by the bank' });
      return orderNo;
    },
    act: answered(),
  },
  'deduct-one-period': { before: () => scene.deducted({ productCode: 'ONE_DAY' }), act: timeGoesBy },
  'deduct-renewal-succeeded': { before: deducted, act: advance(1) },
  'deduct-renewal-postponed': { before: deducted, act: advance(1, 'FAIL_RETRY') },
  'deduct-renewal-failed': { before: deducted, act: advance(1, 'FAIL') },
  'deduct-retry-too-late': { before: waitingForRetry(deducted), act: timeGoesBy },
  'deduct-last-succeeded': { before: beforeLast, act: advance(1) },
  'deduct-last-failed': { before: beforeLast, act: advance(1, 'FAIL') },
  'deduct-last-retry-too-late': { before: waitingForRetry(beforeLast), act: timeGoesBy },
  'deduct-agreement-invalid': { before: deducted, act: advance(1, 'AGREEMENT_INVALID') },
  'deduct-refund-part': { before: deducted, act: refund(40) },
  'deduct-refund-full': { before: deducted, act: refund(100) },
  'deduct-unsubscribe': { before: deducted, act: unsubscribe },
  'deduct-unsubscribed-succeeded': { before: unsubscribedInFlight, act: answered() },
  'deduct-unsubscribed-failed': { before: unsubscribedInFlight, act: answered(declined) },
  'deduct-replace': {
    before: async () => {
      const channelUserId = unique('user');
      return create(sharedRequest(scene.channel, { ...SEVEN, channelUserId }));
    },
    act: async (orderNo) => {
      const { channelUserId } = (
        await scene.service.fresh.database.query<{ channelUserId: string }>(
          'select channel_user_id as "channelUserId" from orders where order_no = $1',
          [orderNo],
        )
      )[0] as { channelUserId: string };
      const newSharedAgreement = sharedAgreement(scene.channel, channelUserId);
      const reply = await scene.channel.call('agreements/replace', { orderNo, newSharedAgreement });
      expect(reply.code, reply.text).toBe('0');
    },
  },
  'collect-create': { act: collected },
  'collect-renewal': { before: collected, act: advance(1) },
  'collect-last': {
    before: async () => {
      const orderNo = await collected();
      await advance(PERIODS - 2)(orderNo);
      return orderNo;
    },
    act: advance(1),
  },
  'collect-one-period': { before: () => scene.collected({ productCode: 'ONE_DAY' }), act: () => scene.renew() },
  'collect-unsubscribe': { before: collected, act: unsubscribe },
};

async function played({ before, act }: Play) {
  const orderNo = (await before?.()) ?? '';
  await node.turn();
  const from = receiver.pushes.length;
  await act(orderNo);
  await node.turn();
  expect(receiver.forged).toEqual([]);
  return receiver.pushes.slice(from).filter(({ data }) => orderNo === '' || data.orderNo === orderNo);
}

const periodsAfter = (scenario: EventScenario) =>
  scenario.name === 'deduct-agreement-invalid' ? PERIODS - 2 : PERIODS - 1;

describe('every scenario of the event contract', () => {
  it.each(EVENT_CONTRACT.map((scenario: EventScenario) => [scenario.name, scenario] as const))(
    '%s: these events, in this order, signed, and no others',
    async (name, scenario) => {
      const { events, perVoidedPeriod: voided } = scenario;
      const pushes = await played(PLAYS[name as EventScenarioName]);
      const expected = [...events, ...(voided ? Array.from({ length: periodsAfter(scenario) }, () => voided) : [])];
      expect(pushes.map((push) => ({ eventType: push.eventType, status: statusIn(push) }))).toEqual(expected);
      for (const push of pushes) {
        const envelope = JSON.parse(push.raw.toString());
        const schema = WEBHOOK_EVENTS[push.eventType as keyof typeof WEBHOOK_EVENTS];
        ajv.validate(schema, envelope);
        expect(ajv.errors ?? [], push.raw.toString()).toEqual([]);
        expect(Object.keys(envelope)).toEqual(Object.keys(schema.properties));
        expect(Object.keys(envelope.data)).toEqual(Object.keys(schema.properties.data.properties));
        expect(push.retryNo).toBe(0);
        // An event about an order has neither field, so that both comparisons are false.
        expect(push.data.mobileEncrypted === null).toBe(push.data.agreementShareFlag === false);
      }
      expect(new Set(pushes.map(({ eventId }) => eventId)).size).toBe(pushes.length);
    },
  );

  it('A.1, with a card bound by the service: the same two events', async () => {
    const pushes = await played({
      act: async () => {
        const bindOrderNo = await bindCard(scene.channel, unique('user'));
        const { productCode } = SEVEN;
        return create({ settlementMode: 'SVC_DEDUCT', externalOrderNo: unique('order'), productCode, bindOrderNo });
      },
    });
    expect(pushes.map(statusIn)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(pushes[0]?.data).toMatchObject({ agreementShareFlag: false, mobileEncrypted: null });
  });

  it('voidedPeriodEvents off: an unsubscription is one push, in both modes', async () => {
    const { appId } = scene.channel.credentials;
    await setVoidedPeriodEvents(scene.service.operator, { appId, send: false });
    for (const before of [deducted, collected]) {
      expect((await played({ before, act: unsubscribe })).map(statusIn)).toEqual(['UNSUBSCRIBED']);
    }
    await setVoidedPeriodEvents(scene.service.operator, { appId, send: true });
  });

  it('nothing is left to send, and nothing was sent twice', async () => {
    expect(await scene.service.fresh.database.query('select * from due_events')).toEqual([]);
    expect(new Set(receiver.pushes.map(({ eventId }) => eventId)).size).toBe(receiver.pushes.length);
  });
});
