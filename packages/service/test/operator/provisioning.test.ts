import { beforeAll, describe, expect, it } from 'vitest';
import { openChannelKeys } from '../../src/catalog/channels/channel-keys.js';
import { findChannel } from '../../src/catalog/channels/channels-sql.js';
import { CREDENTIAL_NAMES, openCredentials } from '../../src/catalog/channels/credentials.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import {
  setCallback,
  setEncryption,
  setIpAllowList,
  setLimits,
  setVoidedPeriodEvents,
} from '../../src/operator/provisioning/channel-settings.js';
import {
  createChannel,
  resetCredentials,
  resumeChannel,
  revokeTokens,
  showChannel,
  suspendChannel,
} from '../../src/operator/provisioning/channels.js';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel, updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import {
  authorizeProduct,
  createProduct,
  showProduct,
  withdrawProduct,
} from '../../src/operator/provisioning/products.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase, lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { dump, operatorOn, PAYMENT_CHANNEL, PRODUCT, stock, VAULT, versionOf } from './support.js';

const fresh = ofFile(freshDatabase);
let operator: Operator;

beforeAll(async () => {
  operator = operatorOn(fresh.database);
  await stock(operator);
});

const bytes = (secret: string | undefined) => Buffer.from(secret ?? '', 'base64');

async function opened(appId: string) {
  const row = await findChannel(fresh.database, appId);
  if (!row) return undefined;
  const { dataKey } = await openChannelKeys(fresh.database, VAULT, row);
  return { row, credentials: openCredentials(dataKey, appId, row) };
}

describe('a new channel', () => {
  it('has a random app id of its environment and three secrets of 32 bytes', async () => {
    const made = await createChannel(operator, { name: 'One' });
    expect(made.appId).toMatch(/^test_[a-z0-9]{16}$/);
    for (const name of CREDENTIAL_NAMES) expect(bytes(made[name])).toHaveLength(32);
    expect(new Set(CREDENTIAL_NAMES.map((name) => made[name])).size).toBe(3);
    const found = await opened(made.appId);
    for (const name of CREDENTIAL_NAMES) expect(Buffer.from(found?.credentials[name] ?? [])).toEqual(bytes(made[name]));
    const production = await createChannel(operatorOn(fresh.database, { environment: 'production' }), { name: 'Two' });
    expect(production.appId).toMatch(/^app_[a-z0-9]{16}$/);
  });

  it('has the limits of its environment and a full bucket', async () => {
    const made = await createChannel(operator, { name: 'One' });
    expect(made).toMatchObject({ ratePerSecond: 50, rateBurst: 100, status: 'ACTIVE', voidedPeriodEvents: true });
    const live = await createChannel(operatorOn(fresh.database, { environment: 'production' }), { name: 'Two' });
    expect(live).toMatchObject({ ratePerSecond: 200, rateBurst: 400 });
    const [bucket] = await fresh.database.query('select tokens from rate_limits where channel_id = $1', [
      live.channelId,
    ]);
    expect(bucket).toEqual({ tokens: 400 });
  });

  it('created by ten operators at once under one app id is one channel, with one set of secrets', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => createChannel(operator, { name: `N${i}`, appId: 'test_contended' })),
    );
    const made = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(made).toHaveLength(1);
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ message: /already a channel/ });
    }
    expect(await listAudit(operator, { subject: 'test_contended' })).toHaveLength(1);
    const found = await opened('test_contended');
    expect(Buffer.from(found?.credentials.appSecret ?? [])).toEqual(bytes(made[0]?.value.appSecret));
  });
});

type Step = readonly [name: string, run: (appId: string) => Promise<{ readonly changed: boolean }>];
const local = () => ({ ...operator, localCallbacks: true });

