import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';

/** Starts one PostgreSQL, `databaseUrl` or an embedded one, in place of the cluster. Only nodes can have faults then. */
export async function startServer({ folder, databaseUrl }) {
  const heal = async () => undefined;
  if (databaseUrl !== undefined) return { createDatabase: async () => databaseUrl, heal };
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'server'), role: 'tool', log: () => undefined });
  return { createDatabase: async () => embedded.url, heal, close: () => embedded.release() };
}

export const serverDataDirIn = (folder) => path.join(folder, 'server', 'postgres');
