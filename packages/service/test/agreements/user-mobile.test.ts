import { describe, expect, it } from 'vitest';
import { bindUserMobile, checkUserMobile, unsealUserMobile } from '../../src/subscriptions/steps/users/login-mobile.js';
import { findUser } from '../../src/subscriptions/store/users/users-sql.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import {
  agreementsOfFile,
  bindSmsBody,
  confirmCode,
  gate,
  meetingOf,
  type Person,
  person,
  sendCode,
  sentBinding,
} from './support.js';

const { service, channel } = agreementsOfFile();

const SENT = { kind: 'sent', reference: undefined } as const;

describe('one login mobile, one user', () => {
  it('410010: the user has another mobile; 410011: the mobile has another user; 410010 if both', async () => {
    const who = person();
    await sentBinding(channel, who);
    const other = person();
    await sentBinding(channel, other);
    expect((await sendCode(channel, { ...who, mobile: person().mobile })).code).toBe('410010');
    expect((await sendCode(channel, { ...who, channelUserId: 'somebody-else' })).code).toBe('410011');
    expect((await sendCode(channel, { ...who, mobile: other.mobile })).code).toBe('410010');
    expect(service.gateway.sends).toHaveLength(2);
  });

  it('0: the same mobile and user id at another channel are another user', async () => {
    const who = person();
    await sentBinding(channel, who);
    const elsewhere = await service.channel();
    expect((await sendCode(elsewhere, { ...who, channelUserId: 'another' })).code).toBe('0');
    expect((await sendCode(elsewhere, { ...person(), channelUserId: who.channelUserId })).code).toBe('0');
  });

  it('the bank mobile is not unique: two users may have the same', async () => {
    const who = person();
    await sentBinding(channel, who);
    expect((await sendCode(channel, person({ bankMobile: who.bankMobile }))).code).toBe('0');
  });
});

describe('concurrently', () => {
  it.each<[string, string, (one: Person) => Partial<Person>]>([
    ['410011', 'one mobile for eight users: one of them gets it', ({ mobile }) => ({ mobile })],
    ['410010', 'one user with eight mobiles: one of them counts', ({ channelUserId }) => ({ channelUserId })],
    [
      '0',
      'one user with one mobile and eight cards: all of them',
      ({ mobile, channelUserId }) => ({ mobile, channelUserId }),
    ],
  ])('%s: %s', async (code, _what, common) => {
    const same = common(person());
    const together = meetingOf(8);
    service.gateway.onSend = async () => {
      await together();
      return SENT;
    };
    const replies = await Promise.all(Array.from({ length: 8 }, () => sendCode(channel, person(same))));
    expect(replies.map((reply) => reply.code).sort()).toEqual(['0', ...Array(7).fill(code)]);
  });

  it('the rejection of a race is stored under the key, and that code cannot be confirmed', async () => {
    const { mobile } = person();
    const late = gate();
    service.gateway.onSend = async () => {
      await late.stand();
      return SENT;
    };
    const loser = person({ mobile });
    const options = { idempotencyKey: 'loser' };
    const request = bindSmsBody(channel, loser);
    const losing = channel.call('agreements/bind-sms', request, options);
    await late.reached;
    service.gateway.onSend = async () => SENT;
    await sentBinding(channel, person({ mobile }));
    late.open();
    expect((await losing).code).toBe('410011');
    const again = await channel.call('agreements/bind-sms', request, options);
    expect(again.code).toBe('410011');
    expect(again.headers['idempotency-replayed']).toBe('true');
    const [row] = await service.fresh.database.query<{ id: string }>(
      'select agreement_id::text as id from agreements where channel_user_id = $1',
      [loser.channelUserId],
    );
    expect((await confirmCode(channel, row?.id ?? '')).code).toBe('410004');
  });

  it('a request that waits for a transaction with the mobile gets the mobile if that is rolled back', async () => {
    const memory = await service.inMemory(channel);
    const { database } = service.fresh;
    const { mobile } = person();
    const inside = gate();
    const rolledBack = database
      .transaction(async (tx) => {
        await bindUserMobile(tx, memory, 'first', mobile, service.clock.now());
        await inside.stand();
        throw new Error('rolled back');
      })
      .catch((error: Error) => error.message);
    await inside.reached;
    const second = database.transaction((tx) => bindUserMobile(tx, memory, 'second', mobile, service.clock.now()));
    await until('the second waiting', async () => (await lockWaits(database)) === 1);
    inside.open();
    expect(await rolledBack).toBe('rolled back');
    await second;
    expect(await checkUserMobile(database, memory, 'second', mobile)).toBe('bound');
  });
});

describe('the stored mobile', () => {
  it('can be decrypted only for its own user', async () => {
    const who = person();
    const memory = await service.inMemory(channel);
    expect(await checkUserMobile(service.fresh.database, memory, who.channelUserId, who.mobile)).toBe('new');
    await sentBinding(channel, who);
    expect(await checkUserMobile(service.fresh.database, memory, who.channelUserId, who.mobile)).toBe('bound');
    const row = await findUser(service.fresh.database, memory.channelId, who.channelUserId);
    if (!row) throw new Error('not bound');
    expect(unsealUserMobile(memory, row)).toBe(who.mobile);
    expect(() => unsealUserMobile(memory, { ...row, channelUserId: 'another' })).toThrow('does not open');
    const stranger = await service.inMemory(await service.channel());
    expect(() => unsealUserMobile(stranger, row)).toThrow('does not open');
  });
});
