import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { createKey } from '../../src/platform/secrets/vault.js';
import { readSettings } from '../../src/platform/settings.js';
import { perennial } from '../cli/perennial.js';
import { dump } from '../operator/support.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { fakeVault } from '../support/fake-vault.js';

const TOKEN = 'hvs.token-of-the-test';
const fresh = ofEachTest(() => freshDatabase());
const newKey = () => Buffer.from(createKey()).toString('base64');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-keys-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Env = Record<string, string>;

async function fileOf(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
}

/** Starts a node as far as opening its database. Returns the id of its master key, and its messages. */
async function startNode(env: Env) {
  const said: string[] = [];
  const opened = await openDatabaseFromSettings(readSettings({ DATABASE_URL: fresh.url, ...env }), {
    role: 'service',
    log: (line) => said.push(line),
  });
  await opened.close();
  return { keyId: opened.vault.keyIds[0], said };
}

const run = (args: string[], env: Env) => perennial(args, { DATABASE_URL: fresh.url, ...env });

async function succeed(args: string[], env: Env): Promise<string> {
  const ran = await run(args, env);
  expect(ran.code, ran.stderr).toBe(0);
  return ran.stdout;
}

describe('MASTER_KEY_FILE', () => {
  it('has the current key in its first line and previous keys in the others', async () => {
    const [current, previous, older] = [newKey(), newKey(), newKey()];
    const env = { MASTER_KEY_FILE: await fileOf('key', `${current}\n${previous}\n`), MASTER_KEY_PREVIOUS: older };
    const keys = readSettings(env).masterKeys?.map((key) => Buffer.from(key).toString('base64'));
    expect(keys).toEqual([current, previous, older]);
  });

  it('is found among the credentials of systemd', async () => {
    const key = newKey();
    await fileOf('master-key', `${key}\n`);
    const [found] = readSettings({ SVC_ENVIRONMENT: 'production', CREDENTIALS_DIRECTORY: folder }).masterKeys ?? [];
    expect(Buffer.from(found ?? []).toString('base64')).toBe(key);
    // Credentials for something else.
    expect(readSettings({ CREDENTIALS_DIRECTORY: os.tmpdir() }).masterKeys).toBeUndefined();
  });

  it('and MASTER_KEY exclude each other; a file that is unusable is named without its content', async () => {
    const file = await fileOf('key', 'not-a-key\n');
    expect(() => readSettings({ MASTER_KEY_FILE: file, MASTER_KEY: newKey() })).toThrow('exclude each other');
    expect(() => readSettings({ MASTER_KEY_FILE: file })).toThrow(`MASTER_KEY_FILE ${file} must be 32 bytes in base64`);
    expect(() => readSettings({ MASTER_KEY_FILE: `${file}.gone` })).toThrow('MASTER_KEY_FILE cannot be read: ENOENT');
  });
});

