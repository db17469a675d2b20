import { Rejection } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardDetails, institutionNo } from '../../src/agreements/card.js';
import { newSharedAgreement, type SharedContext } from '../../src/agreements/shared.js';
import type { Channel } from '../../src/channels/channel.js';
import { catalog } from '../../src/products/catalog.js';
import type { ChannelClient } from '../support/channel-client.js';
import { type AgreementsService, agreementsService, encrypt, person } from './support.js';

let service: AgreementsService;
let client: ChannelClient;
let channel: Channel;
let context: SharedContext;
beforeAll(async () => {
  service = await agreementsService();
  client = await service.channel();
  channel = await service.inMemory(client);
  context = {
    agreementId: 200_000_000_001,
    now: service.clock.now(),
    paymentChannels: await catalog(service.fresh.database).paymentChannels(channel),
    unauthorized: 'SHARED_AGREEMENT_NOT_ALLOWED',
    field: 'sharedAgreement',
  };
});
afterAll(() => service.close());

const who = person();
const shared = (more: object = {}) => ({
  paymentChannelCode: 'PAY',
  sharedAgreementNo: 'SHARED-1',
  channelUserId: who.channelUserId,
  bankCardNoEncrypted: encrypt(client, who.bankCardNo),
  bankMobileEncrypted: encrypt(client, who.bankMobile),
  certificateNoEncrypted: encrypt(client, who.certificateNo),
  realNameEncrypted: encrypt(client, who.realName),
  ...more,
});

function rejection(more: object, changed: Partial<SharedContext> = {}): Rejection {
  try {
    newSharedAgreement(channel, shared(more), { ...context, ...changed });
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
  throw new Error('was not rejected');
}

describe('a shared agreement', () => {
  it('is bound from the start, and opens to what was sent', () => {
    const row = newSharedAgreement(channel, shared({ certType: 'PASSPORT' }), context);
    expect(row).toMatchObject({
      agreementId: 200_000_000_001,
      channelId: channel.channelId,
      channelUserId: who.channelUserId,
      paymentChannelCode: 'PAY',
      source: 'SHARED_FROM_CHANNEL',
      status: 'BIND_SUCCESS',
      agreementNo: 'AG200000000001',
      cardTail: who.bankCardNo.slice(-4),
      bankCode: null,
      createdAt: service.clock.now(),
    });
    const { bankCardNo, certificateNo, realName, bankMobile } = who;
    expect(cardDetails(channel, row)).toEqual({
      bankCardNo,
      certificateNo,
      realName,
      bankMobile,
      certType: 'PASSPORT',
    });
    expect(institutionNo(channel, row)).toBe('SHARED-1');
    expect(row.cardHash).toEqual(channel.sealing.hash(bankCardNo, 'card'));
    expect(row.certificateHash).toEqual(channel.sealing.hash(certificateNo, 'certificate'));
  });

  it('certType is ID_CARD unless said otherwise', () => {
    expect(cardDetails(channel, newSharedAgreement(channel, shared(), context)).certType).toBe('ID_CARD');
  });

  it("does not open as another agreement's, nor as another channel's, nor before it is bound", async () => {
    const row = newSharedAgreement(channel, shared(), context);
    const moved = { ...row, agreementId: row.agreementId + 1 };
    expect(() => cardDetails(channel, moved)).toThrow('does not open');
    expect(() => institutionNo(channel, moved)).toThrow('does not open');
    const stranger = await service.inMemory(await service.channel());
    expect(() => cardDetails(stranger, row)).toThrow('does not open');
    expect(() => institutionNo(channel, { ...row, institutionNo: null })).toThrow('was never bound');
  });

  it.each([
    ['403004', 'not authorized, on orders/create', 'NOBODYS', 'SHARED_AGREEMENT_NOT_ALLOWED'],
    ['403003', 'not authorized, on agreements/replace', 'NOBODYS', 'PAYMENT_CHANNEL_NOT_ALLOWED'],
    ['403004', 'authorized and not shared, on orders/create', 'SOME', 'SHARED_AGREEMENT_NOT_ALLOWED'],
    ['403004', 'authorized and not shared, on agreements/replace', 'SOME', 'PAYMENT_CHANNEL_NOT_ALLOWED'],
  ] as const)('%s: %s', (code, _what, paymentChannelCode, unauthorized) => {
    expect(rejection({ paymentChannelCode }, { unauthorized }).result.code).toBe(code);
  });

  it.each([
    ['bankCardNoEncrypted', '1234567'],
    ['bankMobileEncrypted', '1'],
    ['certificateNoEncrypted', ''],
    ['realNameEncrypted', ''],
  ])('400001: %s holds %j, and is named with the object it stands in', (field, text) => {
    const wrong = { [field]: encrypt(client, text), paymentChannelCode: 'NOBODYS' };
    const { result, message } = rejection(wrong, { field: 'newSharedAgreement' });
    expect(result.code).toBe('400001');
    expect(message).toContain(`newSharedAgreement.${field}`);
  });

  it.each(['bankCardNoEncrypted', 'bankMobileEncrypted', 'certificateNoEncrypted', 'realNameEncrypted'])(
    '400002: %s in the clear',
    (field) => {
      expect(rejection({ [field]: '62220000' }).result.code).toBe('400002');
    },
  );
});
