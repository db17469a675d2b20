import { randomUUID } from 'node:crypto';
import { type EncryptionVersion, encryptField } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { acknowledgeAlert, listAlerts } from '../../src/operator/alerts.js';
import { setEncryption, setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { PRODUCT } from '../operator/support.js';
import { institution } from '../orders/support.js';
import type { Reply } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { agreementsOfFile, bindSmsBody, confirmBody, createShared, encrypt, person, sentBinding } from './support.js';

const LIMIT = 20;
const { service, channel } = agreementsOfFile();

const card = (value: string, by = channel) => by.call('agreements/user-data', { bankCardNoEncrypted: value });
const encrypted = (version: EncryptionVersion) =>
  encryptField('6222020000001234567', Buffer.from(channel.credentials.aesKey, 'base64'), version);
const right = (by = channel) => card(encrypt(by, '6222020000001234567'), by);
/**
 * Returns a ciphertext with a changed last byte. An attacker with the appSecret but without the aesKey can make such a
 * ciphertext.
 */
function tampered(by = channel, version: EncryptionVersion = 'v1'): string {
  const value = encryptField(
    'a text that is longer than a block',
    Buffer.from(by.credentials.aesKey, 'base64'),
    version,
  );
  const [prefix = '', body = ''] = value.split(':');
  const bytes = Buffer.from(body, 'base64');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return `${prefix}:${bytes.toString('base64')}`;
}
/** Sends requests one after the other and returns their codes. */
async function codesOf(count: number, ask: () => Promise<Reply>): Promise<string[]> {
  const codes: string[] = [];
  for (let n = 0; n < count; n += 1) codes.push((await ask()).code);
  return codes;
}
const all = (code: string, count = LIMIT) => Array<string>(count).fill(code);
const fail = (count = LIMIT, by = channel) => codesOf(count, () => card(tampered(by), by));

async function counted(by = channel): Promise<number | undefined> {
  const [row] = await service.fresh.database.query<{ failures: number }>(
    'select failures from undecryptable_fields join channels using (channel_id) where app_id = $1',
    [by.credentials.appId],
  );
  return row?.failures;
}
/** Ends the minute in which wrong fields are counted, both in the database and in the node's memory. */
async function afterTheMinute(by = channel): Promise<void> {
  await service.fresh.database.query(
    `update undecryptable_fields set minute_began = minute_began - interval '1 minute'
     where channel_id = (select channel_id from channels where app_id = $1)`,
    [by.credentials.appId],
  );
  service.clock.advance(60_000);
}
const alerts = async () =>
  (await listAlerts(service.operator)).filter(({ subject }) => subject === channel.credentials.appId);

describe('encrypted fields that cannot be read', () => {
  it('400002 twenty times a minute, then 429001 with Retry-After, right or wrong; other requests are not affected', async () => {
    const other = await service.channel();
    expect(await fail()).toEqual(all('400002'));
    for (const reply of [await right(), await card(tampered())]) {
      expect(reply.status).toBe(429);
      expectEnvelope(reply.envelope, '429001');
      expect(reply.envelope.message).toBe('too many requests');
      expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    expect(await counted()).toBe(LIMIT);
    // The block does not affect requests without encrypted fields, fields in svc_aes_v2, or other channels.
    expect((await channel.call('agreements/user-data', { channelUserId: 'u' })).code).toBe('0');
    expect((await channel.call('products/list', {})).code).toBe('0');
    expect((await channel.call('orders/query', { orderNo: '1' })).code).toBe('420001');
    expect((await card(encrypted('v2'))).code).toBe('0');
    expect((await card(tampered(channel, 'v2'))).code).toBe('400002');
    expect((await right(other)).code).toBe('0');
    // Changing the channel's settings does not end the block.
    await setLimits(service.operator, { appId: channel.credentials.appId, ratePerSecond: 9_999 });
    expect((await right()).code).toBe('429001');
  });

  it('0: nineteen are tolerated, and do not count after the minute', async () => {
    for (const _minute of [1, 2]) {
      expect(await fail(LIMIT - 1)).toEqual(all('400002', LIMIT - 1));
      expect((await right()).code).toBe('0');
      await afterTheMinute();
    }
    expect(await alerts()).toEqual([]);
    await fail();
    await afterTheMinute();
    expect((await right()).code).toBe('0');
  });

  it('one alert per such minute names the channel, and recurs after it was acknowledged', async () => {
    await fail(LIMIT + 5);
    const [alert] = await alerts();
    expect(alert).toMatchObject({
      kind: 'undecryptable-fields',
      detail: '20 encrypted fields could not be decrypted within a minute',
      seen: 1,
    });
    await acknowledgeAlert(service.operator, { kind: 'undecryptable-fields', subject: channel.credentials.appId });
    await afterTheMinute();
    await fail(LIMIT - 1);
    expect(await alerts()).toEqual([]);
    await fail(1);
    expect(await alerts()).toMatchObject([{ seen: 2 }]);
  });

  it('twenty of many concurrent ones are tried and answered', async () => {
    await channel.call('products/list', {});
    const replies = await Promise.all(Array.from({ length: 120 }, () => card(tampered())));
    const codes = replies.map(({ code }) => code);
    expect(codes.filter((code) => code === '400002')).toHaveLength(LIMIT);
    expect(codes.filter((code) => code === '429001')).toHaveLength(100);
    expect(await counted()).toBe(LIMIT);
  });

  it('are counted over all nodes; a node learns of the others with its first failure', async () => {
    const there = (await service.node(institution()))(channel);
    expect(await fail(LIMIT / 2)).toEqual(all('400002', LIMIT / 2));
    expect(await fail(LIMIT / 2, there)).toEqual(all('400002', LIMIT / 2));
    expect((await right(there)).code).toBe('429001');
    expect((await card(tampered())).code).toBe('429001');
    expect((await right()).code).toBe('429001');
    expect(await alerts()).toMatchObject([{ seen: 1 }]);
  });

  it('500001 rather than an answer that was not counted', async () => {
    const { database } = service.fresh;
    await database.query('alter table undecryptable_fields rename to elsewhere');
    try {
      expect((await card(tampered())).code).toBe('500001');
    } finally {
      await database.query('alter table elsewhere rename to undecryptable_fields');
    }
    expect((await card(tampered())).code).toBe('400002');
  });
});

describe('counting', () => {
  const wrongText = (version: EncryptionVersion) =>
    card(encryptField('not a card', Buffer.from(channel.credentials.aesKey, 'base64'), version));

  it.each([
    ['a changed svc_aes_v1', () => card(tampered()), '400002'],
    ['a wrong text in svc_aes_v1', () => wrongText('v1'), '400001'],
  ])('429001: after %s', async (_what, ask, code) => {
    expect(await codesOf(LIMIT, ask)).toEqual(all(code));
    expect((await right()).code).toBe('429001');
  });

  it.each([
    ['a value that is not encrypted', () => card('6222020000001234567')],
    ['a changed svc_aes_v2', () => card(tampered(channel, 'v2'))],
    ['svc_aes_v1 with the prefix of svc_aes_v2', () => card(encrypted('v1').replace('v1', 'v2'))],
  ])('0: after %s, which reveals nothing', async (_what, ask) => {
    const replies: Reply[] = [];
    for (let n = 0; n <= LIMIT; n += 1) replies.push(await ask());
    expect(replies.map(({ code }) => code)).toEqual(all('400002', LIMIT + 1));
    expect(await counted()).toBeUndefined();
    expect((await right()).code).toBe('0');
    // The sandbox explains the cause only up to the limit, because each explanation reveals something about the
    // plaintext of a v1 field.
    const isExplained = replies.map(({ envelope }) => envelope.message !== 'bankCardNoEncrypted cannot be decrypted');
    expect(isExplained).toEqual([...Array<boolean>(LIMIT).fill(true), false]);
  });

  it('0: after wrong texts in svc_aes_v2, which only the owner of the key can have encrypted', async () => {
    expect(await codesOf(LIMIT + 1, () => wrongText('v2'))).toEqual(all('400001', LIMIT + 1));
    expect((await right()).code).toBe('0');
    expect(await counted()).toBeUndefined();
  });

  it('0: after svc_aes_v1 that the channel does not accept, because nothing was decrypted', async () => {
    await setEncryption(service.operator, { appId: channel.credentials.appId, acceptsV1: false });
    const refused = await codesOf(LIMIT + 1, () => card(tampered()));
    expect(refused).toEqual(all('400002', LIMIT + 1));
    const aesKey = Buffer.from(channel.credentials.aesKey, 'base64');
    expect((await card(encryptField('6222020000001234567', aesKey, 'v2'))).code).toBe('0');
    expect(await counted()).toBeUndefined();
  });
});

it('429001 for a blocked channel on every endpoint with such fields, without effect', async () => {
  const owner = person();
  const bindOrderNo = await sentBinding(channel);
  const { orderNo } = (await createShared(channel, owner)).data;
  await fail();
  const { mobileEncrypted, ...shared } = bindSmsBody(channel, owner);
  const newSharedAgreement = { ...shared, paymentChannelCode: 'PAY', sharedAgreementNo: 'SHARED-2' };
  const collected = {
    settlementMode: 'CHANNEL_COLLECT',
    externalOrderNo: randomUUID(),
    productCode: PRODUCT.productCode,
    channelUserId: owner.channelUserId,
    mobileEncrypted,
  };
  for (const [name, body] of [
    ['agreements/bind-sms', bindSmsBody(channel, person())],
    ['agreements/bind-confirm', confirmBody(channel, bindOrderNo)],
    ['agreements/user-data', { certificateNoEncrypted: encrypt(channel, '110101199001011234') }],
    ['agreements/replace', { orderNo, newSharedAgreement }],
    ['orders/create', collected],
  ] as const) {
    expect([name, (await channel.call(name, body)).code]).toEqual([name, '429001']);
  }
  expect((await createShared(channel, person())).code).toBe('429001');
  expect([service.gateway.sends.length, service.gateway.confirms.length]).toEqual([1, 0]);
  const orders = await service.fresh.database.query(
    'select from orders join channels using (channel_id) where app_id = $1',
    [channel.credentials.appId],
  );
  expect(orders).toHaveLength(1);
});

describe('a resend', () => {
  it('0: a completed request is answered again, because nothing is decrypted', async () => {
    const body = confirmBody(channel, await sentBinding(channel));
    const first = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'k' });
    expect(first.data.agreementStatus).toBe('BIND_SUCCESS');
    await fail();
    const again = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'k' });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.data).toEqual(first.data);
  });

  it('0: a request refused with 429001 is carried out after the minute', async () => {
    const body = confirmBody(channel, await sentBinding(channel));
    await fail();
    const ask = () => channel.call('agreements/bind-confirm', body, { idempotencyKey: 'k' });
    expect((await ask()).code).toBe('429001');
    await afterTheMinute();
    expect((await ask()).data.agreementStatus).toBe('BIND_SUCCESS');
  });
});
