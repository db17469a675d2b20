import { afterEach, beforeEach, expect, it } from 'vitest';
import { openCredentials } from '../../src/channels/credentials.js';
import { findChannel } from '../../src/channels/sql.js';
import { listAudit } from '../../src/operator/audit.js';
import { createChannel } from '../../src/operator/channels.js';
import { rewrapKeys } from '../../src/operator/master-key.js';
import { createPaymentChannel } from '../../src/operator/payment-channels.js';
import { newKey, openVault } from '../../src/secrets/vault.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;
beforeEach(async () => {
  fresh = await freshDatabase();
});
afterEach(() => fresh.close());

it('after a rewrap the previous master key is needed no more, and the secrets are the same', async () => {
  const [previous, current] = [newKey(), newKey()];
  const operator = (...keys: Uint8Array[]) =>
    ({ database: fresh.database, vault: openVault(keys), environment: 'sandbox', actor: 'test' }) as const;
  const created = await createChannel(operator(previous), { name: 'Old' });
  await createChannel(operator(previous), { name: 'Older' });
  const bridge = {
    code: 'B',
    gateway: 'bridge',
    gatewayUrl: 'https://b.example',
    displayName: 'B',
    supportedBanks: ['*'],
  };
  await createPaymentChannel(operator(previous), bridge);
  const secret = async (...keys: Uint8Array[]) => {
    const row = await findChannel(fresh.database, created.appId);
    if (!row) throw new Error('no such channel');
    return Buffer.from(openCredentials(openVault(keys), created.appId, row).appSecret).toString('base64');
  };
  await expect(secret(current)).rejects.toThrow(/no master key/);

  expect(await rewrapKeys(operator(current, previous))).toEqual({ channels: 2, paymentChannels: 1 });
  expect(await secret(current)).toBe(created.appSecret);
  await expect(secret(previous)).rejects.toThrow(/no master key/);
  const [entry] = await listAudit(operator(current), { subject: 'installation' });
  expect(entry).toMatchObject({
    action: 'master-key.rewrap',
    actor: 'test',
    detail: { channels: 2, paymentChannels: 1 },
  });
});

it('without the previous key nothing is changed', async () => {
  const [previous, current] = [newKey(), newKey()];
  const base = { database: fresh.database, environment: 'sandbox', actor: 'test' } as const;
  const created = await createChannel({ ...base, vault: openVault([previous]) }, { name: 'Old' });
  await expect(rewrapKeys({ ...base, vault: openVault([current]) })).rejects.toThrow(/no master key/);
  const row = await findChannel(fresh.database, created.appId);
  expect(row && openCredentials(openVault([previous]), created.appId, row)).toBeTruthy();
});
