import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';

/**
 * In place of the cluster: one PostgreSQL, the one of `databaseUrl` or one that comes along. No fault can be played on it, only on
 * the nodes.
 */
export async function startServer({ folder, databaseUrl }) {
  const heal = async () => undefined;
  if (databaseUrl !== undefined) return { createDatabase: async () => databaseUrl, heal };
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'server'), role: 'tool', log: () => undefined });
  return { createDatabase: async () => embedded.url, heal, close: () => embedded.release() };
}

export const serverDataDirIn = (folder) => path.join(folder, 'server', 'postgres');