describe('KEY_SERVICE', () => {
  it.each([
    ['vault:https://vault.example/v1/transit', 'KEY_SERVICE must be'],
    ['vault:http://vault.example/v1/transit#key', 'KEY_SERVICE must be'],
    ['command:wrap.sh', 'KEY_SERVICE must be'],
    ['aws:key', 'KEY_SERVICE must be'],
    ['vault:https://vault.example/v1/transit#key', 'VAULT_TOKEN_FILE is missing'],
  ])('%s is refused', (KEY_SERVICE, why) => {
    expect(() => readSettings({ KEY_SERVICE })).toThrow(why);
  });

  it('protects the master key: only its wrapped form is stored, and a start calls the service once', async () => {
    const vault = await fakeVault(TOKEN);
    const env = { KEY_SERVICE: vault.setting, VAULT_TOKEN_FILE: await fileOf('token', `${TOKEN}\n`) };
    const { keyId } = await startNode(env);
    await succeed(['channel', 'create', '--name', 'First'], env);
    expect(vault.asked).toEqual(['encrypt/perennial', 'decrypt/perennial', 'decrypt/perennial']);
    expect((await startNode(env)).keyId).toBe(keyId);
    expect(vault.asked).toHaveLength(4);
    expect(await succeed(['master-key', 'status'], env)).toContain('ALL OPEN: everything is under the current key');
    expect(await dump(fresh.database)).toContain('vault:v1:');
    await expect(startNode({ MASTER_KEY: newKey() })).rejects.toThrow('MASTER_KEY is not the key of this database');
  });

  it('gives nodes that start at the same time the same key', async () => {
    const vault = await fakeVault(TOKEN);
    const env = { KEY_SERVICE: vault.setting, VAULT_TOKEN_FILE: await fileOf('token', TOKEN) };
    const nodes = await Promise.all(Array.from({ length: 4 }, () => startNode(env)));
    expect(new Set(nodes.map(({ keyId }) => keyId)).size).toBe(1);
  });

  it('can be a command', async () => {
    const script = await fileOf(
      'keys',
      '#!/bin/sh\ncase $1 in wrap) sed s/^/wrapped-/ ;; unwrap) sed s/^wrapped-// ;; esac\n',
    );
    await chmod(script, 0o700);
    const env = { KEY_SERVICE: `command:${script}` };
    const { keyId } = await startNode(env);
    expect((await startNode(env)).keyId).toBe(keyId);
    await writeFile(script, '#!/bin/sh\nexit 3\n');
    const ran = await run(['channel', 'list'], env);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`the key service of KEY_SERVICE cannot be used (${script} unwrap: ended with 3)`);
  });

  it('wraps the master key again under its newest key at master-key rewrap', async () => {
    const vault = await fakeVault(TOKEN);
    const env = { KEY_SERVICE: vault.setting, VAULT_TOKEN_FILE: await fileOf('token', TOKEN) };
    const { keyId } = await startNode(env);
    vault.rotate();
    expect(JSON.parse(await succeed(['master-key', 'rewrap', '--json'], env))).toMatchObject({ changed: true });
    expect(await dump(fresh.database)).toContain('vault:v2:');
    vault.forgetEarlierVersions();
    expect((await startNode(env)).keyId).toBe(keyId);
  });

  it('that does not answer makes a node wait and a command fail; neither shows the token', async () => {
    const vault = await fakeVault(TOKEN);
    const env = { KEY_SERVICE: vault.setting, VAULT_TOKEN_FILE: await fileOf('token', TOKEN) };
    await startNode(env);
    vault.seal(true);
    const ran = await run(['channel', 'list'], env);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('the key service of KEY_SERVICE cannot be used (decrypt: status 503)');
    const said: string[] = [];
    const starting = openDatabaseFromSettings(readSettings({ DATABASE_URL: fresh.url, ...env }), {
      role: 'service',
      log: (line) => said.push(line),
      onWaiting: () => vault.seal(false),
    });
    await (await starting).close();
    expect(said).toEqual(['the key service of KEY_SERVICE cannot be used (decrypt: status 503); waiting for that']);
    await writeFile(env.VAULT_TOKEN_FILE, 'hvs.another');
    const refused = await run(['channel', 'list'], env);
    expect(refused.stderr).toContain('decrypt: status 403');
    expect(`${ran.stderr}${refused.stderr}${said}`).not.toContain('hvs.');
  });

  it('replaces MASTER_KEY and is replaced by MASTER_KEY, each with a rewrap', async () => {
    const vault = await fakeVault(TOKEN);
    const [first, second] = [newKey(), newKey()];
    const service = { KEY_SERVICE: vault.setting, VAULT_TOKEN_FILE: await fileOf('token', TOKEN) };
    const { keyId: firstId } = await startNode({ MASTER_KEY: first });
    await succeed(['channel', 'create', '--name', 'First'], { MASTER_KEY: first });
    await expect(startNode(service)).rejects.toThrow('set it as MASTER_KEY_PREVIOUS, beside KEY_SERVICE');
    // If MASTER_KEY is set too, nodes know the key of the key service but wrap nothing under it, so they can be
    // restarted one by one.
    expect((await startNode({ ...service, MASTER_KEY: first })).keyId).toBe(firstId);
    const { keyId } = await startNode({ ...service, MASTER_KEY_PREVIOUS: first });
    expect(keyId).not.toBe(firstId);
    await succeed(['master-key', 'rewrap'], { ...service, MASTER_KEY_PREVIOUS: first });
    expect((await startNode(service)).keyId).toBe(keyId);

    await succeed(['master-key', 'rewrap'], { ...service, MASTER_KEY: second });
    await startNode({ MASTER_KEY: second });
    await succeed(['master-key', 'rewrap'], { MASTER_KEY: second });
    expect(await fresh.database.query('select from installation where wrapped_master_key is null')).toHaveLength(1);
    expect(await succeed(['master-key', 'status'], { MASTER_KEY: second })).toContain('ALL OPEN: everything');
  });
});
