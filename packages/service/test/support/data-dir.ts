import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { copyFolder } from './server.js';

/** A data folder of the test's own, with an embedded database in which nothing was done yet. */
export async function preparedDataDir(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-data-'));
  copyFolder(inject('preparedFolder'), folder);
  return folder;
}
