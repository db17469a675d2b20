import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openServer } from './renewals/server.mjs';

/**
 * Creates a folder with a PostgreSQL server. `close` ends all processes of `running` and removes the server and the
 * folder.
 */
export async function openStage(running, postgres) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let server;
  const close = async () => {
    await running.stop();
    await server?.close().catch(() => undefined);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    server = await openServer(dataDir, postgres);
    return { dataDir, server, running, close };
  } catch (error) {
    await close();
    throw error;
  }
}
