import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Runs `work` with a temporary folder. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-version-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs `work` with the folder of the service at a commit. */
export function withVersion<T>(root: string, ref: string, work: (service: string) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const checkout = path.join(folder, 'checkout');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    git('worktree', 'add', '--detach', checkout, ref);
    try {
      return await work(installService(checkout, path.join(folder, 'installed')));
    } finally {
      git('worktree', 'remove', '--force', checkout);
    }
  });
}

/**
 * Builds the published package of the service from a checkout and unpacks it. Returns its folder. It contains its
 * dependencies except the embedded PostgreSQL. A checkout from before there were packages is used as it is.
 */
export function installService(checkout: string, to: string): string {
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] });
  if (!existsSync(path.join(checkout, 'scripts/release/pack.mjs'))) {
    run(process.execPath, 'scripts/build.mjs');
    return path.join(checkout, 'packages/service');
  }
  mkdirSync(to, { recursive: true });
  run(process.execPath, 'scripts/release/pack.mjs', '--out', to);
  const tarball = readdirSync(to).find((name) => name.startsWith('perennial-server-')) ?? 'perennial-server is missing';
  run('tar', '-xzf', path.join(to, tarball), '-C', to);
  return path.join(to, 'package');
}

/**
 * Returns the last release, or else the commit before the newest migration. Returns undefined if the clone's history
 * has neither.
 */
export function versionBefore(root: string): string | undefined {
  const ask = (...args: string[]) => {
    const asked = spawnSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return asked.status === 0 && asked.stdout !== '' ? asked.stdout.trim() : undefined;
  };
  const release = ask('describe', '--tags', '--abbrev=0', '--match', 'v*');
  if (release !== undefined) return release;
  const migration = ask('log', '-1', '--format=%H', '--', 'packages/service/migrations');
  return migration && ask('rev-parse', '--verify', `${migration}^`);
}
