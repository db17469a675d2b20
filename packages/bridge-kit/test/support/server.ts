import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    bookUrl: string;
  }
}

/** Starts one real PostgreSQL for the run. Each test has its own schema. */
export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-'));
  const embedded = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
  project.provide('bookUrl', embedded.url);
  return async () => {
    await embedded.release();
    await rm(dataDir, { recursive: true, force: true });
  };
}
