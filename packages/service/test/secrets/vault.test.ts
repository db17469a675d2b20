import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Credentials,
  createCredentials,
  openCredentials,
  sealCredentials,
} from '../../src/catalog/channels/credentials.js';
import { readOrCreateMasterKeys } from '../../src/platform/secrets/master-key.js';
import { createKey, MisplacedKey, openVault, seal, unseal, VaultError } from '../../src/platform/secrets/vault.js';
import { readSettings } from '../../src/platform/settings.js';

describe('sealed values', () => {
  it('open with their key at their place, and nowhere else', () => {
    const key = createKey();
    const sealed = seal(key, Buffer.from('secret'), 'here');
    expect(Buffer.from(unseal(key, sealed, 'here')).toString()).toBe('secret');
    expect(() => unseal(key, sealed, 'there')).toThrow(VaultError);
    expect(() => unseal(createKey(), sealed, 'here')).toThrow(VaultError);
    expect(seal(key, Buffer.from('secret'), 'here')).not.toBe(sealed);
  });

  it('any changed character is noticed', () => {
    const key = createKey();
    const sealed = seal(key, Buffer.from('secret'), 'here');
    for (let index = 0; index < sealed.length - 1; index += 1) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      expect(() => unseal(key, changed, 'here')).toThrow(VaultError);
    }
    expect(() => unseal(key, 'short', 'here')).toThrow(VaultError);
  });
});

describe('a wrapped key', () => {
  const [old, current, key] = [createKey(), createKey(), createKey()];

  it('opens at its place under each known master key', () => {
    const wrapped = openVault([old]).wrapKey(key, 'here');
    expect(openVault([current, old]).unwrapKey(wrapped, 'here')).toEqual(Buffer.from(key));
    expect(() => openVault([old]).unwrapKey(wrapped, 'there')).toThrow(MisplacedKey);
    expect(() => openVault([current]).unwrapKey(wrapped, 'here')).toThrow(/no master key/);
  });

  it('of an earlier version opens anywhere, if that is accepted', () => {
    const vault = openVault([current]);
    const wrapped = vault.wrapKey(key, undefined);
    expect(vault.unwrapKey(wrapped, 'anywhere', 'accepted')).toEqual(Buffer.from(key));
    expect(() => vault.unwrapKey(wrapped, 'anywhere')).toThrow(MisplacedKey);
  });
});

describe('credentials of a channel', () => {
  const credentials = createCredentials();

  it('open under their data key, in the row of their channel, and nowhere else', () => {
    const dataKey = createKey();
    const stored = sealCredentials(dataKey, 'test_a', credentials);
    expect(openCredentials(dataKey, 'test_a', stored)).toEqual(toBuffers(credentials));
    expect(() => openCredentials(createKey(), 'test_a', stored)).toThrow(VaultError);
    expect(() => openCredentials(dataKey, 'test_b', stored)).toThrow(VaultError);
    expect(() => openCredentials(dataKey, 'test_a', { ...stored, aesKey: stored.appSecret })).toThrow(VaultError);
  });

  const toBuffers = (value: Credentials) =>
    Object.fromEntries(Object.entries(value).map(([name, bytes]) => [name, Buffer.from(bytes)]));
});

describe('the master key of a sandbox', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-key-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is made once in DATA_DIR, for its owner alone, by however many start at once', async () => {
    const settings = readSettings({ DATA_DIR: path.join(folder, 'made') });
    const keys = await Promise.all(Array.from({ length: 10 }, () => readOrCreateMasterKeys(settings)));
    expect(new Set(keys.map(([key]) => Buffer.from(key ?? []).toString('hex'))).size).toBe(1);
    const file = path.join(settings.dataDir, 'master-key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(Buffer.from((await readFile(file, 'utf8')).trim(), 'base64')).toHaveLength(32);
  });

  it('that is damaged is not replaced: one line says which file', async () => {
    await writeFile(path.join(folder, 'master-key'), 'damaged\n');
    await expect(readOrCreateMasterKeys(readSettings({ DATA_DIR: folder }))).rejects.toThrow(
      /master-key must contain 32 bytes/,
    );
  });
});
