import { beforeEach, describe, expect, it } from 'vitest';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { computeMasterKeyChecks } from '../../src/platform/secrets/stored-keys.js';
import { createKey, openVault } from '../../src/platform/secrets/vault.js';
import { readSettings } from '../../src/platform/settings.js';
import { perennial } from '../cli/perennial.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofEachTest(() => freshDatabase());
let before: string;
let after: string;

/** Returns settings with these master keys, the current one first. */
const knowing = (current: string, ...previous: string[]) => ({
  DATABASE_URL: fresh.url,
  MASTER_KEY: current,
  ...(previous.length === 0 ? {} : { MASTER_KEY_PREVIOUS: previous.join() }),
});

/** Opens the database as a starting node does. Returns the messages. */
async function startNode(settings: Record<string, string>): Promise<string[]> {
  const said: string[] = [];
  const opened = await openDatabaseFromSettings(readSettings(settings), {
    role: 'service',
    log: (line) => said.push(line),
  });
  await opened.close();
  return said;
}

const createChannel = async (settings: Record<string, string>, name: string) => {
  const ran = await perennial(['channel', 'create', '--name', name], settings);
  expect(ran.code, ran.stderr).toBe(0);
};
const keyId = (key: string) => openVault([Buffer.from(key, 'base64')]).keyIds[0];
const refusal = /MASTER_KEY is not the key of this database/;

beforeEach(async () => {
  [before, after] = [createKey(), createKey()].map((key) => Buffer.from(key).toString('base64')) as [string, string];
  await startNode(knowing(before));
  await createChannel(knowing(before), 'First');
});

describe('a new MASTER_KEY', () => {
  it('commands and nodes with both keys do not affect those with only the old one', async () => {
    expect((await perennial(['master-key', 'status'], knowing(after, before))).code).toBe(0);
    expect(await startNode(knowing(after, before))).toEqual([]);
    expect(await startNode(knowing(before))).toEqual([]);
    expect((await perennial(['channel', 'list'], knowing(before))).code).toBe(0);
    // No secret is encrypted under the new key yet, so a node with only this key could decrypt nothing.
    await expect(startNode(knowing(after))).rejects.toThrow(refusal);
  });

  it('the database belongs to the new key after master-key rewrap', async () => {
    expect((await perennial(['master-key', 'rewrap'], knowing(after, before))).code).toBe(0);
    expect(await startNode(knowing(after))).toEqual([]);
    expect(await startNode(knowing(before, after))).toEqual([]);
    await expect(startNode(knowing(before))).rejects.toThrow(refusal);
    const again = JSON.parse((await perennial(['master-key', 'rewrap', '--json'], knowing(after, before))).stdout);
    expect(again).toMatchObject({ rewrapped: 0, changed: false });
  });

  it('a node that cannot open all keys warns, and a node that can open none is refused', async () => {
    await createChannel(knowing(after, before), 'Second');
    expect(await startNode(knowing(before))).toEqual([
      `Warning: some keys in this database are under ${keyId(after)}, which neither MASTER_KEY nor MASTER_KEY_PREVIOUS is: requests that need them will fail (see master-key status)`,
    ]);
    expect((await perennial(['master-key', 'rewrap'], knowing(after, before))).code).toBe(0);
    const check = openVault([Buffer.from(before, 'base64')]);
    await fresh.database.query('update installation set master_key_check = $1', [
      computeMasterKeyChecks(check, 'bound')[0],
    ]);
    await expect(startNode(knowing(before))).rejects.toThrow(
      `every key in this database is under ${keyId(after)}, which neither MASTER_KEY nor MASTER_KEY_PREVIOUS is`,
    );
  });
});

describe('a database of an earlier version', () => {
  it('is served as it is until master-key rewrap, which binds its keys and excludes nodes of that version', async () => {
    const vault = openVault([Buffer.from(before, 'base64')]);
    const [unbound] = computeMasterKeyChecks(vault, 'unbound');
    const check = async () => (await fresh.database.query('select master_key_check as "check" from installation'))[0];
    await fresh.database.query('update installation set master_key_check = $1', [unbound]);
    await createChannel(knowing(before), 'Earlier');
    expect(await startNode(knowing(before))).toEqual([
      'Warning: the keys in this database are not bound to their rows: run master-key rewrap when no older version runs',
    ]);
    expect(await check()).toEqual({ check: unbound });
    const status = await perennial(['master-key', 'status'], knowing(before));
    expect(status.stdout).toContain('ALL OPEN, but 1 not bound to their rows: run master-key rewrap');
    expect((await perennial(['master-key', 'rewrap'], knowing(before))).stdout).toMatch(/^1 keys were rewrapped/);
    expect(await check()).not.toEqual({ check: unbound });
    expect(await startNode(knowing(before))).toEqual([]);
    expect((await perennial(['master-key', 'status'], knowing(before))).stdout).toContain('ALL OPEN: everything');
  });
});
