import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ChannelCredentials } from './channel-client.js';
import { freshDatabase } from './database.js';
import { MAIN, type Running, start } from './processes.js';

/** Creates a database and a data folder for nodes that are separate processes. */
export async function installation(options: { readonly migrated?: boolean } = {}) {
  const fresh = await freshDatabase(options);
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-installation-'));
  const masterKey = randomBytes(32).toString('base64');
  const env = { DATABASE_URL: fresh.url, DATA_DIR: dataDir, MASTER_KEY: masterKey, PORT: '0' };
  const started: Running[] = [];
  return {
    ...fresh,
    /** The default settings of each node. */
    env,
    /** Starts a node. `close` kills it if it still runs. */
    node(more: Record<string, string> = {}, script = MAIN) {
      const running = start(script, { ...env, ...more });
      started.push(running);
      return running;
    },
    /** Returns the credentials of the channel that the first node created. */
    demo: async (): Promise<ChannelCredentials> =>
      JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8')),
    async close() {
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ exited }) => exited));
      await fresh.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