/** Operations in a sequence in which each operation changes something. */
const CHANGES: readonly Step[] = [
  ['channel.suspend', (appId) => suspendChannel(operator, { appId })],
  ['channel.resume', (appId) => resumeChannel(operator, { appId })],
  ['channel.authorize-product', (appId) => authorizeProduct(operator, { appId, productCode: 'MONTHLY' })],
  ['channel.withdraw-product', (appId) => withdrawProduct(operator, { appId, productCode: 'MONTHLY' })],
  ['channel.authorize-payment-channel', (appId) => authorizePaymentChannel(operator, { appId, code: 'PAY' })],
  [
    'channel.authorize-payment-channel',
    (appId) => authorizePaymentChannel(operator, { appId, code: 'PAY', isDefault: true }),
  ],
  [
    'channel.authorize-payment-channel',
    (appId) => authorizePaymentChannel(operator, { appId, code: 'PAY', shareEnabled: true }),
  ],
  ['channel.withdraw-payment-channel', (appId) => withdrawPaymentChannel(operator, { appId, code: 'PAY' })],
  ['channel.set-callback', (appId) => setCallback(operator, { appId, url: 'https://partner.example/a' })],
  [
    'channel.set-callback',
    (appId) => setCallback(local(), { appId, url: 'http://localhost:9/b', eventType: 'order.status.changed' }),
  ],
  ['channel.set-callback', (appId) => setCallback(operator, { appId, eventType: 'order.status.changed' })],
  ['channel.set-ip-list', (appId) => setIpAllowList(operator, { appId, ranges: ['203.0.113.7', '2001:db8::/32'] })],
  ['channel.set-ip-list', (appId) => setIpAllowList(operator, { appId, ranges: [] })],
  ['channel.set-limits', (appId) => setLimits(operator, { appId, ratePerSecond: 7, rateBurst: 9 })],
  ['channel.set-encryption', (appId) => setEncryption(operator, { appId, answers: 'v2' })],
  ['channel.set-encryption', (appId) => setEncryption(operator, { appId, acceptsV1: false })],
  ['channel.set-voided-period-events', (appId) => setVoidedPeriodEvents(operator, { appId, send: false })],
];

describe('a change', () => {
  it('increments the version, writes one audit row, and does neither when repeated', async () => {
    const appId = 'test_changes';
    await createChannel(operator, { name: 'Changes', appId });
    let version = await versionOf(fresh.database, appId);
    let audits = 1;
    expect(version).toBe(1);
    for (const [action, run] of CHANGES) {
      expect(await run(appId), action).toMatchObject({ changed: true });
      version = (version ?? 0) + 1;
      audits += 1;
      expect(await versionOf(fresh.database, appId), action).toBe(version);
      const trail = await listAudit(operator, { subject: appId });
      expect(trail).toHaveLength(audits);
      expect(trail[0]).toMatchObject({ action, actor: 'test:ann', subject: appId });
      const before = await dump(fresh.database);
      expect(await run(appId), action).toMatchObject({ changed: false });
      expect(await dump(fresh.database), action).toBe(before);
    }
  });

  it('made by twenty operators at once is counted twenty times', async () => {
    const { appId } = await createChannel(operator, { name: 'Busy' });
    await Promise.all(Array.from({ length: 20 }, () => revokeTokens(operator, { appId })));
    expect(await findChannel(fresh.database, appId)).toMatchObject({ version: 21, tokenEpoch: 21 });
  });
});

describe('a reset', () => {
  it('replaces all three secrets and ends the tokens', async () => {
    const made = await createChannel(operator, { name: 'Reset' });
    const reset = await resetCredentials(operator, { appId: made.appId });
    for (const name of CREDENTIAL_NAMES) {
      expect(bytes(reset[name])).toHaveLength(32);
      expect(reset[name]).not.toBe(made[name]);
    }
    const found = await opened(made.appId);
    expect(found?.row).toMatchObject({ version: 2, tokenEpoch: 2 });
    expect(Buffer.from(found?.credentials.aesKey ?? [])).toEqual(bytes(reset.aesKey));
    expect((await listAudit(operator, { subject: made.appId }))[0]).toMatchObject({
      action: 'channel.reset-credentials',
      detail: { credentials: ['appSecret', 'aesKey', 'callbackSecret'] },
    });
  });

  it.each(CREDENTIAL_NAMES)('of %s alone leaves the other two, and does not show them', async (name) => {
    const made = await createChannel(operator, { name: 'Reset one' });
    const reset = await resetCredentials(operator, { appId: made.appId, names: [name] });
    const found = await opened(made.appId);
    for (const one of CREDENTIAL_NAMES) {
      expect(Buffer.from(found?.credentials[one] ?? [])).toEqual(bytes((one === name ? reset : made)[one]));
      expect(one in reset).toBe(one === name);
    }
  });
});

it('no secret can be read in any table, in any spelling', async () => {
  const made = await createChannel(operator, { name: 'Secretive' });
  const reset = await resetCredentials(operator, { appId: made.appId });
  const text = await dump(fresh.database);
  expect(text).toContain('Secretive');
  for (const name of CREDENTIAL_NAMES) {
    for (const secret of [bytes(made[name]), bytes(reset[name])]) {
      for (const spelling of ['base64', 'base64url', 'hex', 'latin1', 'utf8'] as const) {
        expect(text).not.toContain(secret.toString(spelling).replace(/=+$/, ''));
      }
      expect(text).not.toContain(secret.toString('hex').toUpperCase());
    }
  }
});

