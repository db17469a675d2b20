import { EVENT_CONTRACT, type EventScenarioName, type MainOrder } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../../sdk/src/cli/trigger/scenarios.js';
import { setUpcomingNotices } from '../../src/operator/provisioning/channel-settings.js';
import { ofFile } from '../orders/stage-of-file.js';
import { kitService } from './support.js';

const kit = ofFile(kitService);

interface Told {
  readonly eventType: string;
  readonly eventId: string;
  readonly lastEventId: string | null;
  readonly data: { readonly paymentStatus?: string; readonly orderStatus?: string };
}

/** Removes consecutive repetitions, such as a period that fails four times or ten renewals. */
const withoutRepeats = (told: readonly string[]) => told.filter((one, place) => one !== told[place - 1]);

const promised = (names: readonly EventScenarioName[]): string[] =>
  names.flatMap((name) => {
    const row = EVENT_CONTRACT.find((one) => one.name === name);
    const each = row?.perVoidedPeriod ? [row.perVoidedPeriod] : [];
    return [...(row?.events ?? []), ...each].map(({ eventType, status }) => `${eventType} ${status}`);
  });

const inWords = (events: readonly Told[]): string[] =>
  events.map(({ eventType, data }) => `${eventType} ${data.paymentStatus ?? data.orderStatus}`);

const trigger = (...argv: readonly string[]) => kit.run(['trigger', ...argv, '--json']);

