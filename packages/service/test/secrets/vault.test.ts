import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Credentials,
  createCredentials,
  openCredentials,
  resealCredentials,
  sealCredentials,
} from '../../src/catalog/channels/credentials.js';
import { readOrCreateMasterKeys } from '../../src/platform/secrets/master-key.js';
import { createKey, openVault, seal, unseal, VaultError } from '../../src/platform/secrets/vault.js';
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

describe('credentials of a channel', () => {
  const credentials = createCredentials();

  it('come back from what is stored, also after the master key was replaced', () => {
    const [old, current] = [createKey(), createKey()];
    const stored = sealCredentials(openVault([old]), 'test_a', credentials);
    const rotated = openVault([current, old]);
    expect(openCredentials(rotated, 'test_a', stored)).toEqual(toBuffers(credentials));
    const next = { ...credentials, aesKey: createKey() };
    const resealed = resealCredentials(rotated, 'test_a', stored.dataKey, next);
    expect(openCredentials(rotated, 'test_a', resealed)).toEqual(toBuffers(next));
  });

  it('do not open under another master key, nor in the row of another channel', () => {
    const stored = sealCredentials(openVault([createKey()]), 'test_a', credentials);
    expect(() => openCredentials(openVault([createKey()]), 'test_a', stored)).toThrow(/no master key/);
    const vault = openVault([createKey()]);
    const mine = sealCredentials(vault, 'test_a', credentials);
    expect(() => openCredentials(vault, 'test_b', mine)).toThrow(VaultError);
    expect(() => openCredentials(vault, 'test_a', { ...mine, aesKey: mine.appSecret })).toThrow(VaultError);
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
