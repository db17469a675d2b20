import { randomBytes } from 'node:crypto';
import { access, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { SettingsError } from '../settings/values.js';
import type { Settings } from '../settings.js';

/**
 * Returns the master keys of the settings. If the settings name neither a master key nor a key service, uses the key
 * file in DATA_DIR, which is created at first use.
 */
export async function readOrCreateMasterKeys(settings: Settings): Promise<readonly Uint8Array[]> {
  return settings.masterKeys ?? [await readOrCreateKeyFile(path.join(settings.dataDir, 'master-key'))];
}

/**
 * Returns the master keys, or undefined if there are none. Creates no key, because a new key would not open existing
 * data.
 */
export async function readExistingMasterKeys(settings: Settings): Promise<readonly Uint8Array[] | undefined> {
  if (settings.masterKeys) return settings.masterKeys;
  const file = path.join(settings.dataDir, 'master-key');
  return access(file).then(
    () => readOrCreateMasterKeys(settings),
    () => undefined,
  );
}

export function describeMasterKeyPlace(settings: Settings): string {
  return settings.masterKeys ? 'the setting MASTER_KEY' : path.join(settings.dataDir, 'master-key');
}

async function readOrCreateKeyFile(file: string): Promise<Uint8Array> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) return decodeKey(file, text.trim());
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // `link` fails if another process has created the file first. Then that process's key is used.
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return decodeKey(file, (await readFile(file, 'utf8')).trim());
}

function decodeKey(file: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 32) throw new SettingsError(`${file} must contain 32 bytes in base64`);
  return bytes;
}
