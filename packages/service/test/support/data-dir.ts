import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { copyFolder } from './server.js';

/** Copies the prepared data folder, whose embedded database is unused. Returns the copy. */
export async function preparedDataDir(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-data-'));
  copyFolder(inject('preparedFolder'), folder);
  return folder;
}
