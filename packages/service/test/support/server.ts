import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';
import type { TestProject } from 'vitest/node';
import { bundle, isNeverBundled } from '../../../../scripts/bundle.mjs';
import { openDatabase } from '../../src/platform/db/database.js';
import { migrate } from '../../src/platform/schema/migrate.js';
import { packageRoot, TEST_PROGRAMS } from './processes.js';

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string;
    /** The data folder that tests copy. It belongs to a service that was stopped before any use. */
    preparedFolder: string;
  }
}

const TESTS = path.join(packageRoot, 'test');

/** The migrated database from which the tests' databases are copied. */
export const TEMPLATE = 'perennial_template';

/** Starts one real PostgreSQL for the whole run, as the service would. */
export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  const programs = await bundleTestPrograms();
  const preparedFolder = await prepareFolder();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-test-'));
  copyFolder(preparedFolder, dataDir);
  const embedded = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
  // Connects to a different database, because PostgreSQL does not copy a database that is in use.
  const outside = databaseUrl(embedded.url, 'postgres');
  const admin = openDatabase({ url: outside, pool: 1, name: 'test setup', statementMs: 0 });
  const migrated = new URL(embedded.url).pathname.slice(1);
  await admin.query(`create database ${TEMPLATE} strategy file_copy template ${migrated}`);
  // Stores the password's hash with one iteration instead of 4,096, because a run opens thousands of connections, and
  // each proves its password.
  const { username, password } = new URL(embedded.url);
  await admin.query('set scram_iterations = 1');
  await admin.query(`alter role ${username} password '${password}'`);
  await admin.close();
  project.provide('serverUrl', embedded.url);
  project.provide('preparedFolder', preparedFolder);
  return async () => {
    await embedded.release();
    for (const folder of [dataDir, preparedFolder, programs]) await rm(folder, { recursive: true, force: true });
  };
}

/** Creates a data folder with a migrated database. Tests copy it, because creating one takes longer than most tests. */
async function prepareFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-prepared-'));
  const embedded = await openEmbedded({ dataDir: folder, role: 'tool', log: () => undefined });
  await migrate(embedded.url);
  await embedded.release();
  return folder;
}

/** Copies a folder's content, with owners, into an existing folder. */
export function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

/** Bundles the test programs, because a run starts some hundred processes and loading modules is a third of a start. */
async function bundleTestPrograms(): Promise<string> {
  const names = await readdir(TESTS, { recursive: true });
  const programs = names.filter((name) => name.endsWith('-node.mjs'));
  const entries = Object.fromEntries(programs.map((name) => [path.basename(name, '.mjs'), path.join(TESTS, name)]));
  const folder = await mkdtemp(path.join(packageRoot, 'dist', 'test-programs-'));
  await bundle({ ...entries, main: path.join(packageRoot, 'dist', 'main.js') }, folder, isNeverBundled);
  // The test processes inherit this variable.
  process.env[TEST_PROGRAMS] = folder;
  return folder;
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