describe('trigger', () => {
  const modes = SCENARIOS.filter(({ name }) => name !== 'upcoming').flatMap(({ name, contract, later }) => [
    { name, later, mode: 'SVC_DEDUCT', names: contract.a, created: 'deduct-create-succeeded' as const },
    ...(contract.b
      ? [{ name, later, mode: 'CHANNEL_COLLECT', names: contract.b, created: 'collect-create' as const }]
      : []),
  ]);

  it('there is one for every row of the events table', () => {
    const covered = new Set(SCENARIOS.flatMap(({ contract }) => [...contract.a, ...(contract.b ?? [])]));
    expect(EVENT_CONTRACT.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
  });

  it.each(modes)(
    '$name, $mode: the events that the contract says, on a new order',
    async ({ name, mode, names, created, later }) => {
      const { status, json, err } = await trigger(name, '--settlement-mode', mode);
      expect([status, err]).toEqual([0, '']);
      // The events of the last row follow only after a later query, so they are not shown yet.
      const now = later ? names.slice(0, -1) : names;
      const isFirst = name.startsWith('first-payment') || name === 'created';
      const expected = promised([...(isFirst ? [] : [created]), ...now]);
      expect(withoutRepeats(inWords(json.events))).toEqual(withoutRepeats(expected));
      expect(json).toMatchObject({ scenario: name, isNew: true, contract: names });
      const voided = (json.order as MainOrder).paymentRecords.filter(
        ({ paymentStatus }) => paymentStatus === 'CANCELED',
      );
      const range = (json.events as Told[]).find(({ lastEventId }) => lastEventId !== null);
      if (expected.at(-1)?.endsWith('CANCELED')) {
        const [first, last] = [range?.eventId, range?.lastEventId].map((id) => Number(id?.split('-')[1]));
        expect((last ?? 0) - (first ?? 0) + 1).toBe(voided.length);
      } else expect(voided).toEqual([]);
    },
  );

  it('one order through its life: each scenario on the given order', async () => {
    const { orderNo } = (await trigger('renewal')).json.order;
    const on = async (name: string) => {
      const { status, json, err } = await trigger(name, '--order', orderNo);
      expect([name, status, err]).toEqual([name, 0, '']);
      expect(json.isNew).toBe(false);
      return inWords(json.events).map((one) => one.split(' ')[1]);
    };
    expect(await on('payment-failed')).toEqual(['FAIL_RETRY']);
    expect(await on('payment-recovered')).toEqual(['FAIL_RETRY', 'SUCCESS']);
    expect(await on('refund-part')).toEqual(['REFUND_PART']);
    expect(await on('refund')).toEqual(['REFUND_FULL']);
    const givenUp = await on('payment-given-up');
    expect([givenUp.at(0), givenUp.at(-1)]).toEqual(['FAIL_RETRY', 'FAIL']);
    expect(await on('renewal')).toEqual(['SUCCESS']);
    expect((await on('completed')).at(-1)).toBe('COMPLETED');
  });

  it('1: an order for which it is impossible, with the reason', async () => {
    const collected = (await trigger('renewal', '--settlement-mode', 'CHANNEL_COLLECT')).json.order.orderNo;
    const ended = (await trigger('unsubscribed')).json.order.orderNo;
    const failed = (await trigger('first-payment-failed')).json.order.orderNo;
    const pending = (await trigger('first-payment-pending')).json.order.orderNo;
    const refusals: [string, string, string][] = [
      ['payment-failed', collected, '400001'],
      ['refund', collected, 'the order has no paid period'],
      ['renewal', ended, '420003'],
      ['agreement-ended', pending, '420008'],
      ['refund-part', failed, 'the order has no paid period'],
    ];
    for (const [name, orderNo, reason] of refusals) {
      const { status, err } = await kit.run(['trigger', name, '--order', orderNo]);
      expect([name, status, err]).toEqual([name, 1, expect.stringContaining(reason)]);
    }
    expect((await trigger('renewal', '--order', '1')).json.error.code).toBe('420001');
    expect((await trigger('first-payment-failed', '--order', collected)).status).toBe(2);
    expect((await trigger('refund', '--settlement-mode', 'CHANNEL_COLLECT')).status).toBe(2);
  });

  it('prints the periods, the events and what follows later', async () => {
    const { out } = await kit.run(['trigger', 'agreement-ended', '--product-code', 'TEST_SPU_DAILY_7']);
    expect(out).toMatch(/^order \d+ \(new\)$/m);
    expect(out).toMatch(/^orderStatus +UNSUBSCRIBED$/m);
    expect(out).toMatch(/^ {2}\d+0002 +2 .* FAIL$/m);
    expect(out).toMatch(/^ {2}\d+0007 +7 .* CANCELED$/m);
    expect(out).toMatch(
      /^ {2}\d+-3 to \d+-7 +payment\.status\.changed +order \d+ +periods 3 to 7 CANCELED, an event each$/m,
    );
    expect((await kit.run(['trigger', 'first-payment-pending'])).out).toMatch(/^no events\nlater: .* 30 s;/m);
  });

  it('shows the notice before a debit, if the channel has enabled it', async () => {
    const { appId } = kit.credentials;
    const off = await kit.run(['trigger', 'upcoming']);
    expect([off.status, off.err]).toEqual([1, expect.stringContaining('payment.upcoming is off for this channel')]);
    const command = /npx perennial-channel (.* --upcoming-notice-days \d+)/.exec(off.err)?.[1] ?? '';
    expect((await kit.run(command.split(' '))).status).toBe(0);
    try {
      for (const mode of ['SVC_DEDUCT', 'CHANNEL_COLLECT']) {
        const { json } = await trigger('upcoming', '--settlement-mode', mode);
        expect(json.events.map(({ eventType }: Told) => eventType).at(-1)).toBe('payment.upcoming');
      }
      const { out } = await kit.run(['trigger', 'renewal']);
      expect(out).toMatch(/^ {2}\d+ +payment\.upcoming +order \d+ +period 2 is due \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
      expect(out).toMatch(/^ {2}\d+ +payment\.status\.changed +order \d+ +period 2 SUCCESS$/m);
    } finally {
      await setUpcomingNotices(kit.operator, { appId, days: null });
    }
  });

  it('lists its scenarios', async () => {
    const { out } = await kit.run(['trigger', '--list']);
    for (const { name, summary } of SCENARIOS) expect(out).toContain(`${name}: ${summary}`);
    expect((await trigger('--list')).json).toHaveLength(SCENARIOS.length);
  });
});
