import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';

/**
 * Starts a single PostgreSQL instead of the cluster: the one at `databaseUrl`, or an embedded one. Then only nodes can
 * have faults.
 */
export async function startServer({ folder, databaseUrl }) {
  const heal = async () => undefined;
  if (databaseUrl !== undefined) return { createDatabase: async () => databaseUrl, heal };
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'server'), role: 'tool', log: () => undefined });
  return { createDatabase: async () => embedded.url, heal, close: () => embedded.release() };
}

export const serverDataDirIn = (folder) => path.join(folder, 'server', 'postgres');
