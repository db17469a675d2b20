import os from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { againReporter } from './packages/service/test/support/again-reporter.js';
import { LongestFirst } from './packages/service/test/support/longest-first.js';
import { movedTests } from './scripts/proofs.mjs';

const setupFiles = process.env['FAST_CHECK_SEED']
  ? [`${import.meta.dirname}/packages/service/test/support/fast-check-seed.ts`]
  : [];

// `isolate: false` below: what the files of a package share of a process are modules without a memory of their own, and loading
// them for each file is a third of a run.
const PACKAGES: Readonly<Record<string, TestProjectInlineConfiguration['test']>> = {
  wire: { isolate: false, setupFiles },
  'embedded-postgres': {},
  'bridge-kit': { globalSetup: ['test/support/server.ts'] },
  'bridge-stripe': { globalSetup: ['../bridge-kit/test/support/server.ts'] },
  'reference-peers': { isolate: false },
  'bridge-alipay': { isolate: false },
  sdk: { isolate: false },
  service: { isolate: false, globalSetup: ['test/support/server.ts'], setupFiles },
};

/** As scripts/test.mjs says it where there is no browser. */
const withoutBrowser = process.env['CHROMIUM'] === 'none' ? ['test/browser/**'] : [];

/** The files of a package that `npm test` runs, and as a project of their own (`prove-…`) those that only proofs do. */
function projectsOf(name: string): TestProjectInlineConfiguration[] {
  const root = `packages/${name}`;
  const moved = movedTests.filter((file) => file.startsWith(`${root}/`)).map((file) => file.slice(root.length + 1));
  // Real servers and real crashes: the bounds are for what hangs, not for what is slow.
  const bounds = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } };
  const test = { ...PACKAGES[name], ...bounds, root };
  const tests = {
    test: {
      ...test,
      name,
      include: ['test/**/*.test.ts'],
      exclude: ['**/node_modules/**', ...moved, ...withoutBrowser],
    },
  };
  return moved.length === 0 ? [tests] : [tests, { test: { ...test, name: `prove-${name}`, include: moved } }];
}

export default defineConfig({
  test: {
    // Most tests wait for other processes: on two cores, four at a time keep both busy.
    maxWorkers: Math.max(4, Math.floor(os.availableParallelism() / 2)),
    reporters: ['default', againReporter()],
    sequence: { sequencer: LongestFirst },
    projects: Object.keys(PACKAGES).flatMap(projectsOf),
  },
});
