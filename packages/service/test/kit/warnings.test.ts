import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { agreementsOfFile, bindSmsBody, encrypt, person } from '../agreements/support.js';
import { PRODUCT } from '../operator/support.js';

const { channel } = agreementsOfFile();
const { channel: live } = agreementsOfFile({ environment: 'production' });

const order = (more: object = {}) => ({
  settlementMode: 'CHANNEL_COLLECT',
  externalOrderNo: randomUUID(),
  productCode: PRODUCT.productCode,
  channelUserId: `user-${randomUUID()}`,
  mobileEncrypted: encrypt(channel, '13900000001'),
  ...more,
});

describe('warnings of the sandbox', () => {
  it('name unknown fields with a suggestion, in the message and in a header', async () => {
    const { headers, envelope, data } = await channel.call('products/list', { sizes: 1, colour: 'red' });
    const warning = 'unknown field sizes is ignored: size was probably meant; unknown field colour is ignored';
    expect(headers['x-svc-warning']).toBe(warning);
    expect(envelope.message).toBe(`success; ${warning}`);
    expect(Object.keys(envelope)).toEqual(['code', 'message', 'data', 'requestId', 'timestamp', 'success']);
    expect(data.items).toHaveLength(1);
  });

  it('name an unknown field inside of an object, and beside a field that is missing', async () => {
    const { mobileEncrypted: _, ...card } = bindSmsBody(channel, person());
    const sharedAgreement = { ...card, paymentChannelCode: 'PAY', sharedagreement_no: 'X-1' };
    const reply = await channel.call('orders/create', order({ settlementMode: 'SVC_DEDUCT', sharedAgreement }));
    expect(reply.code).toBe('400001');
    expect(reply.headers['x-svc-warning']).toBe(
      'unknown field sharedAgreement.sharedagreement_no is ignored: sharedAgreement.sharedAgreementNo was probably meant',
    );
  });

  it('name an unencrypted field, and print nothing but visible ASCII characters', async () => {
    const { headers } = await channel.call('agreements/bind-sms', { mobile: '1', 'a\nb\u00e9': 1 });
    expect(headers['x-svc-warning']).toBe(
      'unknown field mobile is ignored: mobileEncrypted was probably meant; unknown field a?b? is ignored',
    );
  });

  it('name the product that was probably meant, also when the answer is replayed', async () => {
    const body = order({ productCode: PRODUCT.productCode.toLowerCase() });
    for (const replayed of [undefined, 'true']) {
      const { code, envelope, headers } = await channel.call('orders/create', body, { idempotencyKey: 'near' });
      expect([code, headers['idempotency-replayed']]).toEqual(['420005', replayed]);
      expect(headers['x-svc-warning']).toBe(`productCode: ${PRODUCT.productCode} was probably meant`);
      expect(envelope.message.endsWith(headers['x-svc-warning'])).toBe(true);
    }
  });

  it('are not sent for requests without a mistake, to strangers, or in production', async () => {
    expect((await channel.call('products/list', {})).headers['x-svc-warning']).toBeUndefined();
    const refused = await channel.callBare('products/list', { sizes: 1 }, { token: 'x', signRaw: 'other' });
    expect([refused.code, refused.headers['x-svc-warning']]).toEqual(['401002', undefined]);
    const { envelope, headers } = await live.call('products/list', { sizes: 1 });
    expect([envelope.message, headers['x-svc-warning']]).toEqual(['success', undefined]);
  });
});
