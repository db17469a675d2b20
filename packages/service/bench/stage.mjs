import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openServer } from './renewals/server.mjs';

/**
 * Creates a folder with a PostgreSQL server. `close` ends all processes of `running` and removes the server and the
 * folder. The folder `kept` is created if needed, and stays.
 */
export async function openStage(running, postgres, kept) {
  const dataDir = kept ?? (await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-')));
  if (kept !== undefined) await mkdir(kept, { recursive: true });
  let server;
  const close = async () => {
    await running.stop();
    await server?.close().catch(() => undefined);
    if (kept === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    server = await openServer(dataDir, postgres, { isKept: kept !== undefined });
    return { dataDir, server, running, close };
  } catch (error) {
    await close();
    throw error;
  }
}
