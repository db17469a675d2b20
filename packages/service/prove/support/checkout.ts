import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** A built copy of the project as it was at some commit, for as long as the work takes. */
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

/** The version that is in use, as far as tags tell. */
export function lastRelease(root: string): string | undefined {
  try {
    const args = ['describe', '--tags', '--abbrev=0', '--match', 'v*'];
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
