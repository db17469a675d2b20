import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { institution } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { respelled } from '../support/demo.js';
import {
  agreementsOfFile,
  bindSmsBody,
  confirmBody,
  confirmCode,
  gate,
  type Person,
  person,
  sendCode,
  sentBinding,
  stored,
} from './support.js';

/** Simulates a node that dies between its two transactions: its institution is late or throws, its lease is short. */
const { service, channel } = agreementsOfFile({ environment: 'production' });
const stuck = institution();
let at: (channel: ChannelClient) => ChannelClient;
let lost: ChannelClient;
let who: Person;
let between: ReturnType<typeof gate>;
beforeAll(async () => {
  at = await service.node(stuck, { leaseSeconds: 0.2 });
});
beforeEach(() => {
  stuck.reset();
  lost = at(channel);
  who = person();
  between = gate();
});

/** Returns the ids of the user's agreements. For another table, returns a null for each of the user's rows in it. */
const stand = async (table = 'agreements') => {
  const rows = await service.fresh.database.query<{ id?: string }>(
    `select to_jsonb(t) ->> 'agreement_id' as id from ${table} t where channel_user_id = $1`,
    [who.channelUserId],
  );
  return rows.map(({ id }) => id);
};
const breaks = async () => {
  throw new Error('a bug');
};

describe('a crash in the middle of bind-sms', () => {
  it('0: one of many resends on another node sends again and finishes the binding; the dead node changes nothing later', async () => {
    stuck.onSend = async () => {
      await between.stand();
      return { kind: 'sent', reference: 'lost' };
    };
    const body = bindSmsBody(channel, who);
    const first = lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    await between.reached;
    const [begun] = await stand();
    const [resent, ...others] = await Promise.all([
      channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' }),
      ...Array.from({ length: 9 }, () => channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' })),
    ]);
    expect(resent.data).toMatchObject({ bindOrderNo: begun, smsStatus: 'SEND_SUCCESS' });
    for (const other of others) expect(other.data).toEqual(resent.data);
    expect(service.gateway.sends).toHaveLength(1);
    between.open();
    expect((await first).data).toEqual(resent.data);
    expect(await stand()).toHaveLength(1);
    expect(await stand('channel_users')).toHaveLength(1);
    await confirmCode(channel, resent.data.bindOrderNo);
    expect(service.gateway.confirms).toMatchObject([{ reference: `ref-${begun}-1` }]);
  });

  it('500001 if the institution throws: the resend continues at once', async () => {
    stuck.onSend = breaks;
    const body = bindSmsBody(channel, who);
    expect((await lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' })).code).toBe('500001');
    expect(await stand('channel_users')).toEqual([]);
    const raw = respelled(channel, body);
    const resent = await channel.call('agreements/bind-sms', {}, { raw, idempotencyKey: 'one' });
    expect(resent.data.smsStatus).toBe('SEND_SUCCESS');
    expect(await stand()).toHaveLength(1);
    // The row keeps the first spelling, which is still recognised after the aesKey was reset.
    await resetCredentials(service.operator, { appId: channel.credentials.appId, names: ['aesKey'] });
    const again = await service
      .client(channel.credentials)
      .call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    expect(again.data).toEqual(resent.data);
  });

  it('429002: resends that fail repeatedly stop at ten codes a day', async () => {
    stuck.onSend = breaks;
    const body = bindSmsBody(channel, who);
    const codes: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      codes.push((await lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' })).code);
    }
    expect(codes).toEqual([...Array(10).fill('500001'), '429002']);
    expect(stuck.sends).toHaveLength(10);
  });

  it('410003: another request finished the binding before the resend', async () => {
    stuck.onSend = breaks;
    const body = bindSmsBody(channel, who);
    await lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    const [bindOrderNo = ''] = await stand();
    service.clock.advance(60_000);
    await sendCode(channel, who, { bindOrderNo });
    await confirmCode(channel, bindOrderNo);
    const resent = await channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    expect(resent.code).toBe('410003');
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_SUCCESS');
  });
});

describe('a crash in the middle of bind-confirm', () => {
  it('0: the resend on another node asks again and binds; the dead node gives the same answer', async () => {
    const bindOrderNo = await sentBinding(channel, who);
    stuck.onConfirm = async () => {
      await between.stand();
      return { kind: 'bound', institutionNo: 'lost' };
    };
    const body = confirmBody(channel, bindOrderNo);
    const first = lost.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    await between.reached;
    // The code expires before the resend, but it was valid when the first request came.
    service.clock.advance(5 * 60_000 + 1);
    const resent = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    expect(resent.data).toMatchObject({ agreementNo: `AG${bindOrderNo}`, agreementStatus: 'BIND_SUCCESS' });
    between.open();
    expect((await first).data).toEqual(resent.data);
    expect(await stored(service, bindOrderNo)).toMatchObject({ status: 'BIND_SUCCESS', wrong_codes: 1 });
  });

  it('500001 if the institution throws: the resend continues at once', async () => {
    const bindOrderNo = await sentBinding(channel, who);
    stuck.onConfirm = breaks;
    const body = confirmBody(channel, bindOrderNo);
    expect((await lost.call('agreements/bind-confirm', body, { idempotencyKey: 'two' })).code).toBe('500001');
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_ING');
    const raw = respelled(channel, body);
    const resent = await channel.call('agreements/bind-confirm', {}, { raw, idempotencyKey: 'two' });
    expect(resent.data.agreementStatus).toBe('BIND_SUCCESS');
  });

  it('410004: another code was requested before the resend and was not sent', async () => {
    const bindOrderNo = await sentBinding(channel, who);
    stuck.onConfirm = breaks;
    const body = confirmBody(channel, bindOrderNo);
    await lost.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    service.clock.advance(60_000);
    service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
    await sendCode(channel, who, { bindOrderNo });
    expect((await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'two' })).code).toBe('410004');
  });
});
