import { afterEach, beforeEach, expect, it } from 'vitest';
import { openChannelKeys } from '../../src/catalog/channels/channel-keys.js';
import { findChannel } from '../../src/catalog/channels/channels-sql.js';
import { openCredentials } from '../../src/catalog/channels/credentials.js';
import { openPoolCodes } from '../../src/fulfilment/pool-codes.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import { readMasterKeyStatus, rewrapKeys } from '../../src/operator/copies/master-key.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import type { Database } from '../../src/platform/db/database.js';
import { createKey, openVault } from '../../src/platform/secrets/vault.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { claimUnbound } from '../support/earlier-version.js';
import { operatorOn, PAYMENT_CHANNEL } from './support.js';

const [previous, current] = [createKey(), createKey()];
let fresh: FreshDatabase;
beforeEach(async () => {
  fresh = await freshDatabase();
});
afterEach(() => fresh.close());

const operator = (...keys: Uint8Array[]) => operatorOn(fresh.database, { vault: openVault(keys), actor: 'test' });

it('after a rewrap the previous master key is no longer needed, and the secrets are unchanged', async () => {
  const created = await createChannel(operator(previous), { name: 'Old' });
  await createChannel(operator(previous), { name: 'Older' });
  const bridge = { ...PAYMENT_CHANNEL, gateway: 'bridge', gatewayUrl: 'https://b.example' };
  await createPaymentChannel(operator(previous), bridge);
  const supplier = { kind: 'supplier', supplierUrl: 'https://s.example', supplierKey: createKey() };
  await setFulfilment(operator(previous), { benefitCode: 'VIP', ...supplier });
  const { seal } = await openPoolCodes(fresh.database, openVault([previous]));
  const { sealed } = seal('COUPON', 'FROM-BEFORE');
  const secret = async (...keys: Uint8Array[]) => {
    const row = await findChannel(fresh.database, created.appId);
    if (!row) throw new Error('no such channel');
    const { dataKey } = await openChannelKeys(fresh.database, openVault(keys), row);
    return Buffer.from(openCredentials(dataKey, created.appId, row).appSecret).toString('base64');
  };
  await expect(secret(current)).rejects.toThrow(/no master key/);

  expect(await rewrapKeys(operator(current, previous))).toEqual({ rewrapped: 5, already: 0, changed: true });
  expect(await secret(current)).toBe(created.appSecret);
  expect(await readMasterKeyStatus(operator(current))).toMatchObject({ allOpen: true, isRewrapped: true });
  const { unseal } = await openPoolCodes(fresh.database, openVault([current]));
  expect(unseal('COUPON', sealed)).toBe('FROM-BEFORE');
  await expect(secret(previous)).rejects.toThrow(/no master key/);
  const [keyId] = openVault([current]).keyIds;
  expect(await listAudit(operator(current), { subject: 'installation' })).toMatchObject([
    { action: 'master-key.rewrap', actor: 'test', detail: { place: 'keys of the installation', keys: 1, keyId } },
    { action: 'master-key.rewrap', actor: 'test', detail: { place: 'keys of suppliers', keys: 1, keyId } },
    { action: 'master-key.rewrap', actor: 'test', detail: { place: 'keys of bridges', keys: 1, keyId } },
    { action: 'master-key.rewrap', actor: 'test', detail: { place: 'data keys of channels', keys: 2, keyId } },
  ]);
});

it('a repeated rewrap changes nothing, and an interrupted one is resumed', async () => {
  await claimUnbound(fresh.database, openVault([previous]));
  await fresh.database.query(
    `insert into channels (app_id, name, data_key, app_secret, aes_key, callback_secret, rate_per_second, rate_burst)
     select 'test_' || n, 'x', $1, 'x', 'x', 'x', 1, 1 from generate_series(1, 250) n`,
    [openVault([previous]).wrapKey(createKey(), undefined)],
  );
  let transactions = 0;
  const { query, transaction } = fresh.database;
  const dying: Database['transaction'] = (work, options) => {
    transactions += 1;
    return transactions > 2 ? Promise.reject(new Error('killed')) : transaction(work, options);
  };
  const interrupted = { ...operator(current, previous), database: { query, transaction: dying } };
  await expect(rewrapKeys(interrupted)).rejects.toThrow('killed');
  const counts = async () =>
    (await readMasterKeyStatus(operator(current, previous))).keys.map(({ keyId, count }) => [keyId, count]);
  const [now, before] = openVault([current, previous]).keyIds;
  expect((await counts()).toSorted()).toEqual(
    [
      [now, 200],
      [before, 50],
    ].toSorted(),
  );

  expect(await rewrapKeys(operator(current, previous))).toEqual({ rewrapped: 50, already: 200, changed: true });
  expect(await rewrapKeys(operator(current))).toEqual({ rewrapped: 0, already: 250, changed: false });
  expect(await counts()).toEqual([[now, 250]]);
});

it('the status shows which key protects what, and whether everything opens', async () => {
  await createChannel(operator(previous), { name: 'Old' });
  await createChannel(operator(current), { name: 'New' });
  const [now = '', before = ''] = openVault([current, previous]).keyIds;
  const what = 'data keys of channels';
  expect(await readMasterKeyStatus(operator(current, previous))).toEqual({
    currentKeyId: now,
    previousKeyIds: [before],
    keys: [
      { what, keyId: before, count: 1, opened: 1, unbound: 0 },
      { what, keyId: now, count: 1, opened: 1, unbound: 0 },
    ],
    channelSecrets: { count: 6, opened: 6 },
    allOpen: true,
    isRewrapped: false,
    unbound: 0,
  });
  expect(await readMasterKeyStatus(operator(current))).toMatchObject({
    previousKeyIds: [],
    keys: [
      { keyId: before, count: 1, opened: 0 },
      { keyId: now, count: 1, opened: 1 },
    ],
    channelSecrets: { count: 6, opened: 3 },
    allOpen: false,
  });
  // The key can be decrypted, but the secrets cannot: a row was tampered with.
  await rewrapKeys(operator(current, previous));
  await fresh.database.query(`update channels set aes_key = app_secret where name = 'Old'`);
  expect(await readMasterKeyStatus(operator(current))).toMatchObject({
    keys: [{ keyId: now, count: 2, opened: 2 }],
    channelSecrets: { count: 6, opened: 3 },
    allOpen: false,
    isRewrapped: true,
  });
});

it('a rewrap without the previous key changes nothing', async () => {
  const created = await createChannel(operator(previous), { name: 'Old' });
  await expect(rewrapKeys(operator(current))).rejects.toThrow(/no master key/);
  const row = await findChannel(fresh.database, created.appId);
  expect(row && (await openChannelKeys(fresh.database, openVault([previous]), row))).toBeTruthy();
});
