import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel, showChannel } from '../../src/operator/provisioning/channels.js';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import {
  createPaymentChannel,
  listPaymentChannels,
  updatePaymentChannel,
} from '../../src/operator/provisioning/payment-channels.js';
import { type FreshDatabase, freshDatabase, lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { dump, operatorOn, PAYMENT_CHANNEL, stock, versionOf } from './support.js';

let fresh: FreshDatabase;
let operator: Operator;

beforeAll(async () => {
  fresh = await freshDatabase();
  operator = operatorOn(fresh.database);
  await stock(operator);
});
afterAll(() => fresh.close());

describe('a payment channel', () => {
  it('is created with all it can have', async () => {
    const made = await createPaymentChannel(operatorOn(fresh.database, { environment: 'production' }), {
      code: 'BRIDGE',
      displayName: 'Bridge',
      gateway: 'bridge',
      gatewayUrl: 'https://10.1.2.3:8443/pay',
      supportedBanks: ['ICBC', 'CCB'],
      bankCodeRequired: true,
      debitsPerSecond: 50,
      debitHours: { from: 22, to: 6 },
      commonNumbers: true,
    });
    expect(made).toMatchObject({
      gatewayUrl: 'https://10.1.2.3:8443/pay',
      debitHours: { from: 22, to: 6 },
      commonNumbers: true,
      channels: [],
    });
    const { gatewayKey, ...view } = made;
    expect(Buffer.from(gatewayKey ?? '', 'base64')).toHaveLength(32);
    expect(await listPaymentChannels(operator)).toContainEqual(view);
  });

  it('changes in what is given and keeps the rest', async () => {
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

  it('that changes raises the version of the channels authorized for it, and of no other', async () => {
    const code = 'TELLS';
    await createPaymentChannel(operator, { ...PAYMENT_CHANNEL, code });
    const appIds = ['test_tells_1', 'test_tells_2', 'test_tells_not'];
    for (const appId of appIds) await createChannel(operator, { name: appId, appId });
    for (const appId of appIds.slice(0, 2)) await authorizePaymentChannel(operator, { appId, code });
    await updatePaymentChannel(operator, { code, supportedBanks: ['ICBC'] });
    expect(await Promise.all(appIds.map((appId) => versionOf(fresh.database, appId)))).toEqual([3, 3, 1]);
  });

  it('that is changing is waited for by an authorization, which no node could otherwise be told about', async () => {
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
  it('moves with its flag in one step, and a withdrawal leaves none', async () => {
    const { appId } = await createChannel(operator, { name: 'Default' });
    await authorizePaymentChannel(operator, { appId, code: 'PAY', isDefault: true, shareEnabled: true });
    await authorizePaymentChannel(operator, { appId, code: 'BANK', isDefault: true });
    expect((await showChannel(operator, { appId })).paymentChannels).toEqual([
      { code: 'BANK', isDefault: true, shareEnabled: false },
      { code: 'PAY', isDefault: false, shareEnabled: true },
    ]);
    expect((await listAudit(operator, { subject: appId }))[0]?.detail).toMatchObject({ formerDefault: 'PAY' });
    await withdrawPaymentChannel(operator, { appId, code: 'BANK' });
    expect((await showChannel(operator, { appId })).paymentChannels).toEqual([
      { code: 'PAY', isDefault: false, shareEnabled: true },
    ]);
  });

  it('switched to and fro by many at once is always exactly one', async () => {
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
