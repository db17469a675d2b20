import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';
import { openDatabase } from '../../src/platform/db/database.js';

/** Runs `work` with an empty database on a separate PostgreSQL. */
export async function withTemporaryDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-prove-'));
  const embedded = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
  try {
    const admin = openDatabase({ url: embedded.url, pool: 1, name: 'prove' });
    await admin.query('create database proof');
    await admin.close();
    const url = new URL(embedded.url);
    url.pathname = '/proof';
    return await work(url.href);
  } finally {
    await embedded.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
