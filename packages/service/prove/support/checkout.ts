import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Runs `work` with a built copy of the project at a commit. */
export async function withCheckout<T>(root: string, ref: string, work: (place: string) => Promise<T>): Promise<T> {
  const place = path.join(await mkdtemp(path.join(os.tmpdir(), 'perennial-version-')), 'checkout');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  git('worktree', 'add', '--detach', place, ref);
  try {
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] });
    return await work(place);
  } finally {
    git('worktree', 'remove', '--force', place);
    await rm(path.dirname(place), { recursive: true, force: true });
  }
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
