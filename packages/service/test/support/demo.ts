import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { decryptField, encryptField } from '@perennial/wire';
import { setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { provisionDemo } from '../../src/operator/provisioning/demo.js';
import { type ChannelClient, type ChannelCredentials, channelClient } from './channel-client.js';
import type { TestService } from './service.js';

/**
 * Creates the demo channel with its products and payment channels. Its limits are so high that no test reaches them.
 */
export async function demoChannel(service: TestService): Promise<ChannelClient> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-demo-'));
  const file = await provisionDemo(service.operator, { dataDir: folder, baseUrl: service.baseUrl });
  const credentials: ChannelCredentials = JSON.parse(await readFile(file, 'utf8'));
  await rm(folder, { recursive: true, force: true });
  await setLimits(service.operator, { appId: credentials.appId, ratePerSecond: 100_000 });
  return channelClient(service.baseUrl, credentials, () => service.clock.now());
}

/** Encrypts a text for a channel's encrypted field. */
export function encrypted({ credentials }: ChannelClient, text: string): string {
  return encryptField(text, Buffer.from(credentials.aesKey, 'base64'));
}

/**
 * Returns the text of a body that was built again: fields in another order and encrypted again, with other white space,
 * escapes and numbers.
 */
export function respelled(channel: ChannelClient, body: object): string {
  const aesKey = Buffer.from(channel.credentials.aesKey, 'base64');
  return spell(body);

  function spell(value: unknown): string {
    if (typeof value === 'number') return `${value}0.00e-1`;
    if (typeof value === 'string') {
      const text = value.startsWith('svc_aes_') ? encryptField(decryptField(value, aesKey), aesKey) : value;
      return `"${text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
    }
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[ ${value.map(spell).join(' ,\t')} ]`;
    const fields = Object.entries(value).reverse();
    return `{\n${fields.map((field) => field.map(spell).join(' : ')).join(',\r\n')} }`;
  }
}

let serial = 0;
export const unique = (prefix: string): string => {
  serial += 1;
  return `${prefix}-${process.pid}-${serial}`;
};

/** Derives a mobile from the user's id. It begins with 13 to 19, as the console's search expects. */
export const mobileOf = (user: string): string => String(13_000_000_000 + (hash(user) % 7_000_000_000));

function hash(text: string): number {
  let value = 7;
  for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) % 9_999_999_967;
  return value;
}

/** Returns a creation request in mode B. */
export function collectRequest(channel: ChannelClient, more: Record<string, unknown> = {}) {
  const channelUserId = typeof more['channelUserId'] === 'string' ? more['channelUserId'] : unique('user');
  return {
    settlementMode: 'CHANNEL_COLLECT',
    externalOrderNo: unique('order'),
    productCode: 'TEST_SPU_001',
    channelUserId,
    mobileEncrypted: encrypted(channel, mobileOf(channelUserId)),
    ...more,
  };
}

/** Returns the encrypted fields of a card, as a channel sends them. */
export const encryptedCard = (channel: ChannelClient, bankCardNo = '6222020000001234567') => ({
  bankCardNoEncrypted: encrypted(channel, bankCardNo),
  bankMobileEncrypted: encrypted(channel, '13800000001'),
  certificateNoEncrypted: encrypted(channel, '110101199001011234'),
  realNameEncrypted: encrypted(channel, '张三'),
});

export function sharedAgreement(channel: ChannelClient, channelUserId: string, more: Record<string, unknown> = {}) {
  return {
    paymentChannelCode: 'MOCKPAY',
    sharedAgreementNo: unique('shared'),
    ...encryptedCard(channel),
    channelUserId,
    ...more,
  };
}

/** Returns a creation request in mode A.2. */
export function sharedRequest(channel: ChannelClient, more: Record<string, unknown> = {}) {
  const request = collectRequest(channel, { settlementMode: 'SVC_DEDUCT', ...more });
  return { ...request, sharedAgreement: sharedAgreement(channel, request.channelUserId), ...more };
}

/** Returns a creation request in mode A.2 through the given payment channel. */
export function requestAt(channel: ChannelClient, paymentChannelCode: string, sharedAgreementNo = unique('shared')) {
  const channelUserId = unique('user');
  const agreement = sharedAgreement(channel, channelUserId, { paymentChannelCode, sharedAgreementNo });
  return sharedRequest(channel, { channelUserId, sharedAgreement: agreement });
}

/** Mode A.1: binds a card and returns its bindOrderNo. */
export async function bindCard(channel: ChannelClient, channelUserId: string): Promise<string> {
  const sent = await channel.call('agreements/bind-sms', {
    channelUserId,
    mobileEncrypted: encrypted(channel, mobileOf(channelUserId)),
    ...encryptedCard(channel),
  });
  if (sent.code !== '0') throw new Error(`bind-sms answered ${sent.text}`);
  const { bindOrderNo } = sent.data;
  const bound = await channel.call('agreements/bind-confirm', {
    bindOrderNo,
    smsCodeEncrypted: encrypted(channel, '123456'),
  });
  if (bound.data?.agreementStatus !== 'BIND_SUCCESS') throw new Error(`bind-confirm answered ${bound.text}`);
  return bindOrderNo;
}
