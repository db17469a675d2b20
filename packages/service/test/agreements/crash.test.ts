import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChannelClient } from '../support/channel-client.js';
import {
  type AgreementsService,
  agreementsService,
  bindSmsBody,
  confirmBody,
  confirmCode,
  type FakeGateway,
  fakeGateway,
  gate,
  person,
  sendCode,
  sentBinding,
  stored,
} from './support.js';

/** A node that is lost between its two transactions: its institution never answers, and its lease is short. */
let service: AgreementsService;
let channel: ChannelClient;
let lost: ChannelClient;
let stuck: FakeGateway;
let between: ReturnType<typeof gate>;
beforeEach(async () => {
  service = await agreementsService({ environment: 'production' });
  channel = await service.channel();
  stuck = fakeGateway();
  between = gate();
  lost = (await service.node(stuck, { leaseSeconds: 0.2 }))(channel);
});
afterEach(() => service.close());

const count = async (table: string) =>
  (await service.fresh.database.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n;

describe('a crash in the middle of bind-sms', () => {
  it('0: the resend on another node sends again and finishes the same binding; the lost one changes nothing after', async () => {
    stuck.onSend = async () => {
      await between.stand();
      return { kind: 'sent', reference: 'lost' };
    };
    const body = bindSmsBody(channel, person());
    const first = lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    await between.reached;
    const [begun] = await service.fresh.database.query<{ id: string }>(
      'select agreement_id::text as id from agreements',
    );
    const resent = await channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    expect(resent.data).toMatchObject({ bindOrderNo: begun?.id, smsStatus: 'SEND_SUCCESS' });
    expect(service.gateway.sends).toHaveLength(1);
    between.open();
    expect((await first).data).toEqual(resent.data);
    expect(await count('agreements')).toBe(1);
    expect(await count('channel_users')).toBe(1);
    await confirmCode(channel, resent.data.bindOrderNo);
    expect(service.gateway.confirms).toMatchObject([{ reference: `ref-${begun?.id}-1` }]);
  });

  it('0: of many resends one sends', async () => {
    stuck.onSend = async () => {
      await between.stand();
      return { kind: 'sent', reference: 'lost' };
    };
    const body = bindSmsBody(channel, person());
    const first = lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    await between.reached;
    const resends = await Promise.all(
      Array.from({ length: 10 }, () => channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' })),
    );
    expect(new Set(resends.map(({ code, data }) => JSON.stringify([code, data]))).size).toBe(1);
    expect(resends[0]?.data.smsStatus).toBe('SEND_SUCCESS');
    expect(service.gateway.sends).toHaveLength(1);
    between.open();
    await first;
  });

  it('500001 when the institution throws: the resend goes on at once', async () => {
    stuck.onSend = async () => {
      throw new Error('a bug');
    };
    const body = bindSmsBody(channel, person());
    expect((await lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' })).code).toBe('500001');
    expect(await count('channel_users')).toBe(0);
    const resent = await channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    expect(resent.data.smsStatus).toBe('SEND_SUCCESS');
    expect(await count('agreements')).toBe(1);
  });

  it('429002: resends that fail again and again stop at ten codes a day', async () => {
    stuck.onSend = async () => {
      throw new Error('a bug');
    };
    const body = bindSmsBody(channel, person());
    const codes: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      codes.push((await lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' })).code);
    }
    expect(codes).toEqual([...Array(10).fill('500001'), '429002']);
    expect(stuck.sends).toHaveLength(10);
  });

  it('410003: the binding was finished by others before the resend came', async () => {
    stuck.onSend = async () => {
      throw new Error('a bug');
    };
    const who = person();
    const body = bindSmsBody(channel, who);
    await lost.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    const [begun] = await service.fresh.database.query<{ id: string }>(
      'select agreement_id::text as id from agreements',
    );
    const bindOrderNo = begun?.id ?? '';
    service.clock.advance(60_000);
    await sendCode(channel, who, { bindOrderNo });
    await confirmCode(channel, bindOrderNo);
    const resent = await channel.call('agreements/bind-sms', body, { idempotencyKey: 'one' });
    expect(resent.code).toBe('410003');
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_SUCCESS');
  });
});

describe('a crash in the middle of bind-confirm', () => {
  it('0: the resend on another node asks again and binds; the lost one gives the same answer', async () => {
    const bindOrderNo = await sentBinding(channel);
    stuck.onConfirm = async () => {
      await between.stand();
      return { kind: 'bound', institutionNo: 'lost' };
    };
    const body = confirmBody(channel, bindOrderNo);
    const first = lost.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    await between.reached;
    // Its code runs out meanwhile: it was in time when it came.
    service.clock.advance(5 * 60_000 + 1);
    const resent = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    expect(resent.data).toMatchObject({ agreementNo: `AG${bindOrderNo}`, agreementStatus: 'BIND_SUCCESS' });
    between.open();
    expect((await first).data).toEqual(resent.data);
    expect(await stored(service, bindOrderNo)).toMatchObject({ status: 'BIND_SUCCESS', wrong_codes: 1 });
  });

  it('500001 when the institution throws: the resend goes on at once', async () => {
    const bindOrderNo = await sentBinding(channel);
    stuck.onConfirm = async () => {
      throw new Error('a bug');
    };
    const body = confirmBody(channel, bindOrderNo);
    expect((await lost.call('agreements/bind-confirm', body, { idempotencyKey: 'two' })).code).toBe('500001');
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_ING');
    const resent = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    expect(resent.data.agreementStatus).toBe('BIND_SUCCESS');
  });

  it('410004: another code was asked for before the resend came, and has not been sent', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    stuck.onConfirm = async () => {
      throw new Error('a bug');
    };
    const body = confirmBody(channel, bindOrderNo);
    await lost.call('agreements/bind-confirm', body, { idempotencyKey: 'two' });
    service.clock.advance(60_000);
    service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
    await sendCode(channel, who, { bindOrderNo });
    expect((await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'two' })).code).toBe('410004');
  });
});
