import { beforeEach, describe, expect, it } from 'vitest';
import { reserveSmsSend } from '../../src/subscriptions/steps/agreements/sms-limit.js';
import { dump } from '../operator/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { agreementsOfFile, bindSmsBody, gate, meetingOf, person, sendCode, sentBinding, stored } from './support.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const { service, channel: first } = agreementsOfFile({ environment: 'production' });
let channel: ChannelClient;
beforeEach(() => {
  channel = first;
});

/** Advances the clock. Gets a new token, because tokens live for two hours. */
function later(ms: number): void {
  service.clock.advance(ms);
  channel = service.client(channel.credentials);
}

describe('agreements/bind-sms in production, how often', () => {
  it('429002: a second code within 60 s; at 60 s it is sent', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    later(MINUTE - 1);
    const reply = await sendCode(channel, who, { bindOrderNo });
    expect(reply.status).toBe(200);
    expect(reply.code).toBe('429002');
    expect(service.gateway.sends).toHaveLength(1);
    // The refused request changed nothing, so the first code is still valid.
    expect(await stored(service, bindOrderNo)).toMatchObject({ status: 'BIND_ING', code_sent: true });
    later(1);
    expect((await sendCode(channel, who, { bindOrderNo })).data.smsStatus).toBe('SEND_SUCCESS');
  });

  it('429002: for any channel and any card, with the same message, and nothing is stored', async () => {
    const { bankMobile } = person();
    const mine = await sendCode(channel, person({ bankMobile }));
    expect(mine.code).toBe('0');
    // Only a production service stores hashes of the phone numbers to which codes were sent. privacy/at-rest.test.ts
    // checks all other tables.
    const text = await dump(service.fresh.database);
    for (const spelling of [bankMobile, Buffer.from(bankMobile).toString('hex')]) expect(text).not.toContain(spelling);
    const other = await service.channel();
    const who = person({ bankMobile });
    const reply = await sendCode(other, who);
    const again = await sendCode(channel, person({ bankMobile }));
    // Every channel gets the same answer as the channel that requested the code. The answer reveals neither which
    // channel requested the code nor when.
    expect([reply.status, reply.code, reply.data, reply.envelope.message]).toEqual([
      again.status,
      '429002',
      null,
      again.envelope.message,
    ]);
    expect(service.gateway.sends).toHaveLength(1);
    expect((await sendCode(channel, person())).code).toBe('0');
    expect((await other.call('agreements/user-data', { channelUserId: who.channelUserId })).data.bankDataList).toEqual(
      [],
    );
    service.clock.advance(MINUTE);
    expect((await sendCode(other, who)).code).toBe('0');
  });

  it('429002: the eleventh within 24 hours, over all channels; one is free when the first is a day old', async () => {
    const { bankMobile } = person();
    const others = [await service.channel(), await service.channel()];
    for (let n = 0; n < 10; n += 1) {
      expect((await sendCode([channel, ...others][n % 3] ?? channel, person({ bankMobile }))).code).toBe('0');
      service.clock.advance(MINUTE);
    }
    for (const by of [channel, ...others]) expect((await sendCode(by, person({ bankMobile }))).code).toBe('429002');
    later(DAY - 10 * MINUTE - 1);
    expect((await sendCode(channel, person({ bankMobile }))).code).toBe('429002');
    later(1);
    expect((await sendCode(channel, person({ bankMobile }))).code).toBe('0');
    expect(service.gateway.sends).toHaveLength(11);
  });

  it('429002 is not stored: the same key works after the minute', async () => {
    const who = person();
    await sentBinding(channel, who);
    const body = bindSmsBody(channel, who);
    const options = { idempotencyKey: 'again' };
    expect((await channel.call('agreements/bind-sms', body, options)).code).toBe('429002');
    later(MINUTE);
    const reply = await channel.call('agreements/bind-sms', body, options);
    expect(reply.code).toBe('0');
    expect(reply.headers['idempotency-replayed']).toBeUndefined();
  });

  it('0: a code that was not sent does not count', async () => {
    const who = person();
    service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
    for (let n = 0; n < 11; n += 1) expect((await sendCode(channel, who)).data.smsStatus).toBe('SEND_FAIL');
    service.gateway.reset();
    expect((await sendCode(channel, who)).data.smsStatus).toBe('SEND_SUCCESS');
  });

  it('429002: a code that may have been sent counts', async () => {
    const who = person();
    service.gateway.onSend = async () => ({ kind: 'unknown' });
    expect((await sendCode(channel, who)).data.smsStatus).toBe('SEND_FAIL');
    expect((await sendCode(channel, who)).code).toBe('429002');
  });

  it('429002: one of twenty concurrent requests of two channels for one bank mobile sends', async () => {
    const { bankMobile } = person();
    const other = await service.channel();
    const send = (n: number) => sendCode(n % 2 ? channel : other, person({ bankMobile }));
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)));
    expect(replies.map(({ code }) => code).sort()).toEqual(['0', ...Array(19).fill('429002')]);
    expect(service.gateway.sends).toHaveLength(1);
  });

  it('0: twenty requests for different bank mobiles do not wait for each other', async () => {
    const together = meetingOf(20);
    service.gateway.onSend = async () => {
      await together();
      return { kind: 'sent', reference: undefined };
    };
    const replies = await Promise.all(Array.from({ length: 20 }, () => sendCode(channel, person())));
    expect(replies.map(({ code }) => code)).toEqual(Array(20).fill('0'));
  });

  it.each([
    ['429002', 'is committed'],
    ['0', 'is rolled back'],
  ])('%s: a request waits for another one that is about to send to the number and %s', async (code, _what) => {
    const who = person();
    const other = await holdNumber(who.bankMobile);
    const waiting = sendCode(channel, who);
    await until('the request waiting', async () => (await waitingAtLocks()) === 1);
    await (code === '0' ? other.rollBack() : other.commit());
    expect((await waiting).code).toBe(code);
  });

  it('0: a resend on another node gets the answer of the first, not 429002', async () => {
    const elsewhere = (await service.node(service.gateway))(channel);
    await elsewhere.call('agreements/user-data', { channelUserId: 'for a token' });
    const who = person();
    const body = bindSmsBody(channel, who);
    // Holds both requests after admission. At that point neither request can see the other.
    const other = await holdNumber(who.bankMobile);
    const twins = [channel, elsewhere].map((by) => by.call('agreements/bind-sms', body, { idempotencyKey: 'twin' }));
    await until('both waiting', async () => (await waitingAtLocks()) === 2);
    await other.rollBack();
    const replies = await Promise.all(twins);
    expect(replies.map(({ code }) => code)).toEqual(['0', '0']);
    expect(replies[1]?.data).toEqual(replies[0]?.data);
    expect(service.gateway.sends).toHaveLength(1);
  });
});

const waitingAtLocks = () => lockWaits(service.fresh.database);

/** Begins a transaction that has counted a code for the number and stays uncommitted until the test ends it. */
async function holdNumber(bankMobile: string) {
  const hash = await service.bankMobiles.hash(bankMobile);
  const inside = gate();
  let fails = false;
  const done = service.fresh.database
    .transaction(async (tx) => {
      await reserveSmsSend(tx, hash, service.clock.now(), { resumed: false });
      await inside.stand();
      if (fails) throw new Error('rolled back');
    })
    .catch((error: Error) => error.message);
  await inside.reached;
  return {
    async commit(): Promise<void> {
      inside.open();
      await done;
    },
    async rollBack(): Promise<void> {
      fails = true;
      inside.open();
      await done;
    },
  };
}
