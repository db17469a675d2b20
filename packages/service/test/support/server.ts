import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';
import type { TestProject } from 'vitest/node';
import { bundle } from '../../../../scripts/bundle.mjs';
import { openDatabase } from '../../src/platform/db/database.js';
import { migrate } from '../../src/platform/schema/migrate.js';
import { packageRoot, TEST_PROGRAMS } from './processes.js';

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string;
  }
}

const TESTS = path.join(packageRoot, 'test');

/** The migrated database that every test's own database is copied from. */
export const TEMPLATE = 'perennial_template';

/** One real PostgreSQL for the whole run, as the service itself would start it. */
export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  await bundleTestPrograms();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-test-'));
  const embedded = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
  const admin = openDatabase({ url: embedded.url, pool: 1, name: 'test setup', statementMs: 0 });
  await admin.query(`create database ${TEMPLATE}`);
  // A run opens some thousand connections, each of which proves its password: by one round of hashing in place of 4,096.
  const { username, password } = new URL(embedded.url);
  await admin.query('set scram_iterations = 1');
  await admin.query(`alter role ${username} password '${password}'`);
  await admin.close();
  await migrate(databaseUrl(embedded.url, TEMPLATE));
  project.provide('serverUrl', embedded.url);
  return async () => {
    await embedded.release();
    await rm(dataDir, { recursive: true, force: true });
  };
}

async function bundleTestPrograms(): Promise<void> {
  const names = await readdir(TESTS, { recursive: true });
  const programs = names.filter((name) => name.endsWith('-node.mjs'));
  await bundle(
    Object.fromEntries(programs.map((name) => [path.basename(name, '.mjs'), path.join(TESTS, name)])),
    TEST_PROGRAMS,
  );
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