describe('a product', () => {
  it('keeps its benefits in the given order, and its audit entry matches', async () => {
    const benefits = ['ZEBRA', 'APPLE', 'MANGO'].map((benefitCode, i) => ({
      benefitCode,
      name: benefitCode.toLowerCase(),
      faceValueCent: i * 1000,
    }));
    const input = { ...PRODUCT, productCode: 'ORDERED', benefits, retryDelays: [86_400, 3_600] };
    const made = await createProduct(operator, input);
    expect(made).toMatchObject({ ...input, channels: [] });
    expect(await showProduct(operator, { productCode: 'ORDERED' })).toEqual(made);
    const { productCode, ...detail } = input;
    expect(await listAudit(operator, { subject: productCode })).toMatchObject([{ action: 'product.create', detail }]);
  });
});

describe('a payment channel', () => {
  it('changes the given fields and keeps the rest', async () => {
    const code = 'KEEPS';
    const made = await createPaymentChannel(operator, { ...PAYMENT_CHANNEL, code, debitsPerSecond: 5 });
    const paced = await updatePaymentChannel(operator, { code, debitHours: { from: 8, to: 22 } });
    expect(paced).toEqual({ ...made, debitHours: { from: 8, to: 22 }, changed: true });
    const free = await updatePaymentChannel(operator, { code, debitHours: null, debitsPerSecond: null });
    expect(free).toEqual({ ...made, debitsPerSecond: null, changed: true });
    expect((await listAudit(operator, { subject: code }))[0]).toMatchObject({
      action: 'payment-channel.update',
      detail: { from: { debitsPerSecond: 5, debitHours: { from: 8, to: 22 } }, to: { debitsPerSecond: null } },
    });
    await updatePaymentChannel(operator, { code, commonNumbers: true });
    expect((await listAudit(operator, { subject: code }))[0]).toMatchObject({
      detail: { from: { commonNumbers: false }, to: { commonNumbers: true } },
    });
    const before = await dump(fresh.database);
    expect(await updatePaymentChannel(operator, { code, displayName: 'Pay' })).toMatchObject({ changed: false });
    expect(await dump(fresh.database)).toBe(before);
  });

  it('increments the version of the channels authorized for it, and of no other', async () => {
    const code = 'TELLS';
    await createPaymentChannel(operator, { ...PAYMENT_CHANNEL, code });
    const appIds = ['test_tells_1', 'test_tells_2', 'test_tells_not'];
    for (const appId of appIds) await createChannel(operator, { name: appId, appId });
    for (const appId of appIds.slice(0, 2)) await authorizePaymentChannel(operator, { appId, code });
    await updatePaymentChannel(operator, { code, supportedBanks: ['ICBC'] });
    expect(await Promise.all(appIds.map((appId) => versionOf(fresh.database, appId)))).toEqual([3, 3, 1]);
  });

  it('that is being changed blocks an authorization, because nodes would otherwise miss the change', async () => {
    const { appId } = await createChannel(operator, { name: 'Waits' });
    let authorized: Promise<unknown> | undefined;
    let done = false;
    await fresh.database.transaction(async (tx) => {
      await tx.query(`select 1 from payment_channels where code = 'PAY' for no key update`);
      authorized = authorizePaymentChannel(operator, { appId, code: 'PAY' }).then(() => {
        done = true;
      });
      await until('an authorization that waits', async () => (await lockWaits(fresh.database, 'payment_channels')) > 0);
      expect(done).toBe(false);
    });
    await authorized;
    expect(done).toBe(true);
  });

  it('can be changed, authorized and withdrawn by many at once without a deadlock', async () => {
    const appIds = ['test_many_1', 'test_many_2', 'test_many_3'];
    for (const appId of appIds) await createChannel(operator, { name: appId, appId });
    const codes = ['PAY', 'BANK'];
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const code = codes[i % 2] ?? '';
        const appId = appIds[i % 3] ?? '';
        if (i % 4 === 0) return updatePaymentChannel(operator, { code, debitsPerSecond: i + 1 });
        if (i % 4 === 1) return withdrawPaymentChannel(operator, { appId, code });
        return authorizePaymentChannel(operator, { appId, code, isDefault: true });
      }),
    );
  });
});

describe('the default', () => {
  it('is always exactly one, even if many operators switch it concurrently', async () => {
    const { appId } = await createChannel(operator, { name: 'To and fro' });
    let watching = true;
    const seen = new Set<number>();
    const watch = (async () => {
      while (watching) {
        const { paymentChannels } = await showChannel(operator, { appId });
        if (paymentChannels.length > 0) seen.add(paymentChannels.filter(({ isDefault }) => isDefault).length);
      }
    })();
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        authorizePaymentChannel(operator, { appId, code: i % 2 ? 'PAY' : 'BANK', isDefault: true }),
      ),
    );
    watching = false;
    await watch;
    expect([...seen]).toEqual([1]);
  });
});
