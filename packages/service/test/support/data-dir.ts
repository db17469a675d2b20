import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { copyFolder } from './server.js';

/** Copies a data folder with an unused embedded database for the test. */
export async function preparedDataDir(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-data-'));
  copyFolder(inject('preparedFolder'), folder);
  return folder;
}
